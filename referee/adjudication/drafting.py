"""From decisions to rulings: ids made of kind and cause, and the order in which rulings are printed."""

from __future__ import annotations

from collections.abc import Iterable
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

Key = tuple[int, int, int, int, str]


def place_of(observation: Observation) -> Key:
    """Where an observation stands in event time: by instant, kind, seat and id."""
    seat = getattr(observation, "seat", None) or 0
    name = observation.id
    return observation.t, PLACES.get(observation.kind, AFTER_ALL), seat, len(name), name


def to_rulings(drafts: Iterable[Draft], cause: str, t: int, used: set[str], *, doubt: bool = False) -> list[Ruling]:
    """Give drafts of one cause their ids; ``used`` holds the ids that this cause already has."""
    return [to_ruling(draft, cause, t, used, doubt=doubt) for draft in drafts]


def to_ruling(draft: Draft, cause: str, t: int, used: set[str], *, doubt: bool = False) -> Ruling:
    """Give one draft its id: its kind and cause, numbered from the second of that kind on."""
    name = f"{draft.kind}@{cause}"
    number = 2
    while name in used:
        name = f"{draft.kind}@{cause}/{number}"
        number += 1
    used.add(name)
    because = tuple(dict.fromkeys((cause, *draft.because))) if draft.because else (cause,)
    return Ruling(draft.kind, name, t, because, draft.rule, draft.fields, doubt=doubt)


def printing_order(ruling: Ruling, cause: Key) -> tuple[int, Key, int]:
    """The key by which rulings are printed: instant, place of the cause, then the order of the table's life."""
    return ruling.t, cause, LIFE.get(ruling.kind, len(LIFE))
