"""Piles that left the table though no ruling gave them to anybody: what was seen stands, and people are asked.

That happens where the referee missed something, and after a correction, when what people did then no longer fits what
is ruled now ("How the rows are to be read", 10 and 13).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.engine.observations import Card, Taken
from referee.rules.elimination import after_pile
from referee.rules.locks import pile_was_won
from referee.rules.phase import Claim, DeadHeat, OpenLead, Player, Turn
from referee.rules.pickup import heat_was_won, pick_up
from referee.rules.stacks import put_under
from referee.rules.step import Step


def lead_key(card: str) -> str:
    """Under which name it is kept who led with a card when it was first judged."""
    return f"led@{card}"


def picked_up(step: Step, taken: Taken, answers: Mapping[str, Any]) -> None:
    """A won pile is picked up: by its winner, or by whom people name where another hand was seen to take it."""
    claim = step.position.phase
    assert isinstance(claim, Claim)
    if taken.seat is None or taken.seat in (claim.seat, *claim.split):
        pick_up(step)
        return
    said = _named(step, taken, answers)
    if said is not None:
        step.enter(claim._replace(seat=said, turn=said, split=()))
    pick_up(step)
    step.rule("question", "K6", ask="mend_pile", about=[taken.id])
    turn = step.position.turn
    taker = step.position.player(taken.seat)
    if said is None and turn is not None and taker is not None and not step.position.over:
        # Either may be the one that leads now: which of them it is shows with the next card.
        step.enter(OpenLead((turn, taker), turn))


def unexplained(step: Step, taken: Taken, answers: Mapping[str, Any]) -> None:
    """The pile left the table and nobody had won it, or nobody knows yet who did."""
    position = step.position
    tied = position.tied if isinstance(position.phase, DeadHeat) else ()
    if not tied:
        step.rule("question", "K6", ask="mend_pile", about=[taken.id])
    said = _named(step, taken, answers)
    if said is not None:
        if not tied:
            pile_was_won(step)
        goes_to(step, said)
        after_pile(step, said, by_slap=False)
        return
    taker = position.player(taken.seat)
    if tied or position.unread or taker is None:
        # Whoever may have it holds more than is counted (readings 10 and 15).
        concerned = tied or ((taker,) if taker is not None else position.players())
        step.set(
            pile=(),
            unread=frozenset(),
            in_limbo=position.in_limbo + len(position.pile),
            unsure=position.unsure | set(concerned),
        )
    else:
        goes_to(step, taker)
    if position.drifts and taker is not None:
        step.enter(Turn(taker))
        return
    if tied:
        # Somebody else took it: of the tied one leads, as soon as a card shows which.
        step.enter(OpenLead(tied))
        heat_was_won(step)
        return
    # Nobody can be out of turn before it is seen who leads.
    first = () if taker is None else (taker,)
    seats = (*first, *(seat for seat in step.position.holders() if seat != taker))
    step.enter(OpenLead(seats, taker if taker is not None else step.position.turn))


def lead_stands(step: Step, card: Card, seat: int | None, answers: Mapping[str, Any]) -> None:
    """A card that led when it was laid, and would be out of turn by what is ruled now, still leads (reading 13)."""
    position = step.position
    leader = position.player(seat)
    if answers.get(lead_key(card.id)) != seat or leader is None or position.over:
        return
    if leader == position.turn or leader in position.tied or not position.pile:
        return
    step.rule("question", "K6", ask="mend_pile", about=[step.ref])
    goes_to(step, leader)


def _named(step: Step, taken: Taken, answers: Mapping[str, Any]) -> Player | None:
    said = answers.get(f"question@{taken.id}")
    return step.position.player(said) if type(said) is int else None


def goes_to(step: Step, seat: Player) -> None:
    """Everything that lies there is this seat's, which leads."""
    cards = [laid.card for laid in step.position.pile]
    step.set(pile=(), unread=frozenset(), paid=0)
    step.enter(Turn(seat))
    put_under(step, seat, cards)
    step.rule("pile", "K6", seat=seat, count=len(cards))
    step.rule("lead", "K6", seat=seat)
