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
from referee.app.outcomes import Accepted, Facts, Namer, No, Outcome, Refused, a_seat, seats
from referee.app.sentences import Sentence
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
    except (No, CommandError) as why:
        return Refused(why.sentence)
    except RulesError as why:
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
        raise No('there is no line "{line}" in this game that was judged', line=line)
    found = log.now(line)
    if found is None:
        raise No('"{line}" was struck out; undo that first', line=line)
    if isinstance(found, AMENDING):
        raise No('"{line}" is something that people said: take it back with undo', line=line)
    if isinstance(found, SAID) and not is_said(found):
        raise No('"{line}" is a {kind} of the referee itself, which nobody can correct', line=line, kind=found.kind)
    if not isinstance(found, _SEEN):
        raise No('"{line}" is a {kind}, and is not corrected here', line=line, kind=found.kind or "note")
    return found


def _correct(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    line = _line(log, command.get("line"))
    card, seat = command.get("card"), command.get("seat")
    if card is not None and not isinstance(line, Card):
        raise No('"{line}" is a {kind}, not a card', line=line.id, kind=line.kind)
    if seat is not None and not isinstance(line, _SEATED):
        raise No('"{line}" is a {kind}, which has no seat', line=line.id, kind=line.kind)
    given: dict[str, Any] = {} if seat is None else {"seat": a_seat(seat, facts, log)}
    if card is not None:
        given["card"] = card
    if isinstance(line, Card):
        own = by_own_question(line, given, log, facts.t, name)
        if own:
            return Accepted(_changed(line, given), own)
    if all(getattr(line, field) == value for field, value in given.items()):
        raise No('"{line}" says that already', line=line.id)
    if card is not None and isinstance(line, Card) and line.candidates:
        # What the eye held possible is settled by somebody who has looked.
        given["candidates"] = []
    by = Correct(t=facts.t, id=name("correct"), line=line.id, extra=given)
    return Accepted(_changed(line, given), (by,))


def _changed(line: Observation, given: Mapping[str, Any]) -> Sentence:
    card, seat = given.get("card"), given.get("seat")
    if card is None:
        return Sentence(
            "{kind} {line} is {seat}'s; what follows is ruled again", kind=line.kind, line=line.id, seat=given["seat"]
        )
    if seat is None:
        return Sentence("card {line} is the {card}; what follows is ruled again", line=line.id, card=card)
    return Sentence(
        "card {line} is the {card} and {seat}'s; what follows is ruled again", line=line.id, card=card, seat=seat
    )


def _void(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    line = _line(log, command.get("line"))
    by = Correct(t=facts.t, id=name("correct"), line=line.id, void=True)
    words = Sentence("{kind} {line} is struck out; what follows is ruled again", kind=line.kind, line=line.id)
    return Accepted(words, (by,))


def _answer(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    question, value = command.get("question"), command.get("value")
    made = answered(question, value, facts.view, log, facts.t, name)
    return Accepted(_as_answer(value), made)


def _as_answer(value: object) -> Sentence:
    if isinstance(value, int):
        return Sentence("answered: {seat}", seat=value)
    if value == "slap":
        return Sentence("answered: the slap came first")
    if value == "card":
        return Sentence("answered: the card came first")
    return Sentence("answered: {card}", card=str(value))


def _pause(_: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    if holding(log).people:
        raise No("the table is paused already")
    return Accepted(Sentence("paused; slaps are void until it goes on"), (Pause(t=facts.t, id=name("pause")),))


def _resume(_: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    held = holding(log)
    if not held.people:
        raise No(UNSEEN if held.camera else "the table is not paused")
    resume = Resume(t=facts.t, id=name("resume"))
    return Accepted(UNSEEN, (released(resume),)) if held.camera else Accepted(Sentence("the table goes on"), (resume,))


def _undo(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    acts = log.last_act
    if not acts:
        raise No("nothing that people said is left to take back")
    if command.get("of") not in (None, *(act.id for act in acts)):
        raise No("somebody has said something else since; look again")
    by = tuple(Correct(t=facts.t, id=name("correct"), line=act.id, void=True) for act in acts)
    lines = [act.id for act in acts]
    words = Sentence("taken back: {kind} {lines}; what follows is ruled again", kind=acts[0].kind, lines=lines)
    return Accepted(words, by)


def _count(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    seat, cards = a_seat(command.get("seat"), facts, log), command.get("cards")
    _no_more_than_there_are([cards], log)
    words = Sentence("{seat} holds {cards}", seat=seat, cards=cards)
    return Accepted(words, (Count(t=facts.t, id=name("count"), seat=seat, cards=cards),))


def _recount(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    said: list[int | None] = command.get("cards")
    if len(said) != seats(facts, log):
        raise No("{counts} counts for {places} seats", counts=len(said), places=seats(facts, log))
    counted = [(seat, cards) for seat, cards in enumerate(said, start=1) if cards is not None]
    if not counted:
        raise No("no stack was counted")
    _no_more_than_there_are([cards for _, cards in counted], log)
    lines = tuple(Count(t=facts.t, id=name("count"), seat=seat, cards=cards) for seat, cards in counted)
    return Accepted(Sentence("stacks counted: {counts}", counts=len(lines)), lines)


def _no_more_than_there_are(counts: Sequence[int], log: Amended) -> None:
    table = log.table
    if table is None:
        return
    rules = house_rules(table.rules)
    packs = table.packs if table.packs is not None else rules.value("S2")
    jokers = table.jokers if table.jokers is not None else rules.value("S3") if rules.has("S3") else 0
    cards = 52 * packs + jokers
    if sum(counts) > cards:
        raise No("that is {cards}; this game has {all}", cards=sum(counts), all=cards)


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
