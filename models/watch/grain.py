"""A table's grain: the fine detail of its picture, which stays in place in any light."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.watch.measure import PART

Grain = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The grain, and a mask that is 1 where it belongs to the table and 0 elsewhere; both reduced."""


def grain_of(picture: Image, seen: NDArray[np.bool_]) -> Grain:
    """Return the grain of a reduced picture (rows x columns x 3) where the table is seen (rows x columns)."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
    grain = cv2.GaussianBlur(grey, (0, 0), 1.0) - cv2.GaussianBlur(grey, (0, 0), 4.0)
    there = seen.astype(np.float32)
    return np.asarray(np.clip(grain, -6, 6) * there, np.float32), there


def likeness(one: Grain, other: Grain) -> float:
    """Return the correlation of two grains where both are table, -1 to 1; 0 if they overlap too little."""
    both = one[1] * other[1]
    if both.mean() < PART:
        return 0.0
    a, b = one[0] * both, other[0] * both
    return float((a * b).sum() / max(1e-6, float(np.linalg.norm(a)) * float(np.linalg.norm(b))))
