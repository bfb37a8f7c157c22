"""A slap so near a reveal, or a limit of time, that nobody can say which came first is judged both ways (K9).

Order first, limit second: for each order of hand and reveal, the hand is worth what it is worth on the better side of
every limit that it may have passed (`referee.rules.slap_verdict.judge_near_limits`).

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
from referee.rules.slap_verdict import OUTCOME_WORTH, Verdict, judge_near_limits
from referee.rules.step import Step


def order_is_open(slap: Slap, other: Card | Taken) -> bool:
    """Whether the errors leave open which of the two came first."""
    errors = slap.t_error + other.t_error
    if slap.t < other.t:
        return other.t - slap.t <= errors
    return slap.t - other.t < errors


def judge_hand(position: Position, slap: Slap) -> tuple[Verdict, list[Verdict]]:
    """The verdict on a hand against a position, and those among which the nearness of a limit leaves the choice (K9).

    The verdict is the best of them for the slapper, the one by the hand's own instant where that is as good. There is
    no choice, and the list is empty, where all outcomes are the same or K9 is off.
    """
    judged, sides = judge_near_limits(position, slap.seat, slap.t, slap.t_error)
    if len({verdict.outcome for verdict in sides}) < 2 or not position.rules.has("K9"):
        return judged, []
    return max((judged, *sides), key=lambda verdict: OUTCOME_WORTH[verdict.outcome]), sides


def limit_question(slap: str) -> str:
    """The id of the question on which side of a limit a hand lies (K9); the order of hand and card is asked first."""
    return f"question@{slap}/2"


def better_order(position: Position, slap: Slap, other: Card | Taken) -> str | None:
    """``"slap"`` or ``"card"`` (also for a pick-up): which should come first for the slapper; None where it is all one.

    Only outcomes count: a slap that wins either way is no doubtful one.
    """
    before = judge_hand(position, slap)[0].outcome
    after = judge_hand(position_after(position, other), slap)[0].outcome
    if before == after:
        return None
    return "slap" if OUTCOME_WORTH[before] > OUTCOME_WORTH[after] else "card"


def position_after(position: Position, other: Card | Taken) -> Position:
    """What a hand meets that came after this card or pick-up, as far as its own verdict goes."""
    step = Step(position, other.t, other.id, other.t_error)
    if isinstance(other, Card):
        lay(step, other.card, other.seat)
    elif position.claim is not None and position.claim.by != "unread":
        pick_up(step)
    elif position.pile and not position.over:
        step.set(pile=())
        step.enter(Over(position.turn) if isinstance(position.phase, LastChance) else Turn(position.turn))
    return step.position
