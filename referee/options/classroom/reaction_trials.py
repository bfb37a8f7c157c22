"""Reaction trials without cards: a wait, a stimulus, one hand; and their statistics. Pure.

A trial is judged by instants and their errors alone. A hand that certainly came within 100 ms of the stimulus cannot be
a reaction to it: it is a false start. If the errors extend across that limit, the trial is not counted. Errors are
bounds on one measured time; they may be the same in every trial, so repetition does not average them away, and a median
keeps the largest of them beside the limits of chance (`referee.record.league.median`).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from io import StringIO
from typing import Final

from hardware.pads.clock_exchange import DRIFT
from referee.record.league import Median, median
from referee.record.statistics import SOONEST_REACTION
from referee.units import MS, last_place, round_at

WINDOW: Final = 1500 * MS
"""Time limit for a hand after the stimulus, ns."""
_LONGEST_WAIT: Final = 4
"""The longest wait before a stimulus, as a multiple of the shortest."""
_BROWSER_CLOCK: Final = 2 * MS
"""Rounding of two browser timestamps, each to 1 ms at the coarsest."""
LEFT, RIGHT, EITHER = "left", "right", ""


class TrialEnd(Enum):
    """Outcome of a trial."""

    REACTION = "reaction"
    FALSE_START = "false_start"
    """The hand came too early to be a reaction."""
    UNSURE = "unsure"
    """The errors do not separate a reaction from a false start."""
    MISSED = "missed"
    UNHEARD = "unheard"
    """The pupil's device was silent, so the outcome is unknown."""


@dataclass(frozen=True, slots=True)
class Timed:
    """An instant and its error, ns: the true one is no further than that from the stated one."""

    t: int
    t_error: int


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of one pupil. Times in ns."""

    pupil: int
    number: int
    """From 1 on, for this pupil."""
    hand: str
    """`LEFT`, `RIGHT`, or `EITHER` if none was asked for."""
    wait: int
    """Time from readiness to stimulus."""
    end: TrialEnd
    reaction: int | None = None
    """Time from stimulus to hand; negative if the hand came first, None if there was none."""
    error: int = 0
    """Error of the reaction: the sum of the stimulus's and the hand's."""


def draw_wait(chance: float, shortest: int) -> int:
    """Draw the wait before a stimulus, ns.

    The wait so far must not predict the rest, so that pupils cannot learn when to be ready: beyond the shortest wait
    the times are exponential, cut off at four times the shortest.

    Args:
        chance: a random number in [0, 1).
        shortest: the minimum, and the mean of the exponential part before the cut, ns.
    """
    cut = 1 - math.exp(1 - _LONGEST_WAIT)
    return shortest + round(-shortest * math.log(1 - chance * cut))


def ask_hand(number: int, trials: int, *, mirrored: bool = False) -> str:
    """Return the hand of a trial: left, right, right, left by quarters, so that practice favours neither."""
    outer = (number - 1) * 4 // trials in (0, 3)
    return LEFT if outer != mirrored else RIGHT


def judge_trial(pupil: int, number: int, hand: str, wait: int, stimulus: Timed | None, pressed: Timed | None) -> Trial:
    """Judge a trial.

    Args:
        pupil: its pupil.
        number: of the trial.
        hand: the one that was asked for.
        wait: before the stimulus, ns.
        stimulus: its instant; None: the hand came before it.
        pressed: the first hand since the pupil was ready; None: no hand.
    """
    if pressed is None:
        return Trial(pupil, number, hand, wait, TrialEnd.MISSED)
    if stimulus is None:
        return Trial(pupil, number, hand, wait, TrialEnd.FALSE_START)
    reaction, error = pressed.t - stimulus.t, pressed.t_error + stimulus.t_error
    if reaction > WINDOW:
        return Trial(pupil, number, hand, wait, TrialEnd.MISSED)
    end = TrialEnd.REACTION
    if reaction - error < SOONEST_REACTION:
        end = TrialEnd.FALSE_START if reaction + error < SOONEST_REACTION else TrialEnd.UNSURE
    return Trial(pupil, number, hand, wait, end, reaction, error)


def time_by_page(began: int, ended: int, touched: int, sampling: int) -> tuple[Timed, Timed]:
    """Return stimulus and hand of a page that showed and felt them, by its own clock, ns.

    Args:
        began: before the page drew the stimulus ...
        ended: ... and when its next picture was due: the stimulus came between the two, apart from the screen's own
            delay.
        touched: timestamp of the hand, which came up to twice ``sampling`` earlier.
        sampling: see `hardware.pads.page_pads.SAMPLING`.
    """
    astray = _BROWSER_CLOCK + round(abs(touched - began) * DRIFT)
    half = (ended - began + 1) // 2
    return Timed(began + half, half), Timed(touched - sampling, sampling + astray)


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """Statistics of some trials: times in ns."""

    times: tuple[int, ...]
    """The reactions, in order of size."""
    error: int
    """The instrument's error: the bound for each time, and so for their median."""
    median: Median | None
    """With the limits of chance."""
    false_starts: int
    missed: int
    others: int
    """Trials that are not counted: unsure, or unheard."""

    @property
    def count(self) -> int:
        """Number of trials made."""
        return len(self.times) + self.false_starts + self.missed + self.others


