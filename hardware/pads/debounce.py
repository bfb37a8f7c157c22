"""Turns one pad's edges into contacts: pure, in event time.

The first edge is the hand's; the chatter that follows is not. Rules, all in ns of the edges' own time:

- edges within `MASK` of the first belong to the same contact, and so do those within `REBOUND` of a release, since a
  leaving hand makes a contact chatter, too; a touch too short for a hand ends after `BOUNCE`;
- a contact that closed for less than `SHORTEST` in all is not a hand and is dropped, which moves no other stamp; a
  caller that suspects crosstalk from another pad may require more (`Debouncer.require`);
- a contact longer than `STUCK` is flagged once;
- undecided contacts hold back `Debouncer.watermark`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hardware.ports import Edge
from referee.units import MS, SECOND

MASK: Final = 60 * MS
REBOUND: Final = 20 * MS
"""Three times the worst bounce measured on switches (6.2 ms); no finger taps again so soon."""
BOUNCE: Final = 8 * MS
"""Open time, ns, that ends a touch too short for a hand: no bounce opens for longer."""
SHORTEST: Final = 2 * MS
STUCK: Final = 3 * SECOND


class Event(Enum):
    """The outcome of a contact."""

    PRESSED = "pressed"
    RELEASED = "released"
    DROPPED = "dropped"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class ClosedSpan:
    """A time span in which a contact was closed without a break, ns."""

    start: int
    still: int | None = None
    """The last instant at which it was certainly closed; None: it still is."""
    end: int | None = None
    """The latest instant at which it may have opened."""

    def lasted(self, until: int) -> int:
        """Return the time for which it was certainly closed up to ``until``, ns."""
        return max(0, (until if self.still is None else self.still) - self.start)

    @property
    def doubtful(self) -> int:
        """The time after that in which it may still have been closed, ns."""
        return 0 if self.still is None or self.end is None else self.end - max(self.start, self.still)


def closed_for(runs: Sequence[ClosedSpan], until: int) -> int:
    """Return the time for which a contact was closed up to ``until``, as far as known; ns.

    Of doubtful time only half of the longest span's counts: the doubts of many short contacts do not add up to a hand.
    """
    return sum(run.lasted(until) for run in runs) + max((run.doubtful for run in runs), default=0) // 2


@dataclass(frozen=True, slots=True)
class DecidedContact:
    """A decided event of one pad, with its edge (for `Event.STUCK`, ``t`` is when it was flagged)."""

    event: Event
    edge: Edge
    t: int
    runs: tuple[ClosedSpan, ...] = ()
    """For `Event.PRESSED` and `Event.DROPPED`: its closed spans, as far as they were followed."""
    release: Edge | None = None
    """For `Event.DROPPED`: its end."""


class Debouncer:
    """Debouncer of one pad. Feed its edges in order; `advance` up to the instant to which all edges have been fed."""

    def __init__(self, *, bounce: int = BOUNCE) -> None:
        """``bounce``: time for which its contacts bounce, ns; see the rules above."""
        self._bounce = bounce
        self._beyond = self._until = -1
        self._runs: list[ClosedSpan] = []
        self._first: Edge | None = None
        self._last_closed = 0
        self._release: Edge | None = None
        self._confirmed = False
        self._stuck = False

    @property
    def undecided(self) -> Edge | None:
        """The first edge of a contact not yet confirmed as a hand."""
        return None if self._confirmed else self._first

    @property
    def runs(self) -> tuple[ClosedSpan, ...]:
        """The closed spans of that contact so far."""
        return tuple(self._runs)

    def require(self, beyond: int, until: int) -> None:
        """Require the current contact to be closed after the instant ``beyond`` to be a hand, and do not confirm it
        before ``until``; ns.
        """
        self._beyond, self._until = beyond, until

    def watermark(self, advanced: int) -> int:
        """Return the instant, ns, up to which everything is decided, if all edges up to ``advanced`` have been fed."""
        if self._first is not None and not self._confirmed:
            return min(advanced, self._first.t - 1)
        if self._release is not None:
            return min(advanced, self._release.t - 1)
        return advanced

    def feed(self, edge: Edge) -> list[DecidedContact]:
        """Take the pad's next edge; return its decisions."""
        if not edge.pressed:
            if self._first is not None and self._release is None:
                self._release = edge
                self._end_run(edge.t - edge.t_error, edge.t + edge.t_error)
            return []
        done: list[DecidedContact] = []
        if self._first is not None:
            # Without an observed opening this is chatter, unless the mask is over.
            over = self._first.t + MASK if self._release is None else self._settled_at(self._first, self._release)
            if edge.t < over:
                self._release = None
                self._last_closed = edge.t
                if not self._confirmed:
                    self._end_run(self._runs[-1].start, edge.t)
                    self._runs.append(ClosedSpan(edge.t))
                return []
            done = self._close(edge.t, self._first)
        self._first, self._last_closed = edge, edge.t
        self._runs = [ClosedSpan(edge.t)]
        return done

    def advance(self, t: int) -> list[DecidedContact]:
        """Decide what can be decided, now that all edges up to ``t`` (ns) have been fed."""
        done = self._confirm(t)
        if self._first is None:
            return done
        if self._release is None:
            if not self._stuck and t >= self._first.t + STUCK:
                self._stuck = True
                done.append(DecidedContact(Event.STUCK, self._first, self._first.t + STUCK))
            return done
        if t >= self._settled_at(self._first, self._release):
            done += self._close(t, self._first)
        return done

    def _end_run(self, still: int, by: int) -> None:
        if self._runs and self._runs[-1].end is None:
            self._runs[-1] = ClosedSpan(self._runs[-1].start, still, by)

    def _settled_at(self, first: Edge, release: Edge) -> int:
        if not self._long_enough(release.t):
            return release.t + self._bounce
        return max(release.t + REBOUND, first.t + MASK)

    def _long_enough(self, until: int) -> bool:
        """Whether the contact was closed long enough in all, and beyond the required instant."""
        if self._confirmed:
            return True
        if max(until, self._last_closed) <= self._beyond:
            return False
        return closed_for(self._runs, until) >= SHORTEST

    def _confirm(self, t: int) -> list[DecidedContact]:
        if self._first is None or self._confirmed or t < self._until:
            return []
        until = t if self._release is None else min(t, self._release.t)
        if not self._long_enough(until):
            return []
        self._confirmed = True
        return [DecidedContact(Event.PRESSED, self._first, self._first.t, tuple(self._runs))]

    def _close(self, t: int, first: Edge) -> list[DecidedContact]:
        """End the contact that began with ``first``; it is known to be over at ``t``."""
        release = self._release
        if release is None:
            # It was pressed again, so it must have opened since it was last known closed.
            gap = t - self._last_closed
            release = Edge(first.seat, self._last_closed + gap // 2, pressed=False, t_error=(gap + 1) // 2)
            self._release = release
        done = self._confirm(t)
        if self._confirmed:
            done.append(DecidedContact(Event.RELEASED, release, release.t))
        else:
            done.append(DecidedContact(Event.DROPPED, first, first.t, tuple(self._runs), release))
        self._first = self._release = None
        self._confirmed = self._stuck = False
        self._beyond, self._until, self._runs = -1, -1, []
        return done
