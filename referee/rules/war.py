"""War for a pile between tied seats: three cards down and a fourth up, the highest wins (M4)."""

from __future__ import annotations

from referee.rules.cards import UNREADABLE, value
from referee.rules.phase import DeadHeat, War
from referee.rules.position import Laid
from referee.rules.stacks import ask_recount, check_card, take_top
from referee.rules.step import Step

_CARDS_EACH = 4
"""Three face down and one face up."""


def begin(step: Step, seats: tuple[int, ...]) -> int | None:
    """Begin War among the tied; return the winner at once if only one of them has cards, else None.

    A seat without cards is out of the dispute. If no seat is left, the referee asks people who was first.
    """
    able = tuple(seat for seat in seats if step.position.holds(seat))
    if len(able) == 1:
        return able[0]
    if able:
        step.enter(War(able))
    else:
        step.enter(DeadHeat(seats))
        step.rule("question", "M4", ask="who_was_first", about=[step.ref])
    return None


def show(step: Step, seat: int, card: str) -> int | None:
    """Show a tied seat's card; return the winner once War is decided, else None.

    The referee asks about an unreadable card; War stays undecided until people name it (reading 18).
    """
    war = step.position.war
    if war is None or seat not in war.seats or any(shown == seat for shown, _ in war.shown):
        return None
    # Three cards face down and this one; too few cards: the last one is turned.
    held = step.position.count(seat)
    names = take_top(step, seat, _CARDS_EACH if held is None else min(_CARDS_EACH, held))
    if not names:
        # By its count this seat had no card to turn.
        ask_recount(step, (seat,), "M4", "K2")
    check_card(step, card, seat, names[-1] if names else "")
    down = tuple(Laid(name or "??", step.ref, step.t, seat, "burned") for name in names[:-1])
    step.set(pile=(*step.position.pile, *down, Laid(card, step.ref, step.t, seat, "dead", t_error=step.t_error)))
    shown = (*war.shown, (seat, card))
    step.enter(War(war.seats, shown))
    if card == UNREADABLE:
        step.rule("question", "M4", "K2", ask="unreadable_card", about=[step.ref])
    return _decide(step, war._replace(shown=shown))


def without(step: Step, seat: int) -> int | None:
    """Remove a tied player who left (E8); return the winner if the others' cards decide War or only one is left."""
    war = step.position.war
    if war is None or seat not in war.seats:
        return None
    left = tuple(other for other in war.seats if other != seat)
    war = War(left, tuple((other, card) for other, card in war.shown if other != seat))
    step.enter(war)
    return left[0] if len(left) == 1 else _decide(step, war)


def _decide(step: Step, war: War) -> int | None:
    """Return the winner once all have turned a readable card; None if War goes on."""
    shown = war.shown
    if len(shown) < len(war.seats) or any(turned == UNREADABLE for _, turned in shown):
        return None
    highest_rank = step.position.rules.word("M4")
    best = max(_worth(turned, highest_rank) for _, turned in shown)
    highest = tuple(shower for shower, turned in shown if _worth(turned, highest_rank) == best)
    return highest[0] if len(highest) == 1 else begin(step, highest)


def _worth(card: str, highest_rank: str) -> int:
    """Return a card's worth in War (M4): the ace is highest, or the jack, in the order J Q K A 10 ... 2."""
    if highest_rank == "jack":
        return {"J": 14, "Q": 13, "K": 12, "A": 11}.get(card[0]) or value(card)
    return 14 if card[0] == "A" else value(card)
