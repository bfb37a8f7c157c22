"""A USB camera through OpenCV and Video4Linux.

A read of a camera that hangs blocks in C code, where nothing in this process can end it: `hardware.camera.remote` runs
the camera in a process of its own, ends that, and opens the camera again when its cable is back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hardware.camera.sensor_clock import ARRIVAL, MONOTONIC, UNKNOWN
from hardware.camera.spec import CameraReport
from hardware.clock import Clock, measure_offset, monotonic
from hardware.ports import Frame, HardwareMissing, Image
from referee.units import MS, SECOND

SETTLE: Final = 30
"""Frames that the automatics are given to find the light."""
SHOWS: Final = 15
"""Frames until a change shows."""
TRIES: Final = 3
"""A hand that comes in meanwhile looks like a change: try again."""
_LIKE: Final = 0.1
"""Part by which a channel's mean may differ, and still be the same picture."""
_LEVELS: Final = 3.0
"""And that many grey levels besides."""
# Values of Video4Linux's V4L2_CID_EXPOSURE_AUTO, which OpenCV hands through.
_MANUAL: Final = 1.0
# OpenCV waits 10 s for a camera that stopped sending, which is longer than anybody waits for it here.
_READSECONDS: Final = ("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2")

_log = logging.getLogger(__name__)


def opencv() -> Any:
    """The module; raises `HardwareMissing`, saying what to install."""
    try:
        import cv2
    except ImportError as missing:
        raise HardwareMissing(
            "OpenCV cannot be loaded ({why}); pip install opencv-python, and apt install libgl1 libglib2.0-0",
            why=missing,
        ) from missing
    return cv2


def picture(image: Any) -> Image:
    """Three channels, 8 bits, contiguous."""
    return np.ascontiguousarray(image, dtype=np.uint8)


class UsbLocks:
    """Exposure and white balance, held as the camera found them, if that does not change the picture.

    Such a camera tells nothing of a frame, and what it does when its automatics are switched off is its own affair:
    most stay as they are, some jump to what was set last. So the picture is compared before and after, and the
    automatics come back where it changed.
    """

    def __init__(self, capture: Any) -> None:
        """Nothing is switched yet.

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
        """Whether they are held; None while that is not settled."""

    def look(self, image: Image) -> None:
        """One more frame: H × W × 3."""
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
        """Whether the camera takes any of it."""
        taken = [self._capture.set(setting, manual if off else before) for setting, before, manual in self._switches]
        return any(taken)

    @property
    def warnings(self) -> tuple[str, ...]:
        """In words, what is not held."""
        if self.held is False:
            return ("this camera's exposure and white balance cannot be held: see that the light does not change",)
        return ()


def _colour(image: Image) -> NDArray[np.float64]:
    """The mean of each channel, of every eighth pixel."""
    out: NDArray[np.float64] = image[::8, ::8].mean(axis=(0, 1), dtype=np.float64)
    return out


class UsbCamera:
    """A USB camera; implements `hardware.ports.Camera`.

    Such a camera does not tell its exposure, so a frame is taken to span a whole frame's time before its
    stamp: the driver's (Video4Linux stamps the buffer on ``CLOCK_MONOTONIC``, at the start or at the end of the frame),
    or, where that is no stamp of now, its arrival.
    """

    def __init__(
        self,
        device: int | str,
        *,
        fps: float = 30.0,
        size: tuple[int, int] = (1280, 720),
        clock: Clock = monotonic,
        capture: Any = None,
    ) -> None:
        """Open the camera and lock what can be locked.

        Args:
            device: number of ``/dev/video``, or a path: those under ``/dev/v4l/by-id`` stay the same when the cable is
                put into another socket.
            fps: wanted frames a second.
            size: wanted width and height, px. The camera may answer with another.
            clock: answers the present instant, ns.
            capture: stands for OpenCV's VideoCapture.

        Raises:
            HardwareMissing: no camera is there, or it cannot be opened.
        """
        os.environ.setdefault(*_READSECONDS)
        self.source = f"usb:{device}"
        self._clock = clock
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
        """What the camera gives."""
        notes = list(self._locks.warnings)
        if self._size is not None and self._size != self._asked:
            notes.append("the camera gives {}×{} px instead of {}×{}".format(*self._size, *self._asked))
        stamps = UNKNOWN if self._size is None else MONOTONIC if self._believed > 0 else ARRIVAL
        if stamps == ARRIVAL:
            notes.append("the driver's stamps are not of now: frames are told by their arrival")
        return CameraReport(
            self.source, self._asked, self._size, stamps, self._offset.ahead, self._offset.error, {}, tuple(notes)
        )

    def frames(self) -> Iterator[Frame]:
        """Yield frames until the camera stops answering, which raises `HardwareMissing`."""
        cv2 = opencv()
        index, last = 0, -1
        while True:
            there, image = self._capture.read()
            now = self._clock()
            if not there:
                raise HardwareMissing("the camera {source} stopped answering; look at its cable", source=self.source)
            stamp = round(float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) * MS)
            # By majority: the first frame may wait long for a slow machine, with a good stamp.
            self._believed += 1 if 0 <= now - stamp < SECOND else -1
            t = (stamp if self._believed > 0 and stamp <= now else now) - self._length
            t = max(t, last + 1)
            last = t
            frame = Frame(picture(image), t, self._length, index, self._length)
            self._locks.look(frame.image)
            if self._size is None:
                height, width, _ = frame.image.shape
                self._size = (width, height)
                if self._size != self._asked:
                    _log.warning("%s gives %s px instead of %s", self.source, self._size, self._asked)
            yield frame
            index += 1

    def close(self) -> None:
        """Let go of the camera."""
        self._capture.release()
