"""From the pads' edges to slaps and lifts: pure, for the log.

A slap is reported with the stamp of its first edge once its contact has lasted long enough to be a hand,
about 2 ms later; `PadFilter.watermark` waits for it, so nobody overtakes it meanwhile. A light need not wait:
`PadFilter.touched`.
"""

from __future__ import annotations

from collections import Counter

from hardware.debounce import Contact, Debouncer, Event
from hardware.ports import Edge
from referee.adjudication.observations import Lift, Observation, Other, Slap


class PadFilter:
    """Every pad of a table.

    ``feed`` each edge as it comes, and ``advance`` as far as every pad's edges have been fed
    (`GpioPads.watermark`). Ids count each seat's own slaps, so they do not depend on the order in which
    seats' edges arrive.
    """

    def __init__(self, seats: int, start: int = 0) -> None:
        """``seats``: how many; ``start``: an instant before any edge, ns."""
        self._pads = {seat: Debouncer() for seat in range(1, seats + 1)}
        self._advanced = start
        self._counts: Counter[str] = Counter()
        self._heard: set[int] = set()
        self._dropped = 0

    def feed(self, edge: Edge) -> list[Observation]:
        """Take one edge; returns what it decided, by ``t``.

        Raises:
            ValueError: the edge is of no seat at this table.
        """
        pad = self._pads.get(edge.seat)
        if pad is None:
            raise ValueError(f"an edge of seat {edge.seat}, but the table has {len(self._pads)} seats")
        return self._observe(pad.feed(edge))

    def advance(self, t: int) -> list[Observation]:
        """All edges up to ``t`` (ns) have been fed; returns what that decided, by ``t``."""
        self._advanced = max(self._advanced, t)
        done = [contact for pad in self._pads.values() for contact in pad.advance(self._advanced)]
        return self._observe(done)

    @property
    def watermark(self) -> int:
        """Every slap and lift up to here has been returned, ns."""
        return min(pad.watermark(self._advanced) for pad in self._pads.values())

    @property
    def touched(self) -> tuple[int, ...]:
        """Seats whose pads are down, the first hand first; still undecided contacts included."""
        edges = [pad.touched for pad in self._pads.values()]
        return tuple(edge.seat for edge in sorted((e for e in edges if e is not None), key=lambda e: (e.t, e.seat)))

    @property
    def stuck(self) -> tuple[int, ...]:
        """Seats whose pads have been down for more than 3 s: to be announced, and mended."""
        return tuple(seat for seat, pad in self._pads.items() if pad.stuck)

    @property
    def heard(self) -> frozenset[int]:
        """Seats whose pads have worked at least once: a cut wire cannot be seen, so hold a roll-call."""
        return frozenset(self._heard)

    @property
    def dropped(self) -> int:
        """How many contacts were too short to be a hand."""
        return self._dropped

    def _observe(self, contacts: list[Contact]) -> list[Observation]:
        made = [self._observation(contact) for contact in contacts]
        return sorted((one for one in made if one is not None), key=lambda one: (one.t, one.id))

    def _observation(self, contact: Contact) -> Observation | None:
        edge = contact.edge
        if contact.event is Event.DROPPED:
            self._dropped += 1
            return None
        if contact.event is Event.PRESSED:
            self._heard.add(edge.seat)
            name = self._name("s", edge.seat)
            return Slap(t=edge.t, id=name, seat=edge.seat, force=edge.force, t_error=edge.t_error)
        if contact.event is Event.RELEASED:
            return Lift(t=edge.t, id=self._name("l", edge.seat), seat=edge.seat, t_error=edge.t_error)
        kind = "pad_stuck" if contact.event is Event.STUCK else "pad_freed"
        return Other(t=contact.t, id=self._name("k", edge.seat), name=kind, extra={"seat": edge.seat})

    def _name(self, letter: str, seat: int) -> str:
        key = f"{letter}{seat}"
        self._counts[key] += 1
        return f"{key}.{self._counts[key]}"
