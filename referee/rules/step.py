"""One transition of a position, while it is being worked out.

A `Step` starts from one position and ends with another, plus the decisions made on the way. Rules are functions of a
step; positions are immutable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.rules.frozen import record
from referee.rules.phase import FOLLOWS, Phase
from referee.rules.position import Position


@record(frozen=True, slots=True)
class Draft:
    """A ruling without an id: its kind, fields, rows, and the observations that it rests on besides its cause."""

    kind: str
    fields: Mapping[str, Any]
    rule: tuple[str, ...]
    because: tuple[str, ...]


class Step:
    """A transition in progress.

    ``t`` and ``t_error`` are the instant of its cause and the error of that instant (ns); ``ref`` is the cause's id.
    """

    __slots__ = ("before", "doubt", "drafts", "position", "ref", "side", "t", "t_error", "undone", "undone_card")

    def __init__(self, position: Position, t: int, ref: str, t_error: int = 0) -> None:
        self.before = position
        self.position = position
        self.t = t
        self.t_error = t_error
        self.ref = ref
        self.doubt = False
        """Whether an instant was too close to a limit to tell its side, and the side matters (K9)."""
        self.side = ""
        """The side of F9's limit that people named for a card: ``"before"``, ``"after"``, or empty (K9)."""
        self.drafts: list[Draft] = []
        self.undone: tuple[str, ...] = ()
        """Ids of rulings that this step revokes (E8)."""
        self.undone_card = ""
        """The latest card, if its effects were undone (F9)."""

    def set(self, **changes: Any) -> None:
        """Change fields of the position."""
        self.position = self.position.replace(**changes)

    def enter(self, phase: Phase, **changes: Any) -> None:
        """Change the phase, and other fields with it.

        Raises:
            AssertionError: the phase cannot follow the current one (`referee.rules.phase.FOLLOWS`).
        """
        before = type(self.position.phase)
        if type(phase) not in FOLLOWS[before]:
            raise AssertionError(f"{type(phase).__name__} cannot follow {before.__name__} ({self.ref})")
        self.position = self.position.replace(phase=phase, **changes)

    def stand_still(self, until: int) -> None:
        """Extend every running time limit (E2, E7, M9) by the pause up to ``until``, ns (reading 17)."""
        position = self.position
        if position.paused_at is None:
            return
        rest = max(until - position.paused_at, 0)
        self.set(still=position.still + rest, paused_at=until)
        if position.ends_at is not None:
            self.set(ends_at=position.ends_at + rest)
        chance = position.last_chance
        if chance is not None and chance.ends_at is not None:
            self.enter(chance._replace(ends_at=chance.ends_at + rest))

    def rule(self, kind: str, *rule: str, because: tuple[str, ...] = (), **fields: Any) -> None:
        """Add a decision."""
        self.drafts.append(Draft(kind, fields, rule, because))

    def announce_turn(self) -> None:
        """Announce the next seat to play if it has changed (S5)."""
        turn = self.position.phase.turn
        if turn is not None and turn != self.before.phase.turn:
            self.drafts.append(Draft("turn", {"seat": turn}, ("S5",), ()))
