"""What a game is waiting for: one phase at a time, and which may follow which.

Everything that decides what the next card or hand means stands here. A position has exactly one phase, so two that
exclude each other (a challenge and a dead heat, say) cannot be written down; a step from one to another that is not in
`FOLLOWS` is a fault of the program, and stops it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, NewType

Player = NewType("Player", int)
"""A seat that plays now, as `referee.rules.position.Position.player` has it: only such a seat receives anything."""


class Turn(NamedTuple):
    """A seat plays the next card (S5); None where nobody has one to play."""

    turn: int | None


TURNS: Final = {seat: Turn(seat) for seat in (None, *range(1, 9))}
"""The turn of every seat, made once: most cards only pass it on."""


class Challenge(NamedTuple):
    """A face card or ace waits to be beaten (C1)."""

    challenger: int
    challenged: int
    card: str
    ref: str
    left: int

    @property
    def turn(self) -> int:
        """Whoever pays."""
        return self.challenged


class Claim(NamedTuple):
    """The pile is won and not yet picked up: by a slap for good (M1), by a challenge unless somebody slaps (C9).

    ``unread``: the last chance was a card that nobody could read, so nobody knows yet whether it is won (reading 10).
    """

    seat: int
    by: Literal["slap", "challenge", "unread"]
    ref: str
    turn: int
    """Who plays next: the winner, or whose turn it would have been (N2)."""
    split: tuple[int, ...] = ()
    """Seats that share the pile, the first of them leading (M3)."""


class DeadHeat(NamedTuple):
    """People must say which of these hands was first; the pile is one of theirs (M2)."""

    seats: tuple[int, ...]

    @property
    def turn(self) -> None:
        """Nobody's until one of them leads."""
        return None


class War(NamedTuple):
    """The tied play War for the pile (M4): who is still in, and what each has turned up this time."""

    seats: tuple[int, ...]
    shown: tuple[tuple[int, str], ...] = ()
    """Seat and card, in the order in which they were turned."""

    @property
    def turn(self) -> None:
        """War has no turns."""
        return None


class OpenLead(NamedTuple):
    """The pile is gone and nobody knows who leads: any of these seats may (reading 13)."""

    seats: tuple[int, ...]
    turn: int | None = None
    """Whoever is believed to lead until a card shows it."""


class LastChance(NamedTuple):
    """The last chance to slap in before the end (E2): cards still to turn, and when it ends once all are turned."""

    seat: int
    left: int
    ends_at: int | None = None
    ref: str = ""
    t_error: int = 0
    """How wrong ``ends_at`` may be, ns: as wrong as the instant of the last card."""

    @property
    def turn(self) -> int | None:
        """The one who turns the cards."""
        return self.seat if self.left else None


class Over(NamedTuple):
    """The game has ended.

    ``owed``: the row by which whoever holds the most cards has won, where nobody knows yet who that is (P16, E7).
    """

    winner: int | None = None
    owed: str = ""

    @property
    def turn(self) -> None:
        """Nobody's."""
        return None


Phase = Turn | Challenge | Claim | DeadHeat | War | OpenLead | LastChance | Over

FOLLOWS: Final[Mapping[type, frozenset[type]]] = {
    # A card is laid, a hand comes down, the pile leaves the table: from a turn anything may come.
    Turn: frozenset((Turn, Challenge, Claim, DeadHeat, War, OpenLead, LastChance, Over)),
    # Paid on, answered (C4), stopped (N5), won (C5), slapped away, ended by leaving (E8) or by three of a kind (P16).
    Challenge: frozenset((Turn, Challenge, Claim, DeadHeat, War, OpenLead, Over)),
    # Picked up, or slapped away before that (C9); taken by another hand; undone, for two cards were drawn at once (F9).
    Claim: frozenset((Turn, Challenge, Claim, DeadHeat, War, OpenLead, LastChance, Over)),
    # One of the tied leads, or the pile is seen to go; what people answer is judged with the hands themselves.
    DeadHeat: frozenset((Turn, Claim, DeadHeat, OpenLead, LastChance, Over)),
    # Another round, a winner, or nobody left to match.
    War: frozenset((War, Claim, DeadHeat, OpenLead, Turn, Over)),
    # A card shows who leads; or a hand wins what lies there already.
    OpenLead: frozenset((Turn, Claim, OpenLead, DeadHeat, War, LastChance, Over)),
    # Slapped in, or the two seconds have passed.
    LastChance: frozenset((LastChance, Claim, DeadHeat, War, Turn, OpenLead, Over)),
    # A count or an answer may still say who has won (`Over.owed`).
    Over: frozenset((Over,)),
}
"""By phase, those that may come next."""
