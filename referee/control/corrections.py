"""What a command meets, and what it can come to.

Answers that fit their question: which values each question of the referee takes.

Commands that put another verdict in a ruling's place (K6).

Commands that are no matter of a log: a new game, the record, the voice, the power. They come back as orders.

From a command to lines of the table log, or to a refusal in words. Pure: the game as it stands goes in as data.

Nothing is changed here. What is accepted becomes observations that the conductor writes like any other, so a game that
was corrected replays as it was corrected; what is no matter of the log (a new game, the volume) comes back as an order
for the main process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.control.commands import Command, CommandError, parse_command
from referee.engine.amended_log import AMENDING, SAID, AmendedLog, as_released, is_said
from referee.engine.observations import (
    Answer,
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
from referee.engine.overrule import allows_corrections, overrulable
from referee.engine.rulings import Ruling, base_id, cause_of
from referee.engine.view import View
from referee.rules.cards import UNREADABLE, is_card
from referee.rules.house import RulesError, house_rules
from referee.text.sentence import Sentence, Spoken


@dataclass(frozen=True)
class Facts:
    """A game as it stands."""

    observations: Sequence[Observation]
    """In the order in which they became known, the table first."""
    rulings: Sequence[Ruling]
    view: View
    now: int
    """ns"""
    watermark: int
    """Everything up to here has been told, ns."""
    game: int | None = None
    """Its number in the record."""

    @property
    def t(self) -> int:
        """The instant of what is said now: no sensor has told beyond it."""
        return max(self.now, self.watermark + 1)


Namer = Callable[[str], str]
"""Gives a new line of a kind an id that the log does not have yet."""


def seats(facts: Facts, log: AmendedLog) -> int:
    """How many sit there, those who joined included; before anything was judged, as the first line says."""
    return len(facts.view.names) or (len(log.table.seats) if log.table is not None else 0)


def a_seat(seat: int, facts: Facts, log: AmendedLog) -> int:
    """A seat of this table.

    Raises:
        No: there is none of that number.
    """
    there_are = seats(facts, log)
    if not 1 <= seat <= there_are:
        raise No("there is no seat {number}; this table has {places}", number=seat, places=there_are)
    return seat


@dataclass(frozen=True)
class Accepted:
    """It is done: by these lines of the log, in this order, or by an order to the main process."""

    words: str
    """A `referee.text.sentence.Sentence`, so that the page can say it in other languages; as is every refusal's."""
    observations: tuple[Observation, ...] = ()
    order: Command | None = None


@dataclass(frozen=True)
class Refused:
    """It is not done, and nothing has changed."""

    words: str


Outcome = Accepted | Refused


class No(Spoken):
    """Why a command cannot be met."""


UNSEEN: Final = Sentence("the camera sees nothing yet; the game goes on by itself when it does")


SEATS: Final = frozenset(("who_was_first", "who_played", "mend_pile"))
CARDS: Final = frozenset(("unreadable_card", "bottom_card", "impossible_card", "order_changed"))
_NOT_ANSWERED: Final = {
    "recount": Sentence("count the cards and say how many there are"),
    "late_evidence": Sentence("it only says that something came too late to be judged"),
    "mend_amendment": Sentence("it only says that a correction did not fit; say another one"),
    "nothing_to_contest": Sentence("it only says that there was nothing to contest"),
}


def answered(question: str, value: Any, view: View, log: AmendedLog, t: int, name: Namer) -> tuple[Observation, ...]:
    """The lines that answer a question.

    Args:
        question: its id.
        value: a seat, a card, or a word.
        view: the position; its questions are those that are open.
        log: the game so far.
        t: the present instant, ns.
        name: gives ids.

    Raises:
        No: no such question is open, or this is no answer to it.
    """
    open_ = next((one for one in view.questions if base_id(one) == base_id(question)), None)
    if open_ is None:
        raise No("that question is not open; it may have been answered already (undo takes an answer back)")
    ruling = log.ruling(open_)
    if ruling is None:
        raise No("that question is not on record yet; try again in a moment")
    ask = str(ruling["ask"])
    if ask in _NOT_ANSWERED:
        raise No("that takes no answer: {why}", why=_NOT_ANSWERED[ask])
    if ask in SEATS:
        _check_seat(ruling, value, view, log)
    elif ask in CARDS:
        if not (isinstance(value, str) and is_card(value) and value != UNREADABLE):
            raise No("answer with a card, such as 7h")
        if ask == "unreadable_card" and _is_slap(cause_of(ruling.id), log):
            return _the_card_itself(ruling, value, log, t, name)
    elif value not in ("slap", "card"):
        raise No("answer slap or card: which came first")
    return (Answer(t=t, id=name("answer"), to=open_, value=value),)


