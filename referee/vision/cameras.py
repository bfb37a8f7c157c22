"""The camera of a real table, as its settings say: opened by plain values, so that another process can do it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hardware.clock import Clock, monotonic
from hardware.ports import Camera, Frame

if TYPE_CHECKING:
    from referee.app.settings import CameraSettings, Settings
    from referee.app.sight import Watching
    from referee.app.sight_process import Work


def open_table_camera(
    source: str, size: Sequence[int], fps: float, exposure_us: int, gain: float,
    colour_gains: Sequence[float] | None = None, lens_position: float | None = None,
) -> Camera:  # fmt: skip
    """Open the camera in this process; raises `HardwareMissing`."""
    from hardware.camera import open_camera

    return open_camera(
        source, fps=fps, size=(size[0], size[1]), exposure_us=exposure_us, gain=gain,
        colour_gains=None if colour_gains is None else (colour_gains[0], colour_gains[1]),
        lens_position=lens_position,
    )  # fmt: skip


def camera_values(settings: CameraSettings) -> dict[str, Any]:
    """What `open_table_camera` is to be called with."""
    gains = settings.colour_gains
    return {
        "source": settings.source, "size": [settings.width, settings.height], "fps": settings.fps,
        "exposure_us": settings.exposure_us, "gain": settings.gain,
        "colour_gains": None if gains is None else list(gains), "lens_position": settings.lens_position,
    }  # fmt: skip


def is_live(source: str) -> bool:
    """Whether this is a camera rather than a recording: what ends may come back."""
    return source.partition(":")[0] in ("picamera", "usb", "twin")


def open_remote(values: Mapping[str, Any], told: Callable[[str], None]) -> Camera:
    """The camera in a process of its own, which outlives the driver's faults; raises `HardwareMissing`."""
    from hardware.camera_spec import CameraSpec
    from hardware.remote import RemoteCamera

    return RemoteCamera(CameraSpec(f"{__name__}:{open_table_camera.__name__}", values), told=told)


class Played:
    """A recording shown as if it happened now, each frame at its time; implements `hardware.ports.Camera`."""

    def __init__(
        self, camera: Camera, clock: Clock = monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:  # fmt: skip
        self._camera, self._clock, self._sleep = camera, clock, sleep

    def frames(self) -> Iterator[Frame]:
        """The recording's frames, from now on."""
        began: int | None = None
        for frame in self._camera.frames():
            if began is None:
                began = self._clock() - frame.t
            due = began + frame.t
            self._sleep(max(0, due + frame.exposure - self._clock()) / 1e9)
            yield replace(frame, t=due)

    def close(self) -> None:
        """Let go of the recording."""
        self._camera.close()


def open_recording(values: Mapping[str, Any], told: Callable[[str], None]) -> Camera:
    """A recording, in place of a camera: to try a table's settings without one; raises `HardwareMissing`."""
    return Played(open_table_camera(**values))


def table_watcher(bearings: Mapping[int, float], deck: str | None) -> Watching:
    """A watcher for this table; raises `UserError` where there is no eye."""
    from referee.app.watch import new_watcher

    return new_watcher(bearings, deck)


def work_of(settings: Settings) -> Work:
    """What the process that looks has to do at this table."""
    from referee.app.sight_process import Work

    live = is_live(settings.camera.source)
    bearings = {number: seat.bearing for number, seat in enumerate(settings.seats, start=1)}
    return Work(
        camera=partial(open_remote if live else open_recording, camera_values(settings.camera)),
        watcher=partial(table_watcher, bearings, settings.deck),
        live=live,
        pictures=settings.record.pictures and bool(settings.record.file),
    )
