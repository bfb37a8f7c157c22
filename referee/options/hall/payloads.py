"""Untrusted payloads from a broker: validated and bounded, or None. Pure.

Any client of the broker may have written them. `referee.options.broker.messages` makes a table's real payloads, which
`docs/club.md` describes; unknown fields are ignored.
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
"""Maximum length of a name, characters."""
_LONGEST_SENTENCE: Final = 300
"""Maximum length of a sentence, characters."""
_OPEN: Final = 4
"""Maximum number of open questions, and of faults, shown for one table."""
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")
"""Characters that are invisible, change the direction of writing, or cannot be encoded."""


def _cleaned(value: Any, most: int) -> Any:
    """Return a text without invisible characters, cut to a length; any other value unchanged."""
    return _UNSEEN.sub(" ", value[: 4 * most]).strip()[:most] if isinstance(value, str) else value


_Text = Annotated[str, BeforeValidator(lambda value: _cleaned(value, LONGEST_PLAYER))]
_Words = Annotated[str, BeforeValidator(lambda value: _cleaned(value, _LONGEST_SENTENCE))]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_Card = Annotated[str, Field(pattern=r"^([A2-9TJQK][shdc]|X[rb]|\?\?)$")]


class Payload(BaseModel):
    """A published message of a table; fields may be added to it at any time."""

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
    """The challenged seat, and its chances left."""

    challenged: _Count | None = None
    left: _Count


class QuestionPayload(Payload):
    """An open question."""

    id: _Words
    ask: _Text
    cards: list[_Card] = Field(default=[], max_length=16)


class StatePayload(Payload):
    """The state of a table."""

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
        """The names in seat order."""
        return tuple(seat.name for seat in self.seats)

    @property
    def pays(self) -> tuple[int, int] | None:
        """The seat that pays a challenge, and its chances left."""
        challenge = self.challenge
        if challenge is None or challenge.challenged is None or not 1 <= challenge.challenged <= len(self.seats):
            return None
        return challenge.challenged, challenge.left

    @cached_property
    def asks(self) -> tuple[Ruling, ...]:
        """The open questions that can be put into words."""
        questions = ({"ruling": "question", "t": 0, **question.model_dump()} for question in self.questions[:_OPEN])
        return tuple(ask for question in questions if (ask := known_ruling(question, self.names)) is not None)

    @cached_property
    def last_ruling(self) -> Ruling | None:
        """The last ruling; `None`: there is none, or it cannot be put into words."""
        return known_ruling(self.last.get("ruling"), self.names) if self.last is not None else None

    @property
    def trouble_lines(self) -> tuple[str, ...]:
        """The faults, in words."""
        return tuple(f"{part}: {words}" for part, words in list(self.troubles.items())[:_OPEN])


class RulingPayload(Payload):
    """A ruling and its number since the table was switched on; see `known_ruling`."""

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
    """The totals of a table's day."""

    day: str = Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    players: list[PlayerPayload] = Field(max_length=200)


P = TypeVar("P", bound=Payload)


def read_payload(kind: type[P], payload: bytes) -> P | None:
    """Return a payload of this kind; `None`: it is invalid."""
    if len(payload) > LONGEST_PAYLOAD:
        return None
    try:
        return kind.model_validate(json.loads(payload))
    except (ValueError, RecursionError):
        return None


def known_ruling(raw: Any, names: tuple[str, ...]) -> Ruling | None:
    """Return a ruling of a known kind that these players' names turn into a sentence; `None`: any other.

    An unknown kind must be rejected: the kind is the key of a sentence's template, and one with braces would itself be
    used as a template.
    """
    if not isinstance(raw, dict) or not isinstance(kind := raw.get("ruling"), str) or kind not in RULING_ORDER:
        return None
    try:
        ruling = ruling_of(raw)
        RulingWords(names, texts("en"))(ruling)
    except Exception:  # a made-up field can raise anything; then there is no sentence
        return None
    return ruling


def bounded_sentence(ruling: Ruling, words: RulingWords) -> str:
    """Return a ruling in words, bounded; empty if it has none."""
    try:
        return str(_cleaned(words(ruling), _LONGEST_SENTENCE))
    except Exception:  # as in `known_ruling`
        return ""
