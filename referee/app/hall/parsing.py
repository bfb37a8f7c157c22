"""Payloads from a broker, of which nothing is believed: checked and bounded, or None. Pure.

Anybody who may publish on the broker may have written them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from referee.adjudication.rulings import LIFE, Ruling
from referee.app.mqtt.tally import FIELDS
from referee.app.page.ruledlines import ruling_of
from referee.app.page.rulingwords import RulingWords
from referee.app.page.texts import texts

T = TypeVar("T")
LONGEST: Final = 32 * 1024
"""Bytes of a payload; a table's own have two or three thousand at most."""
NAME: Final = 40
"""Characters of a name."""
WORDS: Final = 300
"""Characters of a sentence."""
SEATS: Final = 16
PLAYERS: Final = 200
OPEN: Final = 4
"""Open questions and troubles shown of one table."""
LARGEST: Final = 10**9
_CARD: Final = re.compile(r"[A2-9TJQK][shdc]|X[rb]|\?\?", re.ASCII)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")
"""What cannot be seen, turns the direction of writing round, or cannot be encoded."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One player."""

    name: str
    cards: int | None
    locked_out: bool


@dataclass(frozen=True, slots=True)
class Numbered:
    """A ruling with its place in what the table has told since it was switched on."""

    session: str
    number: int
    ruling: Ruling | None
    """None where the payload says nothing that we can put into words."""


@dataclass(frozen=True, slots=True)
class State:
    """What a table says of itself."""

    session: str
    number: int
    game: int | None
    on: bool
    paused: bool
    seats: tuple[Seat, ...]
    pile: int
    top: str | None
    turn: int | None
    owner: int | None
    winner: int | None
    challenge: tuple[int, int] | None
    """Who pays, and chances left."""
    asks: tuple[Ruling, ...]
    troubles: tuple[str, ...]
    last: Ruling | None
    at: str

    @property
    def names(self) -> tuple[str, ...]:
        """In seat order."""
        return tuple(seat.name for seat in self.seats)


@dataclass(frozen=True, slots=True)
class Day:
    """What a table's day came to: for each player's name the counts of `FIELDS`."""

    day: str
    players: tuple[tuple[str, tuple[int, ...]], ...]


class _Bad(Exception):  # noqa: N818 - never leaves this file
    """A field that is not what it should be."""


def state_of(payload: bytes) -> State | None:
    """A `State`; None for anything else."""
    return _parsed(payload, _state)


def numbered_of(payload: bytes, names: tuple[str, ...]) -> Numbered | None:
    """A ruling that can be said in words with these players; None for anything else."""
    return _parsed(payload, lambda raw: _numbered(raw, names))


def day_of(payload: bytes) -> Day | None:
    """A `Day`; None for anything else."""
    return _parsed(payload, _day)


def _parsed(payload: bytes, make: Callable[[Mapping[str, Any]], T]) -> T | None:
    if len(payload) > LONGEST:
        return None
    try:
        raw = json.loads(payload)
        return make(raw) if isinstance(raw, dict) else None
    except (ValueError, RecursionError, _Bad):
        return None


def _state(raw: Mapping[str, Any]) -> State:
    pile = _object(raw.get("pile"))
    seats = tuple(_seat(_object(one)) for one in _list(raw.get("seats"), SEATS))
    names = tuple(seat.name for seat in seats)
    last = _object(raw["last"]) if raw.get("last") is not None else {}
    here = len(seats)
    asks = (_question(_object(one), names) for one in _list(raw.get("questions", []), LARGEST)[:OPEN])
    return State(
        session=text(raw.get("session")),
        number=_count(raw.get("n")),
        game=_none_or(_count, raw.get("game")),
        on=_flag(raw.get("on")),
        paused=_flag(raw.get("paused")),
        seats=seats,
        pile=_count(pile.get("cards")),
        top=_none_or(_card, pile.get("top")),
        turn=_seat_number(raw.get("turn"), here),
        owner=_seat_number(raw.get("owner"), here),
        winner=_seat_number(raw.get("winner"), here),
        challenge=_challenge(raw.get("challenge"), here),
        asks=tuple(ask for ask in asks if ask is not None),
        troubles=tuple(_troubles(_object(raw.get("troubles", {})))),
        last=said(last.get("ruling"), names),
        at=text(raw.get("at", "")),
    )


def _seat(raw: Mapping[str, Any]) -> Seat:
    return Seat(text(raw.get("name")), _none_or(_count, raw.get("cards")), _flag(raw.get("locked_out", False)))


def _challenge(raw: Any, seats: int) -> tuple[int, int] | None:
    if raw is None:
        return None
    fields = _object(raw)
    payer = _seat_number(fields.get("challenged"), seats)
    return None if payer is None else (payer, _count(fields.get("left")))


def _question(raw: Mapping[str, Any], names: tuple[str, ...]) -> Ruling | None:
    cards = [_card(one) for one in _list(raw.get("cards", []), SEATS)]
    fields = {"ruling": "question", "id": text(raw.get("id"), WORDS), "t": 0, "ask": text(raw.get("ask"))}
    return said({**fields, "cards": cards}, names)


def _troubles(raw: Mapping[str, Any]) -> list[str]:
    return [f"{text(part)}: {text(words, WORDS)}" for part, words in list(raw.items())[:OPEN]]


def _numbered(raw: Mapping[str, Any], names: tuple[str, ...]) -> Numbered:
    return Numbered(text(raw.get("session")), _count(raw.get("n")), said(raw.get("ruling"), names))


def said(raw: Any, names: tuple[str, ...]) -> Ruling | None:
    """A ruling of a kind that we know, and that becomes a sentence; None for any other.

    A kind that nobody knows must not get through: a sentence's template is looked up by it, and one with braces would
    be taken as a template itself.
    """
    if not isinstance(raw, dict) or not isinstance(kind := raw.get("ruling"), str) or kind not in LIFE:
        return None
    try:
        ruling = ruling_of(raw)
        RulingWords(names, texts("en"))(ruling)
    except Exception:  # whatever a made-up field leads to, there is no sentence then
        return None
    return ruling


def sentence(ruling: Ruling, words: RulingWords) -> str:
    """A ruling in words, bounded; empty where there are none."""
    try:
        return text(words(ruling)[:WORDS], WORDS)
    except Exception:  # as in `said`
        return ""


def _day(raw: Mapping[str, Any]) -> Day:
    day = text(raw.get("day"))
    if not _DAY.fullmatch(day):
        raise _Bad
    players = (_object(one) for one in _list(raw.get("players"), PLAYERS))
    return Day(day, tuple((text(one.get("name")), tuple(_count(one.get(f, 0)) for f in FIELDS)) for one in players))


def text(value: Any, most: int = NAME) -> str:
    """A text without what cannot be seen, cut to a length; raises for anything else."""
    if not isinstance(value, str):
        raise _Bad
    return _UNSEEN.sub(" ", value[: 4 * most]).strip()[:most]


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise _Bad
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Bad
    return value


def _card(value: Any) -> str:
    if not isinstance(value, str) or not _CARD.fullmatch(value):
        raise _Bad
    return value


def _seat_number(value: Any, seats: int) -> int | None:
    if value is None:
        return None
    number = _count(value)
    return number if 1 <= number <= seats else None


def _none_or(check: Any, value: Any) -> Any:
    return None if value is None else check(value)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Bad
    return value


def _list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise _Bad
    return value
