"""Elimination and the end (E rows, P16)."""

from __future__ import annotations

from typing import Final

from referee.rules.position import LastChance, Position
from referee.rules.stacks import put_under
from referee.rules.step import Step

LAST_CHANCE_NS: Final = 2_000_000_000
"""How long the table waits for a slap after the last card of E2, ns ("How the rows are to be read", 11)."""


def announce_out(step: Step) -> None:
    """Every seat whose last card just went is out (E1); a challenger stays in until its challenge is beaten (C7)."""
    before, after = step.before, step.position
    if not after.rules.has("E1"):
        return
    if before.counts == after.counts and before.challenge == after.challenge and before.claim == after.claim:
        return
    for seat in range(1, before.seats + 1):
        if not _is_out(before, seat) and _is_out(after, seat):
            step.rule("out", "E1", seat=seat)


def _is_out(position: Position, seat: int) -> bool:
    return not position.holds(seat) and not _stays_in(position, seat)


def _stays_in(position: Position, seat: int) -> bool:
    """The seat that turns its last cards (E2); one whose challenge stands, or whose won pile lies there (C7)."""
    if position.last_chance is not None and position.last_chance.seat == seat:
        return True
    if not position.rules.has("C7"):
        return False
    if position.challenge is not None and position.challenge.challenger == seat:
        return True
    return position.claim is not None and position.claim.seat == seat


def after_pile(step: Step, seat: int, *, by_slap: bool) -> None:
    """A pile was picked up: does that seat hold everything now (E5a), and has the table a last chance (E2)?"""
    position = step.position
    if position.rules.has("E6"):
        empty = [other for other in position.others_after(seat) if not position.holds(other)]
        if empty:
            lose(step, empty[0])
        return
    if position.holders() != (seat,) or position.in_limbo:
        return
    if not (position.rules.has("E5a") or position.rules.has("E5b")):
        return
    if by_slap or not position.rules.has("E2"):
        win(step, seat, "E5a" if position.rules.has("E5a") else "E5b")
        return
    step.set(last_chance=LastChance(seat, position.rules.value("E2")))
    step.rule("remind", "E2", what="last_chance")


def win(step: Step, seat: int, *rule: str) -> None:
    """The game is won."""
    step.set(over=True, winner=seat, turn=None, last_chance=None, challenge=None)
    step.rule("won", *rule, seat=seat)


def draw(step: Step, *rule: str) -> None:
    """The game ends and nobody has won it."""
    step.set(over=True, turn=None, challenge=None)
    step.rule("drawn", *rule)


def end_if_decided(step: Step) -> None:
    """After cards left the stacks: a draw (E4), the only one left (E5b), or the first to run out (E6)."""
    position = step.position
    if position.over or position.claim or position.tied or position.war or position.in_limbo or position.last_chance:
        return
    holders = position.holders()
    if not holders:
        if position.rules.has("E4"):
            draw(step, "E4")
    elif position.rules.has("E5b") and len(holders) == 1:
        # The only one with cards must go on while cards lie in the pile (E3), or a challenge stands (C7).
        goes_on = position.rules.has("E3") and position.pile
        if not goes_on and not any(_stays_in(position, seat) for seat in range(1, position.seats + 1)):
            win(step, holders[0], "E5b")


def lose(step: Step, seat: int) -> None:
    """Beggar-My-Neighbour: whoever first runs out has lost (E6, reading 12)."""
    step.set(over=True, turn=None, challenge=None)
    step.rule("lost", "E6", seat=seat)


def three_of_a_kind(step: Step) -> None:
    """P16: the top three share a rank, the game ends, and whoever holds the most cards has won; a tie is a draw."""
    position = step.position
    if position.over or position.rules.value("P16") != "ends_game":
        return
    top = position.look().top[:3]
    if len(top) < 3 or len({card[0] for card in top}) != 1 or top[0][0] in "X?":
        return
    held = [count or 0 for count in position.counts]
    best = [seat for seat, count in enumerate(held, start=1) if count == max(held)]
    if len(best) == 1:
        win(step, best[0], "P16")
    else:
        draw(step, "P16")


def last_chance_over(step: Step, *, taken: bool) -> None:
    """Nobody slapped in: the seat that holds everything has won (E2, E5a, reading 11)."""
    chance = step.position.last_chance
    if chance is None:
        return
    cards = [laid.card for laid in step.position.pile]
    put_under(step, chance.seat, cards)
    step.set(pile=())
    if taken:
        step.rule("pile", "C8", seat=chance.seat, count=len(cards))
    win(step, chance.seat, "E2", "E5a")
