"""A card that deck memory says cannot be there (K2, K7), or that nobody could read: what it may be, what people say.

Neither the eye nor memory is believed over the other: the card is laid as it was seen, and asked about. What people
answer is laid in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from referee.engine.observations import Card
from referee.rules.card_play import lay
from referee.rules.cards import UNREADABLE, is_card
from referee.rules.position import Position
from referee.rules.stacks import may_be_there
from referee.rules.step import Draft, Step

_ASKS: Final = frozenset(("impossible_card", "order_changed"))


class SaidOfCard(NamedTuple):
    """What is known of a card once people have answered: what it was taken for, what they call it, who laid it."""

    face: str
    named: str
    """Another card than was seen; empty where people have named none."""
    seat: int | None


def read_answers(card: Card, seats: int, answers: Mapping[str, Any]) -> SaidOfCard:
    """What people have said of a card.

    It may be asked about up to three times: how many cards its seat has, which it is, and who laid it.
    """
    face, named, seat = card.card, "", card.seat
    for number in ("", "/2", "/3") if answers else ():
        said = answers.get(f"question@{card.id}{number}")
        if isinstance(said, str) and is_card(said) and said != UNREADABLE:
            if face == UNREADABLE:
                face = said
            else:
                named = said
        elif type(said) is int and 1 <= said <= seats:
            seat = said
    return SaidOfCard(face, named, seat)


def as_answered(card: Card, seats: int, answers: Mapping[str, Any]) -> Card:
    """The card as people say that it was."""
    said = read_answers(card, seats, answers)
    if (said.face, said.named, said.seat) == (card.card, "", card.seat):
        return card
    return replace(card, card=said.named or said.face, seat=said.seat)


def lay_seen(step: Step, card: Card, face: str, seat: int | None) -> None:
    """Lay a card as ``face``; a question about it names also what else the eye thought it might be."""
    before = step.position
    lay(step, face, seat)
    if card.candidates:
        step.drafts = [_naming(draft, card, before) for draft in step.drafts]


def ask_unread(step: Step, card: Card) -> None:
    """Ask which card it is that nobody could read."""
    step.rule("question", "K2", ask="unreadable_card", about=[card.id])
    step.drafts[-1] = _naming(step.drafts[-1], card, step.position)


def lay_said(step: Step, card: Card, face: str, said: str, seat: int | None) -> None:
    """Lay the card that people say it is, where it was asked about as ``face``; the question stays on record."""
    asked = Step(step.position, step.t, step.ref)
    lay_seen(asked, card, face, seat)
    question = next(filter(_contradicts, asked.drafts), None)
    if question is None:
        lay(step, face, seat)
        return
    step.drafts.append(question)
    first = len(step.drafts)
    lay(step, said, seat)
    # People have looked: whatever memory makes of their answer, they are not asked again.
    step.drafts[first:] = [draft for draft in step.drafts[first:] if not _contradicts(draft)]


def _contradicts(draft: Draft) -> bool:
    return draft.kind == "question" and draft.fields["ask"] in _ASKS


def _naming(draft: Draft, card: Card, before: Position) -> Draft:
    """The same question, naming also what the eye held likely; of an unread card what memory expects comes first."""
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
