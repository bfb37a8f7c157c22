"""Doubtful order: a slap too close to a reveal or a time limit to order the two is judged both ways (K9).

Order first, limit second: for each order of hand and reveal, the hand gets the verdict on the better side of every
limit that it may have passed (`referee.rules.slap_verdict.judge_near_limits`).

The instants are uncertain by their ``t_error``. A slap at a card's own instant comes after it. So if the slap's nominal
instant is the earlier one, the order is open if the errors overlap or just meet; if it is the later one, only if they
overlap ("How the rows are to be read", 1).
"""

from __future__ import annotations

from referee.engine.observations import Card, Slap, Taken
from referee.rules.card_play import lay
from referee.rules.frozen import record
from referee.rules.phase import LastChance, Over, Turn
from referee.rules.pickup import pick_up
from referee.rules.position import Position
from referee.rules.slap_verdict import OUTCOME_WORTH, Verdict, judge_near_limits
from referee.rules.step import Step


@record(frozen=True, slots=True, kw_only=True)
class AnsweredCard(Card):
    """A card of which people have said whether it was drawn at once with the one before it (F9, K9)."""

    side: str


def order_is_open(slap: Slap, other: Card | Taken) -> bool:
    """Whether the errors leave open which of the two came first."""
    errors = slap.t_error + other.t_error
    if slap.t < other.t:
        return other.t - slap.t <= errors
    return slap.t - other.t < errors


def judge_hand(position: Position, slap: Slap) -> tuple[Verdict, list[Verdict]]:
    """Return the verdict on a hand in a position, and all verdicts that a near limit leaves possible (K9).

    The verdict is the best one for the slapper; among equals, the one by the hand's own instant. The list is empty if
    all outcomes are the same or K9 is off.
    """
    judged, sides = judge_near_limits(position, slap.seat, slap.t, slap.t_error)
    if len({verdict.outcome for verdict in sides}) < 2 or not position.rules.has("K9"):
        return judged, []
    return max((judged, *sides), key=lambda verdict: OUTCOME_WORTH[verdict.outcome]), sides


def limit_question(slap: str) -> str:
    """Return the id of the question about a hand's side of a limit (K9); the order of hand and card is asked first."""
    return f"question@{slap}/2"


def drawn_question(card: str) -> str:
    """Return the id of the question about a card's side of F9's limit; a card's other questions have lower numbers."""
    return f"question@{card}/4"


def better_order(slap: Slap, before: Position, after: Position) -> str | None:
    """Return the order that favours the slapper: ``"slap"`` or ``"card"`` (or pick-up) first; None if equal.

    Only outcomes count: a slap that wins either way is not doubtful.

    Args:
        slap: the hand.
        before: the position that it meets if it comes first.
        after: the position after the card or pick-up, or after several.
    """
    first, last = judge_hand(before, slap)[0].outcome, judge_hand(after, slap)[0].outcome
    if first == last:
        return None
    return "slap" if OUTCOME_WORTH[first] > OUTCOME_WORTH[last] else "card"


def position_after(position: Position, other: Card | Taken) -> Position:
    """Return the position after this card or pick-up, as far as it matters for the verdict on a hand."""
    step = Step(position, other.t, other.id, other.t_error)
    if isinstance(other, Card):
        step.side = other.side if isinstance(other, AnsweredCard) else ""
        lay(step, other.card, other.seat)
    elif position.claim is not None and position.claim.by != "unread":
        pick_up(step)
    elif position.pile and not position.over:
        step.set(pile=())
        step.enter(Over(position.turn) if isinstance(position.phase, LastChance) else Turn(position.turn))
    return step.position
