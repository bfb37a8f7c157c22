"""Where things lie in a picture: upright patches of indices, rectified cards, overlap of quads.

Points are pixels (x right, y down). An index is given by its centre and its up-vector, from the centre to the middle
of its top edge, so its height is twice the vector's length. A quad is (4, 2): top left, top right, bottom right,
bottom left as the index stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Points = NDArray[np.float64]

#: The reader's patch: an index of `INDEX_H` px height in the middle, upright.
PATCH_W, PATCH_H, INDEX_H = 48, 64, 46
#: The card reader's crop: the card with a margin of `MARGIN` of its size on each side.
CROP_W, CROP_H, MARGIN = 64, 88, 0.09


def pyramid(image: Image, levels: int = 4) -> list[Image]:
    """The image and its halvings, each averaged, so that a patch can be cut without aliasing."""
    out = [image]
    for _ in range(levels - 1):
        h, w = out[-1].shape[:2]
        if min(h, w) < 64:
            break
        out.append(np.asarray(cv2.resize(out[-1], (w // 2, h // 2), interpolation=cv2.INTER_AREA), np.uint8))
    return out


def _level(levels: Sequence[Image], shrink: float) -> int:
    """The pyramid level to cut from where one output pixel spans `shrink` input pixels."""
    return int(np.clip(np.floor(np.log2(max(shrink, 1e-6)) + 0.35), 0, len(levels) - 1))


def _warp(levels: Sequence[Image], matrix: NDArray[Any], size: tuple[int, int], shrink: float) -> Image:
    """Cut through `matrix` (output px to picture px, 2×3)."""
    level = _level(levels, shrink)
    m = np.asarray(matrix, np.float64).copy()
    if level:
        # Pixel centres: x at half size is (x + 0.5) / 2 - 0.5.
        k = 0.5**level
        m[:, :2] *= k
        m[:, 2] = (m[:, 2] + 0.5) * k - 0.5
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(levels[level], m, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def cut_patch(levels: Sequence[Image], centre: Points, up: Points, size: tuple[int, int] = (PATCH_W, PATCH_H)) -> Image:
    """The upright patch of an index, ``size`` (width, height) px about its centre; `levels` from `pyramid`."""
    ux, uy = float(up[0]), float(up[1])
    k = 2.0 * float(np.hypot(ux, uy)) / INDEX_H
    n = max(float(np.hypot(ux, uy)), 1e-6)
    ux, uy = ux / n, uy / n
    # Output x runs to the right of up, output y runs down.
    m = np.array([[-uy * k, -ux * k, 0.0], [ux * k, -uy * k, 0.0]])
    m[:, 2] = np.asarray(centre) - m[:, :2] @ np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    return _warp(levels, m, size, k)


def card_frame(centre: Points, up: Points, right: Points) -> NDArray[np.float64]:
    """2×3 matrix from crop pixels to picture pixels, for a card given by its centre and its half axes."""
    grow = 1 + 2 * MARGIN
    m = np.zeros((2, 3))
    m[:, 0] = np.asarray(right) * grow * 2 / CROP_W
    m[:, 1] = -np.asarray(up) * grow * 2 / CROP_H
    m[:, 2] = np.asarray(centre) - m[:, :2] @ np.array([(CROP_W - 1) / 2, (CROP_H - 1) / 2])
    return m


def cut_card(levels: Sequence[Image], centre: Points, up: Points, right: Points) -> Image:
    """The rectified crop (CROP_H, CROP_W, 3) of a card."""
    m = card_frame(centre, up, right)
    shrink = float(np.sqrt(abs(np.linalg.det(m[:, :2]))))
    return _warp(levels, m, (CROP_W, CROP_H), shrink)


def quad_of(centre: Points, up: Points, right: Points) -> Points:
    """The parallelogram of a card's centre and half axes."""
    c, u, r = np.asarray(centre), np.asarray(up), np.asarray(right)
    return np.stack([c + u - r, c + u + r, c - u + r, c - u - r])


def axes_of(quad: Points) -> tuple[Points, Points, Points]:
    """Centre and half axes (up, right) of the parallelogram nearest to a quad."""
    q = np.asarray(quad, np.float64)
    return q.mean(0), (q[0] + q[1] - q[2] - q[3]) / 4, (q[1] + q[2] - q[0] - q[3]) / 4


def area(quad: Points) -> float:
    """Area of a quad, px²."""
    return float(abs(cv2.contourArea(np.asarray(quad, np.float32))))


def overlap(a: Points, b: Points) -> float:
    """Shared area of two convex quads over the smaller one's area, 0 to 1."""
    smaller = min(area(a), area(b))
    if smaller <= 0 or not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return 0.0
    shared, _ = cv2.intersectConvexConvex(np.asarray(a, np.float32), np.asarray(b, np.float32))
    return float(np.clip(shared / smaller, 0.0, 1.0))
