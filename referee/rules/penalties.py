"""What a false slap costs (F rows)."""

from __future__ import annotations

from referee.rules.laying import settle_empty_seats
from referee.rules.position import Laid
from referee.rules.step import Step


def false_slap(step: Step, seat: int) -> None:
    """A false slap burns cards (F1); without cards it is a strike (F6a)."""
    position = step.position
    if not position.holds(seat):
        if position.rules.has("F6a"):
            _strike(step, seat)
    elif position.rules.has("F1"):
        _burn(step, seat, position.rules.value("F1"))
    settle_empty_seats(step)


def _burn(step: Step, seat: int, cards: int) -> None:
    """Cards go face up to the bottom of the pile, all of them if fewer are left (F1, reading 5)."""
    held = step.position.counts[seat - 1]
    count = cards if held is None else min(cards, held)
    if count == 0:
        return
    burned = tuple(Laid("??", step.ref, step.t, seat, "burned") for _ in range(count))
    step.set(pile=burned + step.position.pile)
    step.add_cards(seat, -count)
    step.rule("burn", "F1", seat=seat, count=count, where="bottom")


def _strike(step: Step, seat: int) -> None:
    """No cards to burn: a strike, and after the last one no more slaps this game (F6a)."""
    strikes = list(step.position.strikes)
    strikes[seat - 1] += 1
    step.set(strikes=tuple(strikes))
    step.rule("strike", "F6a", seat=seat, strikes=strikes[seat - 1])
    if strikes[seat - 1] >= step.position.rules.value("F6a"):
        step.set(locked_out=step.position.locked_out | {seat})
        step.rule("locked_out", "F6a", seat=seat, until="game")
