"""Sizes of the photo-finish's drawing: one for screens and prints, one for telephones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MS: Final = 1_000_000
WIDE: Final = 1600
NARROW: Final = 720


@dataclass(frozen=True, slots=True)
class Measures:
    """Sizes in pixels of one width."""

    width: int
    margin: float
    left: float
    """Where the time axes begin."""
    right: float
    size: float
    """Of ordinary writing."""
    lane: float
    row: float
    """Height of a lane of the whole moment."""
    ticks: int
    letters: int
    """Of a name."""


WIDE_SIZES: Final = Measures(WIDE, 40, 230, 1290, 20, 84, 40, 9, 15)
NARROW_SIZES: Final = Measures(NARROW, 20, 150, 520, 22, 92, 40, 6, 9)
