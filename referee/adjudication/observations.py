"""What was sensed or said: the observations of the table log, and their codec.

Every observation carries ``t``, the instant of the thing itself in integer nanoseconds on the machine's monotonic
clock, and an ``id`` that is unique in its log (a line without one gets its line's number). Fields and kinds are those
of the table log, version 1; unknown fields are kept in ``extra`` and unknown kinds as `Other`, and both are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Final

from referee.rules.cards import is_card

_DECODE: Final = json.JSONDecoder().decode
_ENCODE: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode

MAX_SEATS: Final = 8
SLAP_ERROR: Final = 1_500_000
"""Default ``t_error`` of a slap, ns: no pad is known better than that unless its log says so."""
MAX_ERROR: Final = 1_000_000_000
"""Widest ``t_error`` a log may state, ns; beyond it an instant says nothing about a slap."""


class LogError(ValueError):
    """A line of a log that cannot be read; says which line, and what to change."""

    def __init__(self, line: int | None, problem: str) -> None:
        self.line = line
        self.problem = problem
        super().__init__(f"line {line}: {problem}" if line is not None else problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Something that happened at ``t`` (ns)."""

    kind: ClassVar[str] = ""
    t: int
    id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Observation):
    """The first line: who sits where, who dealt, by which rules."""

    kind: ClassVar[str] = "table"
    seats: tuple[str, ...]
    dealer: int = 1
    rules: Any = "classic"
    packs: int | None = None
    jokers: int | None = None
    counts: tuple[int | None, ...] | None = None
    direction: str | None = None
    sensors: tuple[str, ...] = ()
    """Sensors whose ticks together move the watermark; empty: only ticks without a sensor do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Observation):
    """A card came face up; ``t`` is the first instant that shows its face."""

    kind: ClassVar[str] = "card"
    card: str
    seat: int | None = None
    t_error: int = 0
    confidence: float | None = None
    known_at: int | None = None
    zone: str = "pile"
    bearing: float | None = None
    """Where the hand came from: degrees, counter-clockwise from the picture's right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slap(Observation):
    """A pad's press edge."""

    kind: ClassVar[str] = "slap"
    seat: int
    force: float | None = None
    t_error: int = SLAP_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift(Observation):
    """A pad's release edge."""

    kind: ClassVar[str] = "lift"
    seat: int
    t_error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken(Observation):
    """The pile left the table."""

    kind: ClassVar[str] = "taken"
    seat: int | None = None
    t_error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Observation):
    """Penalty cards seen going into the pile."""

    kind: ClassVar[str] = "placed"
    seat: int | None = None
    count: int = 1
    where: str = "bottom"
    cards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Foul(Observation):
    """A foul that a person reported or the camera saw."""

    kind: ClassVar[str] = "foul"
    seat: int
    foul: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest(Observation):
    """Others contest a slap or a take."""

    kind: ClassVar[str] = "contest"
    by: tuple[int, ...]
    against: int
    ruling: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Observation):
    """People settle what the referee asked; ``to`` is the question's id."""

    kind: ClassVar[str] = "answer"
    to: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Observation):
    """A called rank."""

    kind: ClassVar[str] = "say"
    seat: int
    rank: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw(Observation):
    """The wild rank was drawn."""

    kind: ClassVar[str] = "draw"
    rank: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Observation):
    """A bystander's pad joins."""

    kind: ClassVar[str] = "join"
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Observation):
    """A stack was counted."""

    kind: ClassVar[str] = "count"
    seat: int
    cards: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Day(Observation):
    """The calendar date."""

    kind: ClassVar[str] = "day"
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Observation):
    """The table stops; slaps are void until `Resume`."""

    kind: ClassVar[str] = "pause"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Observation):
    """The table goes on."""

    kind: ClassVar[str] = "resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correct(Observation):
    """A person's correction of the line ``line``: ``extra`` holds the fields that replace it, or ``void``."""

    kind: ClassVar[str] = "correct"
    line: str
    void: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Observation):
    """Every sensor (or that one) has reported everything up to ``t``."""

    kind: ClassVar[str] = "tick"
    sensor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Other(Observation):
    """A kind that this version does not know; kept, and ignored."""

    name: str = ""


KINDS: Final[Mapping[str, type[Observation]]] = {
    cls.kind: cls
    for cls in (
        Table, Card, Slap, Lift, Taken, Placed, Foul, Contest, Answer, Say, Draw, Join, Count, Day, Pause, Resume,
        Correct, Tick,
    )
}  # fmt: skip

_Check = Callable[[Any], Any]


class _BadField(Exception):  # noqa: N818 - never leaves this module
    """What a field should have been."""


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise _BadField(words)


def _integer(low: int, high: int, words: str) -> _Check:
    def check(value: Any) -> int:
        _need(type(value) is int and low <= value <= high, words)
        return int(value)

    return check


def _text(value: Any) -> str:
    _need(isinstance(value, str) and value != "", "a text")
    return str(value)


def _one_of(*choices: str) -> _Check:
    words = "one of " + ", ".join(choices)

    def check(value: Any) -> str:
        _need(isinstance(value, str) and value in choices, words)
        return str(value)

    return check


def _share(value: Any) -> float:
    _need(type(value) in (int, float) and 0 <= value <= 1, "a number from 0 to 1")
    return float(value)


def _degrees(value: Any) -> float:
    _need(type(value) in (int, float) and abs(value) <= 360, "degrees from -360 to 360")
    return float(value)


