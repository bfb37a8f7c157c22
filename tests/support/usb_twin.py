"""A twin of OpenCV's ``VideoCapture`` on a USB camera, whose cable a file pulls out and puts in again.

Of the faults of `hardware.simulated.devices.camera_faults` it knows: ``absent`` (it does not open), ``silent`` (the
cable is out: a read fails), ``stuck`` (a read never returns, and no signal ends it), ``unlocked`` (the picture
changes when its automatic controls are switched off), ``size``, ``dark`` and ``unstamped``.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hardware.camera.usb import UsbCamera
from hardware.clock import Clock, monotonic
from hardware.ports import Image
from hardware.simulated.devices.camera_faults import Faults
from hardware.simulated.devices.simulated_picamera import Pause


class SimulatedCapture:
    """Reads at an even pace."""

    def __init__(self, faults: Faults, *, clock: Clock = monotonic, pause: Pause | None = None) -> None:
        self._faults, self._clock = faults, clock
        self._pause: Pause = pause or threading.Event().wait
        self._settings: dict[int, float] = {cv2.CAP_PROP_AUTO_EXPOSURE: 3.0, cv2.CAP_PROP_AUTO_WB: 1.0}
        self._number = 0
        self._stamp = 0
        self._open = "absent" not in faults.at(-1)

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        """Whether there is a camera."""
        return self._open

    def set(self, setting: int, value: float) -> bool:
        """Ask for a setting."""
        self._settings[setting] = value
        return True

    def get(self, setting: int) -> float:
        """Return a setting, or the driver's stamp of the last picture, ms."""
        if setting == cv2.CAP_PROP_POS_MSEC:
            return 0.0 if "unstamped" in self._faults.at(self._number) else self._stamp / 1e6
        return self._settings.get(setting, 0.0)

    def read(self) -> tuple[bool, Image | None]:
        """Return the next picture; False when the camera is gone."""
        now = self._faults.at(self._number)
        while "stuck" in now:
            # A wait in the kernel for a device that does not answer: not even a signal ends it.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            ctypes.CDLL(None).sleep(3600)
        if now & {"silent", "absent"}:
            return False, None
        self._pause(1 / self._settings.get(cv2.CAP_PROP_FPS, 30.0))
        self._stamp = self._clock()
        self._number += 1
        part = 2 if "size" in now else 1
        sides = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
        width, height = (int(self._settings[side]) // part for side in sides)
        return True, self._paint(now, (height, width, 3))

    def _paint(self, now: frozenset[str], shape: tuple[int, int, int]) -> Image:
        """Paint it grey, with its number in the upper left corner."""
        if "dark" in now:
            return np.zeros(shape, np.uint8)
        jumped = "unlocked" in now and self._settings.get(cv2.CAP_PROP_AUTO_EXPOSURE) == 1.0
        image = np.full(shape, 60 if jumped else 120, np.uint8)
        image[0, :4] = self._number % 256
        return image

    def release(self) -> None:
        """Release the device."""
        self._open = False


def open_usb(switch: str, size: Any = (64, 48), fps: float = 100.0) -> UsbCamera:
    """Open the USB camera's real shell over a camera that fails as the file ``switch`` says.

    Raises:
        HardwareMissing: it is not there just now.
    """
    capture = SimulatedCapture(Faults(switch=Path(switch)))
    return UsbCamera(0, fps=fps, size=(int(size[0]), int(size[1])), capture=capture)
