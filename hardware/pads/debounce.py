"""One pad's edges made into contacts: pure, in event time.

The first edge is the hand's; what the contact chatters afterwards is not. Four rules, all in ns of the edges'
own time:

- edges within `MASK` of the first belong to the same contact, and so do those within `REBOUND` of a release,
  since a hand that leaves makes a contact chatter as well; a touch too short for a hand ends after `BOUNCE`;
- a contact that closed for less than `SHORTEST` in all is no hand and is dropped, which moves no other stamp;
  whoever suspects it of being another pad's hand, heard through the table, may ask for more (`Debouncer.require`);
- a contact of more than `STUCK` is flagged, once;
- whatever cannot be decided yet holds `Debouncer.watermark` back.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from hardware.ports import Edge
from referee.units import MS, SECOND

MASK: Final = 60 * MS
REBOUND: Final = 20 * MS
"""Three times the worst bounce measured on switches (6.2 ms); no finger taps again so soon."""
BOUNCE: Final = 8 * MS
"""A touch too short to be a hand that stays open for longer than any bounce was no hand's beginning either, ns."""
SHORTEST: Final = 2 * MS
STUCK: Final = 3 * SECOND


class Event(Enum):
    """What became of a contact."""

    PRESSED = "pressed"
    RELEASED = "released"
    DROPPED = "dropped"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class ClosedSpan:
    """A stretch of time in which a contact was closed without a break, ns."""

    start: int
    still: int | None = None
    """The last instant at which it was closed for sure; None: it still is."""
    end: int | None = None
    """The latest instant at which it may have opened."""

    def lasted(self, until: int) -> int:
        """How long it was closed up to ``until``, as well as that is known; ns."""
        return max(0, (until if self.still is None or self.end is None else (self.still + self.end) // 2) - self.start)


@dataclass(frozen=True, slots=True)
class DecidedContact:
    """A decided event of one pad, with the edge that it stands on (for `Event.STUCK`: ``t`` is when it was
    flagged).
    """

    event: Event
    edge: Edge
    t: int
    runs: tuple[ClosedSpan, ...] = ()
    """Of `Event.PRESSED` and `Event.DROPPED`: when the contact was closed, as far as it was followed."""
    release: Edge | None = None
    """Of `Event.DROPPED`: when it was over."""


class Debouncer:
    """One pad. Feed its edges in order; `advance` as far as all its edges have been fed."""

    def __init__(self, *, bounce: int = BOUNCE) -> None:
        """``bounce``: how long its contacts bounce, ns; see the rules above."""
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
        """The first edge of a contact of which it is still open whether it is a hand."""
        return None if self._confirmed else self._first

    @property
    def runs(self) -> tuple[ClosedSpan, ...]:
        """When that contact was closed so far."""
        return tuple(self._runs)

    def require(self, beyond: int, until: int) -> None:
        """The contact that is going on is no hand unless it is closed after the instant ``beyond``, and is not taken
        for one before ``until``; ns.
        """
        self._beyond, self._until = beyond, until

    def watermark(self, advanced: int) -> int:
        """Up to where everything is decided, if all edges up to ``advanced`` have been fed; ns."""
        if self._first is not None and not self._confirmed:
            return min(advanced, self._first.t - 1)
        if self._release is not None:
            return min(advanced, self._release.t - 1)
        return advanced

    def feed(self, edge: Edge) -> list[DecidedContact]:
        """Take the pad's next edge; returns what it decided."""
        if not edge.pressed:
            if self._first is not None and self._release is None:
                self._release = edge
                self._end_run(edge.t - edge.t_error, edge.t + edge.t_error)
            return []
        done: list[DecidedContact] = []
        if self._first is not None:
            # Where nobody saw it open this is chatter, unless the mask is over.
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
        """All edges up to ``t`` (ns) have been fed: decide what can be decided."""
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
        """Whether the contact was closed for long enough in all, and beyond what was asked of it."""
        if self._confirmed:
            return True
        if max(until, self._last_closed) <= self._beyond:
            return False
        return sum(run.lasted(until) for run in self._runs) >= SHORTEST

    def _confirm(self, t: int) -> list[DecidedContact]:
        if self._first is None or self._confirmed or t < self._until:
            return []
        until = t if self._release is None else min(t, self._release.t)
        if not self._long_enough(until):
            return []
        self._confirmed = True
        return [DecidedContact(Event.PRESSED, self._first, self._first.t, tuple(self._runs))]

    def _close(self, t: int, first: Edge) -> list[DecidedContact]:
        """End the contact that began with ``first``; ``t`` is an instant at which it is known to be over."""
        release = self._release
        if release is None:
            # It was pressed anew, so it had been open: somewhere since it was last known closed.
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