def _card(value: Any) -> str:
    if not is_card(value):
        raise _BadField(f"a card such as 7h, Th, Xr or ??, not {json.dumps(value)}")
    return str(value)


def _rank(value: Any) -> str:
    _need(isinstance(value, str) and len(value) == 1 and value in "A23456789TJQK", "a rank: A 2 to 9 T J Q K")
    return str(value)


def _many(check: _Check, words: str) -> _Check:
    def checked(value: Any) -> tuple[Any, ...]:
        _need(isinstance(value, list), words)
        return tuple(check(item) for item in value)

    return checked


def _or_null(check: _Check) -> _Check:
    return lambda value: None if value is None else check(value)


def _names(value: Any) -> tuple[str, ...]:
    _need(isinstance(value, list) and 2 <= len(value) <= MAX_SEATS, f"a list of 2 to {MAX_SEATS} names")
    return tuple(_text(name) for name in value)


def _flag(value: Any) -> bool:
    _need(type(value) is bool, "true or false")
    return bool(value)


def _anything(value: Any) -> Any:
    return value


_SEAT = _integer(1, MAX_SEATS, f"a seat from 1 to {MAX_SEATS}")
_NS = _integer(-(2**63), 2**63 - 1, "a whole number of nanoseconds")
_ERROR = _integer(0, MAX_ERROR, f"0 to {MAX_ERROR} ns")
_COUNT = _integer(0, 1000, "a count of cards")

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
        "known_at": _or_null(_NS), "zone": _one_of("pile", "seat"), "bearing": _or_null(_degrees),
    },
    "slap": {"seat": _SEAT, "force": _or_null(_share), "t_error": _ERROR},
    "lift": {"seat": _SEAT, "t_error": _ERROR},
    "taken": {"seat": _or_null(_SEAT), "t_error": _ERROR},
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
    "count": {"seat": _SEAT, "cards": _COUNT},
    "day": {"date": _text},
    "pause": {},
    "resume": {},
    "correct": {"line": _text, "void": _flag},
    "tick": {"sensor": _or_null(_text)},
}  # fmt: skip


def _required(cls: type[Observation]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if f.name != "t" and f.default is MISSING and f.default_factory is MISSING)


_REQUIRED: Final = {kind: _required(cls) for kind, cls in KINDS.items()}


def from_fields(raw: Mapping[str, Any], number: int) -> Observation:
    """Build the observation that a log line's object describes.

    Args:
        raw: the line's JSON object.
        number: the line's number; its id where the object has none.

    Raises:
        LogError: the object is no observation of the table log; names the line, the field and what it should be.
    """
    kind = raw.get("kind")
    if not isinstance(kind, str):
        raise LogError(number, 'no "kind": every observation needs one, such as "card" or "slap"')
    t = raw.get("t")
    if type(t) is not int or not -(2**63) <= t < 2**63:
        raise LogError(number, f'"t" of this {kind} must be a whole number of nanoseconds')
    name = raw.get("id")
    if name is None:
        name = str(number)
    elif not isinstance(name, str) or not name:
        raise LogError(number, '"id" must be a text that is not empty')
    checks = _CHECKS.get(kind)
    if checks is None:
        return Other(t=t, id=name, name=kind, extra={k: v for k, v in raw.items() if k not in _COMMON})
    known: dict[str, Any] = {}
    extra: dict[str, Any] | None = None
    for key, value in raw.items():
        check = checks.get(key)
        if check is not None:
            try:
                known[key] = check(value)
            except _BadField as bad:
                raise LogError(number, f'"{key}" of this {kind} must be {bad}') from None
        elif key not in _COMMON:
            extra = {} if extra is None else extra
            extra[key] = value
    for key in _REQUIRED[kind]:
        if key not in known:
            raise LogError(number, f'this {kind} has no "{key}"')
    return KINDS[kind](t=t, id=name, extra=_NOTHING if extra is None else extra, **known)


_COMMON: Final = frozenset(("kind", "t", "id"))
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def parse_object(text: str, number: int) -> dict[str, Any]:
    """One line's JSON object.

    Raises:
        LogError: the line is no JSON object (torn, perhaps); names the line.
    """
    try:
        raw = _DECODE(text)
    except (ValueError, RecursionError) as bad:
        words = "the line is torn or not JSON" if text.lstrip().startswith("{") else "not a JSON object"
        raise LogError(number, f"{words} ({_json_problem(bad)}); mend or remove it") from None
    if not isinstance(raw, dict):
        raise LogError(number, "not a JSON object; every line of a log is one")
    return raw


def _json_problem(bad: Exception) -> str:
    if isinstance(bad, json.JSONDecodeError):
        return bad.msg
    return "nested too deep" if isinstance(bad, RecursionError) else "a number of too many digits"


def decode_line(text: str, number: int) -> Observation:
    """Read one line of a log.

    Raises:
        LogError: the line is torn, or no observation; names the line.
    """
    return from_fields(parse_object(text, number), number)


def to_fields(observation: Observation) -> dict[str, Any]:
    """The JSON object of an observation: every field that differs from its default, and all that was unknown."""
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
        out[f.name] = list(item) if isinstance(item, tuple) else item
    out.update(observation.extra)
    return out


def encode(observation: Observation) -> str:
    """One line of the log, without its line break."""
    return _ENCODE(to_fields(observation))
