"""The believed position up to the watermark, as shown on a scoreboard."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """A standing challenge: challenger, current payer and chances left."""

    challenger: int
    challenged: int
    left: int


@dataclass(frozen=True, slots=True)
class View:
    """A snapshot; seats count from 1, ``counts`` and ``names`` are in seat order."""

    names: tuple[str, ...] = ()
    counts: tuple[int | None, ...] = ()
    pile: tuple[str, ...] = ()
    """Cards of the pile, oldest first; ``??`` for an unseen one (burned face down or unread)."""
    laid_by: tuple[str, ...] = ()
    """By card of the pile, the id of the observation that brought it."""
    turn: int | None = None
    challenge: ChallengeView | None = None
    owner: int | None = None
    """The seat that has won the pile and not yet picked it up."""
    locked_out: frozenset[int] = frozenset()
    expected: tuple[str | None, ...] = ()
    """By seat, the card that it must turn next; None if unknown."""
    game_over: bool = False
    winner: int | None = None
    absent: frozenset[int] = frozenset()
    """Seats without a player: left (E8), or between the table and a pad that joined (M11)."""
    questions: tuple[str, ...] = ()
    """Ids of the open questions."""
