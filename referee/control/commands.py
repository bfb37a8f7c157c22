"""What people may ask of the table from afar: one table of commands, their fields, and what each field may be.

The page's routes, their description (OpenAPI) and the check at the main process are all made from it. A command is a
record ``{"do": name, ...}``; what it comes to is `referee.control.corrections`'s.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from referee.engine.observations import MAX_SEATS
from referee.text.sentence import Sentence, Spoken

Schema = Mapping[str, Any]
"""The part of JSON Schema that `problem` knows."""

NAME: Final = 40
"""Characters of a player's name."""
HOUSE_RULES: Final = 8 << 10
"""Characters of house rules, as a text that is checked or as JSON."""
_ID: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 80,
    "description": Sentence("the id of a line or ruling"),
}
_SEAT: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": MAX_SEATS, "description": Sentence("a seat")}
_CARD: Final[Schema] = {
    "type": "string", "pattern": "^([A2-9TJQK][shdc]|X[rb])$", "description": Sentence("a card such as 7h, Th or Xr"),
}  # fmt: skip
_YES: Final[Schema] = {"type": "boolean", "enum": [True], "description": Sentence("true")}
_FLAG: Final[Schema] = {"type": "boolean", "description": Sentence("true or false")}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": 1000, "description": Sentence("a count of cards")}
_GAME: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 2**53,
    "description": Sentence("the number of a game"),
}
_PERCENT: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": 100, "description": Sentence("0 to 100")}
_HOUR: Final[Schema] = {
    "type": "string", "pattern": "^(([01][0-9]|2[0-3]):[0-5][0-9])?$", "maxLength": 5,
    "description": Sentence("an hour such as 22:00, or nothing"),
}  # fmt: skip
_VERDICTS: Final = ("slap_won", "slap_false", "slap_void", "in_turn")


class CommandError(Spoken, ValueError):
    """A record that is no command; the text says what it should have been."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One command: what it does in words, and its fields."""

    title: str
    required: Mapping[str, Schema] = field(default_factory=dict)
    optional: Mapping[str, Schema] = field(default_factory=dict)
    at_least_one: bool = False
    """Whether one of the optional fields must be there."""

    @property
    def fields(self) -> dict[str, Schema]:
        """All of them."""
        return {**self.required, **self.optional}


