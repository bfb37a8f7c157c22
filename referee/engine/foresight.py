"""Prediction of the next card from deck memory (K2), for the card readers.

The position is known up to the watermark, and cards reported since may still wait to be judged. These are laid first,
so that a card never predicts itself. If the events since are uncertain, there is no prediction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from referee.engine.observations import Answer, Card, Correct, Count, Gap, Join, Observation, Table, Taken
from referee.rules.card_play import lay
from referee.rules.cards import JOKERS, PACK, UNREADABLE
from referee.rules.phase import Claim, DeadHeat, OpenLead, Over, Turn, War
from referee.rules.pickup import pick_up
from referee.rules.position import Position
from referee.rules.step import Step

_UNSETTLED: Final = (Answer, Correct, Count, Gap, Join, Table, Taken)
"""Kinds of observations that leave the stacks uncertain while one waits."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """The cards that can come next.

    A stack's cards are predicted as far as they are known without a gap from the top.
    """

    stacks: tuple[tuple[str, ...], ...] = ()
    """By seat, the cards that it turns next; empty if the next one is unknown."""
    placed: tuple[str, ...] = ()
    """Every card whose place is known, in the pile or in a stack, with repetitions."""
    packs: int = 1
    jokers: int = 0

    @property
    def pack(self) -> tuple[str, ...]:
        """Every card of this game, each once."""
        return (*PACK, *JOKERS) if self.jokers else PACK

    def expected(self, seat: int | None) -> str | None:
        """Return the card that this seat must turn next; None if unknown."""
        stack = self.stacks[seat - 1] if seat is not None and 1 <= seat <= len(self.stacks) else ()
        return stack[0] if stack else None

    def may_come(self, card: str, seat: int | None) -> bool:
        """Whether this card can come next from this seat, or from any seat if the seat is unknown."""
        expected = self.expected(seat)
        if expected is not None:
            return card == expected
        alike = ("Xr", "Xb") if card[0] == "X" else (card,)
        elsewhere = sum(self.placed.count(twin) for twin in alike)
        if seat is None:
            elsewhere -= sum(stack[0] in alike for stack in self.stacks if stack)
        return elsewhere < (self.jokers if card[0] == "X" else self.packs)

    def after(self, seat: int | None, card: str) -> Foresight | None:
        """Return the prediction after this seat lays this card; None if that leaves it open."""
        if seat is None or not 1 <= seat <= len(self.stacks):
            return None
        expected = self.expected(seat)
        if expected is None:
            return self if card == UNREADABLE else replace(self, placed=(*self.placed, card))
        if card not in (expected, UNREADABLE):
            return None
        stacks = (*self.stacks[: seat - 1], self.stacks[seat - 1][1:], *self.stacks[seat:])
        return replace(self, stacks=stacks)


def foresee(position: Position, waiting: Iterable[Observation]) -> Foresight | None:
    """Return the cards that can come next.

    Args:
        position: the position as judged so far.
        waiting: observations not judged yet, in event time.

    Returns:
        None if memory is off, the game is over, or the events since are uncertain.
    """
    if not (position.rules.has("K2") and position.rules.has("S2")):
        return None
    for line in waiting:
        if isinstance(line, _UNSETTLED):
            return None
        if isinstance(line, Card):
            if line.seat is None or line.zone != "pile":
                return None
            step = Step(position, line.t, line.id)
            lay(step, line.card, line.seat)
            position = step.position
    phase = position.phase
    if position.closed or isinstance(phase, Over | War | DeadHeat | OpenLead):
        return None
    if isinstance(phase, Claim):
        # The winner may pick the pile up unseen, and must if it has no other card to lay.
        if phase.by == "unread":
            return None
        step = Step(position, 0, phase.ref)
        pick_up(step)
        position = step.position
    stacks = tuple(
        tuple(takewhile(bool, known)) if count == len(known) else ()
        for count, known in zip(position.counts, position.known, strict=True)
    )
    lying = (laid.card for laid in position.pile)
    placed = tuple(card for place in (lying, *position.known) for card in place if card not in ("", UNREADABLE))
    return Foresight(stacks, placed, position.packs, position.jokers)


def recall_places(position: Position) -> Foresight | None:
    """Return the cards whose place is known, without a prediction; None if memory is off."""
    # The phase does not matter for the places of cards.
    found = foresee(position.replace(phase=Turn(None), closed=False), ())
    return None if found is None else replace(found, stacks=())
