"""The debouncer and the pad filter: pure, in event time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.debounce import MASK, REBOUND, Debouncer, Event
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.engine.observations import Lift, Observation, Other, Slap

MS = 1_000_000


def press(at: int, seat: int = 1, t_error: int = 1_500_000) -> Edge:
    return Edge(seat, at, pressed=True, t_error=t_error)


def release(at: int, seat: int = 1) -> Edge:
    return Edge(seat, at, pressed=False)


def play(*edges: Edge, until: int, seats: int = 2) -> list[Observation]:
    """Feed edges in their order, advancing with each, and then to ``until``."""
    pads = PadFilter(seats)
    seen: list[Observation] = []
    for edge in edges:
        seen += pads.advance(edge.t - 1)
        seen += pads.feed(edge)
    return seen + pads.advance(until)


def stamps(seen: list[Observation], kind: type[Observation]) -> list[int]:
    return [line.t for line in seen if isinstance(line, kind)]


def test_the_first_edge_counts_and_chatter_does_not() -> None:
    chatter = [edge for t in range(0, 60 * MS, 3 * MS) for edge in (press(t), release(t + MS))]
    seen = play(*chatter, until=500 * MS)
    assert stamps(seen, Slap) == [0]
    assert stamps(seen, Lift) == [58 * MS]


@pytest.mark.parametrize(("gap", "slaps"), [(59 * MS, 1), (MASK - 1, 1), (MASK, 2), (100 * MS, 2)])
def test_the_mask_ends_after_60_ms(gap: int, slaps: int) -> None:
    seen = play(press(0), release(30 * MS), press(gap), until=500 * MS)
    assert len(stamps(seen, Slap)) == slaps


def test_an_edge_after_the_mask_counts_even_where_nobody_saw_the_release() -> None:
    seen = play(press(0), press(80 * MS), until=500 * MS)
    assert stamps(seen, Slap) == [0, 80 * MS]
    (lift,) = [line for line in seen if isinstance(line, Lift)]
    assert (lift.t, lift.t_error) == (40 * MS, 40 * MS)


def test_a_hand_that_leaves_chatters_too() -> None:
    seen = play(
        press(0), release(200 * MS), press(201 * MS), release(202 * MS), press(205 * MS), release(206 * MS),
        until=900 * MS,
    )  # fmt: skip
    assert stamps(seen, Slap) == [0]
    assert stamps(seen, Lift) == [206 * MS]


def test_a_short_contact_is_dropped_and_moves_no_stamp() -> None:
    with_spike = play(press(0), release(MS), press(30 * MS), release(90 * MS), until=500 * MS)
    without = play(press(30 * MS), release(90 * MS), until=500 * MS)
    assert stamps(with_spike, Slap) == stamps(without, Slap) == [30 * MS]
    assert stamps(with_spike, Lift) == [90 * MS]


@pytest.mark.parametrize("gap", [9, 12, 19])
def test_a_touch_that_stays_open_for_longer_than_a_bounce_is_no_hands_beginning(gap: int) -> None:
    hand = (1 + gap) * MS
    assert stamps(play(press(0), release(MS), press(hand), release(hand + 80 * MS), until=500 * MS), Slap) == [hand]


def test_a_bounce_of_six_ms_is_the_hands_beginning() -> None:
    assert stamps(play(press(0), release(MS), press(7 * MS), release(90 * MS), until=500 * MS), Slap) == [0]


def test_ids_may_be_told_from_those_before_a_power_cut() -> None:
    pads = PadFilter(2, prefix="b.")
    pads.feed(press(0))
    pads.feed(release(80 * MS))
    assert [line.id for line in pads.advance(500 * MS)] == ["b.s1.1", "b.l1.1"]


def test_a_bounce_at_the_first_touch_is_no_short_contact() -> None:
    seen = play(press(0), release(300_000), press(1_400_000), release(80 * MS), until=500 * MS)
    assert stamps(seen, Slap) == [0]


def test_a_contact_of_two_ms_is_a_hand() -> None:
    assert stamps(play(press(0), release(2 * MS), until=500 * MS), Slap) == [0]
    assert stamps(play(press(0), release(2 * MS - 1), until=500 * MS), Slap) == []


@pytest.mark.parametrize("is_seen_open", [True, False])
def test_the_doubts_of_many_short_contacts_do_not_add_up_to_a_hand(is_seen_open: bool) -> None:
    """A disturbed line closes six times for 0.1 ms, and a busy machine looks at it each 0.7 ms, or only at the end."""
    edges = []
    for t in range(0, 4_200_000, 700_000):
        edges.append(press(t))
        if is_seen_open or t == 3_500_000:
            edges.append(Edge(1, t + 340_000, pressed=False, t_error=340_000))
    assert stamps(play(*edges, until=500 * MS), Slap) == []
    hand = [press(4_200_000), Edge(1, 9 * MS, pressed=False, t_error=500_000)]
    assert stamps(play(*edges, *hand, until=500 * MS), Slap) == [0]


def test_a_stuck_pad_is_flagged_once_and_freed() -> None:
    pads = PadFilter(2)
    pads.feed(press(0))
    pads.advance(2_999 * MS)
    assert not pads.benched
    seen = pads.advance(3_000 * MS)
    assert [(line.t, line.name) for line in seen if isinstance(line, Other)] == [(3_000 * MS, "pad_stuck")]
    assert list(pads.benched) == [1]
    assert pads.advance(9_000 * MS) == []
    pads.feed(release(9_500 * MS))
    assert [type(line) for line in pads.advance(10_499 * MS)] == [Lift]
    assert list(pads.benched) == [1], "only a pad that was open for a while counts again"
    freed = pads.advance(10_600 * MS)
    assert [(line.t, line.name) for line in freed if isinstance(line, Other)] == [(10_500 * MS, "pad_freed")]
    assert not pads.benched


def test_the_watermark_waits_for_what_is_undecided() -> None:
    pads = PadFilter(2)
    pads.feed(press(10 * MS))
    assert pads.advance(11 * MS) == []
    assert pads.watermark == 10 * MS - 1_500_000 - 1, "the hand may have come before its instant"
    assert pads.touched == (1,)
    assert stamps(pads.advance(12 * MS), Slap) == [10 * MS]
    assert pads.watermark == 12 * MS
    pads.feed(release(100 * MS))
    pads.advance(105 * MS)
    assert pads.watermark == 100 * MS - 1
    assert stamps(pads.advance(100 * MS + REBOUND), Lift) == [100 * MS]
    assert pads.watermark == 100 * MS + REBOUND


def test_touched_tells_the_first_hand_first() -> None:
    pads = PadFilter(3)
    pads.feed(press(12 * MS, seat=1))
    pads.feed(press(11 * MS, seat=3))
    assert pads.touched == (3, 1)


def test_an_edge_of_no_seat_is_refused() -> None:
    with pytest.raises(ValueError, match="seat 3, but the table has 2"):
        PadFilter(2).feed(press(0, seat=3))


def test_a_debouncer_says_what_it_dropped() -> None:
    pad = Debouncer()
    pad.feed(press(0))
    pad.feed(release(MS))
    assert [contact.event for contact in pad.advance(MS + REBOUND)] == [Event.DROPPED]


@settings(deadline=None)
@given(st.lists(st.integers(1, 120 * MS), min_size=1, max_size=40), st.integers(0, 50 * MS))
def test_what_is_returned_never_lies_behind_the_watermark(gaps: list[int], lag: int) -> None:
    """The promise: no edge is ever returned with ``t`` at or below an earlier watermark."""
    pads = PadFilter(1)
    now, mark, down = 0, 0, False
    for gap in gaps:
        now += gap
        down = not down
        seen = pads.advance(max(now - gap, now - 1 - lag)) + pads.feed(Edge(1, now, pressed=down))
        assert all(line.t > mark for line in seen)
        mark = pads.watermark
    assert all(line.t > mark for line in pads.advance(now + 10_000 * MS))
