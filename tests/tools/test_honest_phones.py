"""Honest hands on phones in bad networks: a short version of `make honest-phones`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hardware.simulated.devices.simulated_phone import HEARTBEAT, NOT_PROMISED, ON_THEIR_WAY, PATIENCE
from referee.units import MS
from tools.measure.honest_phones import SEATS, HonestEvening, play_evening, show


@pytest.fixture(scope="module")
def evening() -> HonestEvening:
    """An evening never inspected by hand."""
    return play_evening(77)


def test_honest_hands_are_judged_and_stated_with_errors_that_hold(evening: HonestEvening) -> None:
    assert show([evening])
    usual = [hand for hand in evening.hands if not hand.cut_off]
    assert len(usual) > 100
    assert sum(hand.is_inside and not (hand.edge and hand.edge.late) for hand in usual) >= 0.99 * len(usual)


def test_the_simulated_phone_keeps_the_times_of_the_pages_script() -> None:
    script = (Path(__file__).parents[2] / "referee" / "web" / "static" / "pad.js").read_text(encoding="utf-8")
    kept = (r"HEARTBEAT = (\d+);", r"PATIENCE = (\d+);", r"until: ns\(sent - (\d+)\)", r"sending >= (\d+) && !touched")
    found = [int(said[1]) if (said := re.search(pattern, script)) else None for pattern in kept]
    assert found == [HEARTBEAT // MS, PATIENCE // MS, NOT_PROMISED // MS, ON_THEIR_WAY]


def test_each_phone_was_cut_off_and_slept_and_nobody_is_told_so_of_another(evening: HonestEvening) -> None:
    assert {hand.cut_off for hand in evening.hands} == {"", "outage", "sleep"}
    jumps = [times for words, times in evening.said.items() if "has jumped" in words]
    assert jumps == [SEATS]
    assert not evening.out_of_the_blue


def test_nobody_waits_for_a_phone_for_longer_than_three_tenths_of_a_second(evening: HonestEvening) -> None:
    assert evening.widest_wait <= 300_000_000
