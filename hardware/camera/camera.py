"""Cameras behind one port: a Pi's (`hardware.camera.pi_camera`), USB (`hardware.camera.usb`), network
(`hardware.camera.network`), recordings.

Every frame is a time span that starts at ``t``. Times of a recording count from its first frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hardware.camera.network import NetworkCamera
from hardware.camera.spec import NETWORK
from hardware.camera.usb import UsbCamera, opencv, picture
from hardware.ports import Camera, Frame, HardwareMissing
from referee.sentence import Sentence
from referee.units import MS, SECOND

_DEFAULT_FPS: Final = 15.0
"""Frames a second for a folder without a given rate."""
_PICTURES: Final = frozenset((".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm"))
_KNOWN: Final = Sentence(
    "picamera, usb:0, a stream's http:// or rtsp:// address, a video file, or a folder of numbered frames"
)


class FolderCamera:
    """A folder of frames, ordered by the last number in each name; implements `hardware.ports.Camera`."""

    def __init__(self, folder: Path, fps: float = _DEFAULT_FPS) -> None:
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
            raise HardwareMissing("there is no folder {folder}; name one that holds numbered frames", folder=folder)
        numbered = [
            (int(numbers[-1]), file)
            for file in folder.iterdir()
            if file.suffix.lower() in _PICTURES and (numbers := re.findall(r"\d+", file.stem))
        ]
        self.files = [file for _, file in sorted(numbered)]
        self._fps = fps
        if not self.files:
            raise HardwareMissing(
                "no numbered pictures in {folder}; frames are files such as frame_00001.png", folder=folder
            )

    def frames(self) -> Iterator[Frame]:
        """Yield each frame; raises `HardwareMissing` at a picture that is unreadable or differs in size."""
        length = round(SECOND / self._fps)
        first: tuple[int, int] | None = None
        for index, file in enumerate(self.files):
            image = opencv().imread(str(file))
            if image is None:
                raise HardwareMissing("{file} is no picture that can be read; remove it, or write it anew", file=file)
            height, width = image.shape[:2]
            first = first or (width, height)
            if (width, height) != first:
                raise HardwareMissing(
                    "{} is {}×{} px and those before it are {}×{}: name a folder with the pictures of one "
                    "camera, all of one size".format(file, width, height, *first)
                )
            yield Frame(picture(image), round(index * SECOND / self._fps), length, index)

    def close(self) -> None:
        """Do nothing: no file is held open."""


class VideoCamera:
    """A video file; implements `hardware.ports.Camera`."""

    def __init__(self, file: Path) -> None:
        """Open the file.

        Raises:
            HardwareMissing: there is no such file, or OpenCV cannot read it.
        """
        if not file.is_file():
            raise HardwareMissing("there is no video {file}", file=file)
        self._file = file
        self._capture = opencv().VideoCapture(str(file))
        if not self._capture.isOpened():
            raise HardwareMissing("{file} is no video that OpenCV can read; convert it to MP4 or AVI", file=file)

    def frames(self) -> Iterator[Frame]:
        """Yield each frame, with the file's own times if it has them; raises `HardwareMissing` if there is none."""
        cv2 = opencv()
        fps = float(self._capture.get(cv2.CAP_PROP_FPS))
        length = round(SECOND / fps) if 1 <= fps <= 1000 else round(SECOND / _DEFAULT_FPS)
        first, last = 0, -1
        index = 0
        while True:
            there, image = self._capture.read()
            if not there:
                break
            told = round(float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) * MS)
            if index == 0:
                first = told
            # Some containers give no times, or repeat one: then use the nominal rate.
            t = told - first if told - first > last else last + length
            last = t
            yield Frame(picture(image), t, length, index)
            index += 1
        if index == 0:
            raise HardwareMissing("{file} holds no picture; it may be torn", file=self._file)

    def close(self) -> None:
        """Release the file."""
        self._capture.release()


def open_camera(
    source: str,
    *,
    fps: float | None = None,
    size: Sequence[int] | None = None,
    delay_ms: float | None = None,
    **look: Any,
) -> Camera:
    """Open the camera that ``source`` names, in this process; `hardware.camera.remote` uses a separate process.

    Args:
        source: ``picamera``, ``usb:N``, ``usb:/dev/v4l/by-id/...``, a stream's ``http://``, ``https://`` or ``rtsp://``
            address, a video file, a folder of numbered frames, or ``twin`` (a simulated Pi camera, see
            `hardware.simulated.devices.simulated_picamera`).
        fps: frames a second: of a folder, or the requested rate of a camera.
        size: requested width and height of a camera's picture, px.
        delay_ms: measured delay of a network camera's pictures; None if not measured.
        look: further fields of `hardware.camera.pi_camera.PiCameraSettings`, for the Pi's camera and its twin; other
            cameras accept none. None keeps the default.

    Raises:
        HardwareMissing: it is missing, or ``source`` names nothing; the message says what to do.
    """
    wanted = None if size is None else (int(size[0]), int(size[1]))
    if source == "picamera":
        from hardware.camera.pi_camera import PiCamera, PiCameraSettings

        return PiCamera(PiCameraSettings().changed(fps=fps, size=wanted, **look))
    if source.partition(":")[0] == "twin":
        from hardware.simulated.devices.simulated_picamera import open_twin

        return open_twin(source, fps=fps, size=wanted, **look)
    usb = re.fullmatch(r"usb:(\d+|/.+)", source)
    if usb:
        return UsbCamera(usb[1], fps=fps or 30.0, size=wanted or (1280, 720))
    if source.partition("://")[0] in NETWORK and "://" in source:
        return NetworkCamera(source, delay_ms=delay_ms)
    path = Path(source)
    if path.is_dir():
        return FolderCamera(path, _DEFAULT_FPS if fps is None else fps)
    if path.exists():
        return VideoCamera(path)
    raise HardwareMissing("there is no camera {source}: name {known}", source=repr(source), known=_KNOWN)
