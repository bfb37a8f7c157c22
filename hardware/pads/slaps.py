"""Turns the pads' edges into slaps and lifts: pure, for the log.

A slap is reported with the stamp of its first edge once its contact has lasted long enough to be a hand, about 2 ms
later; `PadFilter.watermark` waits for it, so no other slap overtakes it meanwhile. A light need not wait:
`PadFilter.touched`.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence

from hardware.pads.crosstalk import Cause, Crosstalk, at_most, explained, landing
from hardware.pads.debounce import SHORTEST, ClosedSpan, DecidedContact, Event, closed_for
from hardware.pads.seat_pad import Fault, FaultChange, Known, SeatPad, earliest
from hardware.ports import Edge
from referee.engine.observations import Observation, Other
from referee.units import MS

_LOUD = 0.5
"""Share of the other hand's force from which a contact is not its echo."""
_WIDEST = 10 * MS
"""Widest error of a slap, ns: the referee does not wait longer for earlier hands."""


class PadFilter:
    """Filters the edges of all pads of a table.

    ``feed`` each edge as it comes, in any order between pads, and ``advance`` up to the instant to which all pads'
    edges have been fed (`GpioPads.watermark`): the result does not depend on the order of arrival. Ids count each
    seat's slaps.

    Lines of the kind `Other` report further events, each with its ``seat``: ``pad_stuck``, ``pad_chatter`` and
    ``pad_freed``, with ``words`` for the table; and ``pad_crosstalk``, with ``of``, the seat whose hand was heard, and
    ``lasted``, ns.
    """

    def __init__(
        self,
        seats: int,
        start: int = 0,
        *,
        t_errors: Sequence[int] = (),
        crosstalk: Crosstalk | None = None,
        force: bool = False,
        prefix: str = "",
    ) -> None:
        """Set up for a table.

        Args:
            seats: number of seats.
            start: an instant before any edge, ns.
            t_errors: measured half-width of each seat's stamp, ns; it never makes an edge better than its pad says.
            crosstalk: how pads hear each other's hands; None: unknown, and no contact counts as crosstalk.
            force: whether forces will be reported (`weigh`); each slap then waits for its own.
            prefix: text before each id, so that a resumed game repeats none.

        Raises:
            ValueError: the measurements belong to a table with other seats.
        """
        if len(t_errors) not in (0, seats) or (crosstalk is not None and len(crosstalk.errors) != seats):
            raise ValueError(f"what was measured at the pads is not of {seats} seats; measure again")
        self._pads = {
            seat: SeatPad(
                seat,
                t_error=t_errors[seat - 1] if t_errors else 0,
                bounce=crosstalk.bounces[seat - 1] if crosstalk is not None else 0,
                force=force,
                prefix=prefix,
            )
            for seat in range(1, seats + 1)
        }
        self._crosstalk = crosstalk
        self._advanced = start
        self._waiting: list[tuple[int, int, int, Edge]] = []
        self._fed = 0
        self._heard: set[int] = set()
        self.dropped = 0
        """Number of contacts that were not hands: too short, or crosstalk."""

    def feed(self, edge: Edge) -> list[Observation]:
        """Take one edge; return its decisions: none, unless it is late.

        Raises:
            ValueError: the edge belongs to no seat at this table.
        """
        pad = self._pads.get(edge.seat)
        if pad is None:
            raise ValueError(f"an edge of seat {edge.seat}, but the table has {len(self._pads)} seats")
        self._fed += 1
        heapq.heappush(self._waiting, (edge.t, edge.seat, self._fed, edge))
        pad.touch(edge)
        return self.advance(self._advanced) if edge.t <= self._advanced else []

    def weigh(self, seat: int, t: int, force: float) -> None:
        """Record ``force``, 0 to 1, as the greatest on a seat's pad after its edge at ``t`` (ns).

        Raises:
            ValueError: there is no such seat or force.
        """
        if seat not in self._pads:
            raise ValueError(f"a force of seat {seat}, but the table has {len(self._pads)} seats")
        self._pads[seat].forces.add(t, force)

    def advance(self, t: int) -> list[Observation]:
        """Decide what can be decided, with all edges up to ``t`` (ns) fed; return the results, by ``t``."""
        self._advanced = max(self._advanced, t)
        made: list[Observation] = []
        while self._waiting and self._waiting[0][0] <= self._advanced:
            edge = heapq.heappop(self._waiting)[-1]
            pad = self._pads[edge.seat]
            # The assessment of one pad's contact may depend on the others' events until then.
            made += self._decide([pad] if self._crosstalk is None else self._pads.values(), edge.t - 1)
            made += self._tell_faults(pad, pad.faults.feed(edge))
            pad.enqueue(pad.contact.feed(edge))
            if pad.contact.undecided is edge:
                pad.begin(edge.t)
        made += self._decide(self._pads.values(), self._advanced)
        return sorted(made, key=lambda observation: (observation.t, observation.id))

    @property
    def watermark(self) -> int:
        """The instant, ns, up to which every slap and lift has been returned, by its earliest bound."""
        waiting = [earliest(edge) - 1 for *_, edge in self._waiting if edge.pressed]
        return min([pad.watermark(self._advanced) for pad in self._pads.values()] + waiting)

    @property
    def touched(self) -> tuple[int, ...]:
        """Seats whose pads are down, the first hand first; including undecided contacts, without benched pads."""
        down = [(pad.touched, seat) for seat, pad in self._pads.items() if pad.touched is not None]
        return tuple(seat for _, seat in sorted(down))

    @property
    def benched(self) -> tuple[int, ...]:
        """Seats whose pads make no slaps at present, stuck or chattering."""
        return tuple(seat for seat, pad in self._pads.items() if pad.faults.fault is not None)

    @property
    def heard(self) -> frozenset[int]:
        """Seats whose pads have worked at least once: a cut wire cannot be detected, so hold a roll-call."""
        return frozenset(self._heard)

    def _decide(self, pads: Collection[SeatPad], t: int) -> list[Observation]:
        """Decide contacts, with everything up to ``t`` (ns) fed."""
        if self._crosstalk is not None:
            self._suspect(pads, self._crosstalk)
        for pad in pads:
            pad.enqueue(pad.contact.advance(t))
        made: list[Observation] = []
        for pad in pads:
            while pad.queue and self._can_tell(pad, pad.queue[0], t):
                made += self._tell(pad, pad.queue.popleft())
            made += self._tell_faults(pad, pad.faults.advance(t))
            made += pad.weighed(t)
        return made

    def _suspect(self, pads: Collection[SeatPad], crosstalk: Crosstalk) -> None:
        """Require contacts that others' hands may explain to last longer than these can."""
        doubtful = [(pad, pad.contact.runs) for pad in pads if pad.contact.undecided is not None]
        if not doubtful:
            return
        # The first pass takes hands at first edges; the second allows for hands hidden in an echo, which come later.
        edges = [(seat, first, first) for seat, first, _ in self._began(*Known)]
        for pad, runs in doubtful:
            over = at_most(runs[0].start, self._causes(pad, runs, edges))
            pad.set_latest(landing(runs, over, crosstalk.bounces[pad.seat - 1])[1] if over > runs[0].start else over)
        spans = self._began(*Known)
        for pad, runs in doubtful:
            over = at_most(runs[0].start, self._causes(pad, runs, spans))
            pad.contact.require(over, over + crosstalk.hold(pad.seat))

    def _causes(self, pad: SeatPad, runs: Sequence[ClosedSpan], hands: Sequence[tuple[int, int, int]]) -> list[Cause]:
        """Return the hands of which a contact may only be an echo."""
        if self._crosstalk is None:
            return []
        end = runs[-1].start if runs[-1].end is None else runs[-1].end
        return self._crosstalk.causes(pad.seat, runs[0].start, end, hands)

    def _began(self, *known: Known) -> list[tuple[int, int, int]]:
        """Return, for each contact with this knowledge, its seat and the bounds of its hand."""
        return [
            (seat, contact.first, contact.latest)
            for seat, pad in self._pads.items()
            for contact in pad.began
            if contact.known in known
        ]

    def _can_tell(self, pad: SeatPad, contact: DecidedContact, t: int) -> bool:
        """Whether everything needed to judge a contact is known at ``t`` (ns)."""
        if self._crosstalk is None or contact.event not in (Event.PRESSED, Event.DROPPED):
            return True
        first = contact.edge.t
        likely, sure = self._began(Known.OPEN, Known.HAND), self._began(Known.HAND)
        if len(self._causes(pad, contact.runs, likely)) != len(self._causes(pad, contact.runs, sure)):
            return False
        over = t >= (contact.runs[-1].end or first) + self._crosstalk.hold(pad.seat)
        return contact.event is Event.PRESSED or (over and pad.is_weighed(first, first, t))

    def _tell(self, pad: SeatPad, contact: DecidedContact) -> list[Observation]:
        if contact.event is Event.PRESSED:
            return self._slap(pad, contact)
        if contact.event is Event.RELEASED:
            return [*pad.lift(contact.edge)]
        if contact.event is Event.STUCK:
            return self._tell_faults(pad, pad.faults.bench(Fault.STUCK, contact.t))
        return self._short(pad, contact)

    def _slap(self, pad: SeatPad, contact: DecidedContact) -> list[Observation]:
        self._heard.add(pad.seat)
        if self._crosstalk is None or not (causes := self._causes(pad, contact.runs, self._began(Known.HAND))):
            return [*pad.slap(contact.edge, contact.edge.t, 0)]
        bounce = self._crosstalk.bounces[pad.seat - 1]
        earliest, latest = landing(contact.runs, explained(contact.runs, causes), bounce)
        extra = min((latest - earliest + 1) // 2, max(0, _WIDEST - self._crosstalk.errors[pad.seat - 1]))
        return [*pad.slap(contact.edge, (earliest + latest) // 2, extra)]

    def _short(self, pad: SeatPad, contact: DecidedContact) -> list[Observation]:
        """Handle a contact shorter than required."""
        edge, release, end = contact.edge, contact.release, contact.runs[-1].end
        if release is None or end is None:
            raise ValueError(f"a dropped contact of seat {pad.seat} that never opened")
        causes = self._causes(pad, contact.runs, self._began(Known.HAND))
        if causes and explained(contact.runs, causes) >= end and not self._loud(pad, edge.t, causes):
            self.dropped += 1
            nearest = min(causes, key=lambda cause: abs(cause.earliest + cause.latest - 2 * edge.t))
            extra = {"seat": pad.seat, "of": nearest.seat, "lasted": release.t - edge.t}
            return [Other(t=edge.t, id=pad.new_id("k"), name="pad_crosstalk", extra=extra)]
        if closed_for(contact.runs, end) < SHORTEST:
            self.dropped += 1
            return []
        # As long as a hand, and not certainly an echo: treat it as a hand.
        return [*self._slap(pad, contact), *pad.lift(release)]

    def _loud(self, pad: SeatPad, t: int, causes: Sequence[Cause]) -> bool:
        """Whether a contact was hit too hard to be an echo, if forces are known."""
        force = pad.forces.of(t, t)
        others = [self._pads[cause.seat].forces.of(cause.earliest, cause.latest) for cause in causes]
        known = [other for other in others if other is not None]
        return force is not None and bool(known) and force >= _LOUD * max(known)

    def _tell_faults(self, pad: SeatPad, changes: Iterable[FaultChange]) -> list[Observation]:
        return [
            Other(
                t=change.t,
                id=pad.new_id("k"),
                name=change.kind,
                extra={"seat": pad.seat, "words": change.words(pad.seat)},
            )
            for change in changes
        ]
