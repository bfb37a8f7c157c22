"""Payloads from a broker, of which nothing is believed: checked and bounded, or None. Pure.

Anybody who may publish on the broker may have written them. What a table itself tells is made in
`referee.options.broker.messages` and described in `docs/club.md`; fields that are not known here are left out.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from referee.engine.log import ruling_of
from referee.engine.rulings import RULING_ORDER, Ruling
from referee.options.broker.messages import LONGEST_PAYLOAD
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords

LONGEST_PLAYER: Final = 40
"""Characters of a name."""
_LONGEST_SENTENCE: Final = 300
"""Characters."""
_OPEN: Final = 4
"""Open questions and troubles shown of one table."""
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")
"""What cannot be seen, turns the direction of writing round, or cannot be encoded."""


def _cleaned(value: Any, most: int) -> Any:
    """A text without what cannot be seen, cut to a length; anything else as it is."""
    return _UNSEEN.sub(" ", value[: 4 * most]).strip()[:most] if isinstance(value, str) else value


_Text = Annotated[str, BeforeValidator(lambda value: _cleaned(value, LONGEST_PLAYER))]
_Words = Annotated[str, BeforeValidator(lambda value: _cleaned(value, _LONGEST_SENTENCE))]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_Card = Annotated[str, Field(pattern=r"^([A2-9TJQK][shdc]|X[rb]|\?\?)$")]


class Payload(BaseModel):
    """What a table publishes; fields may be added to it at any time."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class SeatPayload(Payload):
    """One player."""

    name: _Text
    cards: _Count | None = None
    locked_out: bool = False


class PilePayload(Payload):
    """The pile."""

    cards: _Count
    top: _Card | None = None


class ChallengePayload(Payload):
    """Who pays, and chances left."""

    challenged: _Count | None = None
    left: _Count


class QuestionPayload(Payload):
    """An open question."""

    id: _Words
    ask: _Text
    cards: list[_Card] = Field(default=[], max_length=16)


class StatePayload(Payload):
    """What a table says of itself."""

    session: _Text
    number: _Count = Field(alias="n")
    game: _Count | None = None
    on: bool
    paused: bool
    seats: list[SeatPayload] = Field(max_length=16)
    pile: PilePayload
    turn: _Count | None = None
    owner: _Count | None = None
    winner: _Count | None = None
    challenge: ChallengePayload | None = None
    questions: list[QuestionPayload] = []
    troubles: dict[_Text, _Words] = {}
    last: dict[str, Any] | None = None
    at: _Text = ""

    @field_validator("turn", "owner", "winner")
    @classmethod
    def _only_who_sits_there(cls, seat: int | None, info: ValidationInfo) -> int | None:
        return seat if seat is not None and 1 <= seat <= len(info.data.get("seats", ())) else None

    @property
    def names(self) -> tuple[str, ...]:
        """In seat order."""
        return tuple(seat.name for seat in self.seats)

    @property
    def pays(self) -> tuple[int, int] | None:
        """Who pays a challenge, and chances left."""
        challenge = self.challenge
        if challenge is None or challenge.challenged is None or not 1 <= challenge.challenged <= len(self.seats):
            return None
        return challenge.challenged, challenge.left

    @cached_property
    def asks(self) -> tuple[Ruling, ...]:
        """The open questions that can be said in words."""
        questions = ({"ruling": "question", "t": 0, **one.model_dump()} for one in self.questions[:_OPEN])
        return tuple(ask for one in questions if (ask := known_ruling(one, self.names)) is not None)

    @cached_property
    def last_ruling(self) -> Ruling | None:
        """None where there is none, or it cannot be said in words."""
        return known_ruling(self.last.get("ruling"), self.names) if self.last is not None else None

    @property
    def trouble_lines(self) -> tuple[str, ...]:
        """What does not work, in words."""
        return tuple(f"{part}: {words}" for part, words in list(self.troubles.items())[:_OPEN])


class RulingPayload(Payload):
    """A ruling with its place in what the table has told since it was switched on; see `known_ruling`."""

    session: _Text
    number: _Count = Field(alias="n")
    ruling: Any = None


class PlayerPayload(Payload):
    """One player's day."""

    name: _Text
    games: _Count = 0
    won: _Count = 0
    slaps: _Count = 0
    false: _Count = 0
    cards: _Count = 0


class DayPayload(Payload):
    """What a table's day came to."""

    day: str = Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    players: list[PlayerPayload] = Field(max_length=200)


P = TypeVar("P", bound=Payload)


def read_payload(kind: type[P], payload: bytes) -> P | None:
    """A payload of this kind; None for anything else."""
    if len(payload) > LONGEST_PAYLOAD:
        return None
    try:
        return kind.model_validate(json.loads(payload))
    except (ValueError, RecursionError):
        return None


def known_ruling(raw: Any, names: tuple[str, ...]) -> Ruling | None:
    """A ruling of a kind that we know, and that becomes a sentence with these players; None for any other.

    A kind that nobody knows must not get through: a sentence's template is looked up by it, and one with braces would
    be taken as a template itself.
    """
    if not isinstance(raw, dict) or not isinstance(kind := raw.get("ruling"), str) or kind not in RULING_ORDER:
        return None
    try:
        ruling = ruling_of(raw)
        RulingWords(names, texts("en"))(ruling)
    except Exception:  # whatever a made-up field leads to, there is no sentence then
        return None
    return ruling


def bounded_sentence(ruling: Ruling, words: RulingWords) -> str:
    """A ruling in words, bounded; empty where there are none."""
    try:
        return str(_cleaned(words(ruling), _LONGEST_SENTENCE))
    except Exception:  # as in `known_ruling`
        return ""
