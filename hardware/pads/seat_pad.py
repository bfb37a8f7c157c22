"""One seat's pad and all that is remembered of it. Pure, in event time; `hardware.pads.slaps` joins the seats.

What one pad's edges are worth is decided in three parts: `hardware.pads.debounce` makes contacts of them, `PadFaults`
benches a pad that no hand can be moving, and `PadForces` keeps how hard it was hit, where that is measured.
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
"""The force of a slap is the greatest within so long of its first edge, ns."""
FORCE_WAIT: Final = 40 * MS
"""How long after its instant a slap waits for its force, ns; without one it is told as a slap without a force."""
TOO_MANY: Final = 20
"""Closings `_APART` in a `_WINDOW`. Nobody slaps more than ten times a second, each hand bouncing as it leaves, too."""
QUIET_FOR: Final = SECOND
"""How long a benched pad must have been open before it counts again, ns."""
_APART: Final = 10 * MS
"""Closings nearer to each other than this may be one hand's bounce (6.2 ms was the worst measured), ns."""
_WINDOW: Final = SECOND
_CONTACT_MEMORY: Final = 100 * MS
"""How long a contact is remembered as what another pad may have heard, ns."""
_FORCE_MEMORY: Final = 200 * MS


def earliest(press: Edge) -> int:
    """The earliest instant at which a hand may have come that its pad told at once, ns."""
    return press.t if press.late else press.t - press.t_error


class Fault(Enum):
    """Why a pad is benched; the value is the kind of its line on the log."""

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
        """What to tell the table of it."""
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
    """Whether one pad is benched: what it tells counts for nothing until it has been open and quiet for a while.

    It hears every raw edge, in order.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.since = 0
        """Instant at which the pad was benched, ns."""
        self._closings: deque[int] = deque()
        self._down = False
        self._quiet_since = 0

    def feed(self, edge: Edge) -> list[FaultChange]:
        """Take an edge; returns whether it was one too many."""
        self._down = edge.pressed
        self._quiet_since = edge.t
        if not edge.pressed or (self._closings and edge.t < self._closings[-1] + _APART):
            return []
        self._closings.append(edge.t)
        while self._closings[0] <= edge.t - _WINDOW:
            self._closings.popleft()
        return self.bench(Fault.CHATTER, edge.t) if len(self._closings) >= TOO_MANY else []

    def bench(self, fault: Fault, t: int) -> list[FaultChange]:
        """It counts no more from ``t`` (ns) on, unless it did not count before."""
        if self.fault is not None:
            return []
        self.fault, self.since = fault, t
        return [FaultChange(fault.value, t)]

    def advance(self, t: int) -> list[FaultChange]:
        """All edges up to ``t`` (ns) have been fed: the pad may be quiet again."""
        free = self._quiet_since + QUIET_FOR
        if self.fault is None or self._down or t < free:
            return []
        self.fault = None
        self._closings.clear()
        return [FaultChange(_FREED, free)]


class PadForces:
    """The forces that one pad's sampler told (`hardware.pads.force`)."""

    def __init__(self) -> None:
        self._told: list[tuple[int, float]] = []

    def add(self, t: int, force: float) -> None:
        """The greatest force within `FORCE_WINDOW` of the edge at ``t`` (ns) was ``force``.

        Raises:
            ValueError: no force is below 0 or above 1.
        """
        if not 0 <= force <= 1:
            raise ValueError(f"a force must be from 0 to 1, not {force}")
        self._told = [one for one in self._told if one[0] > t - _FORCE_MEMORY]
        self._told.append((t, force))

    def of(self, first: int, landed: int) -> float | None:
        """The force of a contact whose first edge was at ``first`` and whose hand came by ``landed`` (ns); None where
        it is not known.
        """
        return max((force for t, force in self._told if first <= t <= landed + FORCE_WINDOW), default=None)


class Known(Enum):
    """What is known of a contact by its own length alone."""

    OPEN = "open"
    HAND = "hand"
    """It lasted longer than any echo of another hand could."""
    SHORT = "short"


