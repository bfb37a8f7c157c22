"""Piles that left the table though no ruling gave them to a seat: the observation stands, and the referee asks people.

That happens if the referee missed something, or after a correction, when people's actions no longer fit the current
rulings ("How the rows are to be read", 10 and 13).
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
    """Return the key that stores which seat led with a card when it was first judged."""
    return f"led@{card}"


def picked_up(step: Step, taken: Taken, answers: Mapping[str, Any]) -> None:
    """Handle the pick-up of a won pile by its winner, or, if another hand took it, by the seat that people name."""
    claim = step.position.phase
    assert isinstance(claim, Claim)
    if taken.seat is None or taken.seat in (claim.seat, *claim.sharers):
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
        # Either may lead now; the next card shows which.
        step.enter(OpenLead((turn, taker), turn))


def unexplained(step: Step, taken: Taken, answers: Mapping[str, Any]) -> None:
    """Handle a pile that left the table without a winner, or without a known one yet."""
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
        # Every seat that may have it may hold more than its count (readings 10 and 15).
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
        # A seat outside the tie took it: one of the tied leads, and a card shows which.
        step.enter(OpenLead(tied))
        heat_was_won(step)
        return
    # No card is out of turn until the lead is known.
    first = () if taker is None else (taker,)
    seats = (*first, *(seat for seat in step.position.holders() if seat != taker))
    step.enter(OpenLead(seats, taker if taker is not None else step.position.turn))


def lead_stands(step: Step, card: Card, seat: int | None, answers: Mapping[str, Any]) -> None:
    """Let a card lead that led when it was laid, though the current rulings make it out of turn (reading 13)."""
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
    """Give all cards on the table to this seat, which leads."""
    cards = [laid.card for laid in step.position.pile]
    step.set(pile=(), unread=frozenset(), paid=0)
    step.enter(Turn(seat))
    put_under(step, seat, cards)
    step.rule("pile", "K6", seat=seat, count=len(cards))
    step.rule("lead", "K6", seat=seat)
