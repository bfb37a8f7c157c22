"""Geometry in a picture: quads of cards, upright patches of indices, rectified cards.

Points are pixels (x right, y down). An index is given by its centre and its up-vector, from the centre to the middle of
its top edge, so its height is twice the vector's length. A quad is (4, 2): top left, top right, bottom right, bottom
left in the index's orientation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]
Points = Floats
Quad = NDArray[np.float32]
"""The corners of a card, (4, 2) px; convex."""
PixelBox = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels; x1 and y1 are exclusive."""

#: The reader's patch: an index of `INDEX_H` px height in its middle, upright.
PATCH_W, PATCH_H, INDEX_H = 48, 64, 46
#: The card reader's crop: the card with a margin of `CROP_MARGIN` of its size on each side.
CROP_W, CROP_H, CROP_MARGIN = 64, 88, 0.09


# Patches and crops


def pyramid(image: Image, levels: int = 4) -> list[Image]:
    """Return the image and its halvings, each averaged, so that a patch can be cut without aliasing."""
    out = [image]
    for _ in range(levels - 1):
        h, w = out[-1].shape[:2]
        if min(h, w) < 64:
            break
        out.append(np.asarray(cv2.resize(out[-1], (w // 2, h // 2), interpolation=cv2.INTER_AREA), np.uint8))
    return out


def warp(levels: Sequence[Image], matrix: NDArray[Any], size: tuple[int, int], shrink: float) -> Image:
    """Cut a picture of ``size`` (width, height) px out of a `pyramid`.

    Args:
        levels: the pyramid.
        matrix: 2 x 3, from px of the cut to px of the picture.
        shrink: number of picture px per px of the cut.
    """
    level = int(np.clip(np.floor(np.log2(max(shrink, 1e-6)) + 0.35), 0, len(levels) - 1))
    m = np.asarray(matrix, np.float64).copy()
    if level:
        # Pixel centres: x at half size is (x + 0.5) / 2 - 0.5.
        k = 0.5**level
        m[:, :2] *= k
        m[:, 2] = (m[:, 2] + 0.5) * k - 0.5
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(levels[level], m, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def cut_patch(levels: Sequence[Image], centre: Points, up: Points, size: tuple[int, int] = (PATCH_W, PATCH_H)) -> Image:
    """Return the upright patch of an index, ``size`` (width, height) px about its centre; `levels` from `pyramid`."""
    ux, uy = float(up[0]), float(up[1])
    k = 2.0 * float(np.hypot(ux, uy)) / INDEX_H
    n = max(float(np.hypot(ux, uy)), 1e-6)
    ux, uy = ux / n, uy / n
    # Output x runs to the right of up, output y runs down.
    m = np.array([[-uy * k, -ux * k, 0.0], [ux * k, -uy * k, 0.0]])
    m[:, 2] = np.asarray(centre) - m[:, :2] @ np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    return warp(levels, m, size, k)


def card_frame(centre: Points, up: Points, right: Points) -> NDArray[np.float64]:
    """Return the 2×3 matrix from crop pixels to picture pixels for a card given by its centre and half axes."""
    grow = 1 + 2 * CROP_MARGIN
    m = np.zeros((2, 3))
    m[:, 0] = np.asarray(right) * grow * 2 / CROP_W
    m[:, 1] = -np.asarray(up) * grow * 2 / CROP_H
    m[:, 2] = np.asarray(centre) - m[:, :2] @ np.array([(CROP_W - 1) / 2, (CROP_H - 1) / 2])
    return m


def cut_card(
    levels: Sequence[Image], centre: Points, up: Points, right: Points, size: tuple[int, int] = (CROP_W, CROP_H)
) -> Image:
    """Return the rectified crop of a card; a larger ``size`` (width, height) px adds its surroundings."""
    m = card_frame(centre, up, right)
    m[:, 2] -= m[:, :2] @ np.array([(size[0] - CROP_W) / 2, (size[1] - CROP_H) / 2])
    return warp(levels, m, size, float(np.sqrt(abs(np.linalg.det(m[:, :2])))))


# Quads


def quad_of(centre: Points, up: Points, right: Points) -> Points:
    """Return the parallelogram of a card's centre and half axes."""
    c, u, r = np.asarray(centre), np.asarray(up), np.asarray(right)
    return np.stack([c + u - r, c + u + r, c - u + r, c - u - r])


def axes_of(quad: Points) -> tuple[Points, Points, Points]:
    """Return centre and half axes (up, right) of the parallelogram nearest to a quad."""
    q = np.asarray(quad, np.float64)
    return q.mean(0), (q[0] + q[1] - q[2] - q[3]) / 4, (q[1] + q[2] - q[0] - q[3]) / 4


def convex_quad(corners: Quad | Points) -> Quad:
    """Return the corners as a convex quad; the order is kept if they are convex already."""
    quad = np.ascontiguousarray(corners, np.float32).reshape(-1, 2)
    if cv2.isContourConvex(quad):
        return quad
    return np.asarray(cv2.convexHull(quad), np.float32).reshape(-1, 2)


def area(quad: Quad | Points) -> float:
    """Area of a quad, px²."""
    return float(abs(cv2.contourArea(np.asarray(quad, np.float32))))


def overlap(a: Points, b: Points) -> float:
    """Shared area of two convex quads over the smaller one's area, 0 to 1."""
    smaller = min(area(a), area(b))
    if smaller <= 0 or not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return 0.0
    shared, _ = cv2.intersectConvexConvex(np.asarray(a, np.float32), np.asarray(b, np.float32))
    return float(np.clip(shared / smaller, 0.0, 1.0))


def shared_area(one: Quad, other: Quad) -> float:
    """Return the area, px², that lies inside both."""
    if not (np.maximum(one.min(0), other.min(0)) <= np.minimum(one.max(0), other.max(0))).all():
        return 0.0
    found, _ = cv2.intersectConvexConvex(one, other)
    return max(0.0, float(found))


def iou(one: Quad, other: Quad) -> float:
    """Intersection over union, 0 to 1."""
    both = shared_area(one, other)
    return both / max(area(one) + area(other) - both, 1e-6)


def centre_of(quad: Quad) -> tuple[float, float]:
    """The mean of the corners."""
    x, y = quad.mean(0)
    return float(x), float(y)


def distance(one: Quad, other: Quad) -> float:
    """Return the distance between two quads' centres, px."""
    (x0, y0), (x1, y1) = centre_of(one), centre_of(other)
    return float(np.hypot(x0 - x1, y0 - y1))


def grown(quad: Quad, margin: float) -> Quad:
    """Return a quad with its corners moved outwards by about ``margin`` px."""
    out = quad - quad.mean(0)
    length = np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-6)
    return np.asarray(quad + out / length * margin * 1.4, np.float32)


def holds(quad: Quad, point: Sequence[float] | NDArray[np.float64]) -> bool:
    """Whether a point lies within a quad."""
    inside = cv2.pointPolygonTest(np.asarray(quad, np.float32), (float(point[0]), float(point[1])), False)
    return inside >= 0


def height_of(quad: Quad) -> float:
    """The longer side, px: a card's height."""
    sides = np.linalg.norm(quad - np.roll(quad, 1, axis=0), axis=1)
    return float(sides.max())


def most_moved(one: Quad, other: Quad) -> float:
    """Return the largest shift of a card's corner, px, modulo a half turn, which looks the same."""
    if one.shape != other.shape or len(one) != 4:
        return math.dist(centre_of(one), centre_of(other))
    return float(min(np.linalg.norm(one - np.roll(other, k, axis=0), axis=1).max() for k in range(4)))


def least_moved(one: Quad, other: Quad) -> float:
    """Return the smallest shift of a card's corner, px; of a covered card only one corner is known well."""
    if one.shape != other.shape or len(one) != 4:
        return math.dist(centre_of(one), centre_of(other))
    return float(min(np.linalg.norm(one - np.roll(other, k, axis=0), axis=1).min() for k in (0, 2)))


def moved_by(matrix: NDArray[np.float64], points: NDArray[np.floating]) -> Quad:
    """Return points (k, 2) after an affine map, 2 x 3."""
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2], np.float32)


def bounds(quads: list[Quad], margin: float, width: int, height: int) -> PixelBox:
    """Return the upright box round quads, widened by ``margin`` px and clipped to the picture."""
    points = np.concatenate(quads)
    x0, y0 = points.min(0) - margin
    x1, y1 = points.max(0) + margin
    return max(0, int(x0)), max(0, int(y0)), min(width, math.ceil(x1)), min(height, math.ceil(y1))
