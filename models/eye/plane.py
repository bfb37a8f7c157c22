"""Corners of covered cards, from the whole cards beside them: cards of one heap are of one pack and lie in one plane.

Of a covered card one index is in sight, which says where it lies and how it is turned, but hardly how large it is: the
networks make such cards too large, mostly. A card both of whose indices are seen tells how its plane is seen (a 2 x 2
matrix from its millimetres to pixels: scale, turn and shear) and where an index sits on cards of its pack; with that
the covered card's corners follow from its one index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from models.eye.card_join import Candidate
from models.eye.classes import HEIGHT_MM, WIDTH_MM
from models.eye.finder import Spot
from models.eye.geometry import Points, area, axes_of

NEAR: Final = 2.5
"""Farther off, in heights of the card, perspective changes the scale too much."""
LIKE: Final = 2.0
"""Indices that seem to differ in size by more than this factor are of other packs, or are none."""
CERTAIN: Final = 4.0
"""Least logit of being an index, for those of the card that measures and of the card that is measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """What a whole card tells of its plane and pack."""

    centre: Points
    to_px: Points
    """2 x 2, from mm on the card (right, up) to px."""
    index: Points
    """Where the middle of an index sits, mm right and up of the card's centre as the index stands."""
    size: float
    """Height of an index, mm."""


def measures(cards: Sequence[Candidate]) -> list[Measure]:
    """What the cards tell of whom two opposite indices are seen."""
    out = []
    for card in cards:
        if len(card.spots) < 2 or min(r.index for r in card.readings[:2]) < CERTAIN or area(card.quad) < 1:
            continue
        centre, up, right = axes_of(card.quad)
        to_px = np.stack([right / (WIDTH_MM / 2), up / (HEIGHT_MM / 2)], 1)
        if abs(np.linalg.det(to_px)) < 1e-6:
            continue
        to_mm = np.linalg.inv(to_px)
        one, other = card.spots[0], card.spots[1]
        if float(one.up @ other.up) >= 0:
            continue
        ways = [(to_mm @ (s.centre - centre)) * (1 if float(s.up @ up) > 0 else -1) for s in (one, other)]
        if float(np.linalg.norm(ways[0] - ways[1])) > 0.08 * HEIGHT_MM:
            continue  # the two do not agree on where an index sits
        size = float(np.mean([2 * np.linalg.norm(to_mm @ s.up) for s in (one, other)]))
        out.append(Measure(centre, to_px, np.asarray(np.mean(ways, 0)), size))
    return out


def placed(spot: Spot, by: Measure) -> Points | None:
    """The corners of the card that an index belongs to, measured by another card; None if it is of other size."""
    up = np.linalg.solve(by.to_px, spot.up)
    height = 2 * float(np.linalg.norm(up))
    if not 1 / LIKE < height / max(by.size, 1e-6) < LIKE:
        return None
    # Two up-vectors: the index's own, and what the finder makes of the whole card's.
    turns = [up / np.linalg.norm(up)]
    whole = np.linalg.solve(by.to_px, spot.card_up)
    if float(np.linalg.norm(whole)) > 1e-6 and float(whole @ up) > 0:
        turns.append(whole / np.linalg.norm(whole))
    along = np.mean(turns, 0)
    along /= np.linalg.norm(along)
    across = np.array([along[1], -along[0]])
    middle = np.linalg.solve(by.to_px, spot.centre) - by.index[0] * across - by.index[1] * along
    half_up, half_right = along * HEIGHT_MM / 2, across * WIDTH_MM / 2
    quad = np.stack([half_up - half_right, half_up + half_right, half_right - half_up, -half_right - half_up]) + middle
    return np.asarray(quad @ by.to_px.T)


def borrow(cards: Sequence[Candidate]) -> list[Candidate]:
    """Give cards of which one index is seen the corners that the nearest whole card tells of; returns those cards."""
    known = measures(cards)
    changed = []
    for card in cards if known else ():
        if len(card.spots) > 1 or card.readings[0].index < CERTAIN:
            continue
        spot = card.spots[0]
        by = min(known, key=lambda m: float(np.linalg.norm(m.centre - spot.centre)))
        height = HEIGHT_MM * float(np.linalg.norm(by.to_px[:, 1]))
        quad = placed(spot, by) if float(np.linalg.norm(by.centre - spot.centre)) < NEAR * height else None
        if quad is not None:
            card.quad = quad
            changed.append(card)
    return changed
