"""Which camera to open, said in plain values, so that another process can open it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hardware.camera_report import CameraReport
from hardware.ports import Camera

_OPENER: Final = "hardware.camera:open_camera"


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A function that makes a camera, by its import path, and what to call it with."""

    factory: str
    """``package.module:function``; it answers a `hardware.ports.Camera`, or raises `HardwareMissing`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """By name: text, numbers, booleans, None, and lists of these."""

    @classmethod
    def of(cls, source: str, **look: Any) -> CameraSpec:
        """The camera that `hardware.camera.open_camera` opens for ``source`` and ``look`` (its other arguments)."""
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
