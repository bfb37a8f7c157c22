"""Answers that fit their question: which values each question of the referee takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from referee.adjudication.amendments import base_id
from referee.adjudication.observations import Answer, Card, Correct, Observation, Slap
from referee.adjudication.rulings import Ruling
from referee.adjudication.view import View
from referee.app.amended import Amended
from referee.app.outcomes import Namer, No
from referee.app.sentences import Sentence
from referee.rules.cards import UNREADABLE, is_card

SEATS: Final = frozenset(("who_was_first", "who_played", "mend_pile"))
CARDS: Final = frozenset(("unreadable_card", "bottom_card", "impossible_card", "order_changed"))
_NOT_ANSWERED: Final = {
    "recount": Sentence("count the cards and say how many there are"),
    "late_evidence": Sentence("it only says that something came too late to be judged"),
    "mend_amendment": Sentence("it only says that a correction did not fit; say another one"),
    "nothing_to_contest": Sentence("it only says that there was nothing to contest"),
}


def answered(question: str, value: Any, view: View, log: Amended, t: int, name: Namer) -> tuple[Observation, ...]:
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
        if ask == "unreadable_card" and _is_slap(_cause(ruling), log):
            return _the_card_itself(ruling, value, log, t, name)
    elif value not in ("slap", "card"):
        raise No("answer slap or card: which came first")
    return (Answer(t=t, id=name("answer"), to=open_, value=value),)


def _cause(ruling: Ruling) -> str:
    return base_id(ruling.id).partition("@")[2].partition("/")[0]


def _is_slap(line: str, log: Amended) -> bool:
    return log.known(line) and isinstance(log.now(line), Slap)


def _check_seat(ruling: Ruling, value: Any, view: View, log: Amended) -> None:
    if type(value) is not int or not 1 <= value <= len(view.names):
        raise No("answer with a seat, 1 to {most}", most=len(view.names))
    if ruling["ask"] != "who_was_first":
        return
    hands = [log.now(line) for line in ruling["about"] if log.known(line)]
    seats = sorted({hand.seat for hand in hands if isinstance(hand, Slap)})
    if seats and value not in seats:
        raise No("answer with one of the seats that slapped: {seats}", seats=seats)


def _the_card_itself(ruling: Ruling, value: str, log: Amended, t: int, name: Namer) -> tuple[Observation, ...]:
    """A slap hangs on a card that nobody could read: what is said of it is said of the card."""
    cards = [log.now(line) for line in ruling["about"] if log.known(line)]
    unread = [card for card in cards if isinstance(card, Card) and card.card == UNREADABLE]
    open_ = [card for card in unread if _standing_card(card, log) is None]
    if len(open_) != 1:
        raise No("more than one card hangs on this; answer the cards' own questions")
    said = by_own_question(open_[0], {"card": value}, log, t, name)
    return said or (Correct(t=t, id=name("correct"), line=open_[0].id, extra={"card": value}),)


def by_own_question(card: Card, given: Mapping[str, Any], log: Amended, t: int, name: Namer) -> tuple[Observation, ...]:
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


def _answers(card: Card, log: Amended) -> list[Answer]:
    given = (log.answer(f"question@{card.id}{number}") for number in ("", "/2", "/3"))
    return [answer for answer in given if answer is not None]


def _standing_card(card: Card, log: Amended) -> Answer | None:
    return next((one for one in _answers(card, log) if isinstance(one.value, str)), None)


def _standing_seat(card: Card, log: Amended) -> Answer | None:
    return next((one for one in _answers(card, log) if type(one.value) is int), None)
