"""The frames of a sequence as another camera or lamp would give them: `judge --camera`.

A sequence shows one camera that exposes well and knows its lamp. Tables have others, and a watcher that takes levels
and sizes for granted fails on their instants before it loses a card.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import Image

Camera = Callable[[Image], Image]
"""Converts a frame, H x W x 3, B,G,R, to another camera's; its size may change."""


def _of_size(share: float) -> Camera:
    return lambda image: np.asarray(cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8)


def _of_colour(*shares: float) -> Camera:
    """Scale blue, green and red by these factors."""
    return lambda image: np.clip(image * np.array(shares), 0, 255).astype(np.uint8)


def _of_curve(exponent: float) -> Camera:
    curve = (np.power(np.arange(256) / 255, exponent) * 255).astype(np.uint8)
    return lambda image: np.asarray(cv2.LUT(image, curve), np.uint8)


def _compressed(image: Image) -> Image:
    """Compress as JPEG, as a cheap webcam does."""
    return np.asarray(cv2.imdecode(cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, 30))[1], 1), np.uint8)


OTHER_CAMERAS: Final[dict[str, Camera]] = {
    "half-size": _of_size(0.5),
    "large": _of_size(1.5),
    "warm": _of_colour(0.55, 0.85, 1.1),
    "cold": _of_colour(1.15, 0.95, 0.75),
    "dim": _of_colour(0.5, 0.5, 0.5),
    "bright": _of_colour(1.3, 1.3, 1.3),
    "flat": _of_curve(0.6),
    "steep": _of_curve(1.6),
    "soft": lambda image: np.asarray(cv2.GaussianBlur(image, (0, 0), 1.2), np.uint8),
    "compressed": _compressed,
}
