"""Reaction trials: the verdict on a trial, the sums of a pupil's trials, and the laws for all of them."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.options.classroom.reaction_trials import (
    EITHER,
    LEFT,
    RIGHT,
    TRIAL_COLUMNS,
    WINDOW,
    Timed,
    Trial,
    TrialEnd,
    ask_hand,
    compare_hands,
    draw_wait,
    judge_trial,
    summarise_trials,
    time_by_page,
    write_trials_csv,
)
from referee.record.statistics import SOONEST_REACTION
from referee.units import MS, SECOND

ERRORS = st.integers(0, 60 * MS)
REACTIONS = st.integers(SOONEST_REACTION, WINDOW)


def made(reaction: int | None, error: int = 0, *, hand: str = EITHER, end: TrialEnd = TrialEnd.REACTION) -> Trial:
    return Trial(1, 1, hand, SECOND, end, reaction, error)


def judged(stimulus: Timed | None, pressed: Timed | None) -> Trial:
    return judge_trial(1, 1, EITHER, SECOND, stimulus, pressed)


@pytest.mark.parametrize(
    ("reaction", "error", "end"),
    [
        (250, 10, TrialEnd.REACTION),
        (-40, 10, TrialEnd.FALSE_START),
        (80, 10, TrialEnd.FALSE_START),
        (95, 10, TrialEnd.UNSURE),
        (105, 10, TrialEnd.UNSURE),
        (110, 10, TrialEnd.REACTION),
        (1500, 10, TrialEnd.REACTION),
        (1501, 10, TrialEnd.MISSED),
    ],
)
def test_a_trial_is_judged_by_its_instants_and_their_errors(reaction: int, error: int, end: TrialEnd) -> None:
    trial = judged(Timed(SECOND, 4 * MS), Timed(SECOND + reaction * MS, (error - 4) * MS))
    assert trial.end is end
    assert trial.end is TrialEnd.MISSED or (trial.reaction, trial.error) == (reaction * MS, error * MS)


def test_no_hand_is_a_miss_and_a_hand_before_the_stimulus_a_false_start() -> None:
    assert judged(Timed(SECOND, 0), None).end is TrialEnd.MISSED
    assert judged(None, Timed(SECOND, 0)).end is TrialEnd.FALSE_START


@given(st.integers(0, 10**15), st.integers(-SECOND, WINDOW), ERRORS, ERRORS, st.floats(-1, 1), st.floats(-1, 1))
def test_what_is_called_a_reaction_or_a_false_start_truly_was_one(
    t: int, gap: int, error: int, other: int, shift: float, late: float
) -> None:
    """Wherever within the stated errors the true instants lay."""
    true = gap + int(other * late) - int(error * shift)
    trial = judged(Timed(t, error), Timed(t + gap, other))
    if trial.end is TrialEnd.REACTION:
        assert true >= SOONEST_REACTION
        assert trial.reaction is not None and abs(trial.reaction - true) <= trial.error
    elif trial.end is TrialEnd.FALSE_START:
        assert true < SOONEST_REACTION


@given(st.floats(0, 1, exclude_max=True), st.integers(50 * MS, 10 * SECOND))
def test_a_wait_lies_between_the_shortest_and_four_times_it(chance: float, shortest: int) -> None:
    assert shortest <= draw_wait(chance, shortest) <= 4 * shortest


@given(st.floats(0, 0.4), st.integers(1 * SECOND, 3 * SECOND))
def test_waiting_teaches_nothing_of_how_long_it_will_still_be(chance: float, shortest: int) -> None:
    """Of the pupils still waiting after a while, as many are called in the next tenth as at the beginning."""
    later = draw_wait(chance, shortest)
    tenth = shortest // 10

    def share_until(wait: int) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if draw_wait(middle, shortest) < wait else (low, middle)
        return low

    first = share_until(shortest + tenth)
    next_ones = (share_until(later + tenth) - chance) / (1 - chance)
    assert next_ones == pytest.approx(first, abs=0.02)


@given(st.integers(4, 400), st.booleans())
def test_hands_are_asked_evenly_and_neither_is_always_the_practised_one(trials: int, mirrored: bool) -> None:
    asked = [ask_hand(n, trials, mirrored=mirrored) for n in range(1, trials + 1)]
    assert abs(asked.count(LEFT) - asked.count(RIGHT)) <= 2
    assert asked[0] == asked[-1] == (RIGHT if mirrored else LEFT)
    if trials % 4 == 0:
        middle = [sum(n for n, hand in enumerate(asked) if hand == side) for side in (LEFT, RIGHT)]
        assert middle[0] == middle[1], "on the average both are asked for at the same place"


@given(st.lists(REACTIONS, min_size=1, max_size=60), st.data())
def test_the_true_median_is_no_further_off_than_the_error_says(times: list[int], data: st.DataObject) -> None:
    error = data.draw(ERRORS)
    off = [data.draw(st.integers(-error, error)) for _ in times]
    summary = summarise_trials(made(time, error) for time in times)
    true = summarise_trials(made(time + by, error) for time, by in zip(times, off, strict=True))
    assert summary.median is not None and true.median is not None
    assert abs(summary.median.value - true.median.value) <= summary.error


@given(
    st.integers(0, 10**15), st.integers(0, 40 * MS), st.integers(0, WINDOW), st.integers(0, 50 * MS),
    st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1),
)  # fmt: skip
def test_a_page_times_a_trial_within_what_it_says(
    began: int, frame: int, gap: int, sampling: int, drawn: float, late: float, rounding: float
) -> None:
    """Wherever in its frame the stimulus came, and however long the hand was there before it was stamped."""
    shown = began + int(frame * drawn)
    hand = shown + gap
    touched = hand + int(2 * sampling * late) + int(MS * rounding)
    stimulus, pressed = time_by_page(began, began + frame, touched, sampling)
    assert abs((pressed.t - stimulus.t) - gap) <= stimulus.t_error + pressed.t_error


def test_a_summary_counts_every_trial_once_and_keeps_the_others_out_of_the_median() -> None:
    trials = [made(250 * MS, 5 * MS), made(350 * MS, 9 * MS), made(20 * MS, 90 * MS, end=TrialEnd.UNSURE)]
    trials += [made(None, end=end) for end in (TrialEnd.MISSED, TrialEnd.UNHEARD, TrialEnd.FALSE_START)]
    summary = summarise_trials(trials)
    assert summary.median is not None and summary.median.value == 300 * MS
    assert (summary.times, summary.error) == ((250 * MS, 350 * MS), 9 * MS)
    assert (summary.false_starts, summary.missed, summary.others, summary.count) == (1, 1, 2, 6)
    assert summarise_trials([]).median is None


def test_a_hand_is_the_quicker_one_only_where_chance_leaves_no_other() -> None:
    def both(gap: int) -> list[Trial]:
        return [
            made((200 + n + extra) * MS, 3 * MS, hand=hand)
            for n in range(10)
            for hand, extra in ((LEFT, gap), (RIGHT, 0))
        ]

    slower, alike, quicker = (compare_hands(both(gap)) for gap in (40, 5, -40))
    assert slower is not None and slower.is_sure and 0 < slower.low <= 40 * MS <= slower.high
    assert alike is not None and not alike.is_sure and alike.low < 5 * MS < alike.high
    assert quicker is not None and quicker.is_sure and quicker.high < 0
    assert compare_hands(both(40)[:10]) is None, "five times of each hand have no limits"


@given(st.integers(-30 * MS, 30 * MS), st.lists(REACTIONS, min_size=12, max_size=40))
def test_what_the_instrument_adds_alike_drops_out_of_the_comparison(added: int, times: list[int]) -> None:
    trials = [made(time, hand=(LEFT, RIGHT)[n % 2]) for n, time in enumerate(times)]
    shifted = [made(time + added, hand=(LEFT, RIGHT)[n % 2]) for n, time in enumerate(times)]
    assert compare_hands(trials) == compare_hands(shifted)


@given(st.lists(st.tuples(REACTIONS, ERRORS), min_size=1, max_size=20))
def test_a_line_of_the_file_holds_the_true_time_within_what_it_says(ones: list[tuple[int, int]]) -> None:
    rows = list(csv.DictReader(StringIO(write_trials_csv([made(*trial) for trial in ones], "light"))))
    assert [tuple(row) for row in rows] == [TRIAL_COLUMNS] * len(ones)
    for (reaction, error), row in zip(ones, rows, strict=True):
        said, bound = (round(float(row[name]) * MS) for name in ("reaction_ms", "error_ms"))
        assert said - bound <= reaction - error and reaction + error <= said + bound
        assert bound <= 2 * max(error, MS), "and it says no more than that"
        digits = len(row["reaction_ms"].partition(".")[2])
        assert 10**-digits * MS <= max(error, 1000) or digits == 0, "no digit that the error does not allow"


def test_a_miss_has_no_time_in_the_file() -> None:
    text = write_trials_csv([Trial(3, 2, LEFT, 1234 * MS, TrialEnd.MISSED)], "phone", head=False)
    assert text == "3,2,left,phone,1234,missed,,\n"
