"""What deck memory says of the next card, before anybody has seen it (K2): for whoever reads cards.

The position is believed up to the watermark, and a card that was told since may still wait to be judged. So that no
card is ever foreseen by itself, those that wait are laid first. Where it is not sure what has happened since, there is
no foresight.
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
"""While one of these waits, nobody can say what will have become of the stacks."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """Which cards can come next.

    A stack's next card is foreseen as far as it is known without a gap from the top.
    """

    stacks: tuple[tuple[str, ...], ...] = ()
    """By seat, the cards that it turns next; empty where the next one is not known."""
    placed: tuple[str, ...] = ()
    """Every card whose place is known, in the pile or in a stack, as often as it is there."""
    packs: int = 1
    jokers: int = 0

    @property
    def pack(self) -> tuple[str, ...]:
        """Every card that there is in this game, each once."""
        return (*PACK, *JOKERS) if self.jokers else PACK

    def expected(self, seat: int | None) -> str | None:
        """The card that this seat must turn next; None where that is not known."""
        stack = self.stacks[seat - 1] if seat is not None and 1 <= seat <= len(self.stacks) else ()
        return stack[0] if stack else None

    def may_come(self, card: str, seat: int | None) -> bool:
        """Whether this card can be the next of this seat, or of any where the seat is not known."""
        expected = self.expected(seat)
        if expected is not None:
            return card == expected
        alike = ("Xr", "Xb") if card[0] == "X" else (card,)
        elsewhere = sum(self.placed.count(one) for one in alike)
        if seat is None:
            elsewhere -= sum(stack[0] in alike for stack in self.stacks if stack)
        return elsewhere < (self.jokers if card[0] == "X" else self.packs)

    def after(self, seat: int | None, card: str) -> Foresight | None:
        """The same once this seat has laid this card; None where that leaves it open what can come."""
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
    """What can come next.

    Args:
        position: as judged so far.
        waiting: what was told and is not judged yet, in event time.

    Returns:
        None where memory is switched off, where the game is over, and where it is not sure what happened since.
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
        # Whoever won the pile may pick it up unseen, and must where they have nothing else to lay.
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
    """Which cards have a place that is known, and nothing of what comes next; None where memory is switched off."""
    # Whatever the game waits for, the cards lie where they lie.
    found = foresee(position.but(phase=Turn(None), closed=False), ())
    return None if found is None else replace(found, stacks=())
