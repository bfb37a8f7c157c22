"""The Raspberry Pi's camera. The only file that imports picamera2, and late: it comes with the system, not
with pip.

What the picture looks like must not change while a game is on, so exposure, gain, white balance and focus are
locked, and read back, since libcamera adjusts silently. One request is waited for again and again under a
deadline: one that timed out stays queued, and asking anew would leave it with its buffer.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hardware.clock import Clock, Offset, boottime, measure_offset, monotonic
from hardware.ports import Frame, HardwareMissing

PATIENCE: Final = 2.0
"""A frame that takes longer than this has failed, s."""
RESTARTS: Final = 3
"""How often in a row the camera is started anew before it counts as gone."""
_SECOND: Final = 1_000_000_000
_FRESH: Final = _SECOND
"""How far from the present a sensor's stamp can be on the clock that it counts on, ns."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """How the camera looks at the table."""

    size: tuple[int, int] = (1536, 864)
    """Width and height, px: Camera Module 3's fastest mode."""
    fps: float = 30.0
    exposure_us: int = 4_000
    """A card that moves at 2 m/s is smeared by 2 mm a millisecond: cards are read at rest, so 4 ms will do.
    """
    gain: float = 4.0
    colour_gains: tuple[float, float] | None = None
    """Red and blue; None lets the camera find them before the game and locks what it found."""
    lens_position: float | None = None
    """Dioptres; None leaves the lens alone (a camera without autofocus)."""
    settle_frames: int = 30
    """Frames to wait for a locked setting to show; a change took 11."""

    def changed(self, *, fps: float | None = None, size: tuple[int, int] | None = None) -> Settings:
        """These settings with another rate or size."""
        return replace(self, fps=self.fps if fps is None else fps, size=self.size if size is None else size)


