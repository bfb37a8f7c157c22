"""One transition of a position, while it is being worked out.

A `Step` begins with a position and ends with another and the decisions on the way. Rules are functions of a step; the
positions themselves never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.rules.frozen import record
from referee.rules.position import Position, changed


@record(frozen=True, slots=True)
class Draft:
    """A ruling before it has an id: its kind, fields, rows, and what it rests on besides its cause."""

    kind: str
    fields: Mapping[str, Any]
    rule: tuple[str, ...]
    because: tuple[str, ...]


class Step:
    """A transition in the making; ``t`` and ``ref`` are the instant and the id of its cause."""

    __slots__ = ("before", "drafts", "position", "ref", "t")

    def __init__(self, position: Position, t: int, ref: str) -> None:
        self.before = position
        self.position = position
        self.t = t
        self.ref = ref
        self.drafts: list[Draft] = []

    def set(self, **changes: Any) -> None:
        """Change fields of the position."""
        self.position = changed(self.position, changes)

    def rule(self, kind: str, *rule: str, because: tuple[str, ...] = (), **fields: Any) -> None:
        """Decide something."""
        self.drafts.append(Draft(kind, fields, rule, because))

    def announce_turn(self) -> None:
        """Say who plays next where that has changed (S5)."""
        turn = self.position.turn
        if turn is not None and turn != self.before.turn and not self.position.over:
            self.rule("turn", "S5", seat=turn)
