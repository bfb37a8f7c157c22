"""Pads that no hand can be moving: benched until they are quiet again. Pure, in event time.

A pad that stays down is stuck: something lies on it, or its wires touch. A pad that closes tens of times a second
chatters: a loose plug, a broken wire. Either makes slaps that nobody meant, so what it tells counts for nothing until
it has been open and quiet for a while.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hardware.ports import Edge

_APART: Final = 10_000_000
"""Closings nearer to each other than this may be one hand's bounce (6.2 ms was the worst measured), ns."""
_WINDOW: Final = 1_000_000_000
TOO_MANY: Final = 20
"""Closings `_APART` in a `_WINDOW`. Nobody slaps more than ten times a second, each hand bouncing as it leaves, too."""
QUIET: Final = 1_000_000_000
"""How long a benched pad must have been open before it counts again, ns."""


class Fault(Enum):
    """Why a pad is benched; the value is the kind of its line on the log."""

    STUCK = "pad_stuck"
    CHATTER = "pad_chatter"


_FREED: Final = "pad_freed"

_WORDS: Final = {
    Fault.STUCK.value: (
        "{who}'s pad has been down for three seconds: take everything off it; it counts no slaps until it has been "
        "open for a second"
    ),
    Fault.CHATTER.value: (
        "{who}'s pad closes and opens faster than any hand: see to its cable and plug; it counts no slaps until it "
        "has been quiet for a second"
    ),
    _FREED: "{who}'s pad is quiet again: its slaps count",
}


def words(kind: str, who: str) -> str:
    """What to tell the table of a line ``kind`` about the pad of ``who``."""
    return _WORDS[kind].format(who=who)


@dataclass(frozen=True, slots=True)
class FaultChange:
    """A pad was benched or freed at ``t`` (ns)."""

    kind: str
    t: int


class FaultWatch:
    """One pad. It hears every raw edge, in order."""

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
        return self._put(Fault.CHATTER, edge.t) if len(self._closings) >= TOO_MANY else []

    def stuck(self, t: int) -> list[FaultChange]:
        """The pad's contact has lasted too long at ``t`` (ns)."""
        return self._put(Fault.STUCK, t)

    def advance(self, t: int) -> list[FaultChange]:
        """All edges up to ``t`` (ns) have been fed: the pad may be quiet again."""
        free = self._quiet_since + QUIET
        if self.fault is None or self._down or t < free:
            return []
        self.fault = None
        self._closings.clear()
        return [FaultChange(_FREED, free)]

    def _put(self, fault: Fault, t: int) -> list[FaultChange]:
        if self.fault is not None:
            return []
        self.fault, self.since = fault, t
        return [FaultChange(fault.value, t)]
