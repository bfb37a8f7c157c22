"""The hands of a simulated game on their way to the pads: when each hits, how long it stays, and which ones stop."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from random import Random

from hardware.simulated.table.players import Contact, Habits, press, seconds
from referee.units import MS

GUARD_NS = 80 * MS
"""Distance from a reveal within which no slap falls unless requested."""
_COVERED_NS = (105 * MS, 118 * MS)
"""Span after a cover in which a hand meant for the covered card falls: too soon to be a reaction to the new one."""


@dataclass(order=True)
class _Intent:
    """A hand that has begun to move towards its pad."""

    t: int
    seat: int
    held: int = field(compare=False)
    close: bool = field(compare=False)
    """Whether it is meant to fall next to a reveal."""


class SlappingHands:
    """Every hand that moves towards a pad or lies on one, and the contacts made so far."""

    def __init__(self, seats: int, habits: Habits, chance: Random) -> None:
        self.contacts: list[Contact] = []
        self._habits, self._chance = habits, chance
        self._intents: list[_Intent] = []
        self._lifts: list[tuple[int, int]] = []
        self._pad_free = [0] * (seats + 1)

    @property
    def next_lift(self) -> int | None:
        """The instant at which the next hand leaves its pad."""
        return self._lifts[0][0] if self._lifts else None

    @property
    def soonest(self) -> int | None:
        """The instant at which the next hand hits or leaves its pad."""
        falls = self._intents[0].t if self._intents else None
        return min((t for t in (falls, self.next_lift) if t is not None), default=None)

    @property
    def pressed(self) -> set[int]:
        """The seats whose hands lie on their pads."""
        return {seat for _, seat in self._lifts}

    def reach(self, seat: int, t: int, *, close: bool = False) -> None:
        """Let a player reach for the pad, to hit it at ``t``, unless it is too soon after the last time."""
        if t < self._pad_free[seat]:
            return
        long = self._chance.random() < self._habits.long_hold
        held = seconds(0.8, 2.2, self._chance) if long else seconds(0.11, 0.32, self._chance)
        self._pad_free[seat] = t + held + 200 * MS
        heappush(self._intents, _Intent(t, seat, held, close))

    def fall(self) -> tuple[int, int]:
        """Let the next hand hit its pad; return the instant and seat."""
        intent = heappop(self._intents)
        t, seat = intent.t, intent.seat
        while any(c.t == t for c in self.contacts[-12:]):
            t += 1  # two switches never close in the same nanosecond
        self.contacts.extend(press(seat, t, intent.held, self._chance))
        heappush(self._lifts, (t + intent.held, seat))
        return t, seat

    def lift(self) -> tuple[int, int]:
        """Let the next hand leave its pad; return the instant and seat."""
        return heappop(self._lifts)

    def clear(self, t: int) -> int:
        """Return the first instant from ``t`` on at which a card may turn up without a slap close by."""
        for intent in sorted(self._intents):
            if intent.t - GUARD_NS < t < intent.t + GUARD_NS and not intent.close:
                t = intent.t + GUARD_NS + self._chance.randrange(20 * MS)
        return t

    def settle(self, t: int) -> None:
        """Decide, before a card is laid at ``t`` over a pattern, which hands still come, and when."""
        kept = []
        for intent in sorted(self._intents):
            late = intent.t - t
            if late <= 0 or intent.close:
                kept.append(intent)
            elif late < 260 * MS:
                kept.append(replace(intent, t=t + self._chance.randrange(*_COVERED_NS)))
            elif self._chance.random() < 0.1:
                kept.append(intent)
        self._intents = sorted(kept)

    def inhibit(self, t: int) -> None:
        """Stop hands that are still far away when another has hit at ``t``."""
        self._intents = sorted(
            i for i in self._intents if i.t < t + 120 * MS or (i.t < t + 300 * MS and self._chance.random() < 0.25)
        )

    def stop(self) -> None:
        """Cancel all hands on their way; those on the pads still have to leave them."""
        self._intents = []
