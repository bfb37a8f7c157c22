"""Two pictures compared pixel by pixel: where they differ, and whether only the light does."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Mask = NDArray[np.uint8]
"""0 or 255."""


def peak(one: Bytes, other: Bytes, level: int) -> Mask:
    """Where two pictures differ by more than ``level`` in any channel."""
    b, g, r = cv2.split(cv2.absdiff(one, other))
    worst = cv2.max(cv2.max(b, g), r)
    return np.asarray(cv2.threshold(worst, level, 255, cv2.THRESH_BINARY)[1], np.uint8)


def gains(before: Bytes, now: Bytes) -> NDArray[np.float64]:
    """By how much blue, green and red have become brighter, most of the picture."""
    ratios = (now.reshape(-1, 3) + 1.0) / (before.reshape(-1, 3) + 1.0)
    return np.asarray(np.median(ratios, axis=0), np.float64)


def scaled(picture: Bytes, light: NDArray[np.float64]) -> Bytes:
    """The picture in another light; ``light`` is its `gains` against the present one."""
    return np.asarray(np.clip(picture * light + 0.5, 0, 255), np.uint8)
