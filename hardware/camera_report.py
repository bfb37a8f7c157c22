"""What a camera found out about itself when it was opened: for the log's header and for `referee doctor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Lock:
    """One setting that must not change while a game is on."""

    asked: tuple[float, ...]
    given: tuple[float, ...] | None
    """As the frames' metadata tells; None where it tells nothing."""
    held: bool
    """Whether the frames show what was asked for."""
    frames: int = 0
    """Frames from the first until it held."""


@dataclass(frozen=True, slots=True)
class CameraReport:
    """A camera as it really is, which need not be as it was asked for."""

    source: str
    asked_size: tuple[int, int] | None = None
    """Width and height, px."""
    size: tuple[int, int] | None = None
    clock: str = "unknown"
    """On which the sensor's stamps count: ``CLOCK_MONOTONIC``, ``CLOCK_BOOTTIME``, ``arrival`` (they tell nothing) or
    ``unknown``.
    """
    boot_ahead: int = 0
    """How far CLOCK_BOOTTIME ran ahead of CLOCK_MONOTONIC, ns."""
    boot_ahead_error: int = 0
    locks: Mapping[str, Lock] = field(default_factory=dict)
    """By libcamera's name of the control."""
    warnings: tuple[str, ...] = ()
    """In words: what is not as it was asked for."""

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text."""
        return asdict(replace(self, locks=dict(self.locks)))

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> CameraReport:
        """What `to_json` gave, after a journey as text."""
        locks = {
            name: Lock(tuple(lock["asked"]), _numbers(lock["given"]), lock["held"], lock["frames"])
            for name, lock in told["locks"].items()
        }
        sizes = {name: None if told[name] is None else tuple(told[name]) for name in ("asked_size", "size")}
        return cls(**{**told, **sizes, "locks": locks, "warnings": tuple(told["warnings"])})


def _numbers(given: list[float] | None) -> tuple[float, ...] | None:
    return None if given is None else tuple(given)


@runtime_checkable
class Reporting(Protocol):
    """A camera that can tell about itself."""

    def report(self) -> CameraReport:
        """As far as is known now; raises nothing."""
        ...
