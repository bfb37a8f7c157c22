"""How a card that was read lies to the pile: over it, under it, or as a scrap of a card that lies there already."""

from __future__ import annotations

from typing import Final

import numpy as np

from models.eye.geometry import Quad, area, iou, shared_area
from models.watch.known_cards import Pile
from models.watch.stream import Moment
from models.watch.tracks import BARE, SURE, UNREAD, Seen, Sighting, Track, double, plain

INDEX_NEAR: Final = 0.09
"""Share of a card's height within which two indices are in one place."""
ONE_PLACE: Final = 0.5
"""Overlap from which of two cards one hides much of the other."""
OVER: Final = 0.12
"""Share of a card that must lie over others for it to lie on them."""


def sighting(s: Seen, quad: Quad, track: Track, now: Moment, pile: Pile) -> Sighting:
    """A reading in the newest frame as a sighting of a card under way."""
    on_pile, under = _lie(s, quad, track, now, pile)
    doubled = _in_one_place(s, quad, now, pile)
    return Sighting(
        now.index, now.t, s.card, s.confidence, quad, s.top, on_pile, under, _old_index(s, pile),
        plain=plain(s) and not doubled, double=double(s) and not doubled, bare=s.bare >= BARE,
        candidates=s.candidates,
    )  # fmt: skip


def _lie(s: Seen, quad: Quad, track: Track, now: Moment, pile: Pile) -> tuple[bool, bool]:
    """Whether a card lies on the pile, or under it; neither where only newer cards lie on it."""
    if s.top and not pile.laid:
        return True, False
    older = [other for other in pile.laid if other.high <= track.high]
    least = OVER * area(quad)
    if not any(shared_area(quad, other.quad) >= least for other in older[-3:]):
        return False, False
    if s.top or (plain(s) and not _in_one_place(s, quad, now, pile)):
        return True, False
    cards = [*pile.laid, *pile.open]
    # A scrap that has been taken for a card under way hides nothing.
    newer = [o for o in cards if o is not track and o.high > track.high and (o.name is not None or not o.scrap())]
    if any(shared_area(quad, other.quad) > 0.02 * area(quad) for other in newer):
        return False, False
    if any(_tops(other, quad, now) for other in cards if other.high <= track.high):
        return False, True
    return s.confidence >= SURE, False


def _tops(other: Track, quad: Quad, now: Moment) -> bool:
    """Whether a card of the pile was just seen to lie over this place, on top of all."""
    if not other.sightings:
        return False
    seen = other.last
    sure = seen.index == now.index and seen.top and seen.confidence >= 0.8
    return sure and shared_area(quad, other.quad) >= OVER * area(quad)


def _in_one_place(s: Seen, quad: Quad, now: Moment, pile: Pile) -> bool:
    """Whether another card is seen whole and on top where this reading, not on top, lies: both cannot be whole."""
    if s.top:
        return False
    whole = (other for other in [*pile.laid, *pile.open] if other.sightings and other.last.index == now.index)
    return any(
        other.last.plain and other.last.top and other.last.name != s.card and iou(other.quad, quad) > ONE_PLACE
        for other in whole
    )


def _old_index(s: Seen, pile: Pile) -> bool:
    """Whether the only index of this reading shows where one of a known card does: likely that one, misread."""
    if s.card == UNREAD or len(s.indices) != 1:
        return False
    return any(
        other.indices is not None
        and other.name != s.card
        and _alike_print(s.card, other.name or UNREAD)
        and bool((np.linalg.norm(other.indices - s.indices[0], axis=1) < INDEX_NEAR * pile.card_height).any())
        for other in pile.laid
    )


def _alike_print(one: str, other: str) -> bool:
    """Whether a scrap of one card may pass for the other: of the same rank or the same suit."""
    return one[:1] == other[:1] or one[1:] == other[1:]
