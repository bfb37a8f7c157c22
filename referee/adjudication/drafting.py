"""From decisions to rulings: ids made of kind and cause, and the order in which rulings are printed."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable
from typing import Final

from referee.adjudication.observations import Observation
from referee.adjudication.rulings import LIFE, Ruling
from referee.rules.step import Draft

PLACES: Final = {
    kind: place
    for place, kind in enumerate(
        (
            "table", "day", "draw", "count", "join", "resume", "pause", "say", "card", "slap", "lift", "placed", "foul",
            "contest", "taken", "answer", "correct", "tick",
        )
    )
}  # fmt: skip
"""At one instant: settings first, a card before slaps, what people say last."""

AFTER_ALL: Final = len(PLACES)
_LAST: Final = len(LIFE)

Key = tuple[int, int, int, int, str]
"""A place in event time."""


def place_of(observation: Observation) -> Key:
    """Where an observation stands in event time: by instant, kind, seat and id."""
    seat = getattr(observation, "seat", None) or 0
    name = observation.id
    return observation.t, PLACES.get(observation.kind, AFTER_ALL), seat, len(name), name


def to_rulings(drafts: Iterable[Draft], cause: str, t: int, used: set[str], *, doubt: bool = False) -> list[Ruling]:
    """Give drafts of one cause their ids; ``used`` holds the ids that this cause already has."""
    rulings = []
    for draft in drafts:
        name = f"{draft.kind}@{cause}"
        if name in used:
            name = _numbered(name, used)
        used.add(name)
        because = tuple(dict.fromkeys((cause, *draft.because))) if draft.because else (cause,)
        rulings.append(Ruling(draft.kind, name, t, because, draft.rule, draft.fields, (), doubt))
    return rulings


def to_ruling(draft: Draft, cause: str, t: int, used: set[str], *, doubt: bool = False) -> Ruling:
    """Give one draft its id: its kind and cause, numbered from the second of that kind on."""
    return to_rulings((draft,), cause, t, used, doubt=doubt)[0]


def _numbered(name: str, used: Container[str]) -> str:
    return next(other for number in itertools.count(2) if (other := f"{name}/{number}") not in used)


def printing_order(ruling: Ruling, cause: Key) -> tuple[int, Key, int]:
    """The key by which rulings are printed: instant, place of the cause, then the order of the table's life."""
    return ruling.t, cause, LIFE.get(ruling.kind, _LAST)
