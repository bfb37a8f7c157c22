"""The sum of many looks at one card: its name, and whether it was laid or only uncovered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.eye.classes import SURE_READING, UNREAD
from models.eye.geometry import Quad
from models.watch.tracks import Sighting, Track

CARD: Quad = np.array([[0, 0], [100, 0], [100, 140], [0, 140]], np.float32)


def look(name: str, confidence: float, *, index: int = 0, dx: float = 0.0, **what: Any) -> Sighting:
    """Return one sighting; by default of a card on top that lies over the pile."""
    how: dict[str, Any] = {"top": True, "on_pile": True, "under": False} | what
    return Sighting(index, index * 66_666_667, name, confidence, CARD + np.float32(dx), **how)


def track(*looks: Sighting) -> Track:
    made = Track(CARD, 0)
    for sighting in looks:
        made.add(sighting)
    return made


def test_a_first_look_misread_in_motion_is_outvoted_by_sure_ones() -> None:
    misread = look("6c", 0.87, dx=80)
    short = track(misread, look("9c", 0.999))
    long = track(misread, *[look("9c", 0.999) for _ in range(4)])
    assert short.belief()[0] == long.belief()[0] == "9c"
    assert short.belief()[1] < 0.985 <= long.belief()[1]


@pytest.mark.parametrize(("misread", "counts"), [("6s", False), ("6h", True), ("9c", True)])
def test_a_suit_misread_in_motion_does_not_speak_against_what_is_read_at_rest(misread: str, counts: bool) -> None:
    blurred = [look(misread, 0.99, dx=80), look(misread, 0.98, dx=40, index=1)]
    name, sure = track(*blurred, *[look("6c", 0.999, index=i) for i in (2, 3)]).belief()
    assert name == "6c"
    assert (sure < 0.985) == counts


def test_what_is_hardly_read_at_rest_takes_nothing_from_what_was_read_in_motion() -> None:
    moving = [look("Js", 0.93, dx=80), look("Js", 0.95, dx=40, index=1)]
    assert track(*moving, *[look("Jc", 0.6, index=i) for i in (2, 3)]).belief()[0] == "Js"


def test_a_suit_read_at_rest_speaks_against_another_read_at_rest() -> None:
    both = [look(name, 0.999, index=i) for i, name in enumerate(("6s", "6s", "6c", "6c"))]
    assert track(*both).belief()[1] < SURE_READING


def test_unsure_looks_do_not_become_sure_by_being_many() -> None:
    assert track(*[look("Qd", 0.7) for _ in range(12)]).belief()[1] < SURE_READING


def test_a_doubt_that_every_look_repeats_is_not_settled_by_repetition() -> None:
    """A blurred club looks like a spade each time: the looks have one error in common."""
    doubts = [(0.88, 0.09), (0.66, 0.27), (0.55, 0.36), (0.56, 0.35)]
    alike = [look("Qs", p, candidates=(("Qs", p), ("Qc", q)), index=i) for i, (p, q) in enumerate(doubts)]
    assert track(*alike).belief() == ("Qs", 0.88)
    other = look("Qs", 0.66, candidates=(("Qs", 0.66), ("Js", 0.27)), index=4)
    assert track(alike[0], other).belief()[1] >= SURE_READING


def test_the_votes_of_a_possible_scrap_do_not_count_until_two_indices_agree() -> None:
    scraps = [look("Td", 0.98, scrap=True) for _ in range(3)]
    assert track(*scraps).belief() == (UNREAD, 0.0)
    name, sure = track(*scraps, look("Td", 0.999, double=True)).belief()
    assert name == "Td" and sure > 0.985


def test_what_only_shows_under_the_pile_was_uncovered_and_not_laid() -> None:
    under = [look("Qd", 0.95, top=False, on_pile=False, under=True) for _ in range(3)]
    assert track(*under).came_under()
    assert track(*under, look("Qd", 0.95)).came_under(), "a hand on the pile may make a scrap seem on top"


def test_a_card_seen_whole_over_the_pile_was_laid_though_its_heap_seems_otherwise() -> None:
    whole = look("2h", 0.999, plain=True, double=True, dx=60)
    seems_under = look("2h", 0.999, top=False, on_pile=False, under=True)
    laid = track(whole, *[seems_under] * 4)
    assert not laid.came_under()
    assert not laid.plainly_laid(), "seen whole once, and it moved since"
    assert track(whole, whole).plainly_laid() and track(whole, look("2h", 0.9, dx=60)).plainly_laid()


@pytest.mark.parametrize(("under", "slid"), [(2, False), (3, True)])
def test_a_card_seen_whole_beside_the_pile_was_slid_under_it_if_it_is_seen_there_more_than_twice_as_often(
    under: int, slid: bool
) -> None:
    whole = look("2h", 0.999, plain=True, double=True, on_pile=False)
    below = look("2h", 0.999, top=False, on_pile=False, under=True)
    assert track(whole, *[below] * under).came_under() == slid


@pytest.mark.parametrize(
    ("double", "on_pile", "enough"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_one_look_that_two_indices_make_sure_of_over_the_pile_is_more_than_a_glimpse(
    double: bool, on_pile: bool, enough: bool
) -> None:
    once = track(look("2s", 0.999, top=False, double=double, on_pile=on_pile))
    assert once.more_than_a_glimpse("2s") == enough


@pytest.mark.parametrize(("looks", "enough"), [([0.975], True), ([0.96], False), ([0.5, 0.5], True)])
def test_two_looks_or_one_sure_one_of_an_uncovered_card_are_more_than_a_glimpse(
    looks: list[float], enough: bool
) -> None:
    assert track(*[look("2s", sure) for sure in looks]).more_than_a_glimpse("2s") == enough


@pytest.mark.parametrize(("index", "gone"), [(2, False), (3, True)])
def test_one_unsure_look_is_dropped_after_two_frames_without_another(index: int, gone: bool) -> None:
    once = track(look("2s", 0.5))
    once.missed = True
    assert once.fleeting(index) == gone


@pytest.mark.parametrize(("later_ms", "belongs"), [(150, True), (250, False)])
def test_a_card_is_taken_for_its_rival_only_a_fifth_of_a_second_long(later_ms: int, belongs: bool) -> None:
    both = track(look("6h", 0.6, dx=80), look("9c", 0.999, index=1), look("9c", 0.999, index=1))
    assert both.may_still_be("6h", later_ms * 1_000_000) == belongs


@pytest.mark.parametrize(("dx", "moved"), [(0.0, False), (8.0, False), (60.0, True)])
def test_a_card_in_a_hand_moves_with_every_corner(dx: float, moved: bool) -> None:
    assert track(look("5c", 0.9), look("5c", 0.9, dx=dx)).travelled() == moved


@pytest.mark.parametrize(("to", "moved"), [(22.0, False), (80.0, True)])
def test_a_card_of_which_an_index_stays_has_not_moved_though_its_corners_are_guessed_otherwise(
    to: float, moved: bool
) -> None:
    first, then = (look("Jd", 0.99, dx=dx, indices=np.array([[x, 30.0]])) for dx, x in ((0.0, 20.0), (60.0, to)))
    assert track(first, then).travelled() == moved
