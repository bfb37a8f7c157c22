"""An arm is told from its hard shadow where both cross the picture's edge, and kept where nothing else reaches in."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from models.watch.arms import Arms
from models.watch.motion import Glance, Motion
from models.watch.reaches import Reach, SortedEdge, sort_edge
from models.watch.stream import Stream
from models.watch.tracks import Pile

ROWS, COLUMNS = 240, 320
SKIN, GREY_SLEEVE = (105, 140, 190), (32, 34, 35)
CLOTHS = {"green": (58, 128, 52), "grey": (150, 152, 155), "red": (50, 48, 150)}


def table(cloth: str) -> np.ndarray:
    """A cloth with the grain that cloths have."""
    grain = np.random.default_rng(3).normal(1.0, 0.04, (ROWS, COLUMNS, 1))
    return np.clip(np.array(CLOTHS[cloth]) * grain, 0, 255).astype(np.uint8)


def edge(cloth: str, sleeve: tuple[int, int, int] | None, shadow: tuple[int, int] | None) -> SortedEdge:
    """What reaches in from below: an arm over x 150 to 180, and a shadow of half the light between two places."""
    bare = table(cloth)
    small, foreign = bare.copy(), np.zeros((ROWS, COLUMNS), np.uint8)
    if shadow:
        # They meet where the hand touches the table.
        for cut in (np.s_[120:, shadow[0] : shadow[1]], np.s_[110:120, 150 : shadow[1]]):
            small[cut], foreign[cut] = small[cut] // 2, 255
    if sleeve:
        small[110:, 150:180], foreign[110:, 150:180] = sleeve, 255
    small = np.clip(small + np.random.default_rng(4).normal(0, 1.0, small.shape), 0, 255).astype(np.uint8)
    return sort_edge(foreign, small, bare, foreign > 0, None)


@pytest.mark.parametrize("cloth", CLOTHS)
@pytest.mark.parametrize("shadow", [(180, 260), (90, 150), (60, 170)])
def test_an_arm_enters_where_it_does_and_not_where_its_shadow_lies(cloth: str, shadow: tuple[int, int]) -> None:
    (arm,) = edge(cloth, SKIN, shadow).arms
    assert arm.x == pytest.approx(164.5, abs=6) and not arm.dim


def test_a_shadow_apart_from_its_arm_is_left_out_beside_it() -> None:
    found = edge("green", SKIN, (215, 260))
    assert sorted((arm.x > 200, arm.dim) for arm in found.arms) == [(False, False), (True, True)]
    stream = Stream()
    stream.advance(0, (ROWS, COLUMNS))
    motion = Motion()
    motion.factor = 1
    glance = Glance(0, np.zeros((ROWS, COLUMNS, 3), np.uint8), *(np.zeros((ROWS, COLUMNS), np.uint8),) * 2)
    glance.reaches, glance.foreign = found.arms, np.full((ROWS, COLUMNS), 255, np.uint8)
    arms = Arms({1: 270.0, 2: 0.0}, motion, stream, Pile())
    looks = list(arms._reaching(glance, (160.0, 120.0), None))
    assert [round(bearing) for bearing, _ in looks] == [272]


def test_a_dark_sleeve_on_a_grey_table_is_an_arm_where_no_other_is() -> None:
    (arm,) = edge("grey", GREY_SLEEVE, None).arms
    assert arm.x == pytest.approx(164.5, abs=2)
    assert not edge("grey", None, (90, 150)).arms, "a soft shadow"


def test_an_arm_whose_hand_has_the_tables_colour_reaches_as_far_as_its_outline() -> None:
    stream = Stream()
    stream.advance(0, (ROWS, COLUMNS))
    motion = Motion()
    motion.factor = 1
    hand = np.zeros((ROWS, COLUMNS), np.uint8)
    cv2.rectangle(hand, (145, 120), (180, ROWS - 20), 255, 3)
    hand[ROWS - 22 :, 150:175] = 255
    glance = Glance(0, np.zeros((ROWS, COLUMNS, 3), np.uint8), np.zeros_like(hand), hand)
    glance.reaches = [Reach(162.0, ROWS - 1.0, False, False)]
    arms = Arms({1: 270.0}, motion, stream, Pile())
    assert [round(bearing) for bearing, _ in arms._reaching(glance, (162.0, 130.0), None)] == [271]
    assert not list(arms._reaching(glance, (40.0, 30.0), None)), "it ends where its outline does"
