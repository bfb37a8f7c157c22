"""One seat's pad and its state. Pure, in event time; `hardware.pads.slaps` combines the seats.

One pad's edges are assessed in three parts: `hardware.pads.debounce` turns them into contacts, `PadFaults` benches a
pad that no hand can be moving, and `PadForces` records how hard it was hit, if that is measured.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hardware.pads.debounce import BOUNCE, MASK, REBOUND, Debouncer, DecidedContact, Event
from hardware.ports import Edge
from referee.engine.observations import Lift, Slap
from referee.sentence import Sentence
from referee.units import MS, SECOND

FORCE_WINDOW: Final = 15 * MS
"""Time after its first edge, ns, within which a slap's force is the greatest reading."""
FORCE_WAIT: Final = 40 * MS
"""Time after its instant, ns, for which a slap waits for its force; then it is reported without one."""
TOO_MANY: Final = 20
"""Closings `_APART` in a `_WINDOW` that bench a pad. No player slaps more than ten times a second, and each hand also
bounces as it leaves."""
QUIET_FOR: Final = SECOND
"""Time, ns, for which a benched pad must have been open before it counts again."""
_APART: Final = 10 * MS
"""Distance, ns, within which closings may be one hand's bounce (6.2 ms was the worst measured)."""
_WINDOW: Final = SECOND
_CONTACT_MEMORY: Final = 100 * MS
"""Time, ns, for which a contact is remembered as a possible source of crosstalk."""
_FORCE_MEMORY: Final = 200 * MS


def earliest(press: Edge) -> int:
    """Return the earliest possible instant of a hand whose pad reported at once, ns."""
    return press.t if press.late else press.t - press.t_error


class Fault(Enum):
    """Why a pad is benched; the value is the kind of its line in the log."""

    STUCK = "pad_stuck"
    """It stays down: something lies on it, or its wires touch."""
    CHATTER = "pad_chatter"
    """It closes tens of times a second: a loose plug, a broken wire."""


_FREED: Final = "pad_freed"


@dataclass(frozen=True, slots=True)
class FaultChange:
    """A pad was benched or freed at ``t`` (ns)."""

    kind: str
    t: int

    def words(self, seat: int) -> str:
        """Return the announcement for the table."""
        if self.kind == Fault.STUCK.value:
            return Sentence(
                "{seat}'s pad has been down for three seconds: take everything off it; it counts no slaps until it has "
                "been open for a second",
                seat=seat,
            )
        if self.kind == Fault.CHATTER.value:
            return Sentence(
                "{seat}'s pad closes and opens faster than any hand: see to its cable and plug; it counts no slaps "
                "until it has been quiet for a second",
                seat=seat,
            )
        return Sentence("{seat}'s pad is quiet again: its slaps count", seat=seat)


class PadFaults:
    """Decides whether one pad is benched: its edges are ignored until it has been open and quiet for a while.

    Feed it every raw edge, in order.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.since = 0
        """The instant at which the pad was benched, ns."""
        self._closings: deque[int] = deque()
        self._down = False
        self._quiet_since = 0

    def feed(self, edge: Edge) -> list[FaultChange]:
        """Take an edge; return a change if it was one too many."""
        self._down = edge.pressed
        self._quiet_since = edge.t
        if not edge.pressed or (self._closings and edge.t < self._closings[-1] + _APART):
            return []
        self._closings.append(edge.t)
        while self._closings[0] <= edge.t - _WINDOW:
            self._closings.popleft()
        return self.bench(Fault.CHATTER, edge.t) if len(self._closings) >= TOO_MANY else []

    def bench(self, fault: Fault, t: int) -> list[FaultChange]:
        """Bench the pad from ``t`` (ns) on, unless it is benched already."""
        if self.fault is not None:
            return []
        self.fault, self.since = fault, t
        return [FaultChange(fault.value, t)]

    def advance(self, t: int) -> list[FaultChange]:
        """Free the pad if it is quiet again, now that all edges up to ``t`` (ns) have been fed."""
        free = self._quiet_since + QUIET_FOR
        if self.fault is None or self._down or t < free:
            return []
        self.fault = None
        self._closings.clear()
        return [FaultChange(_FREED, free)]


class PadForces:
    """The forces reported by one pad's sampler (`hardware.pads.force`)."""

    def __init__(self) -> None:
        self._reported: list[tuple[int, float]] = []

    def add(self, t: int, force: float) -> None:
        """Record ``force`` as the greatest within `FORCE_WINDOW` of the edge at ``t`` (ns).

        Raises:
            ValueError: the force is below 0 or above 1.
        """
        if not 0 <= force <= 1:
            raise ValueError(f"a force must be from 0 to 1, not {force}")
        self._reported = [reported for reported in self._reported if reported[0] > t - _FORCE_MEMORY]
        self._reported.append((t, force))

    def of(self, first: int, landed: int) -> float | None:
        """Return the force of a contact with its first edge at ``first`` and its hand by ``landed`` (ns); None if
        unknown.
        """
        return max((force for t, force in self._reported if first <= t <= landed + FORCE_WINDOW), default=None)


class Known(Enum):
    """Knowledge of a contact from its length alone."""

    OPEN = "open"
    HAND = "hand"
    """It lasted longer than any echo of another hand could."""
    SHORT = "short"


@dataclass(slots=True)
class BegunContact:
    """A recent contact."""

    first: int
    latest: int
    known: Known = Known.OPEN


