"""The machine that a report is about, with everything that looks and measurements need; a test passes stand-ins."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.clock import Clock, monotonic
from hardware.ports import Camera
from referee.errors import UserError
from referee.settings.model import CameraSettings, Settings
from referee.setup.doctor.probe import Machine
from referee.setup.eye_speed import EyeSpeed, measure_eye

if TYPE_CHECKING:
    from hardware.ports import Image


class NotHere(UserError):  # noqa: N818 - it names a state of the machine, not of the program
    """This machine has not what was asked for; the message says why."""


def _open_camera(settings: CameraSettings) -> Camera:
    """Open a camera as a game does: in a process of its own, where its driver may hang."""
    from referee.vision.cameras import camera_spec, open_remote

    return open_remote(camera_spec(settings), lambda _words: None)


@dataclass(slots=True)
class Subject:
    """A machine and its table."""

    machine: Machine
    path: Path
    """The settings' file, which need not exist."""
    settings: Settings | None = None
    loop: tuple[int, int] | None = None
    """BCM numbers of the output and the pad that a wire joins."""
    pictures: bool = False
    """Whether one of the camera's pictures goes into the report."""
    open_camera: Callable[[CameraSettings], Camera] = _open_camera
    measure_eye: Callable[[tuple[int, int], float, Sequence[int]], list[EyeSpeed]] = measure_eye
    clock: Clock = monotonic
    pause: Callable[[float], None] = time.sleep
    """Sleeps, in seconds."""
    speeds: list[EyeSpeed] = field(default_factory=list)
    """The eye's speed by threads, once it was measured."""
    picture: Image | None = None
    """The picture that goes into the report."""

    @property
    def camera(self) -> CameraSettings:
        """The table's camera; without settings the first one here.

        Raises:
            NotHere: no camera answers.
        """
        from referee.vision.cameras import cameras

        if self.settings is not None:
            return self.settings.camera
        found = cameras(self.machine.root)
        if not found:
            raise NotHere("no camera answers")
        return CameraSettings(source=found[0].source)
