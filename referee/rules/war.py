"""The tied play War for the pile: three cards down and a fourth up, the highest wins (M4)."""

from __future__ import annotations

from referee.rules.cards import UNREADABLE, value
from referee.rules.phase import DeadHeat, War
from referee.rules.position import Laid
from referee.rules.stacks import ask_recount, check_card, take_top
from referee.rules.step import Step

_CARDS_EACH = 4
"""Three face down and one face up."""


def begin(step: Step, seats: tuple[int, ...]) -> int | None:
    """Begin War among the tied; gives the winner at once where only one of them can match, else None.

    A seat with nothing left to match is out of the dispute. Where nobody is left, people are asked who was first.
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
    """A tied seat turned its card up; gives the winner once it is decided, else None.

    A card that nobody could read is asked about, and until people say which it is War is not decided (reading 18).
    """
    war = step.position.war
    if war is None or seat not in war.seats or any(shown == seat for shown, _ in war.shown):
        return None
    # Three cards face down and this one; too few cards: the last one is turned.
    held = step.position.count(seat)
    names = take_top(step, seat, _CARDS_EACH if held is None else min(_CARDS_EACH, held))
    if not names:
        # By the count this seat had none to turn.
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
    """A tied player has left (E8); gives the winner where the others' cards decide it, or only one of them is left."""
    war = step.position.war
    if war is None or seat not in war.seats:
        return None
    left = tuple(other for other in war.seats if other != seat)
    war = War(left, tuple((other, card) for other, card in war.shown if other != seat))
    step.enter(war)
    return left[0] if len(left) == 1 else _decide(step, war)


def _decide(step: Step, war: War) -> int | None:
    """The winner once all have turned a card that people can read; None where they go on."""
    shown = war.shown
    if len(shown) < len(war.seats) or any(turned == UNREADABLE for _, turned in shown):
        return None
    highest_rank = step.position.rules.word("M4")
    best = max(_worth(turned, highest_rank) for _, turned in shown)
    highest = tuple(shower for shower, turned in shown if _worth(turned, highest_rank) == best)
    return highest[0] if len(highest) == 1 else begin(step, highest)


def _worth(card: str, highest_rank: str) -> int:
    """What a card is worth in War (M4): the ace is highest, or the jack, in the order J Q K A 10 ... 2."""
    if highest_rank == "jack":
        return {"J": 14, "Q": 13, "K": 12, "A": 11}.get(card[0]) or value(card)
    return 14 if card[0] == "A" else value(card)
