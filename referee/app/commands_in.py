"""From a command to lines of the table log, or to a refusal in words. Pure: the game as it stands goes in as data.

Nothing is changed here. What is accepted becomes observations that the conductor writes like any other, so a game that
was corrected replays as it was corrected; what is no matter of the log (a new game, the volume) comes back as an order
for the main process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.adjudication.observations import (
    Card,
    Correct,
    Count,
    Foul,
    Lift,
    Observation,
    Pause,
    Placed,
    Resume,
    Say,
    Slap,
    Taken,
)
from referee.app.amended import AMENDING, SAID, Amended, is_said
from referee.app.answering import answered, by_own_question
from referee.app.commands import Command, CommandError, parse
from referee.app.orders_in import ORDERS
from referee.app.outcomes import AGAIN, Accepted, Facts, Namer, No, Outcome, Refused, a_seat, seats
from referee.app.standstill import UNSEEN, holding, released
from referee.app.verdicts_in import overrule
from referee.rules.house import RulesError, house_rules

_SEATED: Final = (Card, Slap, Lift, Taken, Placed, Foul, Say, Count)
_SEEN: Final = (*_SEATED, *SAID)


def outcome(asked: object, facts: Facts | None, name: Namer) -> Outcome:
    """What a command comes to. Never raises, whatever was asked.

    Args:
        asked: a record such as ``{"do": "pause"}``, or a `Command`.
        facts: the game that is played, or was played last; None where there is none.
        name: gives ids.
    """
    try:
        command = parse(asked.record() if isinstance(asked, Command) else asked)
        return ORDERS[command.do](command, facts) if command.do in ORDERS else _said(command, facts, name)
    except (No, CommandError, RulesError) as why:
        return Refused(str(why))


def _said(command: Command, facts: Facts | None, name: Namer) -> Accepted:
    """Something that goes into the log."""
    if facts is None:
        raise No("no game is being played")
    if facts.view.game_over and command.do in ("pause", "resume", "count", "recount"):
        raise No("the game is over")
    log = Amended(facts.observations, facts.rulings)
    if command.do in ("correct", "void", "overrule", "undo"):
        _may_be_corrected(log)
    return _LINES[command.do](command, facts, log, name)


def _may_be_corrected(log: Amended) -> None:
    table = log.table
    if table is not None and not house_rules(table.rules).has("K6"):
        raise No("these house rules allow no corrections (K6 is off)")


def _line(log: Amended, line: str) -> Observation:
    """A line that people may correct, as it stands."""
    if not log.known(line):
        raise No(f'there is no line "{line}" in this game that was judged')
    found = log.now(line)
    if found is None:
        raise No(f'"{line}" was struck out; undo that first')
    if isinstance(found, AMENDING):
        raise No(f'"{line}" is something that people said: take it back with undo')
    if isinstance(found, SAID) and not is_said(found):
        raise No(f'"{line}" is a {found.kind} of the referee itself, which nobody can correct')
    if not isinstance(found, _SEEN):
        raise No(f'"{line}" is a {found.kind or "note"}, and is not corrected here')
    return found


def _correct(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    line = _line(log, command.get("line"))
    card, seat = command.get("card"), command.get("seat")
    if card is not None and not isinstance(line, Card):
        raise No(f'"{line.id}" is a {line.kind}, not a card')
    if seat is not None and not isinstance(line, _SEATED):
        raise No(f'"{line.id}" is a {line.kind}, which has no seat')
    given: dict[str, Any] = {} if seat is None else {"seat": a_seat(seat, facts, log)}
    if card is not None:
        given["card"] = card
    if isinstance(line, Card):
        own = by_own_question(line, given, log, facts.t, name)
        if own:
            return Accepted(_changed(line, given), own)
    if all(getattr(line, field) == value for field, value in given.items()):
        raise No(f'"{line.id}" says that already')
    if card is not None and isinstance(line, Card) and line.candidates:
        # What the eye held possible is settled by somebody who has looked.
        given["candidates"] = []
    by = Correct(t=facts.t, id=name("correct"), line=line.id, extra=given)
    return Accepted(_changed(line, given), (by,))


def _changed(line: Observation, given: Mapping[str, Any]) -> str:
    parts = []
    if "card" in given:
        parts.append(f"is the {given['card']}")
    if "seat" in given:
        parts.append(f"is seat {given['seat']}'s")
    return f"{line.kind} {line.id} {' and '.join(parts)}{AGAIN}"


def _void(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    line = _line(log, command.get("line"))
    by = Correct(t=facts.t, id=name("correct"), line=line.id, void=True)
    return Accepted(f"{line.kind} {line.id} is struck out{AGAIN}", (by,))


def _answer(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    question, value = command.get("question"), command.get("value")
    made = answered(question, value, facts.view, log, facts.t, name)
    return Accepted(f"answered: {value}", made)


def _pause(_: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    if holding(log).people:
        raise No("the table is paused already")
    return Accepted("paused; slaps are void until it goes on", (Pause(t=facts.t, id=name("pause")),))


def _resume(_: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    held = holding(log)
    if not held.people:
        raise No(UNSEEN if held.camera else "the table is not paused")
    resume = Resume(t=facts.t, id=name("resume"))
    return Accepted(UNSEEN, (released(resume),)) if held.camera else Accepted("the table goes on", (resume,))


def _undo(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    acts = log.last_act
    if not acts:
        raise No("nothing that people said is left to take back")
    if command.get("of") not in (None, *(act.id for act in acts)):
        raise No("somebody has said something else since; look again")
    by = tuple(Correct(t=facts.t, id=name("correct"), line=act.id, void=True) for act in acts)
    return Accepted(f"taken back: {acts[0].kind} {' '.join(act.id for act in acts)}{AGAIN}", by)


def _count(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    seat, cards = a_seat(command.get("seat"), facts, log), command.get("cards")
    _no_more_than_there_are([cards], log)
    return Accepted(f"seat {seat} holds {cards}", (Count(t=facts.t, id=name("count"), seat=seat, cards=cards),))


def _recount(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    said: list[int | None] = command.get("cards")
    if len(said) != seats(facts, log):
        raise No(f"{len(said)} counts for {seats(facts, log)} seats")
    counted = [(seat, cards) for seat, cards in enumerate(said, start=1) if cards is not None]
    if not counted:
        raise No("no stack was counted")
    _no_more_than_there_are([cards for _, cards in counted], log)
    lines = tuple(Count(t=facts.t, id=name("count"), seat=seat, cards=cards) for seat, cards in counted)
    return Accepted(f"{len(lines)} stacks counted", lines)


def _no_more_than_there_are(counts: Sequence[int], log: Amended) -> None:
    table = log.table
    if table is None:
        return
    rules = house_rules(table.rules)
    packs = table.packs if table.packs is not None else rules.value("S2")
    jokers = table.jokers if table.jokers is not None else rules.value("S3") if rules.has("S3") else 0
    cards = 52 * packs + jokers
    if sum(counts) > cards:
        raise No(f"that is {sum(counts)} cards; this game has {cards}")


_Line = Callable[[Command, Facts, Amended, Namer], Accepted]
_LINES: Final[Mapping[str, _Line]] = {
    "correct": _correct,
    "void": _void,
    "overrule": overrule,
    "answer": _answer,
    "pause": _pause,
    "resume": _resume,
    "undo": _undo,
    "count": _count,
    "recount": _recount,
}