@dataclass(slots=True)
class BegunContact:
    """A contact of late."""

    first: int
    latest: int
    known: Known = Known.OPEN


class SeatPad:
    """The pad of one seat: debounced, benched, weighed, and its slaps and lifts given ids."""

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
        self.faults = PadFaults()
        self.forces = PadForces()
        self.queue: deque[DecidedContact] = deque()
        """Contacts that the debouncer decided, and of which nothing was told yet."""
        self._t_error = t_error
        self._force = force
        self._prefix = prefix
        self._counts: Counter[str] = Counter()
        self._slapped = False
        self._weighing: tuple[Edge, Slap] | None = None
        self.began: list[BegunContact] = []
        """Contacts of late: from when to when the hand can have come, and how much is known of each."""
        self._light: tuple[int, int | None] | None = None

    # What has begun: another pad may hear it

    def begin(self, t: int) -> None:
        """A contact begins at ``t`` (ns)."""
        self.began = [one for one in self.began if one.first > t - _CONTACT_MEMORY]
        if self.faults.fault is None:
            self.began.append(BegunContact(t, t))

    def set_latest(self, latest: int) -> None:
        """The hand of the contact that is going on came by ``latest`` (ns)."""
        first = self.contact.undecided
        for one in self.began:
            if first is not None and one.first == first.t:
                one.latest = max(first.t, latest)

    def enqueue(self, decided: list[DecidedContact]) -> None:
        """What the debouncer decided waits in `queue` to be told."""
        for contact in decided:
            self.queue.append(contact)
            if contact.event in (Event.PRESSED, Event.DROPPED):
                for one in self.began:
                    if one.first == contact.edge.t:
                        one.known = Known.HAND if contact.event is Event.PRESSED else Known.SHORT

    # What is told

    def slap(self, edge: Edge, t: int, extra: int) -> list[Slap]:
        """A hand came down at ``t`` (ns), its contact's first edge being ``edge`` and ``extra`` half-width the worse
        known: what can be told by now.
        """
        done = self.weighed(t + 2 * FORCE_WAIT)
        if self.faults.fault is not None and edge.t >= self.faults.since:
            return done
        error = max(edge.t_error, self._t_error) + extra
        slap = Slap(t=t, id=self.new_id("s"), seat=self.seat, force=edge.force, t_error=error, late=edge.late)
        # A lift ends what was judged; of late evidence nothing was.
        self._slapped = not edge.late
        if edge.late or not self._force or edge.force is not None:
            return [*done, slap]
        self._weighing = (edge, slap)
        return done

    def lift(self, release: Edge) -> list[Lift]:
        """The contact is over: told if its hand was."""
        if not self._slapped:
            return []
        self._slapped = False
        return [Lift(t=release.t, id=self.new_id("l"), seat=self.seat, t_error=release.t_error)]

    def weighed(self, t: int) -> list[Slap]:
        """It is ``t`` (ns): the slap that waited for its force, if it has it now or waited long enough."""
        if self._weighing is None:
            return []
        edge, slap = self._weighing
        if not self.is_weighed(edge.t, slap.t, t):
            return []
        force = self.forces.of(edge.t, slap.t)
        self._weighing = None
        return [Slap(t=slap.t, id=slap.id, seat=slap.seat, force=force, t_error=slap.t_error)]

    def is_weighed(self, first: int, landed: int, now: int) -> bool:
        """Whether the force of a contact is known, or will not be any more."""
        return not self._force or self.forces.of(first, landed) is not None or now >= landed + FORCE_WAIT

    def new_id(self, letter: str) -> str:
        """The next id of a line of this pad."""
        self._counts[letter] += 1
        return f"{self._prefix}{letter}{self.seat}.{self._counts[letter]}"

    def watermark(self, advanced: int) -> int:
        """Everything of this pad up to here has been told, ns; a hand that is not told yet may have come as much before
        its instant as its error says."""
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
        """Any edge, as soon as it is heard of; late evidence is shown by no light."""
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
        """The first edge of the contact that is going on, ns; None where the pad is open or benched."""
        if self._light is None or self._light[1] is not None or self.faults.fault is not None:
            return None
        return self._light[0]
