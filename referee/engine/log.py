"""The table log as text: each line is one JSON object, an observation or a ruling; in a file or in the record's rows.

Every line is validated here once, so later code can trust its fields; errors are explained in words. Unknown fields are
kept in ``extra`` and unknown kinds as `Other`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from io import BytesIO
from itertools import dropwhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, NamedTuple

from referee.engine.observations import MAX_ERROR, MAX_SEATS, OBSERVATION_KINDS, LogError, Observation, Other
from referee.engine.rulings import Ruling
from referee.errors import UserError
from referee.rules.cards import CARDS, RANKS
from referee.sentence import Sentence

_DECODE: Final = json.JSONDecoder().raw_decode
_ENCODE: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_CARDS: Final = {card: card for card in CARDS}
"""One shared string per face, so that a long log holds each face once."""
_BLANK: Final = " \t\r\n"
"""Whitespace that JSON allows around a value."""

_Check = Callable[[Any], Any]


class _Twice(Exception):  # noqa: N818 - never leaves this module
    """An object has a field twice, which is ambiguous."""


def _fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


_DECODE_CHECKED: Final = json.JSONDecoder(object_pairs_hook=_fields_once).raw_decode


class _BadField(Exception):  # noqa: N818 - never leaves this module
    """A field is invalid; the message says what it should be."""


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise _BadField(Sentence(words))


def _integer(low: int, high: int, words: str) -> _Check:
    def check(value: Any) -> Any:
        if type(value) is int and low <= value <= high:
            return value
        raise _BadField(Sentence(words))

    return check


def _text(value: Any) -> str:
    _need(isinstance(value, str) and value != "", "a text")
    return str(value)


def _one_of(*choices: str) -> _Check:
    words = Sentence("one of {names}", names=", ".join(choices))

    def check(value: Any) -> str:
        _need(isinstance(value, str) and value in choices, words)
        return str(value)

    return check


def _number(low: float, high: float, words: str) -> _Check:
    def check(value: Any) -> float:
        _need(type(value) in (int, float) and low <= value <= high, words)
        return float(value)

    return check


def _card(value: Any) -> str:
    try:
        return _CARDS[value]
    except (KeyError, TypeError):
        raise _BadField(Sentence("a card such as 7h, Th, Xr or ??, not {given}", given=json.dumps(value))) from None


def _rank(value: Any) -> str:
    _need(isinstance(value, str) and len(value) == 1 and value in RANKS, "a rank: A 2 to 9 T J Q K")
    return str(value)


def _many(check: _Check, words: str) -> _Check:
    def checked(value: Any) -> tuple[Any, ...]:
        _need(isinstance(value, list), words)
        return tuple(check(item) for item in value)

    return checked


_share = _number(0, 1, "a number from 0 to 1")


def _candidate(value: Any) -> tuple[str, float]:
    _need(isinstance(value, list) and len(value) == 2, "pairs of a card and a number from 0 to 1")
    return _card(value[0]), _share(value[1])


def _or_null(check: _Check) -> _Check:
    return lambda value: None if value is None else check(value)


_SOME_NAMES: Final = Sentence("a list of 2 to {most} names", most=MAX_SEATS)


def _names(value: Any) -> tuple[str, ...]:
    _need(isinstance(value, list) and 2 <= len(value) <= MAX_SEATS, _SOME_NAMES)
    for seat, name in enumerate(value, start=1):
        _need(name != "", Sentence("a list of names: that of seat {number} is empty", number=seat))
    return tuple(_text(name) for name in value)


def _flag(value: Any) -> bool:
    _need(type(value) is bool, "true or false")
    return bool(value)


def _anything(value: Any) -> Any:
    return value


_SEAT = _integer(1, MAX_SEATS, Sentence("a seat from 1 to {most}", most=MAX_SEATS))
_NS = _integer(-(2**63), 2**63 - 1, "a whole number of nanoseconds")
_ERROR = _integer(0, MAX_ERROR, Sentence("0 to {most} ns", most=MAX_ERROR))
_COUNT = _integer(0, 1000, "a count of cards")
_DEGREES = _number(-360, 360, "degrees from -360 to 360")

_CHECKS: Final[Mapping[str, Mapping[str, _Check]]] = {
    "table": {
        "seats": _names, "dealer": _SEAT, "rules": _anything,
        "packs": _or_null(_integer(1, 8, "1 to 8 packs")),
        "jokers": _or_null(_integer(0, 32, "0 to 32 jokers")),
        "counts": _or_null(_many(_or_null(_COUNT), "a list of counts, null where unknown")),
        "direction": _or_null(_one_of("clockwise", "counter-clockwise")),
        "sensors": _many(_text, "a list of sensors"),
    },
    "card": {
        "card": _card, "seat": _or_null(_SEAT), "t_error": _ERROR, "confidence": _or_null(_share),
        "known_at": _or_null(_NS), "zone": _one_of("pile", "seat"), "bearing": _or_null(_DEGREES),
        "candidates": _many(_candidate, "a list of pairs of a card and a number from 0 to 1"),
    },
    "slap": {"seat": _SEAT, "force": _or_null(_share), "t_error": _ERROR, "late": _flag},
    "lift": {"seat": _SEAT, "t_error": _ERROR},
    "taken": {"seat": _or_null(_SEAT), "t_error": _ERROR},
    "gap": {"until": _NS, "lying": _many(_card, "a list of cards"), "since": _or_null(_NS)},
    "placed": {
        "seat": _or_null(_SEAT), "count": _COUNT, "where": _one_of("bottom", "top"),
        "cards": _many(_card, "a list of cards"),
    },
    "foul": {"seat": _SEAT, "foul": _text},
    "contest": {"by": _many(_SEAT, "a list of seats"), "against": _SEAT, "ruling": _or_null(_text)},
    "answer": {"to": _text, "value": _anything},
    "say": {"seat": _SEAT, "rank": _rank},
    "draw": {"rank": _rank},
    "join": {"seat": _SEAT},
    "leave": {"seat": _SEAT},
    "count": {"seat": _SEAT, "cards": _COUNT},
    "day": {"date": _text},
    "pause": {},
    "resume": {},
    "correct": {"line": _text, "void": _flag, "take": _flag},
    "tick": {"sensor": _or_null(_text)},
}  # fmt: skip


class _Kind(NamedTuple):
    """How to read a kind: its class, the check of each known field, and the required fields."""

    cls: type[Observation]
    checks: Mapping[str, _Check]
    required: tuple[str, ...]


def _kind(cls: type[Observation]) -> _Kind:
    required = (f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING)
    return _Kind(cls, _CHECKS[cls.kind], tuple(name for name in required if name != "t"))


_KINDS: Final = {name: _kind(cls) for name, cls in OBSERVATION_KINDS.items()}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def from_fields(raw: Mapping[str, Any], number: int) -> Observation:
    """Build the observation from a log line's object.

    Args:
        raw: the line's JSON object.
        number: the line number; used as the id if the object has none.

    Raises:
        LogError: the object is not a valid observation; names the line, the field and the expected value.
    """
    said = dict(raw)
    word = said.pop("kind", None)
    if not isinstance(word, str):
        raise LogError(number, Sentence('no "kind": every observation needs one, such as "card" or "slap"'))
    t = said.pop("t", None)
    if type(t) is not int or not -(2**63) <= t < 2**63:
        raise LogError(number, Sentence('"t" of this {word} must be a whole number of nanoseconds', word=word))
    name = said.pop("id", None)
    if name is None:
        name = str(number)
    elif not isinstance(name, str) or not name:
        raise LogError(number, Sentence('"id" must be a text that is not empty'))
    kind = _KINDS.get(word)
    if kind is None:
        return Other(t=t, id=name, name=word, extra=said)
    cls, checks, required = kind
    known: dict[str, Any] = {"t": t, "id": name, "extra": _NOTHING}
    for key, value in said.items():
        check = checks.get(key)
        if check is None:
            if known["extra"] is _NOTHING:
                known["extra"] = {}
            known["extra"][key] = value
            continue
        try:
            known[key] = check(value)
        except _BadField as error:
            raise LogError(
                number, Sentence('"{key}" of this {word} must be {why}', key=key, word=word, why=error)
            ) from None
    for key in required:
        if key not in known:
            raise LogError(number, Sentence('this {word} has no "{key}"', word=word, key=key))
    return cls(**known)


def parse_object(text: str, number: int) -> dict[str, Any]:
    """Parse one line's JSON object.

    Raises:
        LogError: the line is not a JSON object (perhaps torn), or names a field twice; names the line.
    """
    said = text.strip(_BLANK)
    try:
        raw, end = _DECODE(said)
        if end != len(said):
            raise json.JSONDecodeError("Extra data", said, end)
        if isinstance(raw, dict) and said.count(":") != len(raw):
            # More colons than fields: in texts and inner objects, or because a field occurs twice.
            _DECODE_CHECKED(said)
    except _Twice as error:
        raise LogError(number, Sentence('"{key}" stands there twice; keep one of them', key=error)) from None
    except (ValueError, RecursionError) as error:
        words = Sentence("the line is torn or not JSON" if text.lstrip().startswith("{") else "not a JSON object")
        why: str = Sentence("nested too deep" if isinstance(error, RecursionError) else "a number of too many digits")
        if isinstance(error, json.JSONDecodeError):
            why = error.msg
        raise LogError(number, Sentence("{words} ({why}); mend or remove it", words=words, why=why)) from None
    if not isinstance(raw, dict):
        raise LogError(number, Sentence("not a JSON object; every line of a log is one"))
    return raw


def decode_line(text: str, number: int) -> Observation:
    """Read one line of a log.

    Raises:
        LogError: the line is torn, or not an observation; names the line.
    """
    return from_fields(parse_object(text, number), number)


def to_fields(observation: Observation) -> dict[str, Any]:
    """Return an observation's JSON object: every field that differs from its default, and all unknown ones."""
    kind = observation.name if isinstance(observation, Other) else observation.kind
    out: dict[str, Any] = {"kind": kind, "t": observation.t}
    if observation.id:
        out["id"] = observation.id
    for f in fields(observation):
        if f.name in ("t", "id", "extra", "name"):
            continue
        item = getattr(observation, f.name)
        if f.default is not MISSING and item == f.default and f.name != "seat":
            continue
        out[f.name] = (
            [list(value) if type(value) is tuple else value for value in item] if isinstance(item, tuple) else item
        )
    out.update(observation.extra)
    return out


