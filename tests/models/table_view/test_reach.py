"""Seats by the directions of hands."""

from __future__ import annotations

import pytest

from hardware.simulated.pictures.overhead import Overhead, OverheadFrames
from models.table_view.reach import Reaching
from models.watch.arms import apart
from tests.support.overhead import bare, with_sheet


def _told(reaches: tuple[float, ...], camera: Overhead | None = None) -> list[float]:
    reaching = Reaching()
    frames = OverheadFrames(camera or Overhead(), with_sheet(), still=3, reaches=reaches).frames()
    told = [reaching.feed(frame.image, frame.t) for frame in frames]
    return [bearing for bearing in told if bearing is not None]


@pytest.mark.parametrize("reaches", [(270.0, 180.0, 90.0, 0.0), (300.0, 222.0, 60.0)])
def test_each_reach_tells_one_bearing(reaches: tuple[float, ...]) -> None:
    told = _told(reaches)
    assert len(told) == len(reaches)
    assert all(apart(one, other) < 7 for one, other in zip(told, reaches, strict=True))


def test_a_leaning_camera_makes_little_difference() -> None:
    (told,) = _told((200.0,), Overhead(tilt=12.0, towards=270.0, noise=5.0))
    assert apart(told, 200.0) < 10


def test_two_hands_are_no_bearing_and_a_hand_held_long_is_one() -> None:
    camera, top = Overhead(), bare()
    reaching = Reaching()
    empty = camera.picture(top)
    one = camera.picture(top, image=top.with_hand(270.0, 1))
    assert reaching.feed(empty, 0) is None
    assert reaching.state == "away"
    both = one.copy()
    other = camera.picture(top, image=top.with_hand(90.0, 2))
    both[:300] = other[:300]
    both[:360][(other[:360].astype(int) - empty[:360]).max(axis=2) > 12] = other[:360][
        (other[:360].astype(int) - empty[:360]).max(axis=2) > 12
    ]
    told = [reaching.feed(both, t * 66_000_000) for t in range(1, 15)]
    assert told == [None] * 14
    assert reaching.state == "two"
    # Three seconds of one hand: reported once, and never a part of the table.
    told = [reaching.feed(one, t * 66_000_000) for t in range(15, 60)]
    assert len([bearing for bearing in told if bearing is not None]) == 1
    assert reaching.state == "told"
    for t in range(60, 64):
        reaching.feed(empty, t * 66_000_000)
    assert reaching.state == "away"


def test_darkness_is_told() -> None:
    reaching = Reaching()
    reaching.feed(Overhead(light=0.0001).picture(bare()), 0)
    assert reaching.state == "dark"
