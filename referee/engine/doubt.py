"""A slap so near a reveal that nobody can say which came first is judged both ways (K9).

The instants are uncertain by their ``t_error``. A slap at a card's own instant comes after it, so where the slap's
nominal instant is the earlier one the order is open if the errors reach across or just meet, and where it is the later
one only if they reach across ("How the rows are to be read", 1).
"""

from __future__ import annotations

from referee.engine.observations import Card, Slap, Taken
from referee.rules.card_play import lay
from referee.rules.phase import LastChance, Over, Turn
from referee.rules.pickup import pick_up
from referee.rules.position import Position
from referee.rules.slap_verdict import OUTCOME_WORTH, judge_slap
from referee.rules.step import Step


def order_is_open(slap: Slap, other: Card | Taken) -> bool:
    """Whether the errors leave open which of the two came first."""
    errors = slap.t_error + other.t_error
    if slap.t < other.t:
        return other.t - slap.t <= errors
    return slap.t - other.t < errors


def better_order(position: Position, slap: Slap, other: Card | Taken) -> str | None:
    """``"slap"`` or ``"card"`` (also for a pick-up): which should come first for the slapper; None where it is all one.

    Only outcomes count: a slap that wins either way is no doubtful one.
    """
    before = judge_slap(position, slap.seat, slap.t).outcome
    after = judge_slap(position_after(position, other), slap.seat, max(slap.t, other.t)).outcome
    if before == after:
        return None
    return "slap" if OUTCOME_WORTH[before] > OUTCOME_WORTH[after] else "card"


def position_after(position: Position, other: Card | Taken) -> Position:
    """What a hand meets that came after this card or pick-up, as far as its own verdict goes."""
    step = Step(position, other.t, other.id)
    if isinstance(other, Card):
        lay(step, other.card, other.seat)
    elif position.claim is not None and position.claim.by != "unread":
        pick_up(step)
    elif position.pile and not position.over:
        step.set(pile=())
        step.enter(Over(position.turn) if isinstance(position.phase, LastChance) else Turn(position.turn))
    return step.position
