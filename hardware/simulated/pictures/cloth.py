"""The table's cloth and the light on it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.canvas import Bytes

Floats = NDArray[np.float32]
_CLOTHS = ((58, 104, 46), (112, 74, 40), (52, 46, 104), (96, 100, 98), (70, 92, 118), (60, 62, 60))
"""Green, blue and wine felt, grey linen, oak-brown, slate; blue, green, red."""


def light(width: int, height: int, seed: int) -> Floats:
    """Brightness over the picture, about 1: a lamp to one side, and darker corners."""
    chance = np.random.default_rng((seed, 11))
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    xs, ys = (xs / width - 0.5) * 2, (ys / height - 0.5) * 2
    slope = chance.uniform(0.04, 0.12)
    falloff = 1 - 0.11 * (xs * xs + ys * ys)
    return np.asarray((1 - slope * (0.7 * xs + 0.7 * ys)) * falloff, dtype=np.float32)


def cloth(width: int, height: int, scale: float, seed: int) -> Bytes:
    """The bare table at ``scale`` px/mm: H x W x 3, blue first."""
    chance = np.random.default_rng((seed, 12))
    base = np.array(_CLOTHS[int(chance.integers(len(_CLOTHS)))], np.float32)
    shade = np.ones((height, width), np.float32)
    for cell, depth in ((120.0, 0.035), (24.0, 0.02), (4.0, 0.02), (0.8, 0.035)):
        rows, columns = max(2, int(height / (cell * scale))), max(2, int(width / (cell * scale)))
        small = chance.standard_normal((rows, columns)).astype(np.float32)
        shade += depth * cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32) / scale
    shade += 0.014 * (np.sin(xs * 5.1 + 0.4 * np.sin(ys * 0.11)) + np.sin(ys * 4.7 + 0.5 * np.sin(xs * 0.09)))
    tint = 1 + 0.02 * cv2.resize(
        chance.standard_normal((6, 8, 3)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC
    )
    return np.asarray(np.clip(base * shade[..., None] * tint, 0, 255), dtype=np.uint8)
