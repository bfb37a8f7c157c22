"""A card that deck memory says cannot be there (K2, K7): the question names what it may be, and people say which it is.

Neither the eye nor memory is believed over the other: the card is laid as it was seen, and asked about. What people
answer is laid in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from referee.adjudication.observations import Card
from referee.rules.cards import UNREADABLE
from referee.rules.laying import lay
from referee.rules.position import Position
from referee.rules.stacks import may_be_there
from referee.rules.step import Draft, Step

ASKS: Final = frozenset(("impossible_card", "order_changed"))


def lay_seen(step: Step, card: Card, seat: int | None) -> None:
    """Lay a card as it was seen; a question about it names also what else the eye thought it might be."""
    before = step.position
    lay(step, card.card, seat)
    if card.candidates:
        step.drafts = [_with_candidates(draft, card, before) for draft in step.drafts]


def lay_said(step: Step, card: Card, face: str, said: str, seat: int | None) -> None:
    """Lay the card that people say it is, where it was asked about as ``face``; the question stays on record."""
    asked = Step(step.position, step.t, step.ref)
    lay_seen(asked, replace(card, card=face), seat)
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
    return draft.kind == "question" and draft.fields["ask"] in ASKS


def _with_candidates(draft: Draft, card: Card, before: Position) -> Draft:
    if not _contradicts(draft):
        return draft
    named: Sequence[str] = draft.fields["cards"]
    others = (name for name, _ in card.candidates if name not in named and name != UNREADABLE)
    cards = [*named, *(name for name in others if may_be_there(before, name))]
    return replace(draft, fields={**draft.fields, "cards": cards})
