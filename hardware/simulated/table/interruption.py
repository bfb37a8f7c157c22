"""Interruptions of a simulated game: its players finish their current motions, stand still, and continue later.

A person may pause a game, or correct the referee. Either creates another script, equal to the first up to an instant:
first one in which all actions stop, then one in which the players go on. They continue with the cards that they really
hold, but take the turn and the counts from the referee, which gets the same input as here, including people's words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from hardware.simulated.table.acts import Act, Burn, Cover
from hardware.simulated.table.course import Course
from hardware.simulated.table.holdings import Holdings
from hardware.simulated.table.players import Contact
from hardware.simulated.table.script import Script, script_of_course
from referee.engine.observations import Lift, Observation, Slap
from referee.engine.rulings import Ruling
from referee.units import MS, SECOND

REACH: Final = 800 * MS
"""Time, ns, after a person's word within which hands come down, since they are already on their way and visible."""
_LET_GO: Final = 50 * MS
"""Delay, ns, after which a hand on its pad is drawn back."""
_DAY: Final = 86_400 * SECOND
_FOR: Final = (900 * MS, 1_500 * MS)
"""Delay of the next card after going on."""


def stand_still(script: Script, at: int) -> Script:
    """Return a script equal up to ``at``, plus the motions under way, up to `REACH` later; then nothing for a day."""
    last = at + REACH
    contacts = [contact for contact in script.contacts if contact.t <= last]
    down = {contact.seat: contact.pressed for contact in contacts}
    contacts += [Contact(last + _LET_GO, seat, False) for seat, pressed in down.items() if pressed]
    truth = [line for line in script.truth if line.t <= last]
    lying = {line.seat: isinstance(line, Slap) for line in truth if isinstance(line, Slap | Lift)}
    truth += [Lift(t=last + _LET_GO, id=f"still{at}-{seat}", seat=seat) for seat, is_down in lying.items() if is_down]
    return replace(
        script,
        acts=tuple(_cut(act, last) for act in script.acts if act.t <= last),
        contacts=tuple(contacts),
        truth=tuple(truth),
        called=tuple(called for called in script.called if called.t <= last),
        duration=last + _DAY,
        finished=False,
        interrupted=at if script.interrupted is None else script.interrupted,
    )


def _cut(act: Act, last: int) -> Act:
    return replace(act, until=min(act.until, last + _LET_GO)) if isinstance(act, Cover) else act


def go_on(script: Script, at: int, told: Sequence[Observation], max_cards: int) -> Script:
    """Let the players go on at ``at`` (ns).

    Args:
        script: one in which they stand still.
        at: the scripts are equal up to this instant.
        told: the referee's whole input, on the script's timeline, without its table.
        max_cards: stop after this many cards.

    Raises:
        ScriptError: the referee names no seat to play.
    """
    chance = Random(f"table {script.seed} from {at}")
    course = Course(script.table, script.people, chance, script.pace, script.habits, told)
    course.now, course.names = at, f"from{at}-"
    course.truth, course.called = list(script.truth), list(script.called)
    course.hands.contacts = list(script.contacts)
    course.laid, course.slaps = script.laid, sum(isinstance(line, Slap) for line in script.truth)
    course.lay_at = at + chance.randrange(*_FOR)
    course.cards = Holdings.after(script.people, chance, script.dealt, script.acts)
    _heed_referee(course, at)
    course.play(max_cards)
    return replace(script_of_course(script.seed, course, script.dealt), interrupted=script.interrupted)


def _heed_referee(course: Course, at: int) -> None:
    """Adjust all holdings to the referee's counts, and learn who takes the pile and who burns cards."""
    view, cards = course.view, course.cards
    owed = _unburned(course.judge.rulings, cards.acts)
    if sum(owed.values()) > len(view.pile) - len(cards.pile):
        # The pile was taken meanwhile, including the cards to be burned: those change hands directly.
        owed.clear()
    counts = list(view.counts)
    for (seat, top), count in owed.items():
        course.owe(at, seat, count, top)
        counts[seat - 1] = _more(counts[seat - 1], count)
    course.owner = view.owner
    if cards.pile and not view.pile:
        # The referee has given the pile away, but it lies there: the seat that lacks most cards takes it.
        lacking = [0 if said is None else said - len(stack) for said, stack in zip(counts, cards.stacks, strict=True)]
        taker = max(range(len(lacking)), key=lacking.__getitem__)
        if lacking[taker] > 0:
            course.owed = taker + 1
            counts[taker] = _more(counts[taker], -len(cards.pile))
        cards.agree(at, counts, len(cards.pile))
    else:
        cards.agree(at, counts, len(view.pile) - sum(owed.values()))


def _more(count: int | None, by: int) -> int | None:
    return None if count is None else count + by


def _unburned(rulings: Iterable[Ruling], acts: Iterable[Act]) -> Counter[tuple[int, bool]]:
    """Return cards still to be burned by the rulings in force, by seat and by whether on top."""
    made = list(rulings)
    replaced = {name for ruling in made for name in ruling.supersedes}
    owed: Counter[tuple[int, bool]] = Counter()
    for ruling in made:
        if ruling.kind == "burn" and ruling.id not in replaced:
            owed[ruling["seat"], ruling.get("where") == "top"] += ruling["count"]
    for act in acts:
        if isinstance(act, Burn):
            owed[act.seat, act.top] -= len(act.cards)
    return +owed