def summarise_trials(trials: Iterable[Trial]) -> TrialSummary:
    """Return median, errors and counts of trials."""
    ones = list(trials)
    counted = [trial for trial in ones if trial.end is TrialEnd.REACTION and trial.reaction is not None]
    times = tuple(sorted(trial.reaction for trial in counted if trial.reaction is not None))
    ends = [trial.end for trial in ones]
    return TrialSummary(
        times,
        max((trial.error for trial in counted), default=0),
        median([float(time) for time in times]),
        ends.count(TrialEnd.FALSE_START),
        ends.count(TrialEnd.MISSED),
        ends.count(TrialEnd.UNSURE) + ends.count(TrialEnd.UNHEARD),
    )


@dataclass(frozen=True, slots=True)
class HandComparison:
    """The left hand against the right: times in ns.

    An error that the instrument adds to both hands cancels in their difference: a constant shifts both medians equally,
    and variation from trial to trial is already in the limits of chance.
    """

    low: int
    high: int
    """Bounds of the left hand's median minus the right's."""
    error: int
    """The instrument's error of one time; it determines the significant digits."""

    @property
    def is_sure(self) -> bool:
        """Whether one hand is certainly the faster one, beyond chance."""
        return self.low > 0 or self.high < 0


def compare_hands(trials: Sequence[Trial]) -> HandComparison | None:
    """Compare the two hands of a pupil; `None`: one has too few reactions for limits of chance.

    Each median lies within its limits in 95 of 100 cases at least, so both do in 90 of 100.
    """
    left, right = (summarise_trials(trial for trial in trials if trial.hand == hand) for hand in (LEFT, RIGHT))
    a, b = left.median, right.median
    if a is None or b is None or a.low is None or a.high is None or b.low is None or b.high is None:
        return None
    error = max(left.error, right.error)
    return HandComparison(math.floor(a.low - b.high), math.ceil(a.high - b.low), error)


TRIAL_COLUMNS: Final = (
    "pupil", "trial", "hand", "stimulus", "wait_ms", "outcome", "reaction_ms", "error_ms",
)  # fmt: skip


def write_trials_csv(trials: Iterable[Trial], stimulus: str, *, head: bool = True) -> str:
    """Return trials as CSV with `TRIAL_COLUMNS`: each time ends at the digit that its error allows, 1 ms at the
    coarsest.
    """
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if head:
        writer.writerow(TRIAL_COLUMNS)
    for trial in trials:
        reaction, error = ("", "") if trial.reaction is None else _csv_time(trial.reaction, trial.error)
        wait, _ = _csv_time(trial.wait, 2 * MS)
        writer.writerow((trial.pupil, trial.number, trial.hand, stimulus, wait, trial.end.value, reaction, error))
    return out.getvalue()


def _csv_time(ns: int, error: int) -> tuple[str, str]:
    """Return a time and its error in milliseconds; the error includes the rounding of the time."""
    place = min(last_place(error, ns), 6)
    unit = 10**place
    rounded = round_at(ns, place)
    bound = -(-(error + abs(rounded - ns)) // unit) * unit
    return f"{rounded / MS:.{6 - place}f}", f"{bound / MS:.{6 - place}f}"
