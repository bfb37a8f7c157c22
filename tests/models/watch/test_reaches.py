"""An arm is told from its hard shadow where both cross the picture's edge, and from one that rests beside it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from hardware.simulated.pictures.overhead import Top
from models.watch.arms import Arms, brought_from
from models.watch.motion import Glance, Motion
from models.watch.reaches import Reach, sort_edge
from models.watch.stream import Stream
from models.watch.surfaces import Surface, tell_surfaces
from models.watch.tracks import Pile, Track
from referee.units import SECOND

Picture = NDArray[np.uint8]
ROWS, COLUMNS = 240, 320
SIZE = (960, 720)
FPS = 25


def photograph(picture: Picture) -> Picture:
    """Return a camera's picture of a drawn table."""
    return np.asarray(cv2.resize(picture, SIZE, interpolation=cv2.INTER_AREA), np.uint8)


def glance_at(bare: Picture, picture: Picture) -> Glance:
    """Return the watcher's result for a picture after a second of the bare table."""
    motion = Motion()
    for k in range(FPS):
        motion.look(bare, k * SECOND // FPS, None)
    return motion.look(picture, SECOND, None)


def shaded(picture: Picture, *corners: tuple[int, int]) -> Picture:
    """Return a picture with a hard shadow of half the light over a part of it."""
    part = np.zeros(picture.shape[:2], np.float32)
    cv2.fillPoly(part, [np.array(corners, np.int32)], 0.5)
    light = 1 - cv2.GaussianBlur(part, (0, 0), 2.0)
    return np.asarray(cv2.multiply(picture, cv2.merge([light] * 3), dtype=cv2.CV_8U), np.uint8)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shadow", [(500, 720), (240, 460)])
def test_an_arm_enters_where_it_does_and_not_where_its_shadow_lies(seed: int, shadow: tuple[int, int]) -> None:
    top = Top(760.0, 570.0, seed=seed)
    bare = photograph(top.image)
    arm = photograph(top.with_hand(270.0, 1 + seed, 20.0))
    shadow_apart = shaded(bare, (480, 380), (shadow[0], 719), (shadow[1], 719))
    # The arm lies over its shadow.
    there = np.abs(arm.astype(int) - bare).max(axis=2, keepdims=True) > 9
    (alone,) = glance_at(bare, arm).reaches
    beside = glance_at(bare, np.where(there, arm, shadow_apart)).reaches
    assert [reach.x for reach in beside] == [pytest.approx(alone.x, abs=12)]


def test_an_arm_that_rests_rests_on_when_another_hand_touches_it() -> None:
    resting, both = np.zeros((2, ROWS, COLUMNS), np.uint8)
    resting[150:, 60:100] = 255
    both[150:, 60:100] = 255
    both[140:160, 90:] = 255
    moved = (both > 0) & (resting == 0)
    found = sort_edge(both, moved, resting)
    assert [reach.y for reach in found.arms] == [pytest.approx(149.5, abs=1.5)]
    assert [reach.x for reach in found.resting] == [pytest.approx(80, abs=1.5)]
    moved[150:200, 60:100] = True
    found = sort_edge(both, moved, resting)
    assert len(found.arms) == 2, "its hand has moved"
    assert not found.resting


@pytest.mark.parametrize(("hand", "told"), [(8, Surface.ARM), (1, Surface.SHADOW)])
def test_what_passes_for_a_shadow_between_a_hand_and_the_edge_is_a_sleeve(hand: int, told: Surface) -> None:
    seen = np.zeros((60, 80), np.uint8)
    seen[50:, 30:40] = Surface.SHADOW
    seen[50 - hand : 50, 30:40] = Surface.ARM
    scores = np.stack([seen == kind for kind in Surface]).astype(np.float32)
    picture = np.zeros((120, 160, 3), np.uint8)
    kinds = tell_surfaces(lambda both: scores[None], picture, picture)
    assert (kinds[110:, 62:78] == told).all()
    assert not kinds[:, :50].any(), "beside it is the table"


def test_of_the_arms_in_sight_when_a_card_first_showed_any_may_have_brought_it() -> None:
    track = Track(np.zeros((4, 2), np.float32), 0)
    track.bearings = [(310.0, 0.2), (40.0, 0.1), (42.0, 1.0), (41.0, 0.9)]
    track.first_arms = 1
    assert brought_from(track) is None, "who came after another has perhaps brought the next card"
    track.first_arms = 2
    assert brought_from(track) == pytest.approx(41.5, abs=1)


@pytest.mark.parametrize(("looks", "told"), [(6, None), (12, 49.0)])
def test_of_two_arms_that_reach_to_a_card_as_long_none_is_said_to_have_brought_it(
    looks: int, told: float | None
) -> None:
    track = Track(np.zeros((4, 2), np.float32), 0, bearings=[(49.0, 1.0)] * looks + [(206.0, 1.0)] * 5, first_arms=1)
    assert brought_from(track) == (None if told is None else pytest.approx(told))


def test_another_hand_on_the_way_does_not_make_an_arm_reach_the_pile() -> None:
    stream = Stream()
    stream.advance(0, (ROWS, COLUMNS))
    motion = Motion()
    motion.factor = 1
    nothing = np.zeros((ROWS, COLUMNS), np.uint8)
    kinds = nothing.copy()
    kinds[200:, 140:180] = Surface.ARM
    kinds[100:190, :200] = Surface.ARM
    glance = Glance(0, np.zeros((ROWS, COLUMNS, 3), np.uint8), nothing, nothing, kinds)
    glance.reaches = [Reach(160.0, ROWS - 1.0), Reach(0.0, 145.0)]
    arms = Arms({1: 270.0}, motion, stream, Pile())
    assert [round(bearing) for bearing, *_ in arms._reaching(glance, (160.0, 120.0), None)] == [189]
