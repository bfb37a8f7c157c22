"""A USB camera through OpenCV and Video4Linux.

A read from a camera that hangs blocks in C code and cannot be interrupted in this process: `hardware.camera.remote`
runs the camera in a separate process, ends that, and reopens the camera when its cable is back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hardware.camera.arrival import MOST_LATE, ArrivalWatch
from hardware.camera.sensor_clock import ARRIVAL, MONOTONIC, UNKNOWN
from hardware.camera.spec import CameraReport
from hardware.clock import Clock, measure_offset, monotonic, time_awake
from hardware.ports import Frame, HardwareMissing, Image
from referee.units import MS, SECOND

SETTLE: Final = 30
"""Number of frames allowed for the automatics to settle."""
SHOWS: Final = 15
"""Number of frames until a change shows."""
TRIES: Final = 3
"""Number of attempts: a hand that comes in during one resembles a change."""
_LIKE: Final = 0.1
"""Relative difference of a channel's mean within which pictures count as equal ..."""
_LEVELS: Final = 3.0
"""... and the additional difference in grey levels."""
# Value of Video4Linux's V4L2_CID_EXPOSURE_AUTO, which OpenCV passes through.
_MANUAL: Final = 1.0
# OpenCV would wait 10 s for a camera that stopped sending, which is too long here.
_READ_TIMEOUT: Final = ("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2")

_log = logging.getLogger(__name__)


def opencv() -> Any:
    """Return the module; raises `HardwareMissing` with installation advice."""
    try:
        import cv2
    except ImportError as error:
        raise HardwareMissing(
            "OpenCV cannot be loaded ({why}); pip install opencv-python, and apt install libgl1 libglib2.0-0",
            why=error,
        ) from error
    return cv2


def picture(image: Any) -> Image:
    """Return the image as contiguous 8-bit data."""
    return np.ascontiguousarray(image, dtype=np.uint8)