def _is_slap(line: str, log: AmendedLog) -> bool:
    return log.known(line) and isinstance(log.now(line), Slap)


def _check_seat(ruling: Ruling, value: Any, view: View, log: AmendedLog) -> None:
    if type(value) is not int or not 1 <= value <= len(view.names):
        raise No("answer with a seat, 1 to {most}", most=len(view.names))
    if ruling["ask"] != "who_was_first":
        return
    hands = [log.now(line) for line in ruling["about"] if log.known(line)]
    seats = sorted({hand.seat for hand in hands if isinstance(hand, Slap)})
    if seats and value not in seats:
        raise No("answer with one of the seats that slapped: {seats}", seats=seats)


def _the_card_itself(ruling: Ruling, value: str, log: AmendedLog, t: int, name: Namer) -> tuple[Observation, ...]:
    """A slap hangs on a card that nobody could read: what is said of it is said of the card."""
    cards = [log.now(line) for line in ruling["about"] if log.known(line)]
    unread = [card for card in cards if isinstance(card, Card) and card.card == UNREADABLE]
    open_ = [card for card in unread if _standing_card(card, log) is None]
    if len(open_) != 1:
        raise No("more than one card hangs on this; answer the cards' own questions")
    said = by_own_question(open_[0], {"card": value}, log, t, name)
    return said or (Correct(t=t, id=name("correct"), line=open_[0].id, extra={"card": value}),)


def by_own_question(
    card: Card, given: Mapping[str, Any], log: AmendedLog, t: int, name: Namer
) -> tuple[Observation, ...]:
    """What is said of a card that was settled by an answer before: another answer, for that one holds over the line.

    Nothing where no such answer stands.

    Raises:
        No: this very thing has been answered.
    """
    said: list[Answer] = []
    for field, value in given.items():
        kept = _standing_card(card, log) if field == "card" else _standing_seat(card, log)
        if kept is None:
            continue
        if kept.value == value:
            raise No('"{line}" says that already', line=card.id)
        said.append(Answer(t=t, id=name("answer"), to=kept.to, value=value))
    if said and len(said) < len(given):
        raise No("correct the card first, then the seat")
    return tuple(said)


def _answers(card: Card, log: AmendedLog) -> list[Answer]:
    given = (log.answer(f"question@{card.id}{number}") for number in ("", "/2", "/3"))
    return [answer for answer in given if answer is not None]


def _standing_card(card: Card, log: AmendedLog) -> Answer | None:
    return next((one for one in _answers(card, log) if isinstance(one.value, str)), None)


def _standing_seat(card: Card, log: AmendedLog) -> Answer | None:
    return next((one for one in _answers(card, log) if type(one.value) is int), None)


