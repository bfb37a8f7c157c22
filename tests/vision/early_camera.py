"""A camera that reports the loading state of its process, and parts of an eye that fail; imports no OpenCV."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from hardware.ports import Camera, HardwareMissing
from referee.errors import UserError
from referee.vision.sight import Watching

_opened = threading.Event()


def open_early(told: Callable[[str], None]) -> Camera:
    """Fail to open; the words say whether OpenCV had been loaded by then."""
    loaded = "cv2" in sys.modules
    _opened.set()
    raise HardwareMissing("OpenCV is loaded" if loaded else "OpenCV is not loaded")


def await_camera() -> Watching:
    """Load only after the camera is opened."""
    _opened.wait(60)
    return _Nothing()


def fail() -> Watching:
    """Raise an unforeseen fault."""
    raise ZeroDivisionError("of nothing")


def miss_weights() -> Watching:
    """Raise an error that people can mend."""
    raise UserError("the weights are not there: run `make install`")


class _Nothing:
    watermark = -1

    def recall(self, foresight: Any) -> None: ...

    def feed(self, image: Any, t: int, t_error: int) -> list[Any]:
        return []

    def finish(self) -> list[Any]:
        return []
