"""OpenCV, loaded where a frame is wanted and not before: its import takes a tenth of a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from hardware.ports import HardwareMissing, Image


def opencv() -> Any:
    """The module; raises `HardwareMissing`, saying what to install."""
    try:
        import cv2
    except ImportError as missing:
        raise HardwareMissing(
            f"OpenCV cannot be loaded ({missing}); pip install opencv-python, and apt install libgl1 libglib2.0-0"
        ) from missing
    return cv2


def picture(image: Any) -> Image:
    """Three channels, 8 bits, contiguous."""
    return np.ascontiguousarray(image, dtype=np.uint8)
