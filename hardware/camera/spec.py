"""Which camera to open, and what it found out about itself, in plain values that another process can read."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from hardware.ports import Camera


@dataclass(frozen=True, slots=True)
class CameraLock:
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
    locks: Mapping[str, CameraLock] = field(default_factory=dict)
    """By libcamera's name of the control."""
    warnings: tuple[str, ...] = ()
    """In words: what is not as it was asked for."""

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text."""
        return asdict(replace(self, locks=dict(self.locks)))

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> CameraReport:
        """What `to_json` gave, after a journey as text."""
        locks = {name: CameraLock(**_with_tuples(lock)) for name, lock in told["locks"].items()}
        return cls(**{**_with_tuples(told), "locks": locks})


def _with_tuples(told: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows lists alone."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}


NETWORK: Final = ("http", "https", "rtsp")
"""What the address of a camera in the network begins with."""
_OPENER: Final = "hardware.camera.camera:open_camera"


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A function that makes a camera, by its import path, and what to call it with."""

    factory: str
    """``package.module:function``; it answers a `hardware.ports.Camera`, or raises `HardwareMissing`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """By name: text, numbers, booleans, None, and lists of these."""

    @classmethod
    def of(cls, source: str, **look: Any) -> CameraSpec:
        """What `hardware.camera.camera.open_camera` opens for ``source`` and ``look`` (its other arguments)."""
        return cls(_OPENER, {"source": source, **look})

    @property
    def source(self) -> str:
        """A name for people: what was asked for, or the factory's."""
        return str(self.arguments.get("source", self.factory))

    def keeping(self, report: CameraReport) -> CameraSpec:
        """The same camera, opened with the light's colour that it found before: a game is not to change its colours."""
        found = report.locks.get("ColourGains")
        takes = self.factory == _OPENER or "colour_gains" in self.arguments
        if found is None or not takes or self.arguments.get("colour_gains") is not None:
            return self
        return CameraSpec(self.factory, {**self.arguments, "colour_gains": list(found.asked)})

    def open(self) -> Camera:
        """Open it here, in this process.

        Raises:
            HardwareMissing: the camera is not there.
            ImportError, AttributeError, TypeError: there is no such factory, or it takes other arguments.
        """
        module, _, function = self.factory.partition(":")
        made: Camera = getattr(importlib.import_module(module), function)(**self.arguments)
        return made

    def to_json(self) -> str:
        """One line; raises `TypeError` for an argument that is no plain value."""
        return json.dumps({"factory": self.factory, "arguments": dict(self.arguments)})

    @classmethod
    def from_json(cls, line: str) -> CameraSpec:
        """What `to_json` gave."""
        told = json.loads(line)
        return cls(told["factory"], told["arguments"])
