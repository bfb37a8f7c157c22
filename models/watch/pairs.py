"""Two cards drawn at once: they turn over in one hand and come to lie together, the lower one fanned out a little.

A card slid under the pile comes to lie below a card that was there before; the lower one of two came with the upper.
"""

from __future__ import annotations

from typing import Final

from models.eye.geometry import area, shared_area
from models.watch.known_cards import Pile
from models.watch.stream import MS
from models.watch.tracks import SURE, Track

TOGETHER_NS: Final = 100 * MS
"""Cards whose faces came up no further apart came in one hand: no second hand is so quick."""
FANNED: Final = 0.1
"""Share of the lower card that the upper one must hide."""


def upper_of(track: Track, pile: Pile) -> Track | None:
    """The card that was drawn together with this one and came to lie on it, if it was one of two.

    Both must have been seen to move: what only comes to light when a pile is touched has lain there before.
    """
    if not track.travelled() or track.belief()[1] < SURE or track.seen_under() == 0:
        return None
    return next((other for other in [*pile.open, *pile.laid[-3:]] if _on_it(other, track)), None)


def _on_it(other: Track, track: Track) -> bool:
    if other is track or abs(other.high - track.high) > TOGETHER_NS or abs(other.first - track.first) > 1:
        return False
    if not (other.plainly_laid() or other.name is not None) or other.seen_under():
        return False
    return shared_area(other.quad, track.quad) >= FANNED * area(track.quad)
