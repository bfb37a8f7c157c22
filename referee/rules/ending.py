"""Elimination and the end (E rows)."""

from __future__ import annotations

from typing import Final

from referee.rules.position import LastChance
from referee.rules.step import Step

LAST_CHANCE_NS: Final = 2_000_000_000
"""How long the table waits for a slap after the last card of E2, ns ("How the rows are to be read", 11)."""


def announce_out(step: Step) -> None:
    """Every seat whose last card just went is out (E1)."""
    for seat in range(1, step.position.seats + 1):
        if step.before.holds(seat) and not step.position.holds(seat):
            step.rule("out", "E1", seat=seat)


def after_pile(step: Step, seat: int, *, by_slap: bool) -> None:
    """A pile was picked up: does that seat hold everything now (E5a), and has the table a last chance (E2)?"""
    position = step.position
    if position.holders() != (seat,) or position.in_limbo or not position.rules.has("E5a"):
        return
    if by_slap or not position.rules.has("E2"):
        win(step, seat, "E5a")
        return
    step.set(last_chance=LastChance(seat, position.rules.value("E2")))
    step.rule("remind", "E2", what="last_chance")


def win(step: Step, seat: int, *rule: str) -> None:
    """The game is won."""
    step.set(over=True, winner=seat, turn=None, last_chance=None)
    step.rule("won", *rule, seat=seat)


def draw_if_nobody_can_play(step: Step) -> None:
    """All cards lie in the pile and no challenge gives it to anyone: a draw (E4)."""
    position = step.position
    if position.over or position.holders() or position.claim or position.tied or position.in_limbo:
        return
    step.set(over=True, turn=None, challenge=None)
    step.rule("drawn", "E4")


def last_chance_over(step: Step, *, taken: bool) -> None:
    """Nobody slapped in: the seat that holds everything has won (E2, E5a, reading 11)."""
    chance = step.position.last_chance
    if chance is None:
        return
    count = len(step.position.pile)
    step.add_cards(chance.seat, count)
    step.set(pile=())
    if taken:
        step.rule("pile", "C8", seat=chance.seat, count=count)
    win(step, chance.seat, "E2", "E5a")
