"""A hand on one pad that another pad hears through the table: told from a second hand, as far as that can be told.

What is known of crosstalk is measured (`referee calibrate pads`): how long a hand on pad *a* closes pad *b* at most. A
contact on *b* is crosstalk only if all of this holds:

- it begins nearer to a hand on *a* than both pads' stated errors together: the blow can be one and the same;
- it is over within the measured time, and within `LONGEST`: a hand stays for longer than any echo (where several
  hands come one after another, each may have its echo);
- the hand on *a* is one beyond doubt: it lasted longer than *a*'s own echo of *b* could.

So a second hand that stays down as hands do is never taken for crosstalk, however near it is to the first. What
cannot be told apart:

- a hand that comes while the echo of another still holds its pad closed, or within its own bounce after it: the pad
  shows one contact. It is kept, and its instant is stated as the span in which the hand can have come (`landing`);
- two contacts that could each be the other's echo: both are kept, and people are asked who was first;
- a touch as short as the echo at the instant of the echo: it is taken for one, and the log says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hardware.pads.debounce import ClosedSpan
from referee.units import MS

LONGEST: Final = 10 * MS
"""No contact of more than this is crosstalk, whatever was measured, ns. Even a drumstick stays down for 3 to 6 ms."""


@dataclass(frozen=True, slots=True)
class Crosstalk:
    """What was measured at a table, by seat from 1 on; all ns."""

    lengths: tuple[tuple[int, ...], ...]
    """The longest contact that a hand on the row's pad makes at the column's."""
    errors: tuple[int, ...]
    """Half-width of each pad's stamp."""
    bounces: tuple[int, ...]
    """How long after its first edge a hand's contact still opens."""
    heard: tuple[Mapping[int, tuple[int, int]], ...] = field(init=False, repr=False, compare=False)
    """By pad that hears, from 0 on: of each seat that it hears, how far from the hand the echo may begin, and how long
    it lasts at most.
    """

    def __post_init__(self) -> None:
        """Raises `ValueError` where rows, columns and lists are not of one length."""
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
        """How long after an echo on ``b`` may have begun the hand may still come whose echo it was, ns."""
        return max((near for near, _ in self.heard[b - 1].values()), default=0)

    def causes(self, b: int, began: int, end: int, hands: Iterable[tuple[int, int, int]]) -> list[Cause]:
        """Of ``hands`` those whose echo may be part of a contact on ``b`` from ``began`` to ``end`` (ns); empty unless
        one of them may have begun it.

        Args:
            b: the pad that may have heard.
            began: the contact's first edge, ns.
            end: its last, ns.
            hands: of each the seat, and the earliest and the latest instant at which it can have come, ns.
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
    """Between these instants its echo begins, ns."""
    length: int
    """How long the echo lasts at most, ns."""


def at_most(start: int, causes: Iterable[Cause]) -> int:
    """No echo of these hands keeps a pad closed beyond this instant, if it first closed at ``start``; ns."""
    return max((one.latest + one.length for one in causes), default=start)


def explained(runs: Sequence[ClosedSpan], causes: Sequence[Cause]) -> int:
    """Up to where echoes of these hands can account for a contact, ns; each hand has one echo.

    Args:
        runs: when the contact was closed so far; at least one.
        causes: the hands, few enough that every order of their echoes can be tried.
    """
    start = runs[0].start
    # The furthest that each set of echoes reaches, one after another: in what order they came is not known.
    reach = {0: start}
    for chosen in range(1 << len(causes)):
        # The first instant from there on at which the contact was closed; None after it was.
        by = reach.get(chosen, start)
        at = next((max(by, run.start) for run in runs if run.end is None or by < run.end), None)
        if chosen not in reach or at is None:
            continue
        for place, one in enumerate(causes):
            end = min(at, one.latest) + one.length
            if not chosen >> place & 1 and one.earliest < at < end:
                more = chosen | 1 << place
                reach[more] = max(end, reach.get(more, start))
    return max(reach.values())


def landing(runs: Sequence[ClosedSpan], over: int, bounce: int) -> tuple[int, int]:
    """Earliest and latest instant at which the hand of a contact can have come, if the contact may have begun as echo.

    Args:
        runs: when the contact was closed so far; at least one.
        over: up to where echoes can account for it (`explained`), ns.
        bounce: how long after it lands a hand's contact still opens, ns.
    """
    last = runs[-1].start
    # After its landing a hand makes contact anew for no longer than it bounces; before it, there were only echoes.
    earliest = next(max(last - bounce, run.start) for run in runs if run.end is None or last - bounce <= run.end)
    latest = next((max(over, run.start) for run in runs if run.still is None or over < run.still), over)
    return min(earliest, latest), latest
