"""The position of a game: immutable, complete, and ignorant of how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from referee.rules.house import HouseRules

State = Literal["played", "burned", "dead"]


class Laid(NamedTuple):
    """A card in the pile: what it is, which observation brought it, when, by whom, and whether it counts."""

    card: str
    ref: str
    t: int
    seat: int
    state: State


@dataclass(frozen=True, slots=True)
class Challenge:
    """A face card or ace waits to be beaten (C1)."""

    challenger: int
    challenged: int
    card: str
    ref: str
    left: int


@dataclass(frozen=True, slots=True)
class Claim:
    """The pile is won and not yet picked up: by a slap for good (M1), by a challenge unless somebody slaps (C9)."""

    seat: int
    by: Literal["slap", "challenge"]
    ref: str


@dataclass(frozen=True, slots=True)
class LastChance:
    """The last chance to slap in before the end (E2): cards still to turn, and when it ends once all are turned."""

    seat: int
    left: int
    ends_at: int | None = None
    ref: str = ""


class Position(NamedTuple):
    """Everything that rulings depend on. Seats count from 1; tuples by seat are in seat order."""

    rules: HouseRules
    names: tuple[str, ...]
    counts: tuple[int | None, ...]
    """Cards held by each seat; None where unknown."""
    step: Literal[1, -1] = 1
    """1 clockwise, -1 counter-clockwise."""
    turn: int | None = None
    pile: tuple[Laid, ...] = ()
    """Lowest card first."""
    challenge: Challenge | None = None
    claim: Claim | None = None
    tied: tuple[int, ...] = ()
    """Seats between which people must say who was first; the pile is one of theirs."""
    strikes: tuple[int, ...] = ()
    locked_out: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    """Seats whose pad is pressed."""
    last_chance: LastChance | None = None
    paused: bool = False
    over: bool = False
    winner: int | None = None
    in_limbo: int = 0
    """Cards that left the table, nobody can say to whom."""
    unread: frozenset[str] = frozenset()
    """Cards on the table that nobody could read, by the observation that brought them."""

    @property
    def seats(self) -> int:
        """How many seats play."""
        return len(self.names)

    def holds(self, seat: int) -> bool:
        """Whether a seat has cards (an unknown stack has some)."""
        return self.counts[seat - 1] != 0

    def holders(self) -> tuple[int, ...]:
        """Seats that have cards."""
        return tuple(seat for seat in range(1, self.seats + 1) if self.counts[seat - 1] != 0)

    def after(self, seat: int, *, never: int | None = None) -> int | None:
        """The next seat with cards in the direction of play, ``seat`` itself last, ``never`` not at all."""
        for distance in range(1, self.seats + 1):
            other = (seat - 1 + self.step * distance) % self.seats + 1
            if other != never and self.holds(other):
                return other
        return None

    def played(self) -> tuple[Laid, ...]:
        """Cards that count for patterns, lowest first (N3)."""
        return tuple(laid for laid in self.pile if laid.state == "played")
