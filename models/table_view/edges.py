"""Edges between light and dark at sub-pixel accuracy: where they run, and over how many pixels they spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import Floats, Image

_STEP: Final = 0.25
"""Pixels between the samples of a profile."""
_ALONG: Final = (0.22, 0.78)
"""The part of a side that is examined: corners of cards are round."""
_LEAST_CONTRAST: Final = 25.0
"""Least difference in grey levels between the two sides of an edge."""
_OFF_LINE: Final = 1.5
"""Distance, px, from the line beyond which a point does not belong to the edge."""


def _profiles(grey: Image, start: Floats, end: Floats, reach: float, count: int) -> Floats:
    """Return grey levels across the segment from ``start`` to ``end`` (px): (count, samples), from left to right.

    Left and right in the direction of the segment, in a picture whose y points down; ``reach`` px to either side.
    """
    along = end - start
    normal = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-9)
    offsets = np.arange(-reach, reach + _STEP / 2, _STEP)
    at = start + np.linspace(*_ALONG, count)[:, None] * along
    places = at[:, None, :] + offsets[None, :, None] * normal
    xs, ys = places[..., 0].astype(np.float32), places[..., 1].astype(np.float32)
    return np.asarray(cv2.remap(grey, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float64)


def _crossings(levels: Floats, reach: float) -> Floats:
    """Return the steepest place of each profile, (count,), px from the segment; NaN if there is no clear edge."""
    smooth = cv2.GaussianBlur(levels, (0, 0), sigmaX=0.7 / _STEP, sigmaY=0.8)
    slope = np.abs(np.gradient(smooth, axis=1))
    best = slope.argmax(axis=1)
    out = np.full(len(levels), np.nan)
    wide = round(1.5 / _STEP)
    for row, peak in enumerate(best):
        low, high = max(0, peak - wide), min(slope.shape[1], peak + wide + 1)
        weight = slope[row, low:high]
        contrast = abs(float(smooth[row, high - 1] - smooth[row, low]))
        if contrast >= _LEAST_CONTRAST and wide <= peak < slope.shape[1] - wide:
            out[row] = (weight * np.arange(low, high)).sum() / weight.sum() * _STEP - reach
    return out


def _line(places: Floats) -> tuple[Floats, Floats] | None:
    """Return a point and a direction of the line through most of (n, 2) places."""
    for _ in range(4):
        if len(places) < 6:
            return None
        middle = places.mean(axis=0)
        _, _, axes = np.linalg.svd(places - middle, full_matrices=False)
        off = np.abs((places - middle) @ axes[1])
        keep = off <= max(_OFF_LINE / 4, 2.5 * float(np.median(off)))
        if keep.all():
            break
        places = places[keep]
    return middle, axes[0]


def _refined_side(grey: Image, start: Floats, end: Floats, reach: float) -> tuple[Floats, Floats] | None:
    """Return the line (a point and a direction, px) of an edge near a segment; None if it cannot be followed."""
    count = max(12, min(60, int(np.linalg.norm(end - start) / 3)))
    off = _crossings(_profiles(grey, start, end, reach, count), reach)
    along = end - start
    normal = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-9)
    places = start + np.linspace(*_ALONG, count)[:, None] * along + off[:, None] * normal
    there = places[~np.isnan(off)]
    if len(there) < count / 2:
        return None
    middle = np.median(off[~np.isnan(off)])
    return _line(there[np.abs(off[~np.isnan(off)] - middle) < max(_OFF_LINE, reach / 2)])


def _meeting(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats | None:
    matrix = np.stack([one[1], -other[1]], axis=1)
    if abs(np.linalg.det(matrix)) < 0.2:
        return None
    share = np.linalg.solve(matrix, other[0] - one[0])
    return np.asarray(one[0] + share[0] * one[1], np.float64)


def refined_corners(grey: Image, quad: Floats, reach: float) -> Floats | None:
    """Return the corners (4, 2) at which a card's edges would meet without rounding; None if one is not seen.

    Args:
        grey: H x W.
        quad: (4, 2) px, no farther than ``reach`` px from the truth.
    """
    sides = [_refined_side(grey, quad[k], quad[(k + 1) % 4], reach) for k in range(4)]
    if any(side is None for side in sides):
        return None
    corners = [_meeting(sides[k - 1], sides[k]) for k in range(4)]  # type: ignore[arg-type]
    if any(c is None or np.linalg.norm(c - quad[k]) > 2 * reach for k, c in enumerate(corners)):
        return None
    return np.stack([c for c in corners if c is not None])


def spread(grey: Image, start: Floats, end: Floats, reach: float) -> float | None:
    """Return the pixels over which an edge rises from 10 to 90 % of its height (ISO 12233: rise distance).

    None if there is no clear edge. The profiles are aligned by the edge's line, so that its direction and noise matter
    little.
    """
    line = _refined_side(grey, start, end, reach)
    if line is None:
        return None
    point, way = line
    way = way if way @ (end - start) > 0 else -way
    a, b = (point + ((p - point) @ way) * way for p in (start, end))
    mean = _profiles(grey, a, b, reach, max(12, int(np.linalg.norm(b - a) / 1.5))).mean(axis=0)
    mean = mean if mean[-1] >= mean[0] else mean[::-1]
    low, high = (float(np.median(part)) for part in (mean[: len(mean) // 6], mean[-(len(mean) // 6) :]))
    if high - low < _LEAST_CONTRAST:
        return None
    share = (mean - low) / (high - low)
    middle = int(np.abs(share - 0.5).argmin())
    return _first(share[middle:], 0.9) + _first(1 - share[middle::-1], 0.9)


def _first(share: Floats, level: float) -> float:
    """Return the distance, px, at which a profile reaches a level; its length if it never does."""
    above = np.flatnonzero(share >= level)
    if not len(above):
        return len(share) * _STEP
    k = int(above[0])
    if k == 0:
        return 0.0
    before, at = float(share[k - 1]), float(share[k])
    return (k - 1 + (level - before) / max(at - before, 1e-9)) * _STEP


def spreads(grey: Image, sides: Sequence[tuple[Floats, Floats]], reach: float) -> Floats:
    """Return the spread of each side whose edge could be followed, px."""
    found = (spread(grey, start, end, reach) for start, end in sides)
    return np.array([width for width in found if width is not None])


def softness(grey: Image) -> float:
    """Return roughly the spread, px, of the picture's hardest edges, for unknown content."""
    smooth = cv2.GaussianBlur(grey, (0, 0), 1.0).astype(np.float32)
    steep = cv2.magnitude(
        cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=1 / 8), cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=1 / 8)
    )
    kernel = np.ones((31, 31), np.uint8)
    contrast = cv2.dilate(smooth, kernel) - cv2.erode(smooth, kernel)
    hardest = steep >= np.percentile(steep, 99.7)
    return float(np.median(contrast[hardest] / np.maximum(steep[hardest], 0.25)))
