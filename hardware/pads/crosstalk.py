"""Crosstalk: a hand on one pad that another pad hears through the table, distinguished from a second hand.

Crosstalk is measured (`referee calibrate pads`): the longest time for which a hand on pad *a* closes pad *b*. A contact
on *b* is crosstalk only if all of these hold:

- it begins closer to a hand on *a* than both pads' stated errors together: one blow can explain both;
- it is over within the measured time, and within `LONGEST`: a hand stays longer than any echo (if several hands come
  one after another, each may have its echo);
- the hand on *a* is beyond doubt: it lasted longer than *a*'s own echo of *b* could.

So a second hand that stays down as hands do is never taken for crosstalk, however close it is to the first. These cases
cannot be distinguished:

- a hand that comes while the echo of another still holds its pad closed, or within its own bounce after it: the pad
  shows one contact. It is kept, and its instant is stated as the span in which the hand can have come (`landing`);
- two contacts that could each be the other's echo: both are kept, and players are asked who was first;
- a touch as short as the echo at the instant of the echo: it is taken for an echo, and the log says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hardware.pads.debounce import ClosedSpan
from referee.units import MS

LONGEST: Final = 10 * MS
"""Longest possible crosstalk, ns, whatever was measured. Even a drumstick stays down for 3 to 6 ms."""


@dataclass(frozen=True, slots=True)
class Crosstalk:
    """Measurements at a table, by seat from 1; all ns."""

    lengths: tuple[tuple[int, ...], ...]
    """The longest contact that a hand on the row's pad causes on the column's pad."""
    errors: tuple[int, ...]
    """Half-width of each pad's stamp."""
    bounces: tuple[int, ...]
    """Time for which a hand's contact may bounce after its first edge."""
    heard: tuple[Mapping[int, tuple[int, int]], ...] = field(init=False, repr=False, compare=False)
    """For each listening pad, from 0: the seats it hears, with the greatest distance between hand and echo, and the
    longest echo.
    """

    def __post_init__(self) -> None:
        """Raise `ValueError` if rows, columns and lists differ in length."""
        seats = len(self.lengths)
        if {len(row) for row in self.lengths} | {len(self.errors), len(self.bounces)} != {seats}:
            raise ValueError(f"crosstalk of {seats} pads needs {seats} rows of {seats}, and as many errors and bounces")
        heard = [
            {
                a + 1: (self.errors[a] + self.errors[b], min(LONGEST, row[b]))
                for a, row in enumerate(self.lengths)
                if a != b and row[b]
            }
            for b in range(seats)
        ]
        object.__setattr__(self, "heard", tuple(heard))

    def hold(self, b: int) -> int:
        """Return the time, ns, by which the hand that caused an echo on ``b`` may be later than the echo's start."""
        return max((near for near, _ in self.heard[b - 1].values()), default=0)

    def causes(self, b: int, began: int, end: int, hands: Iterable[tuple[int, int, int]]) -> list[Cause]:
        """Return those of ``hands`` whose echo may be part of a contact on ``b`` from ``began`` to ``end`` (ns); none
        unless one of them may have begun it.

        Args:
            b: the pad that may have heard.
            began: the contact's first edge, ns.
            end: its last edge, ns.
            hands: seat, earliest and latest possible instant of each hand, ns.
        """
        found: list[Cause] = []
        begun = False
        heard = self.heard[b - 1]
        for a, first, last in hands:
            near, length = heard.get(a, (0, 0))
            if length and first - near < end and began < last + near + length:
                found.append(Cause(a, first - near, last + near, length))
                begun = begun or first - near < began < last + near
        return found if begun else []


@dataclass(frozen=True, slots=True)
class Cause:
    """A hand that another pad may have heard."""

    seat: int
    earliest: int
    latest: int
    """Its echo begins between these instants, ns."""
    length: int
    """Greatest length of the echo, ns."""


def at_most(start: int, causes: Iterable[Cause]) -> int:
    """Return the latest instant, ns, until which echoes of these hands can keep a pad closed from ``start``."""
    return max((cause.latest + cause.length for cause in causes), default=start)


def explained(runs: Sequence[ClosedSpan], causes: Sequence[Cause]) -> int:
    """Return the instant, ns, up to which echoes of these hands can explain a contact; each hand has one echo.

    Args:
        runs: closed spans of the contact so far; at least one.
        causes: the hands, few enough to try every order of their echoes.
    """
    start = runs[0].start
    # By set of hands (a bit mask): the latest instant that their echoes can explain, one after another in any order.
    reach = {0: start}
    for chosen in range(1 << len(causes)):
        # The first instant from there on at which the contact was closed; None if it was not.
        by = reach.get(chosen, start)
        at = next((max(by, run.start) for run in runs if run.end is None or by < run.end), None)
        if chosen not in reach or at is None:
            continue
        for place, cause in enumerate(causes):
            end = min(at, cause.latest) + cause.length
            if not chosen >> place & 1 and cause.earliest < at < end:
                more = chosen | 1 << place
                reach[more] = max(end, reach.get(more, start))
    return max(reach.values())


def landing(runs: Sequence[ClosedSpan], over: int, bounce: int) -> tuple[int, int]:
    """Return the earliest and latest possible instant of a contact's hand, if the contact may have begun as echo.

    Args:
        runs: closed spans of the contact so far; at least one.
        over: the instant up to which echoes can explain it (`explained`), ns.
        bounce: time after its landing within which a hand's contact still opens, ns.
    """
    last = runs[-1].start
    # A hand bounces for at most ``bounce`` after its landing; all earlier closings were echoes.
    earliest = next(max(last - bounce, run.start) for run in runs if run.end is None or last - bounce <= run.end)
    latest = next((max(over, run.start) for run in runs if run.still is None or over < run.still), over)
    return min(earliest, latest), latest
