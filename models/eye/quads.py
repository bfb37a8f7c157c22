"""Geometry of cards in a picture: convex quads of four corners in pixels, shape (4, 2)."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Quad = NDArray[np.float32]
Box = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels; the far ends are outside."""


def as_quad(corners: NDArray[np.float32] | NDArray[np.float64]) -> Quad:
    """The corners as a convex quad in float32, order kept where they are convex already."""
    quad = np.ascontiguousarray(corners, np.float32).reshape(-1, 2)
    if cv2.isContourConvex(quad):
        return quad
    return np.asarray(cv2.convexHull(quad), np.float32).reshape(-1, 2)


def area(quad: Quad) -> float:
    """Pixels inside."""
    return float(abs(cv2.contourArea(quad)))


def shared(one: Quad, other: Quad) -> float:
    """Pixels that lie inside both."""
    if not boxes_meet(one, other):
        return 0.0
    found, _ = cv2.intersectConvexConvex(one, other)
    return max(0.0, float(found))


def boxes_meet(one: Quad, other: Quad) -> bool:
    """Whether the upright boxes round two quads touch."""
    low, high = np.maximum(one.min(0), other.min(0)), np.minimum(one.max(0), other.max(0))
    return bool((low <= high).all())


def overlap(one: Quad, other: Quad) -> float:
    """Intersection over union, 0 to 1."""
    both = shared(one, other)
    return both / max(area(one) + area(other) - both, 1e-6)


def centre(quad: Quad) -> tuple[float, float]:
    """The mean of the corners."""
    x, y = quad.mean(0)
    return float(x), float(y)


def between(one: Quad, other: Quad) -> float:
    """How far apart two quads' centres are, px."""
    (x0, y0), (x1, y1) = centre(one), centre(other)
    return float(np.hypot(x0 - x1, y0 - y1))


def grown(quad: Quad, margin: float) -> Quad:
    """A quad with its corners pushed out from the middle by about ``margin`` px."""
    out = quad - quad.mean(0)
    length = np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-6)
    return np.asarray(quad + out / length * margin * 1.4, np.float32)


def height(quad: Quad) -> float:
    """The longer side, px: a card's height."""
    sides = np.linalg.norm(quad - np.roll(quad, 1, axis=0), axis=1)
    return float(sides.max())


def moved(one: Quad, other: Quad) -> float:
    """How far a card has moved, px: the worst corner, with the half turn that looks alike allowed for."""
    if one.shape != other.shape or len(one) != 4:
        return math.dist(centre(one), centre(other))
    turns = (np.linalg.norm(one - np.roll(other, k, axis=0), axis=1).max() for k in range(4))
    return float(min(turns))


def nearest_corner(one: Quad, other: Quad) -> float:
    """How far, px, the corner of a card moved that moved least; of a covered card only one corner is known well."""
    if one.shape != other.shape or len(one) != 4:
        return math.dist(centre(one), centre(other))
    turns = (np.linalg.norm(one - np.roll(other, k, axis=0), axis=1).min() for k in (0, 2))
    return float(min(turns))


def bounds(quads: list[Quad], margin: float, width: int, height_: int) -> Box:
    """The upright box round quads, widened by ``margin`` px and cut to the picture."""
    points = np.concatenate(quads)
    x0, y0 = points.min(0) - margin
    x1, y1 = points.max(0) + margin
    return max(0, int(x0)), max(0, int(y0)), min(width, math.ceil(x1)), min(height_, math.ceil(y1))