def encode_observation(observation: Observation) -> str:
    """Return one line of the log, without its line break."""
    return _ENCODE(to_fields(observation))


LONGEST_LINE: Final = 1 << 20
"""Maximum length of a line, bytes; a longer one is not an observation, and must not fill the memory."""


@contextmanager
def open_log(name: str) -> Iterator[BinaryIO]:
    """Open a log for reading, ``-`` for standard input; errors become one line for the user.

    Raises:
        UserError: the log cannot be read; names the line.
    """
    with _open(name) as stream:
        try:
            yield stream
        except LogError as error:
            where = Sentence("standard input") if name == "-" else name
            raise UserError("{where}, {why}", where=where, why=error) from None


def _open(name: str) -> BinaryIO:
    if name == "-":
        return BytesIO(sys.stdin.buffer.read())
    path = Path(name)
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise UserError("{name}: there is no such file", name=name) from None
    except IsADirectoryError:
        raise UserError("{name} is a folder; replay reads one log file", name=name) from None
    except OSError as error:
        raise UserError("{name} cannot be read: {why}", name=name, why=error.strerror) from None
    if stream.seekable():
        return stream
    with stream:
        return BytesIO(stream.read())


def read_observations(stream: BinaryIO, skip: int = 0) -> Iterator[tuple[int, Observation]]:
    """Yield line number and observation of every line after the first ``skip`` that is not a ruling.

    Raises:
        LogError: a line cannot be read; names the line and what to change.
    """
    for number, text in dropwhile(lambda line: line[0] <= skip, number_lines(stream)):
        raw = parse_object(text, number)
        if "ruling" in raw and "kind" not in raw:
            continue
        yield number, from_fields(raw, number)