@dataclass(frozen=True, slots=True)
class Command:
    """A checked record."""

    do: str
    fields: Mapping[str, Any]

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or ``default`` where it was not given."""
        return self.fields.get(name, default)

    def record(self) -> dict[str, Any]:
        """As it goes over the socket."""
        return {"do": self.do, **self.fields}


KINDS: Final[Mapping[str, Kind]] = {
    "correct": Kind(
        "a card was misread, or laid by another seat", {"line": _ID}, {"card": _CARD, "seat": _SEAT}, at_least_one=True
    ),
    "void": Kind("something that was seen did not happen", {"line": _ID}),
    "overrule": Kind(
        "another verdict in a ruling's place: on a slap, or that a card was in turn after all", {"ruling": _ID},
        {"verdict": {
            "type": "string", "enum": list(_VERDICTS), "description": Sentence("one of {names}", names=_VERDICTS),
         }, "seat": _SEAT}, at_least_one=True,
    ),
    "answer": Kind(
        "what the referee asked", {"question": _ID, "value": {
            "type": ["string", "integer"], "minimum": 1, "maximum": MAX_SEATS, "maxLength": 8,
            "description": Sentence("a seat, or a card such as 7h"),
        }},
    ),
    "pause": Kind("the table stops; slaps are void"),
    "resume": Kind("the table goes on"),
    "undo": Kind("take back the last thing that people said", optional={"of": _ID}),
    "count": Kind("one stack was counted", {"seat": _SEAT, "cards": _COUNT}),
    "recount": Kind("all stacks were counted", {"cards": {
        "type": "array", "minItems": 2, "maxItems": MAX_SEATS, "items": {**_COUNT, "type": ["integer", "null"]},
        "description": Sentence("a count for each seat, null where nobody counted"),
    }}),
    "begin": Kind("a new game", {
        "seats": {
            "type": "array", "minItems": 2, "maxItems": MAX_SEATS,
            "items": {
                "type": "string", "minLength": 1, "maxLength": NAME,
                "description": Sentence("1 to {most} letters", most=NAME),
            },
            "description": Sentence("2 to {most} names", most=MAX_SEATS),
        },
        "rules": {
            "type": ["string", "object"], "maxLength": 80, "x-size": HOUSE_RULES,
            "description": Sentence("a preset, or a changed preset"),
        },
    }, {"dealer": _SEAT, "abandon": _FLAG}),
    "rematch": Kind("a new game with the same players and rules", optional={"abandon": _FLAG}),
    "keep": Kind("never remove a game to make room, or no longer so", {"game": _GAME, "keep": _FLAG}),
    "remove": Kind("remove a game from the record", {"game": _GAME, "confirm": _YES}),
    "power_off": Kind("finish writing, and switch the machine off", {"confirm": _YES}),
    "settings": Kind("how loud the voice is", optional={
        "volume": _PERCENT, "quiet_volume": _PERCENT, "quiet_from": _HOUR, "quiet_to": _HOUR,
    }, at_least_one=True),
}  # fmt: skip
"""By name, as ``do`` says it."""

PAIRING: Final = Kind(
    "pair a device by the code that the table shows or speaks",
    {"code": {"type": "string", "pattern": "^[0-9]{6}$", "maxLength": 6, "description": Sentence("the six digits")}},
    {"device": {"type": "string", "maxLength": NAME, "description": Sentence("what this device is called")}},
)
SIGNING_OUT: Final = Kind(
    "end the session of one device, or of all",
    optional={"device": {"type": "string", "maxLength": 16, "description": Sentence("a device's id")}, "all": _YES},
    at_least_one=True,
)
CHECKING: Final = Kind(
    "whether a house-rules file has mistakes",
    {
        "text": {
            "type": "string",
            "maxLength": HOUSE_RULES,
            "x-lines": True,
            "description": Sentence("house rules as TOML"),
        }
    },
)


def parse(raw: object) -> Command:
    """Check a record.

    Raises:
        CommandError: it is none of `KINDS`, or a field is missing, unknown or out of bounds.
    """
    if not isinstance(raw, Mapping):
        raise CommandError('a command is a JSON object such as {{"do": "pause"}}')
    do = raw.get("do")
    kind = KINDS.get(do) if isinstance(do, str) else None
    if kind is None:
        raise CommandError("there is no such command; there are {names}", names=tuple(KINDS))
    return Command(str(do), checked(kind, {key: value for key, value in raw.items() if key != "do"}))


def checked(kind: Kind, raw: object) -> dict[str, Any]:
    """The fields of a record of this kind.

    Raises:
        CommandError: a field is missing, unknown or out of bounds; names it and says what it should be.
    """
    if not isinstance(raw, Mapping):
        raise CommandError("what is posted here is a JSON object")
    known = kind.fields
    for key in raw:
        if key not in known:
            if known:
                raise CommandError("there is no such field here; it has {names}", names=tuple(known))
            raise CommandError("there is no such field here; it has none")
    for key in kind.required:
        if key not in raw:
            raise CommandError('"{key}" is missing: {what}', key=key, what=known[key]["description"])
    if kind.at_least_one and not any(key in raw for key in kind.optional):
        raise CommandError("say {either}", either=tuple(kind.optional))
    for key, value in raw.items():
        if not fits(known[key], value):
            raise CommandError('"{key}" must be {what}', key=key, what=known[key]["description"])
    return dict(raw)


_TYPES: Final[Mapping[str, type]] = {
    "string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None),
}  # fmt: skip


def fits(schema: Schema, value: object) -> bool:
    """Whether a value is what a schema says: types, bounds, lengths, patterns of the whole text, items."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    # A bool is an int to Python, and no number to people.
    if not any(type(value) is _TYPES[name] for name in types):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, str):
        pattern = schema.get("pattern")
        return (
            schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
            and (pattern is None or re.fullmatch(pattern, value) is not None)
            and (value.isprintable() or (schema.get("x-lines", False) and _is_text(value)))
        )
    if type(value) is int:
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and all(
            fits(schema["items"], item) for item in value
        )
    if isinstance(value, dict):
        return bool(_size(value) <= schema["x-size"])
    return True


def _size(value: object) -> float:
    """Characters of a value as JSON; more than any bound where it is nested too deep to be written."""
    try:
        return len(json.dumps(value))
    except RecursionError:
        return math.inf


def _is_text(value: str) -> bool:
    """Whether it can be written down: JSON can name halves of characters that no file can hold."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
