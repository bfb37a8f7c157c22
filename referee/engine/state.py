"""The state that the referee carries from one observation to the next: immutable, so that it can be kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from referee.engine.observations import Slap
from referee.engine.rulings import Key, Ruling
from referee.rules.position import Position


class RunnerUp(NamedTuple):
    """A hand that counted but was not first."""

    seat: int
    margin: int | None
    """Time after the winner, ns; None if its timestamp is before the winner's."""
    error: int
    ref: str


class PendingWin(NamedTuple):
    """A slap that won; its ruling waits for the pick-up, because later hands still count (K3)."""

    slap: Slap
    patterns: tuple[str, ...]
    cards: tuple[str, ...]
    rule: tuple[str, ...]
    because: tuple[str, ...]
    decided_by: Literal["time", "force", "split", "war", "people", "doubt", "left"] = "time"
    margin: int | None = None
    error: int | None = None
    runners_up: tuple[RunnerUp, ...] = ()
    doubt: bool = False
    t: int | None = None
    """The instant that decided it, ns, if not the slap's own (M4, E8)."""
    empty: frozenset[int] = frozenset()
    """Seats that had no card when their hand came down."""
    place: Key | None = None
    """Printing place of the ruling: with the line that decided it."""
    asked: str = ""
    """Id of the question about it; empty if none was asked."""

    @property
    def winners(self) -> frozenset[str]:
        """The hand that won, or all hands that share the pile (M3)."""
        shared = [runner.ref for runner in self.runners_up] if self.decided_by == "split" else []
        return frozenset((self.slap.id, *shared))

    @property
    def at(self) -> int:
        """The instant of its ruling, ns."""
        return self.slap.t if self.t is None else self.t


class State(NamedTuple):
    """The fold's state."""

    position: Position
    pending: PendingWin | None = None
    disputed: PendingWin | None = None
    """The win that an open dead heat or a War (M4) will give to one of its hands."""
    hands: tuple[Slap, ...] = ()
    """The hands of that dead heat."""
    settled: frozenset[str] = frozenset()
    """Slaps of a dead heat that were judged with its first hand."""
    spent: frozenset[str] = frozenset()
    """Slaps of a dead heat that won it before their own instant: no hand wins twice."""
    doubted: frozenset[str] = frozenset()
    """Slaps decided by K9."""
    asked: frozenset[str] = frozenset()
    """Slaps that K9 leaves to people."""
    latest: Sequence[Ruling] = ()
    """Rulings on the latest card, in case it is undone (F9)."""

    def at(self, position: Position, latest: Sequence[Ruling] | None = None) -> State:
        """Return a copy at another position, with the rulings on a card if ``latest`` gives them.

        It runs for every line, and `_replace` is slow.
        """
        return tuple.__new__(State, (position, *self[1:-1], self.latest if latest is None else latest))
