"""Which camera to open, and its report about itself, as plain values that another process can read."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from hardware.ports import Camera


@dataclass(frozen=True, slots=True)
class CameraLock:
    """One setting that must not change during a game."""

    asked: tuple[float, ...]
    given: tuple[float, ...] | None
    """The value in the frames' metadata; None if absent there."""
    held: bool
    """Whether the frames show the requested value."""
    frames: int = 0
    """Number of frames until it held."""


@dataclass(frozen=True, slots=True)
class CameraReport:
    """A camera's actual state, which may differ from the request."""

    source: str
    asked_size: tuple[int, int] | None = None
    """Width and height, px."""
    size: tuple[int, int] | None = None
    clock: str = "unknown"
    """Clock of the sensor's stamps: ``CLOCK_MONOTONIC``, ``CLOCK_BOOTTIME``, ``arrival`` (no usable stamps) or
    ``unknown``.
    """
    boot_ahead: int = 0
    """CLOCK_BOOTTIME's lead over CLOCK_MONOTONIC, ns."""
    boot_ahead_error: int = 0
    locks: Mapping[str, CameraLock] = field(default_factory=dict)
    """By libcamera's name of the control."""
    warnings: tuple[str, ...] = ()
    """In words: deviations from the request."""

    def to_json(self) -> dict[str, Any]:
        """Return plain lists, numbers and text."""
        return asdict(replace(self, locks=dict(self.locks)))

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> CameraReport:
        """Return the report from the values of `to_json`, after a round trip through text."""
        locks = {name: CameraLock(**_with_tuples(lock)) for name, lock in told["locks"].items()}
        return cls(**{**_with_tuples(told), "locks": locks})


def _with_tuples(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with tuples for lists, since JSON has only lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}


NETWORK: Final = ("http", "https", "rtsp")
"""URL schemes of network cameras."""
_OPENER: Final = "hardware.camera.camera:open_camera"


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A function that creates a camera, by its import path, and its arguments."""

    factory: str
    """``package.module:function``; it returns a `hardware.ports.Camera`, or raises `HardwareMissing`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """By name: text, numbers, booleans, None, and lists of these."""

    @classmethod
    def of(cls, source: str, **look: Any) -> CameraSpec:
        """Return the spec of `hardware.camera.camera.open_camera` for ``source`` and ``look`` (its other arguments)."""
        return cls(_OPENER, {"source": source, **look})

    @property
    def source(self) -> str:
        """A name for people: the requested source, or the factory's name."""
        return str(self.arguments.get("source", self.factory))

    def keeping(self, report: CameraReport) -> CameraSpec:
        """Return the same camera with the white balance found before, so that a game keeps its colours."""
        found = report.locks.get("ColourGains")
        takes = self.factory == _OPENER or "colour_gains" in self.arguments
        if found is None or not takes or self.arguments.get("colour_gains") is not None:
            return self
        return CameraSpec(self.factory, {**self.arguments, "colour_gains": list(found.asked)})

    def open(self) -> Camera:
        """Open it in this process.

        Raises:
            HardwareMissing: the camera is missing.
            ImportError, AttributeError, TypeError: there is no such factory, or it has other parameters.
        """
        module, _, function = self.factory.partition(":")
        made: Camera = getattr(importlib.import_module(module), function)(**self.arguments)
        return made

    def to_json(self) -> str:
        """Return one line; raises `TypeError` for an argument that is no plain value."""
        return json.dumps({"factory": self.factory, "arguments": dict(self.arguments)})

    @classmethod
    def from_json(cls, line: str) -> CameraSpec:
        """Return the spec from the text of `to_json`."""
        told = json.loads(line)
        return cls(told["factory"], told["arguments"])
