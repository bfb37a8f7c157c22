"""One transition of a position, while it is being worked out.

A `Step` begins with a position and ends with another and the decisions on the way. Rules are functions of a step; the
positions themselves never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.rules.frozen import record
from referee.rules.phase import FOLLOWS, Phase
from referee.rules.position import Position, changed


@record(frozen=True, slots=True)
class Draft:
    """A ruling before it has an id: its kind, fields, rows, and what it rests on besides its cause."""

    kind: str
    fields: Mapping[str, Any]
    rule: tuple[str, ...]
    because: tuple[str, ...]


class Step:
    """A transition in the making.

    ``t``, ``t_error`` (ns) and ``ref`` are the instant of its cause, how wrong that may be, and the cause's id.
    """

    __slots__ = ("before", "doubt", "drafts", "position", "ref", "t", "t_error", "undone", "undone_card")

    def __init__(self, position: Position, t: int, ref: str, t_error: int = 0) -> None:
        self.before = position
        self.position = position
        self.t = t
        self.t_error = t_error
        self.ref = ref
        self.doubt = False
        """Whether an instant lay so near a limit that either side was possible, and it mattered (K9)."""
        self.drafts: list[Draft] = []
        self.undone: list[str] = []
        """Rulings that hold no more, by their ids (E8)."""
        self.undone_card = ""
        """The latest card, where what it did never was (F9)."""

    def set(self, **changes: Any) -> None:
        """Change fields of the position."""
        self.position = changed(self.position, changes)

    def enter(self, phase: Phase, **changes: Any) -> None:
        """Let the game wait for something else, and change other fields with that.

        Raises:
            AssertionError: this cannot follow what it waited for (`referee.rules.phase.FOLLOWS`).
        """
        before = type(self.position.phase)
        if type(phase) not in FOLLOWS[before]:
            raise AssertionError(f"{type(phase).__name__} cannot follow {before.__name__} ({self.ref})")
        changes["phase"] = phase
        self.position = changed(self.position, changes)

    def stand_still(self, until: int) -> None:
        """A pause has lasted up to ``until`` (ns): what waits (E2, E7, M9) ends that much later (reading 17)."""
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
        """Decide something."""
        self.drafts.append(Draft(kind, fields, rule, because))

    def announce_turn(self) -> None:
        """Say who plays next where that has changed (S5)."""
        turn = self.position.phase.turn
        if turn is not None and turn != self.before.phase.turn:
            self.drafts.append(Draft("turn", {"seat": turn}, ("S5",), ()))
