"""The tied play War for the pile: three cards down and a fourth up, the highest wins (M4)."""

from __future__ import annotations

from referee.rules.cards import value
from referee.rules.position import Laid, War
from referee.rules.stacks import take_top
from referee.rules.step import Step

_CARDS_EACH = 4
"""Three face down and one face up."""


def begin(step: Step, seats: tuple[int, ...]) -> int | None:
    """Begin War among the tied; gives the winner at once where only one of them can match, else None.

    A seat with nothing left to match is out of the dispute.
    """
    able = tuple(seat for seat in seats if step.position.holds(seat))
    if len(able) == 1:
        return able[0]
    step.set(turn=None, challenge=None, claim=None, last_chance=None)
    if able:
        step.set(war=War(able))
    else:
        step.set(war=None, tied=seats)
        step.rule("question", "M4", ask="who_was_first", about=[step.ref])
    return None


def show(step: Step, seat: int, card: str) -> int | None:
    """A tied seat turned its card up; gives the winner once it is decided, else None (ace high)."""
    war = step.position.war
    if war is None or seat not in war.seats or any(shown == seat for shown, _ in war.shown):
        return None
    # Three cards face down and this one; too few cards: the last one is turned.
    held = step.position.counts[seat - 1]
    names = take_top(step, seat, _CARDS_EACH if held is None else min(_CARDS_EACH, held))
    down = tuple(Laid(name or "??", step.ref, step.t, seat, "burned") for name in names[:-1])
    step.set(pile=(*step.position.pile, *down, Laid(card, step.ref, step.t, seat, "dead")))
    war = War(war.seats, (*war.shown, (seat, card)))
    step.set(war=war)
    if len(war.shown) < len(war.seats):
        return None
    best = max(_high(turned) for _, turned in war.shown)
    highest = tuple(one for one, turned in war.shown if _high(turned) == best)
    return highest[0] if len(highest) == 1 else begin(step, highest)


def _high(card: str) -> int:
    return 14 if card[0] == "A" else value(card)
