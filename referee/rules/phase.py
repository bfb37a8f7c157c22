"""The phases of a game, and which may follow which.

A phase holds everything that decides the meaning of the next card or hand. A position has exactly one phase, so phases
that exclude each other (such as a challenge and a dead heat) cannot coexist. A transition that is not in `FOLLOWS` is a
programming error and raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, NewType

Player = NewType("Player", int)
"""A seat that currently plays, from `referee.rules.position.Position.player`; only such a seat receives cards."""


class Turn(NamedTuple):
    """A seat plays the next card (S5); None if no seat has a card to play."""

    turn: int | None


TURNS: Final = {seat: Turn(seat) for seat in (None, *range(1, 9))}
"""The turn of every seat, prebuilt: most cards only pass the turn on."""


class Challenge(NamedTuple):
    """A face card or ace waits to be beaten (C1)."""

    challenger: int
    challenged: int
    card: str
    ref: str
    left: int

    @property
    def turn(self) -> int:
        """The seat that pays."""
        return self.challenged


class Claim(NamedTuple):
    """The pile is won and not yet picked up: for good by a slap (M1), or by a challenge until a player slaps (C9).

    ``unread``: the last chance was an unreadable card, so whether the challenge is won is unknown (reading 10).
    """

    seat: int
    by: Literal["slap", "challenge", "unread"]
    ref: str
    turn: int
    """The seat that plays next: the winner, or the seat whose turn it would have been (N2)."""
    split: tuple[int, ...] = ()
    """Seats that share the pile, the first of them leading (M3)."""
    gone: tuple[int, ...] = ()
    """Sharing seats that have left: their shares go by E8, and not to players who sit there by then (M11)."""

    @property
    def sharers(self) -> tuple[int, ...]:
        """The seats that receive a share of the pile."""
        return tuple(seat for seat in self.split if seat not in self.gone)


class DeadHeat(NamedTuple):
    """People must say which of these hands was first; the pile is one of theirs (M2)."""

    seats: tuple[int, ...]

    @property
    def turn(self) -> None:
        """None until one of them leads."""
        return None


class War(NamedTuple):
    """The tied play War for the pile (M4): the seats still in, and the card each has turned up this round."""

    seats: tuple[int, ...]
    shown: tuple[tuple[int, str], ...] = ()
    """Seat and card, in the order in which they were turned."""

    @property
    def turn(self) -> None:
        """War has no turns."""
        return None


class OpenLead(NamedTuple):
    """The pile is gone and the lead is unknown: any of these seats may lead (reading 13)."""

    seats: tuple[int, ...]
    turn: int | None = None
    """The seat believed to lead until a card shows who does."""


class LastChance(NamedTuple):
    """The last chance to slap in before the end (E2): cards left to turn, and its end once all are turned."""

    seat: int
    left: int
    ends_at: int | None = None
    ref: str = ""
    t_error: int = 0
    """Error of ``ends_at``, ns: that of the last card's instant."""

    @property
    def turn(self) -> int | None:
        """The seat that turns the cards."""
        return self.seat if self.left else None


class Over(NamedTuple):
    """The game has ended.

    ``owed``: the row by which the most cards win, while the counts do not yet tell the winner (P16, E7).
    """

    winner: int | None = None
    owed: str = ""

    @property
    def turn(self) -> None:
        """None: no seat plays any more."""
        return None


Phase = Turn | Challenge | Claim | DeadHeat | War | OpenLead | LastChance | Over

FOLLOWS: Final[Mapping[type, frozenset[type]]] = {
    # A card is laid, a hand comes down, the pile leaves the table: any phase may follow a turn.
    Turn: frozenset((Turn, Challenge, Claim, DeadHeat, War, OpenLead, LastChance, Over)),
    # Paid on, answered (C4), stopped (N5), won (C5), slapped away, ended by leaving (E8) or by three of a kind (P16).
    Challenge: frozenset((Turn, Challenge, Claim, DeadHeat, War, OpenLead, Over)),
    # Picked up, or slapped away before that (C9); taken by another hand; undone, because two cards were drawn at once
    # (F9).
    Claim: frozenset((Turn, Challenge, Claim, DeadHeat, War, OpenLead, LastChance, Over)),
    # One of the tied leads, or the pile is seen to go; people's answer is judged with the hands themselves.
    DeadHeat: frozenset((Turn, Claim, DeadHeat, OpenLead, LastChance, Over)),
    # Another round, a winner, or no seat left to match.
    War: frozenset((War, Claim, DeadHeat, OpenLead, Turn, Over)),
    # A card shows who leads; or a hand wins the cards already there.
    OpenLead: frozenset((Turn, Claim, OpenLead, DeadHeat, War, LastChance, Over)),
    # Slapped in, or the two seconds have passed.
    LastChance: frozenset((LastChance, Claim, DeadHeat, War, Turn, OpenLead, Over)),
    # A count or an answer may still say who has won (`Over.owed`).
    Over: frozenset((Over,)),
}
"""The phases that may follow each phase."""
