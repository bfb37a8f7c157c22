"""Cards that contradict deck memory (K2, K7) or are unreadable: candidates, questions and answers.

Neither the camera nor memory takes precedence: the card is laid as seen, and the referee asks about it. The card that
people name is laid in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

from referee.engine.doubt import AnsweredCard, drawn_question
from referee.engine.observations import Card
from referee.engine.unclaimed_piles import lead_stands
from referee.rules.card_play import lay
from referee.rules.cards import UNREADABLE, is_card
from referee.rules.phase import Over
from referee.rules.position import Position
from referee.rules.stacks import may_be_there
from referee.rules.step import Draft, Step

_NUMBERS: Final = ("", "/2", "/3", "/4", "/5")
"""Suffixes of the ids of a line's questions: a card may raise four, and whether it was drawn at once (F9, K9)."""
_ASKS: Final = frozenset(("impossible_card", "order_changed"))


class SaidOfCard(NamedTuple):
    """The facts about a card after people's answers: its read face, the named face and the seat that laid it."""

    face: str
    named: str
    """The face that people named instead of the one seen; empty if none."""
    seat: int | None
    side: str = ""
    """The side of F9's limit that they named (K9)."""


def as_seen(card: Card) -> SaidOfCard:
    """Return the facts about a card before any answer."""
    return SaidOfCard(card.card, "", card.seat)


def answers_about(line: str, answers: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return people's answers to the questions that a line raised, in the order of the questions."""
    asked = f"question@{line}"
    return tuple([answers[name] for number in _NUMBERS if (name := asked + number) in answers])


def read_answers(position: Position, card: Card, answers: Mapping[str, Any]) -> SaidOfCard:
    """Return people's answers about a card that is about to be laid on this position.

    There may be up to four questions: the count of its seat, its face, a face that cannot be, and the seat that laid
    it; and one more, whether it was drawn at once with the card before it (K9). An answer stands even if another one
    has made its question unnecessary.
    """
    said = as_seen(card)
    side = answers.get(drawn_question(card.id))
    if side in ("before", "after"):
        said = said._replace(side=side)
    for answer in answers_about(card.id, answers):
        if isinstance(answer, str) and is_card(answer) and answer != UNREADABLE:
            said = said._replace(face=answer) if said.face == UNREADABLE else said._replace(named=answer)
        elif type(answer) is int and position.player(answer) is not None:
            said = said._replace(seat=answer)
    if said.seat != card.seat and _leaves_open_who_won(position, card, said):
        # The question was who has won by it (P16), not who laid it.
        return said._replace(seat=card.seat)
    return said


def _leaves_open_who_won(position: Position, card: Card, said: SaidOfCard) -> bool:
    step = Step(position, card.t, card.id, card.t_error)
    step.side = said.side
    lay(step, said.face, card.seat)
    return isinstance(step.position.phase, Over) and step.position.phase.owed != ""


def as_answered(position: Position, card: Card, answers: Mapping[str, Any]) -> Card:
    """Return the card as people described it."""
    if not answers_about(card.id, answers):
        return card
    said = read_answers(position, card, answers)
    named = replace(card, card=said.named or said.face, seat=said.seat)
    if not said.side:
        return named
    return AnsweredCard(**{field.name: getattr(named, field.name) for field in fields(named)}, side=said.side)


def lay_as(step: Step, card: Card, said: SaidOfCard, answers: Mapping[str, Any]) -> None:
    """Lay a card as seen, or as people described it."""
    step.side = said.side
    if said.face != card.card:
        ask_unread(step, card)
    if answers:
        lead_stands(step, card, said.seat, answers)
    if said.named:
        lay_said(step, card, said.face, said.named, said.seat)
    elif card.candidates:
        lay_seen(step, card, said.face, said.seat)
    else:
        lay(step, said.face, said.seat)


def lay_seen(step: Step, card: Card, face: str, seat: int | None) -> None:
    """Lay a card as ``face``; a question about it also names the camera's other candidates."""
    before = step.position
    lay(step, face, seat)
    if card.candidates:
        step.drafts = [_naming(draft, card, before) for draft in step.drafts]


def ask_unread(step: Step, card: Card) -> None:
    """Ask people to name an unreadable card."""
    step.rule("question", "K2", ask="unreadable_card", about=[card.id])
    step.drafts[-1] = _naming(step.drafts[-1], card, step.position)


def lay_said(step: Step, card: Card, face: str, said: str, seat: int | None) -> None:
    """Lay the card that people named in answer to a question about ``face``; the question stays on record."""
    asked = Step(step.position, step.t, step.ref, step.t_error)
    asked.side = step.side
    lay_seen(asked, card, face, seat)
    question = next(filter(_contradicts, asked.drafts), None)
    if question is None:
        lay(step, face, seat)
        return
    step.drafts.append(question)
    first = len(step.drafts)
    lay(step, said, seat)
    # People have looked, so they are not asked again even if their answer contradicts memory.
    step.drafts[first:] = [draft for draft in step.drafts[first:] if not _contradicts(draft)]


def _contradicts(draft: Draft) -> bool:
    return draft.kind == "question" and draft.fields["ask"] in _ASKS


def _naming(draft: Draft, card: Card, before: Position) -> Draft:
    """Return the question with the camera's candidates added; for an unread card, memory's expectation comes first."""
    if _contradicts(draft):
        named: Sequence[str] = draft.fields["cards"]
    elif card.candidates and draft.kind == "question" and draft.fields["ask"] == "unreadable_card":
        expected = before.expected(card.seat) if card.seat is not None and card.seat <= before.seats else ""
        named = [expected] if expected else []
    else:
        return draft
    others = (name for name, _ in card.candidates if name not in (*named, UNREADABLE))
    cards = [*named, *(name for name in others if may_be_there(before, name))]
    return replace(draft, fields={**draft.fields, "cards": cards}) if cards else draft
