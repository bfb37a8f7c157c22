"""The offset between camera and pads, from trials with a known truth."""

from __future__ import annotations

from random import Random

import pytest

from hardware.camera.light_offset import LEAST_TRIALS, LightTrial, NoOffset, estimate_offset
from referee.units import MS, SECOND, US


def trials(
    late: int, *, count: int = 48, fps: float = 30.0, exposure: int = 4 * MS, jitter: int = 0, switching: int = 0,
    clipped: bool = False, row: int = 0, seed: int = 1,
) -> list[LightTrial]:  # fmt: skip
    """Return the frames of a camera whose stamps are ``late``; the light takes up to ``switching``.

    ``jitter``: variation of each stamp's lateness; ``row``: how much later the light's row is exposed.
    """
    chance, period, out = Random(seed), round(SECOND / fps), []
    for number in range(count):
        told = SECOND + round((number * 0.618034 % 1) * period) + chance.randrange(5) * period
        on = told + (chance.randrange(switching) if switching else 0)
        # The first exposure that ends after it.
        first = (on - row - exposure) // period + 1
        begins = first * period + row
        share = min(1.0, (begins + exposure - on) / exposure)
        if share < 0.1:
            first, share = first + 1, 1.0
        stamp = [n * period + late + (chance.randint(-jitter, jitter) if jitter else 0) for n in (first - 1, first)]
        shown = 1.0 if clipped else share ** (1 / 2.2)
        out.append(LightTrial(told, told + switching, stamp[0], exposure, stamp[1], exposure, shown, clipped))
    return out


@pytest.mark.parametrize("late", [0, 37 * MS, -12 * MS, 250 * MS])
@pytest.mark.parametrize("exposure", [1 * MS, 4 * MS, 12 * MS])
def test_an_offset_is_found_within_what_is_stated(late: int, exposure: int) -> None:
    found = estimate_offset(trials(late, exposure=exposure))
    assert abs(found.late - late) <= found.error <= 2 * MS
    assert found.agreed == found.trials == 48


@pytest.mark.parametrize("seed", range(20))
def test_stamps_that_wander_widen_the_error(seed: int) -> None:
    found = estimate_offset(trials(37 * MS, jitter=3 * MS, seed=seed))
    assert abs(found.late - 37 * MS) <= found.error
    assert abs(found.late - 37 * MS) <= 2 * MS
    assert found.error > estimate_offset(trials(37 * MS, seed=seed)).error


def test_a_light_that_is_slow_to_come_on_is_taken_into_account() -> None:
    found = estimate_offset(trials(20 * MS, switching=5 * MS))
    assert abs(found.late - 20 * MS) <= found.error <= 5 * MS


def test_a_light_too_bright_for_its_share_to_tell() -> None:
    found = estimate_offset(trials(20 * MS, clipped=True))
    assert abs(found.late - 20 * MS) <= found.error <= 4 * MS


def test_a_row_that_is_read_late_is_taken_off() -> None:
    made = trials(5 * MS, row=7 * MS)
    assert abs(estimate_offset(made).late - -2 * MS) <= 2 * MS
    assert abs(estimate_offset(made, readout=7 * MS).late - 5 * MS) <= 2 * MS


def test_a_few_stray_trials_change_nothing() -> None:
    made = trials(8 * MS)
    stray = [
        LightTrial(trial.on_from - 90 * MS, trial.on_until - 90 * MS, trial.dark_t, trial.dark_exposure, trial.seen_t,
                   trial.seen_exposure, trial.share)
        for trial in made[:4]
    ]  # fmt: skip
    found = estimate_offset([*stray, *made[4:]])
    assert abs(found.late - 8 * MS) <= found.error <= 2 * MS
    assert (found.agreed, found.trials) == (44, 48)


def test_too_few_trials_and_contradicting_ones_tell_nothing() -> None:
    with pytest.raises(NoOffset, match="11 times"):
        estimate_offset(trials(0, count=LEAST_TRIALS - 1))
    chance = Random(1)
    wild = [
        LightTrial(trial.on_from, trial.on_until, trial.dark_t + (far := chance.randrange(2 * SECOND)),
                   trial.dark_exposure, trial.seen_t + far, trial.seen_exposure, trial.share)
        for trial in trials(0)
    ]  # fmt: skip
    with pytest.raises(NoOffset, match="contradict"):
        estimate_offset(wild)


def test_instants_all_at_one_phase_leave_a_frame_open() -> None:
    """The error says so: it claims no more than the trials show."""
    one = trials(0, count=1, exposure=100 * US)
    found = estimate_offset(one * 20)
    assert found.error >= 10 * MS
