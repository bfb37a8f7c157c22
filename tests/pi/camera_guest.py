"""On the board: the product's own `PiCamera` on the real picamera2 and libcamera, whose camera needs no hardware.

libcamera's virtual pipeline paints a test pattern for each request, as fast as requests come. A shim (`VirtualCamera`)
adds what a sensor has beyond that: RGB pictures, exposure, gain and white balance, which show in the metadata some
frames after they were asked for.
"""

from __future__ import annotations

import os
import sys
import types
from collections import deque
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, Final

import cv2
import numpy as np

from hardware.camera.pi_camera import STREAM_RESTARTS, PiCamera, PiCameraSettings
from hardware.camera.pi_driver import open_driver
from hardware.clock import monotonic
from hardware.ports import Frame, HardwareMissing

PIPELINE: Final = "usr/share/libcamera/pipeline/virtual/virtual.yaml"
SIZE: Final = (1536, 864)
FPS: Final = 30
CAMERA: Final = (
    f'"Virtual0":\n  supported_formats:\n  - width: {SIZE[0]}\n    height: {SIZE[1]}\n    frame_rates:\n'
    f'    - {FPS}\n    - {FPS}\n  test_pattern: "bars"\n'
)
"""The pipeline's only camera."""
CHECK: Final = "PI CHECK "
"""Mark of a line for the judge: ``ok`` or ``fault``, and what was looked at."""
CHECKS: Final = ("opens", "locks", "delivers", "holds", "restarts", "unplugged", "opens again")
_PAUSE: Final = 500.0
"""Longest time between two frames, ms: half of that after which the product starts its camera anew."""
_LATE: Final = 11
"""Number of frames until a changed control shows, as at a Pi's camera."""
_ADDED: Final = {"ExposureTime": 10_000, "AnalogueGain": 1.0, "ColourGains": (1.9, 1.6)}
"""The controls that the shim adds, with their first values."""


