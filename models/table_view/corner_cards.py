"""Locates the table from four cards that lie in the corners of the playing area.

A card's size is known but its place is not: the fit finds the camera's pose and each card's place and turn together, so
that the sixteen corners lie where they were seen. Meanwhile the first card's place is the origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from models.eye.classes import HEIGHT_MM, WIDTH_MM
from models.eye.geometry import Floats, Image, convex_quad, shared_area
from models.table_view.edges import refined_corners
from models.table_view.lens import Lens
from models.table_view.table_map import (
    CORNER_PX,
    SOUGHT_FOCAL,
    NoTable,
    TableFound,
    focal_doubt,
    framed,
    least_squares,
    pinhole,
    project,
)

CARD_SIZES: Final = {"poker": (WIDTH_MM, HEIGHT_MM), "bridge": (57.0, 89.0)}
"""Width and height of the usual cards, mm."""
_ROUGH: Final = (0.06, 0.1, 0.15)
"""Shares of a card's height by which its corners may be off."""
FOUR_CARDS: Final = 4
_TOUCHING: Final = 0.01
"""Share of a card by which two cards may seem to overlap without doing so."""


@dataclass(frozen=True, slots=True)
class CardsFound:
    """Four cards and the table under them."""

    table: TableFound
    quads: tuple[Floats, ...]
    """Each card's corners, px, clockwise from the left end of a short side."""
    area: Floats
    """(4, 2) mm: the rectangle round the cards, clockwise in the picture from its upper left."""


def overlapping(quads: Sequence[Floats]) -> list[tuple[int, int]]:
    """Return the pairs of cards that overlap."""
    flat = [convex_quad(quad) for quad in quads]
    least = min((float(cv2.contourArea(quad)) for quad in flat), default=0.0)
    return [
        (i, j)
        for i in range(len(flat))
        for j in range(i + 1, len(flat))
        if shared_area(flat[i], flat[j]) > _TOUCHING * least
    ]


def upright(quad: Floats) -> Floats:
    """Return a card's corners rotated so that the first side is a short one."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    return quad if sides[0] + sides[2] <= sides[1] + sides[3] else np.roll(quad, -1, axis=0)


def sharpened(grey: Image, quad: Floats) -> Floats:
    """Return a card's corners, px, by its edges if they can be followed; otherwise the eye's corners."""
    tall = float(np.linalg.norm(quad[2] - quad[1]))
    # A wide search may meet the print of a face first, so try narrow ones first.
    near = None
    for share in _ROUGH:
        near = refined_corners(grey, quad, share * tall) if near is None else near
    if near is None:
        return quad
    again = refined_corners(grey, near, 0.025 * tall)
    return near if again is None else again


def _placed(card: Floats, place: Floats) -> Floats:
    c, s = math.cos(place[2]), math.sin(place[2])
    return np.asarray(card @ np.array([[c, s], [-s, c]]) + place[:2], np.float64)


def _start(quads: Sequence[Floats], card: Floats, size: tuple[int, int]) -> Floats:
    """Return the start of the fit: a camera straight above, with the cards' sizes and turns in the picture."""
    focal = SOUGHT_FOCAL * size[0]
    middle = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    tall = np.mean([np.linalg.norm(q[2] - q[1]) for q in quads])
    scale = tall / float(card[2, 1] - card[1, 1])
    ways = [(q[1] - q[0]) + (q[2] - q[3]) for q in quads]
    turns = [math.atan2(w[1], w[0]) for w in ways]
    c, s = math.cos(-turns[0]), math.sin(-turns[0])
    places = []
    for quad, turn in zip(quads[1:], turns[1:], strict=True):
        x, y = (quad.mean(axis=0) - quads[0].mean(axis=0)) / scale
        places += [c * x - s * y, s * x + c * y, turn - turns[0]]
    shift = (quads[0].mean(axis=0) - middle) / scale
    return np.array([0, 0, turns[0], *shift, focal / scale, math.log(focal), *places])


def fit_cards(
    quads: Sequence[Floats], size: tuple[int, int], card_mm: tuple[float, float] = CARD_SIZES["poker"],
    lens: Lens | None = None,
) -> CardsFound:  # fmt: skip
    """Return the table from four cards' corners.

    Args:
        quads: four times (4, 2) px, clockwise, the first side a short one (see `upright`).
        size: the picture's width and height, px.
        card_mm: a card's width and height.
        lens: the measured distortion, if any.

    Raises:
        NoTable: there are not four, or they do not fit as flat cards of one size.
    """
    if len(quads) != FOUR_CARDS:
        raise NoTable(f"four cards are needed, not {len(quads)}")
    flat = [quad if lens is None else lens.straightened(quad) for quad in quads]
    seen = np.concatenate(flat)
    width, height = card_mm[0] / 2, card_mm[1] / 2
    card = np.array([[-width, -height], [width, -height], [width, height], [-width, height]])

    def places(x: Floats) -> Floats:
        rest = x[7:].reshape(-1, 3)
        return np.concatenate([card, *(_placed(card, place) for place in rest)])

    def residuals(x: Floats) -> Floats:
        off = (project(pinhole(x[:7], size, lens), places(x)) - seen).ravel() / CORNER_PX
        return np.concatenate([off, focal_doubt(x, size)])

    fit = least_squares(residuals, _start(flat, card, size))
    table = framed(fit, size, lens, 2 * len(seen))
    corners = project(table.from_source, places(fit.x)).astype(np.float32)
    box = np.asarray(cv2.boxPoints(cv2.minAreaRect(corners)), np.float64)
    # Clockwise (y down) from the upper left.
    out = box - box.mean(axis=0)
    box = box[np.argsort(np.arctan2(out[:, 1], out[:, 0]))]
    return CardsFound(table, tuple(quads), np.roll(box, -int((box.sum(axis=1)).argmin()), axis=0))
