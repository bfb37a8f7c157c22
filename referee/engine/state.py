"""What the referee carries from one observation to the next, besides the position: immutable, so it can be kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from referee.engine.observations import Slap
from referee.engine.rulings import Key, Ruling
from referee.rules.frozen import record
from referee.rules.position import Position


class RunnerUp(NamedTuple):
    """A hand that counted and was not first."""

    seat: int
    margin: int | None
    """ns after the winner; None where the stamps have it before the winner."""
    error: int
    ref: str


@record(frozen=True, slots=True)
class PendingWin:
    """A slap that won; its ruling waits until the pile is picked up, for hands that come later still count (K3)."""

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
    """The instant that decided it, ns, where that was not the slap itself (M4, E8)."""
    empty: frozenset[int] = frozenset()
    """Hands of seats that had no card when they came down."""
    place: Key | None = None
    """Where the ruling is printed: with the line that decided it."""
    asked: str = ""
    """The question that was asked about it, by its id; empty where none was."""

    @property
    def at(self) -> int:
        """The instant that its ruling refers to, ns."""
        return self.slap.t if self.t is None else self.t


class State(NamedTuple):
    """The fold's state."""

    position: Position
    pending: PendingWin | None = None
    disputed: PendingWin | None = None
    """What an open dead heat or a War is about (M4): the win that one of its hands will have."""
    hands: tuple[Slap, ...] = ()
    """The hands of it."""
    settled: frozenset[str] = frozenset()
    """Slaps of a dead heat that were judged with its first hand."""
    doubted: frozenset[str] = frozenset()
    """Slaps that K9 decided."""
    asked: frozenset[str] = frozenset()
    """Slaps that K9 leaves to people."""
    latest: Sequence[Ruling] = ()
    """What the latest card came to, in case it is undone (F9)."""

    def with_card(self, latest: Sequence[Ruling]) -> State:
        """The same with what the latest card came to; made past `_replace`, too."""
        return tuple.__new__(State, (*self[:7], latest))

    def at(self, position: Position) -> State:
        """The same at another position; happens with every line, for which `_replace` is slow."""
        _, pending, disputed, hands, settled, doubted, asked, latest = self
        return tuple.__new__(State, (position, pending, disputed, hands, settled, doubted, asked, latest))
