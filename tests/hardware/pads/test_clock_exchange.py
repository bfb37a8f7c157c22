"""Clocks that stand elsewhere and drift: the statements about them hold, and narrow."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator

import pytest

from hardware.pads.clock_exchange import RemoteClock
from referee.units import MS, SECOND


def phone_time(ours: int, drift_ppm: float, ahead: int = -3 * SECOND) -> int:
    """Return the reading of another clock at one of our instants, ns."""
    return round(ours * (1 + drift_ppm * 1e-6)) + ahead


def echoes(rng: random.Random, drift_ppm: float, seconds: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield our stamp, their hearing of it, their echo and our hearing of that: four times a second, each way 5 to 80
    ms and unlike the other.
    """
    for k in range(seconds * 4):
        given = k * SECOND // 4 + 10 * SECOND
        there, kept, back = rng.randint(5 * MS, 80 * MS), rng.randint(0, 90 * MS), rng.randint(5 * MS, 80 * MS)
        had = given + there
        yield given, phone_time(had, drift_ppm), phone_time(had + kept, drift_ppm), had + kept + back


@pytest.mark.parametrize("drift_ppm", [-50.0, 0.0, 50.0, 100.0])
def test_what_is_told_of_a_phones_touches_holds_and_is_narrow(drift_ppm: float) -> None:
    rng = random.Random(round(drift_ppm))
    clock, errors, wrong = RemoteClock(), [], 0
    for given, received, sent, came in echoes(rng, drift_ppm, 600):
        assert clock.note_echo(given, received, sent, came)
        touched = came + rng.randint(0, 200 * MS)
        t, t_error = clock.translate(phone_time(touched, drift_ppm))
        wrong += abs(t - touched) > t_error
        errors.append(t_error)
    assert wrong == 0
    assert statistics.median(errors[100:]) < 8 * MS
    assert max(errors[100:]) < 15 * MS


def test_the_quickest_exchange_counts_and_a_slow_one_does_no_harm() -> None:
    clock = RemoteClock()
    clock.note_question(100 * MS, 5000 * MS, 104 * MS)
    clock.note_question(200 * MS, 5120 * MS, 900 * MS)
    t, t_error = clock.translate(5100 * MS)
    assert abs(t - 202 * MS) < MS
    assert 2 * MS <= t_error < 3 * MS


def test_what_lies_long_after_the_last_exchange_is_known_less_well() -> None:
    clock = RemoteClock()
    clock.note_question(0, 0, 2 * MS)
    assert clock.translate(0)[1] < clock.translate(60 * SECOND)[1]
    assert clock.translate(60 * SECOND)[1] >= 60 * SECOND * 200 // 1_000_000


def test_a_clock_that_slept_is_known_anew() -> None:
    clock = RemoteClock()
    clock.note_question(0, 0, 2 * MS)
    assert not clock.note_question(60 * SECOND, 10 * SECOND, 60 * SECOND + 2 * MS)
    assert clock.jumps == 1
    t, t_error = clock.translate(10 * SECOND)
    assert (t, t_error // MS) == (60 * SECOND + MS, 1)


def test_a_clock_that_begins_again_is_known_anew() -> None:
    """A board that restarts counts from zero: its earlier stamps no longer count."""
    clock = RemoteClock()
    clock.note_question(0, 100 * SECOND, 2 * MS)
    assert not clock.note_question(5 * SECOND, 0, 5 * SECOND + 2 * MS)
    assert clock.translate(0)[0] == 5 * SECOND + MS


def test_an_echo_is_no_narrower_than_the_round_trip_that_we_measured() -> None:
    clock = RemoteClock()
    clock.note_echo(SECOND, 5 * SECOND, 5 * SECOND + 200 * MS, SECOND + 230 * MS)
    earliest, latest = clock.bounds(5 * SECOND)
    assert 30 * MS <= latest - earliest < 31 * MS
    assert earliest <= SECOND and latest >= SECOND + 30 * MS


def test_an_echo_that_was_kept_for_longer_than_it_was_away_is_no_clocks() -> None:
    clock = RemoteClock()
    assert clock.note_echo(SECOND, 5 * SECOND, 5 * SECOND + 10 * MS, SECOND + 30 * MS)
    assert not clock.note_echo(2 * SECOND, 6 * SECOND, 6 * SECOND + 200 * MS, 2 * SECOND + 30 * MS)
    assert not clock.is_known and clock.jumps == 1


def test_of_a_clock_never_asked_nothing_is_told() -> None:
    with pytest.raises(ValueError, match="nothing is known"):
        RemoteClock().translate(0)
