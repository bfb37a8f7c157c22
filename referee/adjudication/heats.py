"""Who was first: hands nearer than their errors are a dead heat, never a guess (M1, M2, K3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from referee.adjudication.doubt import order_is_open
from referee.adjudication.observations import Card, Lift, Observation, Slap
from referee.rules.laying import lay
from referee.rules.position import Position
from referee.rules.slapping import verdict
from referee.rules.step import Step

FORCE_LEAD: Final = 0.1
"""The greatest force decides a dead heat where it leads by more than this ("How the rows are to be read", 2)."""
_ROUNDING: Final = 1e-9
"""0.4 - 0.3 is a little more than a tenth in binary fractions."""


def heat(position: Position, first: Slap, upcoming: Iterable[Observation]) -> tuple[Slap, ...]:
    """All hands nearer to the first than the sum of both errors, the first included, in order of time.

    Args:
        position: the pile that was slapped.
        first: the first valid hand.
        upcoming: observations that follow it in event time.
    """
    hands = [first]
    if not position.rules.has("K3"):
        return (first,)
    lifted: set[int] = set()
    cards: list[Card] = []
    for other in upcoming:
        if isinstance(other, Lift):
            lifted.add(other.seat)
        if isinstance(other, Card) and other.zone == "pile":
            cards.append(other)
        if not isinstance(other, Slap) or any(other.seat == hand.seat for hand in hands):
            continue
        if other.t - first.t >= first.t_error + other.t_error:
            continue
        if _counts(position, other, other.seat in lifted, cards):
            hands.append(other)
    return tuple(hands)


def _counts(position: Position, hand: Slap, lifted: bool, cards: Iterable[Card]) -> bool:
    """Whether a hand is valid by itself: a card that came surely before it lies on the pile for it."""
    if lifted:
        position = position.but(held=position.held - {hand.seat})
    for card in cards:
        if not order_is_open(hand, card):
            step = Step(position, card.t, card.id)
            lay(step, card.card, card.seat)
            position = step.position
    return verdict(position, hand.seat, hand.t).outcome == "won"


def by_force(hands: Sequence[Slap]) -> Slap | None:
    """The hand with the most contact, where every pad tells and the greatest leads clearly (M2)."""
    if any(hand.force is None for hand in hands):
        return None
    ordered = sorted(hands, key=lambda hand: -(hand.force or 0.0))
    lead = (ordered[0].force or 0.0) - (ordered[1].force or 0.0)
    return ordered[0] if lead > FORCE_LEAD + _ROUNDING else None
