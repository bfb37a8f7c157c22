"""The card that a reading belongs to, where cards follow each other so quickly that few looks show either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.eye.eye import CardSeen
from models.eye.geometry import Quad
from models.watch import attribution
from models.watch.attribution import Attribution
from models.watch.faces import WhitePatches
from models.watch.motion import Glance, Motion
from models.watch.reasons import first_that_holds
from models.watch.stream import SeenFrame, Stream
from models.watch.tracks import Pile, Sighting, Track
from referee.units import MS

SPACING = 100 * MS
CARD: Quad = np.array([[100, 100], [200, 100], [200, 240], [100, 240]], np.float32)
BLANK = np.zeros((40, 40), np.uint8)


def frame(index: int) -> SeenFrame:
    return SeenFrame(index, index * SPACING, 0, None, None, Glance(index * SPACING, BLANK, BLANK, BLANK, BLANK))


def attribution_of(pile: Pile) -> Attribution:
    motion, stream = Motion(), Stream()
    return Attribution(motion, stream, pile, WhitePatches(motion, stream, pile))


def reading(name: str, confidence: float, indices: int = 2, bare: float = 0.4) -> CardSeen:
    places = np.array([[110.0, 115.0], [190.0, 225.0]])[:indices]
    return CardSeen(name, confidence, CARD.astype(np.float64), False, bare, places)


def seen_once(name: str, index: int, **what: Any) -> Track:
    """Return a card that one look has shown whole and beyond doubt, on the pile."""
    track = Track(CARD, index, low=(index - 1) * SPACING, high=index * SPACING)
    how = {"top": True, "on_pile": True, "under": False, "plain": True, "double": True} | what
    track.add(Sighting(index, index * SPACING, name, 0.999, CARD, **how))
    return track


@pytest.mark.parametrize(("indices", "another"), [(2, True), (1, False)])
def test_what_two_indices_tell_is_another_card_than_what_two_told_before(indices: int, another: bool) -> None:
    pile = Pile(card_height=140.0, open=[seen_once("3h", 7)])
    attributed = attribution_of(pile)
    round_ = attribution._Round(frame(9), {"6s"})
    found = attributed._open_track(reading("6s", 0.89, indices), CARD, round_, [])
    assert (found is None) == another


@pytest.mark.parametrize(
    ("before", "age", "at_rest", "another"),
    [("7c", 190, False, False), ("7c", 190, True, True), ("7c", 210, False, True), ("7h", 190, False, True)],
)
def test_two_suits_of_one_colour_read_where_one_card_comes_to_rest_are_that_card(
    before: str, age: int, at_rest: bool, another: bool
) -> None:
    """Unless enough ms have passed since its reveal for another card to be laid on it."""
    track = seen_once(before, 7, bare=0.6, at_rest=at_rest)
    track.low = frame(8).t - age * MS
    attributed = attribution_of(Pile(card_height=140.0, open=[track]))
    found = attributed._open_track(reading("7s", 0.999, bare=0.9), CARD, attribution._Round(frame(8), {"7s"}), [])
    assert (found is None) == another


@pytest.mark.parametrize(("on_pile", "lies_on_it"), [(True, True), (False, False)])
def test_a_card_lies_on_the_pile_though_what_is_under_it_is_not_told_yet(on_pile: bool, lies_on_it: bool) -> None:
    track = Track(CARD, 9, low=8 * SPACING, high=9 * SPACING)
    pile = Pile(card_height=140.0, open=[seen_once("7d", 7, on_pile=on_pile), track])
    read = reading("5c", 0.999, bare=0.6)
    where = first_that_holds(attribution._lies(read, CARD, track, frame(9), pile, whole=True))
    assert where is (attribution._Where.ON if lies_on_it else attribution._Where.BESIDE)