def overrule(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    """Put another verdict in a ruling's place, or another seat's hand before the one that won (K6)."""
    ruling = _verdict_in_force(command.get("ruling"), log)
    slaps = [line for line in log.all_now() if isinstance(line, Slap)]
    on_record = ruling.id in log.rulings
    instead = overrulable(ruling, slaps, owner=facts.view.owner, is_on_record=on_record)
    if instead is None:
        if on_record:
            raise No("that ruling follows from what was seen: correct the card, the seat or the hand that it rests on")
        raise No('there is no ruling "{name}" in force', name=ruling.id)
    seat, verdict, other = ruling["seat"], command.get("verdict"), command.get("seat")
    if verdict is not None and other is not None:
        raise No("say another verdict or another seat, not both")
    if ruling.kind == "dead_card" or verdict == "in_turn":
        if verdict not in instead.verdicts:
            raise No("a dead card can only be said to have been in turn, and nothing else can")
        fields: dict[str, Any] = {"void": True}
        words = Sentence("the card was in turn after all; what follows is ruled again")
    elif verdict is not None:
        if verdict not in instead.verdicts:
            raise No("that is what was ruled")
        fields, words = {"extra": {"ruling": verdict}}, _as(verdict, seat)
    else:
        if ruling.kind != "slap_won":
            raise No("only where a slap won can another seat's hand be said to have been first")
        if a_seat(other, facts, log) == seat:
            raise No("that is what was ruled")
        if other not in instead.seats:
            raise No("{seat} did not slap then", seat=other)
        fields = {"extra": {"seat": other}}
        words = Sentence("{seat} was first; what follows is ruled again", seat=other)
    return Accepted(words, (Correct(t=facts.t, id=name("correct"), line=ruling.id, **fields),))


def _as(verdict: str, seat: int) -> Sentence:
    """What another verdict on a slap comes to."""
    if verdict == "slap_won":
        return Sentence("{seat}: the slap was good; what follows is ruled again", seat=seat)
    if verdict == "slap_false":
        return Sentence("{seat}: the slap was false; what follows is ruled again", seat=seat)
    return Sentence("{seat}: the slap is void; what follows is ruled again", seat=seat)


def _verdict_in_force(name: str, log: AmendedLog) -> Ruling:
    ruling = log.ruling(name)
    if ruling is not None:
        return ruling
    # A slap that won is ruled in full once its pile is picked up; until then it is named by its hand.
    slap = log.now(cause_of(name)) if name.startswith("slap_won@") and log.known(cause_of(name)) else None
    if not isinstance(slap, Slap):
        raise No('there is no ruling "{name}" in force', name=name)
    return Ruling("slap_won", name, slap.t, (slap.id,), (), {"seat": slap.seat})


def _begin(command: Command, facts: Facts | None) -> Accepted:
    names = [" ".join(name.split()) for name in command.get("seats")]
    if not all(names):
        raise No("every seat needs a name")
    if len({name.casefold() for name in names}) < len(names):
        raise No("two seats have the same name; the voice could not tell them apart")
    dealer = command.get("dealer", 1)
    if dealer > len(names):
        raise No("there is no seat {number} to deal; {many} play", number=dealer, many=len(names))
    house_rules(command.get("rules"))
    return _new_game(names, command.get("rules"), dealer, command, facts)


def _rematch(command: Command, facts: Facts | None) -> Accepted:
    table = AmendedLog(facts.observations, facts.rulings).table if facts is not None else None
    if table is None:
        raise No("no game was played yet that could be played again")
    dealer = table.dealer % len(table.seats) + 1
    return _new_game(list(table.seats), table.rules, dealer, command, facts)


def _new_game(names: list[str], rules: Any, dealer: int, command: Command, facts: Facts | None) -> Accepted:
    if facts is not None and not facts.view.game_over and not command.get("abandon"):
        raise No("a game is being played; say that it is to be broken off")
    said = {"seats": names, "rules": rules, "dealer": dealer}
    return Accepted(Sentence("a new game for {names}", names=names), order=Command("begin", said))


def _keep(command: Command, _: Facts | None) -> Accepted:
    game = command.get("game")
    if command.get("keep"):
        return Accepted(Sentence("game {game} is kept for good", game=game), order=command)
    return Accepted(Sentence("game {game} may make room for others again", game=game), order=command)


def _remove(command: Command, facts: Facts | None) -> Accepted:
    game = command.get("game")
    if facts is not None and facts.game == game and not facts.view.game_over:
        raise No("that game is being played")
    return Accepted(Sentence("game {game} is removed", game=game), order=command)


def _power_off(command: Command, _: Facts | None) -> Accepted:
    return Accepted(Sentence("finishing, and switching off"), order=command)


def _settings(command: Command, _: Facts | None) -> Accepted:
    if ("quiet_from" in command.fields) != ("quiet_to" in command.fields):
        raise No("say from when and to when it is to be quiet, both")
    if bool(command.get("quiet_from")) != bool(command.get("quiet_to")):
        raise No("say from when and to when it is to be quiet, or nothing for both")
    return Accepted(Sentence("set"), order=command)


ORDERS: Final[Mapping[str, Callable[[Command, Facts | None], Accepted]]] = {
    "begin": _begin,
    "rematch": _rematch,
    "keep": _keep,
    "remove": _remove,
    "power_off": _power_off,
    "settings": _settings,
}


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
        command = parse_command(asked.record() if isinstance(asked, Command) else asked)
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
    log = AmendedLog(facts.observations, facts.rulings)
    if command.do in ("correct", "void", "overrule", "undo") and log.table and not allows_corrections(log.table.rules):
        raise No("these house rules allow no corrections (K6 is off)")
    return _LINES[command.do](command, facts, log, name)


def _line(log: AmendedLog, line: str) -> Observation:
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


def _correct(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
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


def _void(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    line = _line(log, command.get("line"))
    by = Correct(t=facts.t, id=name("correct"), line=line.id, void=True)
    words = Sentence("{kind} {line} is struck out; what follows is ruled again", kind=line.kind, line=line.id)
    return Accepted(words, (by,))


def _answer(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
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


def _pause(_: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    if log.pause.by_people:
        raise No("the table is paused already")
    return Accepted(Sentence("paused; slaps are void until it goes on"), (Pause(t=facts.t, id=name("pause")),))


def _resume(_: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    state = log.pause
    if not state.by_people:
        raise No(UNSEEN if state.by_camera else "the table is not paused")
    resume = Resume(t=facts.t, id=name("resume"))
    if state.by_camera:
        return Accepted(UNSEEN, (as_released(resume),))
    return Accepted(Sentence("the table goes on"), (resume,))


def _undo(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    acts = log.last_act
    if not acts:
        raise No("nothing that people said is left to take back")
    if command.get("of") not in (None, *(act.id for act in acts)):
        raise No("somebody has said something else since; look again")
    by = tuple(Correct(t=facts.t, id=name("correct"), line=act.id, void=True) for act in acts)
    lines = [act.id for act in acts]
    words = Sentence("taken back: {kind} {lines}; what follows is ruled again", kind=acts[0].kind, lines=lines)
    return Accepted(words, by)


def _count(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    seat, cards = a_seat(command.get("seat"), facts, log), command.get("cards")
    _no_more_than_there_are([cards], log)
    words = Sentence("{seat} holds {cards}", seat=seat, cards=cards)
    return Accepted(words, (Count(t=facts.t, id=name("count"), seat=seat, cards=cards),))


def _recount(command: Command, facts: Facts, log: AmendedLog, name: Namer) -> Accepted:
    said: list[int | None] = command.get("cards")
    if len(said) != seats(facts, log):
        raise No("{counts} counts for {places} seats", counts=len(said), places=seats(facts, log))
    counted = [(seat, cards) for seat, cards in enumerate(said, start=1) if cards is not None]
    if not counted:
        raise No("no stack was counted")
    _no_more_than_there_are([cards for _, cards in counted], log)
    lines = tuple(Count(t=facts.t, id=name("count"), seat=seat, cards=cards) for seat, cards in counted)
    return Accepted(Sentence("stacks counted: {counts}", counts=len(lines)), lines)


def _no_more_than_there_are(counts: Sequence[int], log: AmendedLog) -> None:
    table = log.table
    if table is None:
        return
    rules = house_rules(table.rules)
    packs = table.packs if table.packs is not None else rules.value("S2")
    jokers = table.jokers if table.jokers is not None else rules.value("S3") if rules.has("S3") else 0
    cards = 52 * packs + jokers
    if sum(counts) > cards:
        raise No("that is {cards}; this game has {all}", cards=sum(counts), all=cards)


_Line = Callable[[Command, Facts, AmendedLog, Namer], Accepted]
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
