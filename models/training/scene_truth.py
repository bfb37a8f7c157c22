"""What a drawn scene knows of itself: every index, every card."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Index:
    """One printed index: class numbers, centre and up-vector (centre to top edge), px; shares of it that show."""

    rank: int
    suit: int
    centre: Points
    up: Points
    card: int
    rank_seen: float
    suit_seen: float


@dataclass(frozen=True, slots=True)
class Card:
    """One card: class numbers (-1 for a back), corners clockwise from an index's top left, px."""

    rank: int
    suit: int
    quad: Points
    covered: float  # share hidden by other cards
    seen: float  # share that shows: neither covered by card or hand nor out of the picture


@dataclass(frozen=True, slots=True)
class Scene:
    """The picture and its truth."""

    image: Image
    indices: list[Index]
    cards: list[Card]
