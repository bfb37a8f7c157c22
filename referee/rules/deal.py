"""Setting up a game: number of cards, deal, first lead (S rows)."""

from __future__ import annotations

from typing import Final, Literal

from referee.rules.cards import NUMBER_RANKS
from referee.rules.elimination import lose_if_due
from referee.rules.house import RulesError
from referee.rules.phase import Turn
from referee.rules.position import Laid
from referee.rules.step import Step
from referee.units import MINUTE

_REMINDERS: Final = {"S6": "turn_away", "S7": "rings", "S8": "open_palm", "M6": "forehead", "M15": "other_hand"}
"""Reminders to the players before the game begins, by row."""


def dealt(
    cards: int, seats: int, dealer: int, step: int, without: tuple[int, ...] = (), *, evenly: bool = False
) -> tuple[int, ...]:
    """Return the cards per seat, dealt one by one from the seat after the dealer.

    Extras go to the first seats (S4a), or to no seat (``evenly``, S4b). Handicapped seats get none (S4d).
    """
    served = [(dealer - 1 + step * (place + 1)) % seats + 1 for place in range(seats)]
    served = [seat for seat in served if seat not in without]
    each, extras = divmod(cards, len(served))
    counts = [0] * seats
    for place, seat in enumerate(served):
        counts[seat - 1] = each + (1 if place < extras and not evenly else 0)
    return tuple(counts)


def opening(
    step: Step,
    dealer: int,
    *,
    packs: int | None = None,
    jokers: int | None = None,
    counts: tuple[int | None, ...] | None = None,
    direction: str | None = None,
) -> None:
    """Deal, and announce the lead: the seat after the dealer (S1, S5).

    Raises:
        RulesError: the dealer is not a seat, or counts or handicap do not fit the seats.
    """
    position = step.position
    rules, seats = position.rules, position.seats
    if not 1 <= dealer <= seats:
        raise RulesError('"dealer" must be a seat from 1 to {places}', places=seats)
    other_way = rules.has("S5") and (direction or rules.word("S5")) == "counter-clockwise"
    way: Literal[1, -1] = -1 if other_way else 1
    packs = packs or rules.number("S2")
    if jokers is None:
        jokers = rules.number("S3") if rules.has("S3") else 0
    step.set(table=step.ref, step=way, packs=packs, jokers=jokers, wild=rules.word("P14") if rules.has("P14") else "")
    if rules.has("E7") and rules.agreed_end.minutes is not None:
        step.set(ends_at=step.t + rules.agreed_end.minutes * MINUTE)
    if counts is None:
        _deal(step, dealer, 52 * packs + jokers)
    elif len(counts) != seats:
        raise RulesError('"counts" must hold one number for each of the {places} seats', places=seats)
    elif rules.has("S2") and sum(count or 0 for count in counts) > 52 * packs + jokers:
        raise RulesError(
            '"counts" add up to {held} cards, and there are only {cards}: put fewer, or more "packs"',
            held=sum(count or 0 for count in counts),
            cards=52 * packs + jokers,
        )
    else:
        step.set(counts=counts)
    # The seat after the dealer leads (S5); without that row the dealer, if the dealer has a card.
    dealer_leads = not rules.has("S5") and step.position.holds(dealer)
    lead = dealer if dealer_leads else step.position.after(dealer)
    if lead is None:
        raise RulesError('"counts" leaves no seat with cards to lead')
    step.enter(Turn(lead))
    if rules.has("E6"):
        lose_if_due(step)
    if step.position.over:
        return
    step.rule("lead", "S5", seat=lead)
    step.announce_turn()
    if rules.has("P14") and not step.position.wild:
        ask_wild_rank(step)
    for row, what in _REMINDERS.items():
        if rules.has(row):
            step.rule("remind", row, what=what)


def draw_wild_rank(step: Step, rank: str) -> None:
    """Set the drawn wild rank, which must be a number rank (P14)."""
    if rank in NUMBER_RANKS:
        step.set(wild=rank)
    else:
        ask_wild_rank(step)


def ask_wild_rank(step: Step) -> None:
    """Ask which rank was drawn as the wild one (P14)."""
    step.rule("question", "P14", ask="wild_rank", about=[step.ref])


def _deal(step: Step, dealer: int, cards: int) -> None:
    position = step.position
    rules, seats = position.rules, position.seats
    without = rules.seats_without_cards if rules.has("S4d") else ()
    if without and (seats < 3 or len(set(without)) >= seats or max(without) > seats):
        raise RulesError(
            "row S4d: a handicap needs 3 or more seats, and seats of 1 to {places} that leave one to play", places=seats
        )
    if rules.has("S4c"):
        step.set(counts=tuple(0 if seat in without else None for seat in range(1, seats + 1)))
        return
    counts = dealt(cards, seats, dealer, position.step, without, evenly=not rules.has("S4a"))
    excess = cards - sum(counts) if rules.has("S4b") else 0
    pile = tuple(Laid("??", step.ref, step.t, 0, "burned") for _ in range(excess))
    step.set(counts=counts, pile=pile)