class SeatPad:
    """The pad of one seat: debounces, benches and weighs its contacts, and numbers its slaps and lifts."""

    def __init__(self, seat: int, *, t_error: int = 0, bounce: int = 0, force: bool = False, prefix: str = "") -> None:
        """Set up.

        Args:
            seat: 1 to N.
            t_error: least half-width of its stamps, ns.
            bounce: measured bounce of its contacts, ns.
            force: whether slaps wait for their force.
            prefix: text before each id.
        """
        self.seat = seat
        self.contact = Debouncer(bounce=max(BOUNCE, bounce))
        self.faults = PadFaults()
        self.forces = PadForces()
        self.queue: deque[DecidedContact] = deque()
        """Contacts decided by the debouncer and not yet reported."""
        self._t_error = t_error
        self._force = force
        self._prefix = prefix
        self._counts: Counter[str] = Counter()
        self._slapped = False
        self._weighing: tuple[Edge, Slap] | None = None
        self.began: list[BegunContact] = []
        """Recent contacts, each with the bounds of its hand and the knowledge about it."""
        self._light: tuple[int, int | None] | None = None

    # Contacts that have begun: another pad may hear them

    def begin(self, t: int) -> None:
        """Note that a contact begins at ``t`` (ns)."""
        self.began = [contact for contact in self.began if contact.first > t - _CONTACT_MEMORY]
        if self.faults.fault is None:
            self.began.append(BegunContact(t, t))

    def set_latest(self, latest: int) -> None:
        """Note that the hand of the current contact came by ``latest`` (ns)."""
        first = self.contact.undecided
        for contact in self.began:
            if first is not None and contact.first == first.t:
                contact.latest = max(first.t, latest)

    def enqueue(self, decided: list[DecidedContact]) -> None:
        """Queue the debouncer's decisions for reporting."""
        for contact in decided:
            self.queue.append(contact)
            if contact.event in (Event.PRESSED, Event.DROPPED):
                for began in self.began:
                    if began.first == contact.edge.t:
                        began.known = Known.HAND if contact.event is Event.PRESSED else Known.SHORT

    # Reports

    def slap(self, edge: Edge, t: int, extra: int) -> list[Slap]:
        """Return the reportable slaps after a hand came down at ``t`` (ns); ``edge``: its contact's first edge;
        ``extra``: additional half-width.
        """
        done = self.weighed(t + 2 * FORCE_WAIT)
        if self.faults.fault is not None and edge.t >= self.faults.since:
            return done
        error = max(edge.t_error, self._t_error) + extra
        slap = Slap(t=t, id=self.new_id("s"), seat=self.seat, force=edge.force, t_error=error, late=edge.late)
        # A lift ends a judged slap; late evidence was not judged.
        self._slapped = not edge.late
        if edge.late or not self._force or edge.force is not None:
            return [*done, slap]
        self._weighing = (edge, slap)
        return done

    def lift(self, release: Edge) -> list[Lift]:
        """Return the lift at the contact's end, if its slap was reported."""
        if not self._slapped:
            return []
        self._slapped = False
        return [Lift(t=release.t, id=self.new_id("l"), seat=self.seat, t_error=release.t_error)]

    def weighed(self, t: int) -> list[Slap]:
        """Return the slap waiting for its force at ``t`` (ns), if it has it now or has waited long enough."""
        if self._weighing is None:
            return []
        edge, slap = self._weighing
        if not self.is_weighed(edge.t, slap.t, t):
            return []
        force = self.forces.of(edge.t, slap.t)
        self._weighing = None
        return [Slap(t=slap.t, id=slap.id, seat=slap.seat, force=force, t_error=slap.t_error)]

    def is_weighed(self, first: int, landed: int, now: int) -> bool:
        """Whether the force of a contact is known, or will remain unknown."""
        return not self._force or self.forces.of(first, landed) is not None or now >= landed + FORCE_WAIT

    def new_id(self, letter: str) -> str:
        """Return the next id for a line of this pad."""
        self._counts[letter] += 1
        return f"{self._prefix}{letter}{self.seat}.{self._counts[letter]}"

    def watermark(self, advanced: int) -> int:
        """Return the instant, ns, up to which everything of this pad has been reported, allowing for the error of a
        hand not yet reported."""
        marks = [self.contact.watermark(advanced), *(contact.edge.t - 1 for contact in self.queue)]
        hands = [contact.edge for contact in self.queue if contact.edge.pressed]
        if self.contact.undecided is not None:
            hands.append(self.contact.undecided)
        marks += [earliest(hand) - 1 for hand in hands]
        if self._weighing is not None:
            marks.append(self._weighing[1].t - self._weighing[1].t_error - 1)
        return min(marks)

    # The light, which does not wait

    def touch(self, edge: Edge) -> None:
        """Note any edge as soon as it arrives; late evidence lights no light."""
        if edge.late:
            return
        if not edge.pressed:
            if self._light is not None:
                self._light = (self._light[0], edge.t)
            return
        first, opened = self._light if self._light is not None else (edge.t, edge.t)
        chatter = opened is None or edge.t < max(first + MASK, opened + REBOUND)
        self._light = (first if self._light is not None and chatter else edge.t, None)

    @property
    def touched(self) -> int | None:
        """The first edge of the current contact, ns; None if the pad is open or benched."""
        if self._light is None or self._light[1] is not None or self.faults.fault is not None:
            return None
        return self._light[0]
