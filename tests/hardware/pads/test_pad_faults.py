"""Pads in states that no hand can cause: stuck, chattering, and free again."""

from __future__ import annotations

import pytest

from hardware.pads.seat_pad import QUIET_FOR, TOO_MANY, Fault, FaultChange
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.engine.observations import Lift, Observation, Other, Slap

MS = 1_000_000


def contact(at: int, lasts: int, seat: int = 1) -> list[Edge]:
    return [Edge(seat, at, pressed=True, t_error=1_500_000), Edge(seat, at + lasts, pressed=False)]


def play(edges: list[Edge], until: int, seats: int = 2) -> tuple[PadFilter, list[Observation]]:
    pads = PadFilter(seats)
    seen: list[Observation] = []
    for edge in sorted(edges, key=lambda found: found.t):
        seen += pads.advance(edge.t - 1)
        seen += pads.feed(edge)
    return pads, seen + pads.advance(until)


def told(seen: list[Observation], seat: int) -> list[tuple[int, str]]:
    return [(line.t // MS, line.name) for line in seen if isinstance(line, Other) and line.extra["seat"] == seat]


def slaps(seen: list[Observation], seat: int) -> list[int]:
    return [line.t // MS for line in seen if isinstance(line, Slap) and line.seat == seat]


def chatter(hertz: int, seconds: float, seat: int = 1) -> list[Edge]:
    period = 1_000 * MS // hertz
    return [edge for k in range(int(seconds * hertz)) for edge in contact(k * period, period // 2, seat)]


@pytest.mark.parametrize("hertz", [20, 30, 50, 90, 400])
def test_a_pad_that_chatters_is_benched_within_a_second_and_freed_when_quiet(hertz: int) -> None:
    edges = chatter(hertz, 4.0)
    pads, seen = play(edges, 9_000 * MS)
    (benched, why), (freed, free) = told(seen, 1)
    assert why == "pad_chatter"
    assert benched <= 1_000
    assert (freed, free) == ((edges[-1].t + QUIET_FOR) // MS, "pad_freed")
    assert all(at <= benched for at in slaps(seen, 1))
    assert pads.benched == ()


def test_the_fastest_hand_is_no_chatter() -> None:
    """Nine slaps a second, each bouncing for 6 ms as it lands and as it leaves."""
    edges = []
    for k in range(45):
        at = k * 111 * MS
        for lasts, shift in ((2, 0), (2, 3), (48, 6), (1, 56), (1, 59)):
            edges += contact(at + shift * MS, lasts * MS)
    pads, seen = play(edges, 9_000 * MS)
    assert told(seen, 1) == []
    assert len(slaps(seen, 1)) == 45
    assert pads.benched == ()


def test_a_benched_pad_makes_no_slaps_and_the_others_do() -> None:
    edges = [*contact(0, 5_000 * MS), *contact(5_300 * MS, 80 * MS), *contact(5_310 * MS, 80 * MS, seat=2),
             *contact(7_000 * MS, 80 * MS)]  # fmt: skip
    _, seen = play(edges, 9_000 * MS)
    assert slaps(seen, 1) == [0, 7_000]
    assert slaps(seen, 2) == [5_310]
    assert told(seen, 1) == [(3_000, "pad_stuck"), (6_380, "pad_freed")]
    assert [line.t // MS for line in seen if isinstance(line, Lift) and line.seat == 1] == [5_000, 7_080]


def test_a_benched_pad_lights_nothing() -> None:
    pads = PadFilter(2)
    pads.feed(contact(0, MS)[0])
    pads.advance(3_500 * MS)
    pads.feed(contact(3_600 * MS, MS, seat=2)[0])
    assert pads.touched == (2,)
    assert pads.benched == (1,)


def test_a_chattering_pad_holds_nothing_up() -> None:
    pads = PadFilter(2)
    mark = 0
    for edge in chatter(50, 3.0):
        pads.advance(edge.t - 1)
        pads.feed(edge)
        mark = pads.watermark
        assert edge.t - mark < 100 * MS
    assert mark > 2_900 * MS


def test_the_table_is_told_in_words() -> None:
    _, seen = play([*contact(0, 5_000 * MS, seat=2)], 9_000 * MS)
    said = [str(line.extra["words"]) for line in seen if isinstance(line, Other)]
    assert said[0].startswith("seat 2's pad has been down")
    assert FaultChange("pad_freed", 0).words(3) == "seat 3's pad is quiet again: its slaps count"
    for fault in Fault:
        assert "seat 3" in FaultChange(fault.value, 0).words(3)


def test_the_threshold_is_of_closings_apart_not_of_bounces() -> None:
    burst = [edge for k in range(TOO_MANY * 2) for edge in contact(k * MS // 4, MS // 8)]
    _, seen = play(burst, 2_000 * MS)
    assert told(seen, 1) == []