class PiCamera:
    """The Pi's camera; implements `hardware.ports.Camera`."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        driver: Any = None,
        mono: Clock = monotonic,
        boot: Clock = boottime,
    ) -> None:
        """Configure, lock and start the camera.

        Args:
            settings: how it looks at the table.
            driver: stands for a ``Picamera2`` object.
            mono: answers ``CLOCK_MONOTONIC``, ns.
            boot: answers ``CLOCK_BOOTTIME``, ns.

        Raises:
            HardwareMissing: no picamera2, no camera, or one that gives another format than asked for.
        """
        self._settings = settings or Settings()
        self._mono, self._boot = mono, boot
        self.offset: Offset = measure_offset(boot, mono)
        """How far BOOTTIME ran ahead of MONOTONIC at the start: belongs into the log's header."""
        self._counts_on_boot: bool | None = None
        self._job: Any = None
        self._camera = _open_driver() if driver is None else driver
        self._configure()
        self._camera.start()
        if self._settings.colour_gains is None:
            self._lock_white_balance()

    @property
    def clock(self) -> str:
        """The clock on which the sensor's stamps were found to count; ``unknown`` before the first frame."""
        if self._counts_on_boot is None:
            return "unknown"
        return "CLOCK_BOOTTIME" if self._counts_on_boot else "CLOCK_MONOTONIC"

    def frames(self) -> Iterator[Frame]:
        """Yield frames; a camera that falls silent is restarted, and `HardwareMissing` raised when that is no
        help.
        """
        index, failures = 0, 0
        last = -1
        while True:
            request = self._next_request()
            if request is None:
                failures += 1
                if failures > RESTARTS:
                    raise HardwareMissing(
                        "the camera stopped delivering; look at its ribbon cable and power, then start again"
                    )
                self._restart()
                continue
            failures = 0
            try:
                image = np.array(request.make_array("main"), dtype=np.uint8)
                metadata = request.get_metadata()
            finally:
                request.release()
            frame = self._frame(image, metadata, index)
            if frame.t > last:
                yield frame
                last = frame.t
                index += 1

    def close(self) -> None:
        """Stop the camera and let go of it."""
        self._camera.stop()
        self._camera.close()

    def _configure(self) -> None:
        wanted = self._settings
        frame_us = round(1_000_000 / wanted.fps)
        controls: dict[str, Any] = {
            "AeEnable": False,
            "ExposureTime": wanted.exposure_us,
            "AnalogueGain": wanted.gain,
            "FrameDurationLimits": (frame_us, frame_us),
        }
        if wanted.colour_gains is not None:
            controls |= {"AwbEnable": False, "ColourGains": wanted.colour_gains}
        if wanted.lens_position is not None:
            # 0 is libcamera's AfModeEnum.Manual; the number spares the import.
            controls |= {"AfMode": 0, "LensPosition": wanted.lens_position}
        # picamera2 names formats by the order in memory of a little-endian word: RGB888 arrives as blue,
        # green, red.
        main = {"size": wanted.size, "format": "RGB888"}
        # queue=False: an old frame from the queue would tell of a table that is no more.
        config = self._camera.create_video_configuration(main=main, controls=controls, buffer_count=4, queue=False)
        self._camera.configure(config)
        given = self._camera.camera_configuration()["main"]
        if given["format"] != "RGB888":
            raise HardwareMissing(f"the camera gives {given['format']} instead of RGB888; choose another size")
        if tuple(given["size"]) != tuple(wanted.size):
            _log.warning("the camera gives %s px instead of %s", given["size"], wanted.size)

    def _lock_white_balance(self) -> None:
        """Let the camera find the light's colour once, and hold it: a table that turns red must not turn
        suits.
        """
        gains = None
        for _ in range(self._settings.settle_frames):
            request = self._next_request()
            if request is None:
                return
            gains = request.get_metadata().get("ColourGains", gains)
            request.release()
        if gains is not None:
            self._camera.set_controls({"AwbEnable": False, "ColourGains": tuple(gains)})

    def _next_request(self) -> Any:
        """The next frame's request, or None after `PATIENCE`; the job stays ours, and is waited for again."""
        if self._job is None:
            self._job = self._camera.capture_request(wait=False)
        try:
            request = self._camera.wait(self._job, timeout=PATIENCE)
        except TimeoutError:
            return None
        self._job = None
        return request

    def _restart(self) -> None:
        _log.warning("no frame for %g s: starting the camera anew", PATIENCE)
        self._camera.cancel_all_and_flush()
        self._job = None
        self._camera.stop()
        self._camera.start()

    def _frame(self, image: Any, metadata: dict[str, Any], index: int) -> Frame:
        """The stamp is that of the first row's readout; its exposure began ``ExposureTime`` before."""
        exposure = int(metadata.get("ExposureTime", self._settings.exposure_us)) * 1_000
        stamp = metadata.get("SensorTimestamp")
        readout = self._mono() if stamp is None else self._to_monotonic(int(stamp))
        return Frame(np.ascontiguousarray(image), readout - exposure, exposure, index)

    def _to_monotonic(self, stamp: int) -> int:
        """Documented as BOOTTIME, MONOTONIC in one driver: the clock that makes the stamp a recent one is
        believed.
        """
        if self._counts_on_boot is None and self.offset.ahead > 2 * _FRESH:
            ago_mono, ago_boot = self._mono() - stamp, self._boot() - stamp
            self._counts_on_boot = not (0 <= ago_mono < _FRESH) and 0 <= ago_boot < _FRESH
        elif self._counts_on_boot is None:
            # They stand less than two seconds apart: a machine that has not slept. Then the documentation
            # decides.
            self._counts_on_boot = True
        return stamp - self.offset.ahead if self._counts_on_boot else stamp


def _open_driver() -> Any:
    try:
        from picamera2 import Picamera2
    except ImportError as missing:
        raise HardwareMissing(
            "picamera2 is not installed: on a Raspberry Pi, apt install python3-picamera2 --no-install-recommends, "
            "in an environment made with --system-site-packages; or use a USB camera (usb:0)"
        ) from missing
    try:
        return Picamera2()
    except (IndexError, RuntimeError) as refused:
        raise HardwareMissing(
            f"no camera answers on the ribbon cable ({refused}); see `rpicam-hello --list-cameras`, "
            "and whether another program holds it"
        ) from refused
