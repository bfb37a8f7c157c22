"""The polling rate of a keyboard, from the instants of its answers."""

from __future__ import annotations

import random

import pytest

from hardware.pads.poll_interval import ASSUMED, PollInterval
from referee.units import MS, US


def answers(rng: random.Random, interval: int, count: int, drift_ppm: float = 0.0) -> list[int]:
    """Return stamps of a hand's presses: each at the next poll, and the processor a little late."""
    t, out = 0, []
    for _ in range(count):
        t += rng.randint(20 * MS, 200 * MS)
        asked = round(-(-t // interval) * interval * (1 + drift_ppm * 1e-6))
        out.append(asked + rng.randint(0, 80 * US) + (2 * MS if rng.random() < 0.03 else 0))
    return out


@pytest.mark.parametrize("interval", [1, 2, 4, 8, 9, 10, 16])
@pytest.mark.parametrize("drift_ppm", [-100, 0, 80])
def test_the_interval_is_found_and_never_taken_for_less(interval: int, drift_ppm: float) -> None:
    found = PollInterval()
    for t in answers(random.Random(interval), interval * MS, 200, drift_ppm):
        found.feed(t)
        assert found.value >= min(interval * MS, ASSUMED)
    assert found.is_measured
    assert found.value == interval * MS


def test_stamps_on_no_grid_tell_nothing() -> None:
    """A radio, another bus, or a machine that stamps when it has time."""
    rng, found, t = random.Random(5), PollInterval(), 0
    for _ in range(500):
        t += rng.randint(10 * MS, 240 * MS)
        found.feed(t)
    assert not found.is_measured
    assert found.value == ASSUMED


def test_a_pause_between_answers_is_no_gap() -> None:
    """Clocks drift apart in a minute by more than a grid is wide."""
    found = PollInterval()
    for t in range(0, 100 * 60_000 * MS, 60_000 * MS):
        found.feed(t)
    assert not found.is_measured
