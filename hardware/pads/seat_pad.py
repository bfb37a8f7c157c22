"""One seat's pad and all that is remembered of it. Pure, in event time; `hardware.pads.slaps` joins the seats."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from hardware.pads.debounce import BOUNCE, MASK, REBOUND, Debouncer, DecidedContact, Event
from hardware.pads.force_join import WAIT, PadForces
from hardware.pads.stuck import Fault, FaultWatch
from hardware.ports import Edge
from referee.engine.observations import Lift, Slap

_MEMORY = 100_000_000
"""How long a contact is remembered as what another pad may have heard, ns."""


class Known(Enum):
    """What is known of a contact by its own length alone."""

    OPEN = "open"
    HAND = "hand"
    """It lasted longer than any echo of another hand could."""
    SHORT = "short"


@dataclass(slots=True)
class _Began:
    """A contact of late."""

    first: int
    latest: int
    known: Known = Known.OPEN


class SeatPad:
    """The pad of one seat: debounced, benched, weighed, and what it tells given names."""

    def __init__(self, seat: int, *, t_error: int = 0, bounce: int = 0, force: bool = False, prefix: str = "") -> None:
        """Set up.

        Args:
            seat: 1 to N.
            t_error: least half-width of its stamps, ns.
            bounce: how long its contacts were measured to bounce, ns.
            force: whether slaps wait for theirs.
            prefix: stands before each id.
        """
        self.seat = seat
        self.contact = Debouncer(bounce=max(BOUNCE, bounce))
        self.bench = FaultWatch()
        self.weights = PadForces()
        self.queue: deque[DecidedContact] = deque()
        """Contacts that the debouncer decided, and of which nothing was told yet."""
        self._t_error = t_error
        self._force = force
        self._prefix = prefix
        self._counts: Counter[str] = Counter()
        self._slapped = False
        self._weighing: tuple[Edge, Slap] | None = None
        self._began: list[_Began] = []
        self._light: tuple[int, int | None] | None = None

    # What has begun: another pad may hear it

    def begin(self, t: int) -> None:
        """A contact begins at ``t`` (ns)."""
        self._began = [one for one in self._began if one.first > t - _MEMORY]
        if self.bench.fault is None:
            self._began.append(_Began(t, t))

    def came(self, latest: int) -> None:
        """The hand of the contact that is going on came by ``latest`` (ns)."""
        first = self.contact.undecided
        for one in self._began:
            if first is not None and one.first == first.t:
                one.latest = max(first.t, latest)

    def decided(self, contact: DecidedContact) -> None:
        """The debouncer decided something; it waits in `queue` to be told."""
        self.queue.append(contact)
        if contact.event in (Event.PRESSED, Event.DROPPED):
            for one in self._began:
                if one.first == contact.edge.t:
                    one.known = Known.HAND if contact.event is Event.PRESSED else Known.SHORT

    def began(self, known: Iterable[Known]) -> list[tuple[int, int, int]]:
        """Of each contact of late of which so much is known: the seat, and from when to when its hand can have come."""
        if not self._began:
            return []
        wanted = tuple(known)
        return [(self.seat, one.first, one.latest) for one in self._began if one.known in wanted]

    # What is told

    def slap(self, edge: Edge, t: int, extra: int) -> list[Slap]:
        """A hand came down at ``t`` (ns), its contact's first edge being ``edge`` and ``extra`` half-width the worse
        known: what can be told by now.
        """
        done = self.weighed(t + 2 * WAIT)
        if self.bench.fault is not None and edge.t >= self.bench.since:
            return done
        self._slapped = True
        error = max(edge.t_error, self._t_error) + extra
        slap = Slap(t=t, id=self.name("s"), seat=self.seat, force=edge.force, t_error=error)
        if not self._force or edge.force is not None:
            return [*done, slap]
        self._weighing = (edge, slap)
        return done

    def lift(self, release: Edge) -> list[Lift]:
        """The contact is over: told if its hand was."""
        if not self._slapped:
            return []
        self._slapped = False
        return [Lift(t=release.t, id=self.name("l"), seat=self.seat, t_error=release.t_error)]

    def weighed(self, t: int) -> list[Slap]:
        """It is ``t`` (ns): the slap that waited for its force, if it has it now or waited long enough."""
        if self._weighing is None:
            return []
        edge, slap = self._weighing
        if not self.is_weighed(edge.t, slap.t, t):
            return []
        force = self.weights.of(edge.t, slap.t)
        self._weighing = None
        return [Slap(t=slap.t, id=slap.id, seat=slap.seat, force=force, t_error=slap.t_error)]

    def is_weighed(self, first: int, landed: int, now: int) -> bool:
        """Whether the force of a contact is known, or will not be any more."""
        return not self._force or self.weights.of(first, landed) is not None or now >= landed + WAIT

    def name(self, letter: str) -> str:
        """The next id of a line of this pad."""
        self._counts[letter] += 1
        return f"{self._prefix}{letter}{self.seat}.{self._counts[letter]}"

    def watermark(self, advanced: int) -> int:
        """Everything of this pad up to here has been told, ns."""
        marks = [self.contact.watermark(advanced), *(contact.edge.t - 1 for contact in self.queue)]
        return min(marks) if self._weighing is None else min(*marks, self._weighing[1].t - 1)

    @property
    def is_stuck(self) -> bool:
        """Whether it is benched for having been down too long."""
        return self.bench.fault is Fault.STUCK

    # The light, which does not wait

    def touch(self, edge: Edge) -> None:
        """Any edge, as soon as it is heard of."""
        if not edge.pressed:
            if self._light is not None:
                self._light = (self._light[0], edge.t)
            return
        first, opened = self._light if self._light is not None else (edge.t, edge.t)
        chatter = opened is None or edge.t < max(first + MASK, opened + REBOUND)
        self._light = (first if self._light is not None and chatter else edge.t, None)

    @property
    def touched(self) -> int | None:
        """The first edge of the contact that is going on, ns; None where the pad is open or benched."""
        if self._light is None or self._light[1] is not None or self.bench.fault is not None:
            return None
        return self._light[0]