class UsbLocks:
    """Holds exposure and white balance as the camera found them, if that does not change the picture.

    A USB camera gives no metadata. When their automatics are switched off, most cameras keep the present values, but
    some jump to earlier ones. So the pictures before and after are compared, and the automatics are restored if they
    differ.
    """

    def __init__(self, capture: Any) -> None:
        """Note how the automatics are set, and change nothing yet.

        Args:
            capture: OpenCV's VideoCapture.
        """
        cv2 = opencv()
        self._capture = capture
        automatics = (cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL), (cv2.CAP_PROP_AUTO_WB, 0.0)
        self._switches = [(setting, float(capture.get(setting)), off) for setting, off in automatics]
        self._frames = 0
        self._tries = 0
        self._before: NDArray[np.float64] | None = None
        self.held: bool | None = None
        """Whether they are held; None until that is known."""

    def look(self, image: Image) -> None:
        """Take in one more frame: H × W × 3."""
        if self.held is not None:
            return
        self._frames += 1
        if self._before is None and self._frames == SETTLE:
            self._before = _colour(image)
            if not self._switch(off=True):
                self.held = False
        elif self._before is not None and self._frames == SETTLE + SHOWS:
            if (np.abs(_colour(image) - self._before) <= _LIKE * self._before + _LEVELS).all():
                self.held = True
                return
            self._switch(off=False)
            self._tries += 1
            self._frames, self._before = 0, None
            if self._tries == TRIES:
                self.held = False

    def _switch(self, *, off: bool) -> bool:
        """Switch the automatics; return whether the camera accepts any of it."""
        taken = [self._capture.set(setting, manual if off else before) for setting, before, manual in self._switches]
        return any(taken)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages about values that are not held."""
        if self.held is False:
            return ("this camera's exposure and white balance cannot be held: see that the light does not change",)
        return ()


def _colour(image: Image) -> NDArray[np.float64]:
    """Return the mean of each channel, over every eighth pixel."""
    out: NDArray[np.float64] = image[::8, ::8].mean(axis=(0, 1), dtype=np.float64)
    return out


class UsbCamera:
    """A USB camera; implements `hardware.ports.Camera`.

    Such a camera does not report its exposure, so a frame is assumed to span a whole frame interval before its stamp.
    That is the driver's stamp (Video4Linux stamps the buffer on ``CLOCK_MONOTONIC``, at the start or at the end of the
    frame), or the arrival if that stamp is not current; then a frame that may have lain there before it was read has an
    error that says so, or is passed over (`hardware.camera.arrival`).
    """

    def __init__(
        self,
        device: int | str,
        *,
        fps: float = 30.0,
        size: tuple[int, int] = (1280, 720),
        clock: Clock = monotonic,
        awake: Clock = time_awake,
        capture: Any = None,
    ) -> None:
        """Open the camera and lock what can be locked.

        Args:
            device: number of ``/dev/video``, or a path: those under ``/dev/v4l/by-id`` stay the same in any socket.
            fps: requested frames a second.
            size: requested width and height, px; the camera may choose others.
            clock: returns the present instant, ns.
            awake: returns for how long this thread has not slept, ns.
            capture: stands for OpenCV's VideoCapture.

        Raises:
            HardwareMissing: there is no camera, or it cannot be opened.
        """
        os.environ.setdefault(*_READ_TIMEOUT)
        self.source = f"usb:{device}"
        self._clock, self._awake = clock, awake
        cv2 = opencv()
        if capture is None:
            capture = cv2.VideoCapture(int(device) if str(device).isdecimal() else device, cv2.CAP_V4L2)
        self._capture = capture
        if not self._capture.isOpened():
            raise HardwareMissing(
                "no camera answers at {source}; plug one in, or put your user into the group video "
                "(sudo usermod -aG video $USER, then log in again)",
                source=self.source,
            )
        for setting, value in (
            (cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG")),
            (cv2.CAP_PROP_FRAME_WIDTH, size[0]),
            (cv2.CAP_PROP_FRAME_HEIGHT, size[1]),
            (cv2.CAP_PROP_FPS, fps),
            (cv2.CAP_PROP_BUFFERSIZE, 1),
            (cv2.CAP_PROP_AUTOFOCUS, 0),
        ):
            self._capture.set(setting, value)
        told = float(self._capture.get(cv2.CAP_PROP_FPS))
        self._length = round(SECOND / (told if 1 <= told <= 1000 else fps))
        self._locks = UsbLocks(self._capture)
        self._asked = size
        self._size: tuple[int, int] | None = None
        self._believed = 0
        self._offset = measure_offset()

    def report(self) -> CameraReport:
        """Return the camera's report."""
        notes = list(self._locks.warnings)
        if self._size is not None and self._size != self._asked:
            notes.append("the camera gives {}×{} px instead of {}×{}".format(*self._size, *self._asked))
        stamps = UNKNOWN if self._size is None else MONOTONIC if self._believed > 0 else ARRIVAL
        if stamps == ARRIVAL:
            notes.append("the driver's stamps are not current: frames are dated by their arrival")
        return CameraReport(
            self.source, self._asked, self._size, stamps, self._offset.ahead, self._offset.error, {}, tuple(notes)
        )

    def frames(self) -> Iterator[Frame]:
        """Yield frames until the camera stops answering, which raises `HardwareMissing`."""
        cv2 = opencv()
        index, last = 0, -1
        arrivals = ArrivalWatch(self._clock, self._awake)
        while True:
            buffers = round(float(self._capture.get(cv2.CAP_PROP_BUFFERSIZE)))
            arrival = arrivals.read(self._capture.read, buffers)
            now = arrival.t
            if arrival.image is None:
                raise HardwareMissing("the camera {source} stopped answering; look at its cable", source=self.source)
            stamp = round(float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) * MS)
            # Decide by majority: the first frame may be delayed on a slow machine and still have a good stamp.
            self._believed += 1 if 0 <= now - stamp < SECOND else -1
            is_stamped = self._believed > 0 and stamp <= now
            late = 0 if is_stamped else arrival.late
            if late > MOST_LATE:
                continue
            t = max((stamp if is_stamped else now) - self._length, last + 1)
            last = t
            frame = Frame(picture(arrival.image), t, self._length, index, self._length, clock_error=late)
            self._locks.look(frame.image)
            if self._size is None:
                height, width, _ = frame.image.shape
                self._size = (width, height)
                if self._size != self._asked:
                    _log.warning("%s gives %s px instead of %s", self.source, self._size, self._asked)
            yield frame
            index += 1

    def close(self) -> None:
        """Release the camera."""
        self._capture.release()
