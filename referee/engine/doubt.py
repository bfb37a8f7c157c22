"""A slap so near a reveal that nobody can say which came first is judged both ways (K9).

The instants are uncertain by their ``t_error``. A slap at a card's own instant comes after it, so where the slap's
nominal instant is the earlier one the order is open if the errors reach across or just meet, and where it is the later
one only if they reach across ("How the rows are to be read", 1).
"""

from __future__ import annotations

from referee.engine.observations import Card, Slap
from referee.rules.card_play import lay
from referee.rules.position import Position
from referee.rules.slap_verdict import OUTCOME_WORTH, judge_slap
from referee.rules.step import Step


def order_is_open(slap: Slap, card: Card) -> bool:
    """Whether the errors leave open which of the two came first."""
    errors = slap.t_error + card.t_error
    if slap.t < card.t:
        return card.t - slap.t <= errors
    return slap.t - card.t < errors


def better_order(position: Position, slap: Slap, card: Card) -> str | None:
    """``"slap"`` or ``"card"``: which of the two should come first for the slapper; None where it makes no difference.

    Only outcomes count: a slap that wins either way is no doubtful one.
    """
    before = judge_slap(position, slap.seat, slap.t).outcome
    step = Step(position, card.t, card.id)
    lay(step, card.card, card.seat)
    after = judge_slap(step.position, slap.seat, max(slap.t, card.t)).outcome
    if before == after:
        return None
    return "slap" if OUTCOME_WORTH[before] > OUTCOME_WORTH[after] else "card"
