"""Blends pictures over pictures: premultiplied colours, shadows, and motion blur."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.canvas import Bytes

Matrix = NDArray[np.float64]


def moved_by(dx: float, dy: float) -> Matrix:
    """Return the matrix that moves a picture by (dx, dy) px."""
    return np.array([[1, 0, dx], [0, 1, dy], [0, 0, 1.0]])


def over(ground: Bytes, top: Bytes) -> None:
    """Lay a premultiplied BGRA picture over a BGR one of the same size, in place."""
    b, g, r, a = cv2.split(top)
    clear = cv2.bitwise_not(a)
    thinned = cv2.multiply(ground, cv2.merge((clear, clear, clear)), scale=1 / 255)
    cv2.add(thinned, cv2.merge((b, g, r)), dst=thinned)
    ground[:] = thinned


def darken(ground: Bytes, shade: Bytes) -> None:
    """Reduce the light by ``shade``, 0 to 255, in place."""
    clear = cv2.bitwise_not(shade)
    ground[:] = cv2.multiply(ground, cv2.merge((clear, clear, clear)), scale=1 / 255)


def smear(picture: Bytes, dx: float, dy: float) -> Bytes:
    """Blur along a motion of (dx, dy) px by averaging with shifted copies."""
    height, width = picture.shape[:2]
    while max(abs(dx), abs(dy)) >= 1.5:
        dx, dy = dx / 2, dy / 2
        x, y = round(dx), round(dy)
        if abs(x) >= width or abs(y) >= height:
            continue
        to = np.s_[max(0, y) : height + min(0, y), max(0, x) : width + min(0, x)]
        of = np.s_[max(0, -y) : height - max(0, y), max(0, -x) : width - max(0, x)]
        blurred = picture.copy()
        blurred[to] = cv2.addWeighted(picture[to], 0.5, picture[of], 0.5, 0)
        picture = blurred
    return picture


def stamp(frame: Bytes, sprite: Bytes, matrix: Matrix, motion: tuple[float, float] = (0.0, 0.0)) -> None:
    """Place a picture (BGRA over the frame) or a shadow (one channel) by a matrix."""
    height, width = sprite.shape[:2]
    corners = matrix @ np.array([[0, width, width, 0], [0, 0, height, height], [1, 1, 1, 1.0]])
    xs, ys = corners[0] / corners[2], corners[1] / corners[2]
    pad = 2 + int(max(abs(motion[0]), abs(motion[1])))
    x0, y0 = max(0, int(xs.min()) - pad), max(0, int(ys.min()) - pad)
    x1, y1 = min(frame.shape[1], int(xs.max()) + pad + 1), min(frame.shape[0], int(ys.max()) + pad + 1)
    if x0 >= x1 or y0 >= y1:
        return
    moved = moved_by(-x0, -y0) @ matrix
    size = (x1 - x0, y1 - y0)
    if moved[2, 0] == 0 and moved[2, 1] == 0:
        warped = cv2.warpAffine(sprite, moved[:2], size, flags=cv2.INTER_LINEAR)
    else:
        warped = cv2.warpPerspective(sprite, moved, size, flags=cv2.INTER_LINEAR)
    spot = frame[y0:y1, x0:x1]
    if warped.ndim == 2:
        darken(spot, warped)
    else:
        over(spot, smear(warped, *motion))
