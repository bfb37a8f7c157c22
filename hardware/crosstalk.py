"""A hand on one pad that another pad hears through the table: told from a second hand, as far as that can be told.

What is known of crosstalk is measured (`referee calibrate pads`): how long a hand on pad *a* closes pad *b* at most. A
contact on *b* is crosstalk only if all of this holds:

- it begins nearer to a hand on *a* than both pads' stated errors together: the blow can be one and the same;
- it is over within the measured time, and within `LONGEST`: a hand stays for longer than any echo;
- the hand on *a* is one beyond doubt: it lasted longer than *a*'s own echo of *b* could.

So a second hand that stays down as hands do is never taken for crosstalk, however near it is to the first. What
cannot be told apart:

- a hand that comes while the echo of another still holds its pad closed, or within its own bounce after it: the pad
  shows one contact. It is kept, and its instant is stated as the span in which the hand can have come (`landing`);
- two contacts that could each be the other's echo: both are kept, and people are asked who was first;
- a touch as short as the echo at the instant of the echo: it is taken for one, and the log says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hardware.debounce import Run

LONGEST: Final = 10_000_000
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

    def __post_init__(self) -> None:
        """Raises `ValueError` where rows, columns and lists are not of one length."""
        seats = len(self.lengths)
        if {len(row) for row in self.lengths} | {len(self.errors), len(self.bounces)} != {seats}:
            raise ValueError(f"crosstalk of {seats} pads needs {seats} rows of {seats}, and as many errors and bounces")

    def near(self, a: int, b: int) -> int:
        """How far from a hand on pad ``a`` its echo on ``b`` may begin, ns."""
        return self.errors[a - 1] + self.errors[b - 1]

    def length(self, a: int, b: int) -> int:
        """How long a hand on pad ``a`` closes ``b`` at most, ns; 0 where it does not."""
        return min(LONGEST, self.lengths[a - 1][b - 1]) if a != b else 0

    def hold(self, b: int) -> int:
        """How long after a contact on ``b`` a hand may still come whose echo it was, ns."""
        seats = range(1, len(self.lengths) + 1)
        return max((self.near(a, b) for a in seats if self.length(a, b)), default=0)

    def causes(self, b: int, t: int, contacts: Iterable[tuple[int, int]]) -> list[int]:
        """Of ``contacts`` (seat, first edge) those whose echo a contact on ``b`` that begins at ``t`` (ns) may be."""
        return [a for a, began in contacts if self.length(a, b) and abs(began - t) < self.near(a, b)]

    def echo(self, b: int, causes: Sequence[int]) -> int:
        """How long these hands close pad ``b`` at most, ns."""
        return max((self.length(a, b) for a in causes), default=0)


def landing(runs: Sequence[Run], echo: int, bounce: int) -> tuple[int, int]:
    """Earliest and latest instant at which the hand of a contact can have come, if the contact may have begun as echo.

    Args:
        runs: when the contact was closed so far; at least one.
        echo: how long an echo lasts at most, from the contact's first edge on, ns.
        bounce: how long after it lands a hand's contact still opens, ns.
    """
    first, last = runs[0].start, runs[-1].start
    # After its landing a hand makes contact anew for no longer than it bounces; before it, there was only the echo.
    earliest = _closed_from(runs, last - bounce)
    latest = _closed_from(runs, first + echo)
    return min(earliest, latest), latest


def _closed_from(runs: Sequence[Run], t: int) -> int:
    """The first instant from ``t`` on at which the contact was closed."""
    for run in runs:
        if run.end is None or t <= run.end:
            return max(t, run.start)
    return runs[-1].start