def number_lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of every line that is not blank.

    Raises:
        LogError: a line is too long, or not UTF-8.
    """
    number = 0
    while raw := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            raise LogError(number, Sentence("longer than {most} bytes: not a table log", most=LONGEST_LINE))
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise LogError(
                number, Sentence("not UTF-8 (byte {start} of the line); save the log as UTF-8", start=error.start + 1)
            ) from None
        if text and not text.isspace():
            yield number, text


_OWN: Final = frozenset(("ruling", "id", "t", "because", "rule", "supersedes", "doubt", "amended_by", "correction"))


def ruling_of(raw: Mapping[str, Any]) -> Ruling:
    """Build a ruling from its JSON object; raises `KeyError` or `TypeError` if it is not one."""
    fields = {key: value for key, value in raw.items() if key not in _OWN}
    return Ruling(
        str(raw["ruling"]), str(raw["id"]), int(raw["t"]), tuple(raw.get("because", ())), tuple(raw.get("rule", ())),
        fields, tuple(raw.get("supersedes", ())), bool(raw.get("doubt", False)),
        str(raw.get("amended_by", "")), bool(raw.get("correction", False)),
    )  # fmt: skip


def find_replacements(rulings: Iterable[Ruling]) -> dict[str, str]:
    """Return, for each replaced ruling, the id of its replacement."""
    return {old: ruling.id for ruling in rulings for old in ruling.supersedes}
