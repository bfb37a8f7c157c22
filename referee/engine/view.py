"""The position as the referee believes it up to its watermark: what a scoreboard shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """A challenge that stands: who made it, who pays now, how many chances are left."""

    challenger: int
    challenged: int
    left: int


@dataclass(frozen=True, slots=True)
class View:
    """A snapshot; seats count from 1, ``counts`` and ``names`` are in seat order."""

    names: tuple[str, ...] = ()
    counts: tuple[int | None, ...] = ()
    pile: tuple[str, ...] = ()
    """Cards of the pile, oldest first; ``??`` for one not seen (burned face down or unread)."""
    laid_by: tuple[str, ...] = ()
    """By card of the pile, the id of the observation that brought it."""
    turn: int | None = None
    challenge: ChallengeView | None = None
    owner: int | None = None
    """The seat that has won the pile and has not picked it up."""
    locked_out: frozenset[int] = frozenset()
    expected: tuple[str | None, ...] = ()
    """By seat, the card that it must turn next, where its stack is known that far; None elsewhere."""
    game_over: bool = False
    winner: int | None = None
    absent: frozenset[int] = frozenset()
    """Seats where nobody plays: left (E8), or between the table and a pad that joined (M11)."""
    questions: tuple[str, ...] = ()
    """Ids of the questions that wait for an answer."""

    def notation(self) -> str:
        """The pile on one line, oldest first, as in ``9d 9h Ks``."""
        return " ".join(self.pile)
