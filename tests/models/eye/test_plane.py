"""Corners of a card with one visible index, by a whole card in the same plane."""

from __future__ import annotations

import numpy as np
import pytest

from models.eye.card_join import Candidate
from models.eye.classes import HEIGHT_MM, WIDTH_MM
from models.eye.finder import Spot
from models.eye.geometry import Points, axes_of
from models.eye.heaps import borrow_corners, measures
from models.eye.reader import Reading

INDEX = np.array([-26.0, 31.0])
"""Position of the pack's indices, mm right and up of the middle, and their height."""
INDEX_MM = 15.0
SEEN = {
    "from above": np.array([[2.0, 0.0], [0.0, -2.0]]),
    "turned and leaning": np.array([[1.6, 0.7], [0.9, -1.3]]),
}


def card(
    to_px: Points, at: tuple[float, float], turn: float, both: bool, logit: float = 9.0
) -> tuple[Candidate, Points]:
    """Return a card as the networks report it, half as large again by one index alone, and its true corners."""
    a = np.radians(turn)
    stand = to_px @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    spots = []
    for way in (1.0, -1.0) if both else (1.0,):
        centre = np.array(at) + stand @ INDEX * way
        grow = 1.0 if both else 1.5
        up, right = stand @ [0.0, way * HEIGHT_MM / 2] * grow, stand @ [way * WIDTH_MM / 2, 0.0] * grow
        told = centre - stand @ INDEX * way * grow
        spots.append(Spot(centre, stand @ [0.0, way * INDEX_MM / 2], told, up, right, 0.9))
    reading = Reading(np.full(14, -2.6), np.full(6, -1.8), logit)
    half = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * [WIDTH_MM / 2, HEIGHT_MM / 2]
    corners = half @ stand.T + at
    mine = Candidate(spots, [reading] * len(spots), spots[0].card_centre, spots[0].card_up, spots[0].card_right)
    mine.quad = corners if both else corners + 40.0
    return mine, np.asarray(corners)


@pytest.mark.parametrize("seen", sorted(SEEN))
def test_a_covered_card_gets_the_size_and_shear_of_the_whole_one(seen: str) -> None:
    whole, _ = card(SEEN[seen], (400, 400), 20, both=True)
    covered, true = card(SEEN[seen], (430, 380), 65, both=False)
    assert borrow_corners([whole, covered]) == [covered]
    assert np.abs(covered.quad - true).max() < 0.01


def test_what_the_whole_card_tells_is_where_its_indices_sit() -> None:
    whole, _ = card(SEEN["turned and leaning"], (400, 400), 20, both=True)
    (told,) = measures([whole])
    assert told.index == pytest.approx(INDEX, abs=0.01)
    assert told.size == pytest.approx(INDEX_MM, abs=0.01)


def test_a_card_keeps_its_corners_where_nobody_near_can_measure_it() -> None:
    seen = SEEN["from above"]
    covered, true = card(seen, (430, 380), 65, both=False)
    alone, far = card(seen, (400, 400), 20, both=False), card(seen, (2400, 400), 20, both=True)
    doubtful = card(seen, (400, 400), 20, both=True, logit=1.0)
    for other, _ in (alone, far, doubtful):
        assert covered not in borrow_corners([other, covered])
    assert covered.quad == pytest.approx(true + 40.0)


def test_indices_of_another_size_are_of_another_pack() -> None:
    whole, _ = card(SEEN["from above"], (400, 400), 20, both=True)
    small, true = card(SEEN["from above"] * 0.4, (430, 380), 65, both=False)
    assert borrow_corners([whole, small]) == []
    assert small.quad == pytest.approx(true + 40.0)


def test_a_card_whose_indices_contradict_each_other_measures_nobody() -> None:
    whole, corners = card(SEEN["from above"], (400, 400), 20, both=True)
    whole.quad = corners + 40.0
    assert measures([whole]) == []
    assert axes_of(whole.quad)[0] == pytest.approx((440, 440))
