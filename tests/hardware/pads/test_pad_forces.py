"""A slap waits for its force, within a limit."""

from __future__ import annotations

import pytest

from hardware.pads.seat_pad import FORCE_WAIT, FORCE_WINDOW
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.engine.observations import Lift, Slap

MS = 1_000_000


def pressed(at: int, lasts: int = 90 * MS, *, force: bool = True) -> PadFilter:
    pads = PadFilter(2, force=force)
    pads.feed(Edge(1, at, pressed=True, t_error=1_500_000))
    pads.feed(Edge(1, at + lasts, pressed=False))
    return pads


def test_a_slap_waits_for_its_force_and_so_does_the_watermark() -> None:
    pads = pressed(100 * MS)
    assert pads.advance(110 * MS) == []
    assert pads.watermark == 100 * MS - 1_500_000 - 1, "the hand may have come before its instant"
    pads.weigh(1, 100 * MS, 0.7)
    assert [(line.t, line.force) for line in pads.advance(116 * MS) if isinstance(line, Slap)] == [(100 * MS, 0.7)]
    assert pads.watermark == 116 * MS


def test_a_force_that_never_comes_is_not_waited_for_for_ever() -> None:
    pads = pressed(100 * MS)
    assert pads.advance(100 * MS + FORCE_WAIT - 1) == []
    assert [(line.t, line.force) for line in pads.advance(100 * MS + FORCE_WAIT) if isinstance(line, Slap)] == [
        (100 * MS, None)
    ]


def test_without_a_sampler_nothing_waits() -> None:
    assert [type(line) for line in pressed(100 * MS, force=False).advance(103 * MS)] == [Slap]


def test_a_force_is_joined_to_its_own_contact() -> None:
    pads = pressed(100 * MS)
    pads.weigh(1, 20 * MS, 0.9)
    pads.weigh(2, 100 * MS, 0.8)
    pads.weigh(1, 100 * MS + FORCE_WINDOW + 1, 1.0)
    assert pads.advance(105 * MS) == []
    pads.weigh(1, 100 * MS, 0.2)
    assert [line.force for line in pads.advance(106 * MS) if isinstance(line, Slap)] == [0.2]


def test_one_look_long_after_tells_both_slaps_and_both_lifts() -> None:
    pads = pressed(100 * MS)
    pads.feed(Edge(1, 300 * MS, pressed=True))
    pads.weigh(1, 300 * MS, 0.4)
    seen = pads.advance(900 * MS)
    assert [(line.t, line.force) for line in seen if isinstance(line, Slap)] == [(100 * MS, None), (300 * MS, 0.4)]
    assert [line.t for line in seen if isinstance(line, Lift)] == [190 * MS]


@pytest.mark.parametrize(("seat", "force"), [(1, 1.01), (1, -0.1), (3, 0.5)])
def test_a_force_that_is_none_is_refused(seat: int, force: float) -> None:
    with pytest.raises(ValueError, match="force"):
        PadFilter(2, force=True).weigh(seat, 0, force)
