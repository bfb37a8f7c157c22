"""Setting up: how many cards there are, who holds how many, who leads (S rows)."""

from __future__ import annotations

from typing import Literal

from referee.rules.house import HouseRules, RulesError
from referee.rules.position import Position


def deck_size(packs: int, jokers: int) -> int:
    """Cards in play (S2, S3)."""
    return 52 * packs + jokers


def dealt(cards: int, seats: int, dealer: int, step: int) -> tuple[int, ...]:
    """Cards by seat when dealt one by one from the seat after the dealer; the extras go to the first seats (S4a)."""
    each, extras = divmod(cards, seats)
    counts = [each] * seats
    for place in range(extras):
        counts[(dealer - 1 + step * (place + 1)) % seats] += 1
    return tuple(counts)


def opening(
    names: tuple[str, ...],
    dealer: int,
    rules: HouseRules,
    *,
    packs: int | None = None,
    jokers: int | None = None,
    counts: tuple[int | None, ...] | None = None,
    direction: str | None = None,
) -> Position:
    """The position before the first card; the seat after the dealer leads (S1, S5).

    Raises:
        RulesError: the dealer is no seat, or the counts do not fit the seats.
    """
    seats = len(names)
    if not 1 <= dealer <= seats:
        raise RulesError(f'"dealer" must be a seat from 1 to {seats}')
    step: Literal[1, -1] = -1 if direction == "counter-clockwise" else 1
    if counts is None:
        size = deck_size(packs or rules.value("S2"), rules.value("S3") if jokers is None else jokers)
        counts = dealt(size, seats, dealer, step)
    elif len(counts) != seats:
        raise RulesError(f'"counts" must hold one number for each of the {seats} seats')
    position = Position(rules, names, counts, step, strikes=(0,) * seats)
    lead = position.after(dealer)
    if lead is None:
        raise RulesError('"counts" leaves no seat with cards to lead')
    return Position(rules, names, counts, step, turn=lead, strikes=(0,) * seats)
