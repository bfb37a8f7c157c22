"""Locates the outline of a heap's top card that shows no index.

Such a card cannot be read, but it hides none of the indices that were read, it lies on the card that would otherwise be
the top, and it shows all four edges because nothing lies on it. Of all possible places for a card of the heap's size,
the one with the clearest edges is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.card_join import Candidate
from models.eye.classes import HEIGHT_MM, WIDTH_MM
from models.eye.geometry import Image, Points, area

_HEIGHT: Final = 56.0
"""Height of the cards, px, in the reduced picture that is searched: edges stay sharp at a low cost."""
_REACH: Final = 0.35
"""Distance, in heights, by which the top card may reach beyond the cards that were read."""
_AWAY: Final = 0.75
"""Greatest distance, in heights, between its middle and that of the card below: farther off it would hide no index."""
_TURNS: Final = np.arange(0.0, 90.0, 7.5)
_SIZES: Final = (0.92, 1.0, 1.08)
_ALONG: Final = 7
"""Length, px, along an edge over which contrast is averaged: print and grain vary within it."""
_PLAY: Final = 2
"""Tolerance, px, of an edge's place, since turns and sizes are tried in steps."""
_LEAST_CONTRAST: Final = 4.0
"""Least contrast, in grey levels (twice the step across an edge), of an edge in a picture without grain."""
_CLEAREST: Final = 3.0
"""Multiple of that contrast at which an edge counts in full: a dark back on white cards is no better an outline."""

Floats32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _View:
    """The reduced picture of the heap, with ``scale`` and ``corner`` to map px of the full picture to its own."""

    image: Floats32
    scale: float
    corner: Points

    def into(self, points: Points) -> Points:
        return np.asarray((points - self.corner) * self.scale)


def outline(image: Image, heap: Sequence[Candidate], below: Candidate) -> Points:
    """Return the corners, (4, 2) px, of the likeliest card on ``below`` in a heap whose top was not read."""
    side = float(np.median([np.sqrt(max(area(c.quad), 1.0)) for c in heap])) / np.sqrt(WIDTH_MM / HEIGHT_MM)
    view = _view(image, heap, side)
    indices = view.into(np.array([spot.centre for c in heap for spot in c.spots]))
    middle = view.into(below.quad.mean(0)[None])
    best, found = -np.inf, below.quad
    for turn in _TURNS:
        upright, onto = _turned(view.image, float(turn))
        edges = _edges(upright)
        hidden, towards = _px(indices, onto), _px(middle, onto)[0]
        for tall in (True, False):
            for size in _SIZES:
                worth, quad = _best_box(edges, hidden, towards, size * _HEIGHT, tall)
                if quad is not None and worth > best:
                    back = cv2.invertAffineTransform(onto)
                    best, found = worth, (quad @ back[:, :2].T + back[:, 2]) / view.scale + view.corner
    return np.asarray(found)


def _view(image: Image, heap: Sequence[Candidate], side: float) -> _View:
    corners = np.concatenate([c.quad for c in heap])
    low = np.maximum(np.floor(corners.min(0) - _REACH * side), 0).astype(int)
    high = np.minimum(np.ceil(corners.max(0) + _REACH * side), image.shape[1::-1]).astype(int)
    part = image[low[1] : max(high[1], low[1] + 1), low[0] : max(high[0], low[0] + 1)]
    scale = _HEIGHT / max(side, 1.0)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    size = (max(8, round(part.shape[1] * scale)), max(8, round(part.shape[0] * scale)))
    small = cv2.GaussianBlur(cv2.resize(part, size, interpolation=how).astype(np.float32), (0, 0), 0.7)
    return _View(np.asarray(small, np.float32), scale, low.astype(np.float64))


def _turned(image: Floats32, degrees: float) -> tuple[Floats32, NDArray[np.float64]]:
    """Return the picture turned on a square that holds all of it, and the 2 x 3 matrix of the turn."""
    h, w = image.shape[:2]
    n = int(np.ceil(np.hypot(h, w)))
    onto = cv2.getRotationMatrix2D((w / 2, h / 2), degrees, 1.0)
    onto[:, 2] += [n / 2 - w / 2, n / 2 - h / 2]
    turned = cv2.warpAffine(image, onto, (n, n), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(turned, np.float32), np.asarray(onto, np.float64)


def _px(points: Points, onto: NDArray[np.float64]) -> Points:
    return np.asarray(points @ onto[:, :2].T + onto[:, 2])


def _edges(image: Floats32) -> tuple[Floats32, Floats32]:
    """Return how clear an upright and a level edge is at each place, 0 to 1."""
    grain = float(np.median(np.abs(image - cv2.GaussianBlur(image, (0, 0), 2))))
    most = _CLEAREST * max(_LEAST_CONTRAST, 3 * grain)
    upright, level = np.zeros(image.shape[:2], np.float32), np.zeros(image.shape[:2], np.float32)
    upright[:, 1:-1] = np.abs(cv2.blur(image[:, 2:] - image[:, :-2], (1, _ALONG))).max(2)
    level[1:-1] = np.abs(cv2.blur(image[2:] - image[:-2], (_ALONG, 1))).max(2)
    play = np.ones((1, 2 * _PLAY + 1), np.uint8)
    found = (cv2.dilate(upright, play), cv2.dilate(level, play.T))
    return np.minimum(found[0] / most, 1), np.minimum(found[1] / most, 1)


def _best_box(
    edges: tuple[Floats32, Floats32], indices: Points, middle: Points, height: float, tall: bool
) -> tuple[float, Points | None]:
    """Return score and corners of the upright card-sized box with the clearest edges that covers no index."""
    n = edges[0].shape[0]
    long, short = round(height / 2), round(height * WIDTH_MM / HEIGHT_MM / 2)
    a, b = (short, long) if tall else (long, short)
    if 2 * max(a, b) >= n:
        return -np.inf, None
    upright, level = cv2.blur(edges[0], (1, int(1.7 * b) | 1)), cv2.blur(edges[1], (int(1.7 * a) | 1, 1))
    sides = (upright[b : n - b, : n - 2 * a], upright[b : n - b, 2 * a :])
    ends = (level[: n - 2 * b, a : n - a], level[2 * b :, a : n - a])
    # A top card shows all four edges, so the faintest one counts most.
    faintest = np.minimum(np.minimum(*sides), np.minimum(*ends))
    worth = (sides[0] + sides[1] + ends[0] + ends[1]) / 8 + faintest / 2
    ys, xs = np.mgrid[b : n - b, a : n - a]
    for x, y in indices:
        worth = worth - 1.0 * ((np.abs(xs - x) < 0.95 * a) & (np.abs(ys - y) < 0.95 * b))
    worth = np.where(np.hypot(xs - middle[0], ys - middle[1]) < _AWAY * _HEIGHT, worth, -np.inf)
    y, x = np.unravel_index(int(worth.argmax()), worth.shape)
    quad = np.array([[x, y], [x + 2 * a, y], [x + 2 * a, y + 2 * b], [x, y + 2 * b]], np.float64)
    return float(worth[y, x]), quad if tall else quad[[1, 2, 3, 0]]