def load_picamera2() -> Any:
    """Import picamera2 without previews and DNG files; return the class of the virtual camera."""
    for name in ("pykms", "kms", "pidng", "pidng.camdefs", "pidng.core"):
        absent: Any = types.ModuleType(name)
        absent.PixelFormat = absent.PixelFormats = _Anything()
        absent.Picamera2Camera = absent.PICAM2DNG = object
        sys.modules[name] = absent
    import picamera2.picamera2
    from picamera2 import Picamera2
    from picamera2.allocators import LibcameraAllocator

    # Debian's kernel has none of the heaps that picamera2 allocates from; libcamera's own allocator does without.
    picamera2.picamera2.DmaAllocator = lambda: None

    class VirtualCamera(Picamera2):  # type: ignore[misc]
        """picamera2's camera, and what the pipeline lacks."""

        def __init__(self) -> None:
            self._shown: dict[str, Any] = dict(_ADDED)
            self._asked: deque[tuple[int, dict[str, Any]]] = deque()
            self._number = 0
            self.unplugged = False
            self.starts = 0
            super().__init__(allocator=object())
            self.allocator = LibcameraAllocator(self.camera)

        def _get_raw_modes(self) -> list[dict[str, Any]]:
            return [{"format": "SRGGB10_CSI2P", "size": SIZE}]

        @property
        def camera_controls(self) -> dict[str, Any]:
            return {**super().camera_controls, **dict.fromkeys(_ADDED, (None, None, None))}

        def set_controls(self, controls: dict[str, Any]) -> None:
            self._ask(controls)
            super().set_controls(self._known(controls))

        def create_video_configuration(self, main: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
            main = dict(main or {})
            if main.get("format") == "RGB888":
                main["format"] = "NV12"
            controls = more.pop("controls", {})
            self._ask(controls)
            made: dict[str, Any] = super().create_video_configuration(main=main, controls=self._known(controls), **more)
            return made

        def camera_configuration(self) -> dict[str, Any]:
            given = super().camera_configuration()
            main = {**given["main"], "format": "RGB888", "stride": 3 * given["main"]["size"][0]}
            return {**given, "main": main}

        def start(self, *given: Any, **more: Any) -> None:
            self.starts += 1
            if not self.unplugged:
                super().start(*given, **more)

        def wait(self, job: Any, timeout: float | None = None) -> Any:
            request = super().wait(job, timeout=timeout)
            self._number += 1
            while self._asked and self._asked[0][0] <= self._number:
                self._shown |= self._asked.popleft()[1]
            return VirtualRequest(request, dict(self._shown))

        def _ask(self, controls: dict[str, Any]) -> None:
            added = {name: value for name, value in controls.items() if name in _ADDED}
            self._asked.append((self._number + _LATE, added))

        def _known(self, controls: dict[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in controls.items() if name in self.camera_ctrl_info}

    return VirtualCamera


class _Anything:
    """Has every attribute."""

    def __getattr__(self, name: str) -> str:
        return name


class VirtualRequest:
    """A completed request of the virtual pipeline, with the added metadata, in blue, green and red."""

    def __init__(self, request: Any, shown: dict[str, Any]) -> None:
        self._request, self._shown = request, shown

    def get_metadata(self) -> dict[str, Any]:
        return {**self._request.get_metadata(), **self._shown}

    def make_array(self, name: str) -> Any:
        rows = self._request.make_array(name)
        width, height = self._request.config[name]["size"]
        return cv2.cvtColor(rows.reshape(height * 3 // 2, -1)[:, :width], cv2.COLOR_YUV2BGR_NV12)

    def release(self) -> None:
        self._request.release()


def main() -> int:
    """Take the camera through its life, and print a line for each check."""
    driver = open_driver(load_picamera2)
    camera = PiCamera(PiCameraSettings(size=SIZE, fps=FPS), driver=driver)
    report = camera.report()
    _check("opens", report.size == SIZE and report.clock.startswith("CLOCK_"), f"{report.size}, {report.clock}")
    held = sorted(name for name, lock in report.locks.items() if lock.held)
    told = sorted(name for name, lock in report.locks.items() if lock.given is not None)
    _check("locks", held == told and set(_ADDED) <= set(held), ", ".join(held))
    frames = camera.frames()
    _check_delivery("delivers", list(islice(frames, FPS)))
    camera.hold(exposure_us=8_000)
    following = next(frames)
    _check("holds", following.exposure == 8_000_000, f"an exposure of {following.exposure / 1e6:g} ms")
    _check_restart(driver, frames)
    _check_unplugging(driver, frames)
    camera.close()
    again = PiCamera(PiCameraSettings(size=SIZE, fps=FPS), driver=open_driver(load_picamera2))
    _check_delivery("opens again", list(islice(again.frames(), FPS)))
    again.close()
    sys.stdout.flush()
    # picamera2 closes its cameras again at exit.
    os._exit(0)


def _check(name: str, holds: bool, found: str) -> None:
    print(f"{CHECK}{'ok' if holds else 'fault'} {name}: {found}", flush=True)


def _check_delivery(name: str, frames: list[Frame]) -> None:
    """Frames of one size and of some colour come in order, without a pause, none from the future."""
    now = monotonic()
    shapes = {frame.image.shape for frame in frames}
    gaps = [(later.t - earlier.t) / 1e6 for earlier, later in pairwise(frames)]
    colours = len(np.unique(frames[-1].image[SIZE[1] // 2], axis=0))
    holds = (
        shapes == {(SIZE[1], SIZE[0], 3)}
        and [frame.index - frames[0].index for frame in frames] == list(range(len(frames)))
        and 0 < min(gaps) <= max(gaps) < _PAUSE
        and frames[-1].t < now
        and colours >= 8
    )
    _check(name, holds, f"{len(frames)} frames, {min(gaps):.0f} to {max(gaps):.0f} ms apart, {colours} colours")


def _check_restart(driver: Any, frames: Iterator[Frame]) -> None:
    """A stream that was stopped behind the product's back is started anew."""
    starts, before = driver.starts, next(frames)
    driver.stop()
    after = next(frames)
    _check(
        "restarts", driver.starts == starts + 1 and after.t > before.t and after.index == before.index + 1,
        f"{driver.starts - starts} start, the next frame {(after.t - before.t) / 1e6:.0f} ms after the last",
    )  # fmt: skip


def _check_unplugging(driver: Any, frames: Iterator[Frame]) -> None:
    """A camera that starts no more is given up, in words for people, after as many starts as the product promises."""
    starts, driver.unplugged = driver.starts, True
    driver.stop()
    try:
        next(frames)
    except HardwareMissing as error:
        _check(
            "unplugged", driver.starts - starts == STREAM_RESTARTS, f"{driver.starts - starts} starts, then: {error}"
        )
    else:
        _check("unplugged", False, "a frame came")


if __name__ == "__main__":
    sys.exit(main())
