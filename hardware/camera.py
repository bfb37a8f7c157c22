"""Cameras behind one port: a Pi's (see `hardware.picamera`), a USB camera, a video file, a folder of frames.

Every frame is a span of time that starts at ``t``. Times of a recording count from its first frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from hardware.clock import Clock, monotonic
from hardware.ports import Camera, Frame, HardwareMissing, Image

DEFAULT_FPS: Final = 15.0
"""Of a folder whose rate nobody told, frames a second."""
_SECOND: Final = 1_000_000_000
_PICTURES: Final = frozenset((".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm"))
_KNOWN: Final = "picamera, usb:0, a video file, or a folder of numbered frames"


class FolderCamera:
    """A folder of frames, in the order of the last number in each name; implements `hardware.ports.Camera`."""

    def __init__(self, folder: Path, fps: float = DEFAULT_FPS) -> None:
        """List the frames; nothing is read yet.

        Args:
            folder: holds pictures with numbered names, such as ``frame_00001.jpg``.
            fps: frames a second.

        Raises:
            HardwareMissing: there is no such folder, or no numbered picture in it.
            ValueError: ``fps`` is not positive.
        """
        if not fps > 0:
            raise ValueError(f"frames a second must be more than 0, not {fps}")
        if not folder.is_dir():
            raise HardwareMissing(f"there is no folder {folder}; name one that holds numbered frames")
        numbered = [(_number(file), file) for file in folder.iterdir() if file.suffix.lower() in _PICTURES]
        self.files = [file for at, file in sorted(numbered) if at >= 0]
        self._fps = fps
        if not self.files:
            raise HardwareMissing(f"no numbered pictures in {folder}; frames are files such as frame_00001.png")

    def frames(self) -> Iterator[Frame]:
        """Yield each frame; raises `HardwareMissing` at a picture that cannot be read."""
        length = round(_SECOND / self._fps)
        for index, file in enumerate(self.files):
            image = _cv2().imread(str(file))
            if image is None:
                raise HardwareMissing(f"{file} is no picture that can be read; remove it, or write it anew")
            yield Frame(_picture(image), round(index * _SECOND / self._fps), length, index)

    def close(self) -> None:
        """Nothing is held open."""


class VideoCamera:
    """A video file; implements `hardware.ports.Camera`."""

    def __init__(self, file: Path) -> None:
        """Open the file.

        Raises:
            HardwareMissing: no such file, or none that OpenCV can read.
        """
        if not file.is_file():
            raise HardwareMissing(f"there is no video {file}")
        self._file = file
        self._capture = _cv2().VideoCapture(str(file))
        if not self._capture.isOpened():
            raise HardwareMissing(f"{file} is no video that OpenCV can read; convert it to MP4 or AVI")

    def frames(self) -> Iterator[Frame]:
        """Yield each frame, by the file's own times where it tells them; raises `HardwareMissing` if there is
        none.
        """
        cv2 = _cv2()
        fps = float(self._capture.get(cv2.CAP_PROP_FPS))
        length = round(_SECOND / fps) if 1 <= fps <= 1000 else round(_SECOND / DEFAULT_FPS)
        first, last = 0, -1
        index = 0
        while True:
            there, image = self._capture.read()
            if not there:
                break
            told = round(float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) * 1_000_000)
            if index == 0:
                first = told
            # Some containers tell no times, or the same one again: then the nominal rate must do.
            t = told - first if told - first > last else last + length
            last = t
            yield Frame(_picture(image), t, length, index)
            index += 1
        if index == 0:
            raise HardwareMissing(f"{self._file} holds no picture; it may be torn")

    def close(self) -> None:
        """Let go of the file."""
        self._capture.release()


class UsbCamera:
    """A USB camera through OpenCV; implements `hardware.ports.Camera`.

    Such a camera does not tell its exposure, so a frame is taken to span a whole frame's time before its
    stamp: the driver's (Video4Linux stamps the buffer on ``CLOCK_MONOTONIC``), or, where that is no stamp of
    now, its arrival.
    """

    def __init__(
        self,
        number: int,
        *,
        fps: float = 30.0,
        size: tuple[int, int] = (1280, 720),
        clock: Clock = monotonic,
        capture: Any = None,
    ) -> None:
        """Open the camera and lock what can be locked.

        Args:
            number: of ``/dev/video``.
            fps: wanted frames a second.
            size: wanted width and height, px. The camera may answer with another.
            clock: answers the present instant, ns.
            capture: stands for OpenCV's VideoCapture.

        Raises:
            HardwareMissing: no camera has that number, or it cannot be opened.
        """
        cv2 = _cv2()
        self._number = number
        self._clock = clock
        self._capture = cv2.VideoCapture(number) if capture is None else capture
        if not self._capture.isOpened():
            raise HardwareMissing(
                f"no camera answers at usb:{number}; plug one in, or put your user into the group video "
                "(sudo usermod -aG video $USER, then log in again)"
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
        self._length = round(_SECOND / (told if 1 <= told <= 1000 else fps))

    def frames(self) -> Iterator[Frame]:
        """Yield frames until the camera stops answering, which raises `HardwareMissing`."""
        cv2 = _cv2()
        index, last = 0, -1
        while True:
            there, image = self._capture.read()
            now = self._clock()
            if not there:
                raise HardwareMissing(f"the camera usb:{self._number} stopped answering; look at its cable")
            stamp = round(float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) * 1_000_000)
            t = (stamp if 0 <= now - stamp < _SECOND else now) - self._length
            t = max(t, last + 1)
            last = t
            yield Frame(_picture(image), t, self._length, index)
            index += 1

    def close(self) -> None:
        """Let go of the camera."""
        self._capture.release()


def open_camera(spec: str, *, fps: float | None = None, size: tuple[int, int] | None = None) -> Camera:
    """The camera that ``spec`` names.

    Args:
        spec: ``picamera``, ``usb:N``, a video file, or a folder of numbered frames.
        fps: frames a second: of a folder, or wanted of a camera.
        size: wanted width and height of a camera's picture, px.

    Raises:
        HardwareMissing: it is not there, or ``spec`` names nothing; the message says what to do.
    """
    if spec == "picamera":
        from hardware.picamera import PiCamera, Settings

        settings = Settings()
        return PiCamera(settings.changed(fps=fps, size=size))
    usb = re.fullmatch(r"usb:(\d+)", spec)
    if usb:
        return UsbCamera(int(usb[1]), fps=fps or 30.0, size=size or (1280, 720))
    path = Path(spec)
    if path.is_dir():
        return FolderCamera(path, DEFAULT_FPS if fps is None else fps)
    if path.exists():
        return VideoCamera(path)
    raise HardwareMissing(f"there is no camera {spec!r}: name {_KNOWN}")


def _number(file: Path) -> int:
    """The last number in a file's name; -1 if it has none."""
    found = re.findall(r"\d+", file.stem)
    return int(found[-1]) if found else -1


def _picture(image: Any) -> Image:
    """Three channels, 8 bits, contiguous."""
    return np.ascontiguousarray(image, dtype=np.uint8)


def _cv2() -> Any:
    # OpenCV takes a tenth of a second to import: only where a frame is wanted.
    try:
        import cv2
    except ImportError as missing:
        raise HardwareMissing(
            f"OpenCV cannot be loaded ({missing}); pip install opencv-python, and apt install libgl1 libglib2.0-0"
        ) from missing
    return cv2
