"""The commands that people may give from afar: one table with their fields and the limits of each field.

The page's routes, their description (OpenAPI) and the check in the main process are all made from it. A command is a
record ``{"do": name, ...}``; `referee.control.corrections` carries it out. A field's description is a `Sentence`, so
that a refusal can be given in every language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from hardware.pads.pad_place import MOST_PHONES
from referee.control.offers import FOULS, WILD_RANKS
from referee.engine.observations import MAX_SEATS
from referee.engine.shadow_marks import VERDICTS
from referee.rules.cards import RANKS
from referee.sentence import Sentence, Spoken

_LONGEST_NAME: Final = 40
"""Longest player's name, characters."""
_LONGEST_RULES: Final = 8 << 10
"""Longest house rules, characters, as a text to check or as JSON."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("there are signs in it that cannot be seen")
    return text


def _true(value: bool) -> bool:
    if not value:
        raise ValueError("it is false")
    return value


def _short(rules: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(json.dumps(rules))
    except RecursionError:
        raise ValueError("nested too deep") from None
    if size > _LONGEST_RULES:
        raise ValueError("too long")
    return rules


def _whole(what: Sentence, low: int, high: int) -> Any:
    return Annotated[int, Field(ge=low, le=high, description=what)]


def _text(what: Sentence, shortest: int, longest: int) -> Any:
    return Annotated[_Printable, Field(min_length=shortest, max_length=longest, description=what)]


def _like(what: Sentence, pattern: str) -> Any:
    return Annotated[str, Field(pattern=f"^({pattern})$", description=what)]


_Printable = Annotated[str, AfterValidator(_printable)]
_ID = _text(Sentence("the id of a line or ruling"), 1, 80)
_SEAT = Annotated[int, Field(ge=1, le=MAX_SEATS, description=Sentence("a seat"))]
_CARD = _like(Sentence("a card such as 7h, Th or Xr"), "[A2-9TJQK][shdc]|X[rb]")
_FLAG = Annotated[bool, Field(description=Sentence("true or false"))]
_YES = Annotated[bool, AfterValidator(_true), Field(description=Sentence("true"), json_schema_extra={"enum": [True]})]
_COUNT = Annotated[int, Field(ge=0, le=1000, description=Sentence("a count of cards"))]
_COUNTS = Annotated[
    list[_COUNT | None],
    Field(
        min_length=2,
        max_length=MAX_SEATS,
        description=Sentence("a count for each seat, null where the players did not count"),
    ),
]
_GAME = _whole(Sentence("the number of a game"), 1, 2**53)
_PERCENT = _whole(Sentence("0 to 100"), 0, 100)
_HOUR = _like(Sentence("an hour such as 22:00, or nothing"), "([01][0-9]|2[0-3]):[0-5][0-9]|")
_VERDICTS: Final = ("slap_won", "slap_false", "slap_void", "in_turn")
_VERDICT = _like(Sentence("one of {names}", names=_VERDICTS), "|".join(_VERDICTS))
_MARKED = _like(Sentence("one of {names}", names=VERDICTS), "|".join(VERDICTS))
_BY = Annotated[list[_SEAT], Field(min_length=1, max_length=MAX_SEATS, description=Sentence("the seats that contest"))]
_FOUL = _like(Sentence("one of {names}", names=tuple(FOULS)), "|".join(FOULS))
_RANK = _like(Sentence("a rank: A, 2 to 9, T, J, Q or K"), f"[{RANKS}]")
_WILD_RANK = _like(Sentence("a number rank, 2 to 9 or T"), f"[{WILD_RANKS}]")
_ANSWER = Annotated[
    _SEAT | Annotated[_Printable, Field(max_length=8)],
    Field(description=Sentence("a seat, a card such as 7h, or a rank")),
]
_PLAYER = Annotated[_Printable, Field(min_length=1, max_length=_LONGEST_NAME)]
_PLAYERS = Annotated[
    list[_PLAYER], Field(min_length=2, max_length=MAX_SEATS, description=Sentence("2 to {most} names", most=MAX_SEATS))
]  # fmt: skip
_RULES = Annotated[
    Annotated[_Printable, Field(max_length=80)] | Annotated[dict[str, Any], AfterValidator(_short)],
    Field(description=Sentence("a preset, or a changed preset")),
]
_CODE = _like(Sentence("the digits of the code"), "[0-9]{6}(?:[0-9]{2}){0,2}")
_DEVICE_NAME = _text(Sentence("what this device is called"), 0, _LONGEST_NAME)
_DEVICE = _text(Sentence("a device's id"), 0, 16)
_TOML = Annotated[str, Field(max_length=_LONGEST_RULES, description=Sentence("house rules as TOML"))]


class CommandError(Spoken, ValueError):
    """Raised for a record that is no valid command; the message says what was expected."""


class CommandFields(BaseModel):
    """Fields of a command's request; the docstring of each subclass says what the command does."""

    model_config = ConfigDict(extra="forbid", strict=True)
    needs_one: ClassVar[tuple[str, ...]] = ()
    """Optional fields of which at least one is required."""


@dataclass(frozen=True, slots=True)
class Command:
    """A checked record."""

    do: str
    fields: Mapping[str, Any]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or ``default`` if it is missing."""
        return self.fields.get(name, default)

    def record(self) -> dict[str, Any]:
        """Return the record that goes over the socket."""
        return {"do": self.do, **self.fields}


def _fields(
    title: str,
    required: Mapping[str, Any] | None = None,
    optional: Mapping[str, Any] | None = None,
    *,
    at_least_one: bool = False,
) -> type[CommandFields]:
    """Make the model of a command's fields; ``title`` describes it. An optional field may be left out, but not be
    null."""
    kinds: dict[str, Any] = {name: (kind, ...) for name, kind in (required or {}).items()}
    kinds |= {name: (kind, None) for name, kind in (optional or {}).items()}
    made = create_model("Fields", __base__=CommandFields, __doc__=title, **kinds)
    made.needs_one = tuple(optional or ()) if at_least_one else ()
    return made


COMMAND_FIELDS: Final[Mapping[str, type[CommandFields]]] = {
    "correct": _fields(
        "a card was misread, or laid by another seat", {"line": _ID}, {"card": _CARD, "seat": _SEAT}, at_least_one=True
    ),
    "void": _fields("something that was seen did not happen", {"line": _ID}),
    "overrule": _fields(
        "another verdict in a ruling's place: on a slap, or that a card was in turn after all",
        {"ruling": _ID}, {"verdict": _VERDICT, "seat": _SEAT}, at_least_one=True,
    ),
    "answer": _fields("what the referee asked", {"question": _ID, "value": _ANSWER}),
    "pause": _fields("the table stops; slaps are void"),
    "resume": _fields("the table goes on"),
    "undo": _fields("take back the last thing that people said", optional={"of": _ID}),
    "count": _fields("one stack was counted", {"seat": _SEAT, "cards": _COUNT}),
    "recount": _fields("all stacks were counted", {"cards": _COUNTS}),
    "contest": _fields(
        "others contest a slap or a take: the latest of a seat, or the one that a ruling names (F5)",
        {"by": _BY}, {"against": _SEAT, "ruling": _ID}, at_least_one=True,
    ),
    "foul": _fields("a foul that people saw (S6 to S8, F7, F9, F10)", {"seat": _SEAT, "foul": _FOUL}),
    "say": _fields("a player called a rank (N14)", {"seat": _SEAT, "rank": _RANK}),
    "draw": _fields("the wild rank was drawn (P14)", {"rank": _WILD_RANK}),
    "join": _fields("a bystander joins at a free pad (M11)", {"seat": _SEAT}),
    "leave": _fields("a player leaves the game (E8)", {"seat": _SEAT}),
    "missed_card": _fields(
        "a card was laid that the camera missed: right after a line, or as the latest",
        {"seat": _SEAT, "card": _CARD}, {"after": _ID},
    ),
    "missed_slap": _fields(
        "a hand came down that its pad missed: on a card, or on the latest one", {"seat": _SEAT}, {"on": _ID}
    ),
    "mark": _fields(
        "a verdict of people on the slap just now, where the referee only shadows the game", {"verdict": _MARKED}
    ),
    "take_up": _fields("judge a hand or card after all that was reported too late", {"line": _ID}),
    "begin": _fields("a new game", {"seats": _PLAYERS, "rules": _RULES}, {"dealer": _SEAT, "abandon": _FLAG}),
    "rematch": _fields("a new game with the same players and rules", optional={"abandon": _FLAG}),
    "keep": _fields("never remove a game to make room, or no longer so", {"game": _GAME, "keep": _FLAG}),
    "remove": _fields("remove a game from the record", {"game": _GAME, "confirm": _YES}),
    "power_off": _fields("finish writing, and switch the machine off", {"confirm": _YES}),
    "seat_code": _fields(
        "replace a seat's code: its phone is no pad any more",
        {"seat": _SEAT}, {"phones": _whole(Sentence("how many phones may be this seat's pad"), 1, MOST_PHONES)},
    ),
    "settings": _fields(
        "how loud the voice is, and whether it calls cards", at_least_one=True,
        optional={
            "volume": _PERCENT, "quiet_volume": _PERCENT, "quiet_from": _HOUR, "quiet_to": _HOUR, "cards": _FLAG,
        },
    ),
}  # fmt: skip
"""By the command's name, the value of ``do``."""

PAIRING: Final = _fields(
    "pair a device by the code that the table shows or speaks", {"code": _CODE}, {"device": _DEVICE_NAME}
)
INVITING: Final = _fields("a code by which another device is paired, for a device that is")
SIGNING_OUT: Final = _fields(
    "end the session of one device, or of all", optional={"device": _DEVICE, "all": _YES}, at_least_one=True
)
_NS: Final = 2**53
"""The largest integer that a browser represents exactly; in nanoseconds more than a hundred days."""
_INSTANT = Annotated[int, Field(ge=-_NS, le=_NS, description=Sentence("an instant, ns"))]
_ECHO = Annotated[
    list[_INSTANT],
    Field(
        min_length=2, max_length=2,
        description=Sentence("the stamp of an answer, and when the page had it by its own clock, ns"),
    ),
]  # fmt: skip
_TOUCH = Annotated[list[Annotated[int, Field(ge=-_NS, le=_NS)]], Field(min_length=3, max_length=3)]
_TOUCHES = Annotated[list[_TOUCH], Field(max_length=200)]
_HANDS = Annotated[
    dict[Annotated[str, Field(max_length=40)], _TOUCHES],
    Field(
        min_length=1, max_length=MAX_SEATS,
        description=Sentence("by seat's code: each touch's number, instant (ns), and 1 or 0 for press or release"),
    ),
]  # fmt: skip
REPORTING: Final = _fields(
    "what was touched on a page that is a seat's pad",
    {
        "page": _text(Sentence("a random name of the page"), 8, 40),
        "sent": _INSTANT,
        "until": _INSTANT,
        "kind": _like(Sentence("touch or key"), "touch|key"),
        "hands": _HANDS,
    },
    {
        "phone": _text(Sentence("a random name of the device, the same for all its pages"), 8, 40),
        "echo": _ECHO, "sampling": _whole(Sentence("half of the time between two looks, ns"), 0, _NS),
    },
)  # fmt: skip
CHECKING: Final = _fields("whether a house-rules file has mistakes", {"text": _TOML})


def parse_command(raw: object) -> Command:
    """Check a record.

    Raises:
        CommandError: it is none of `COMMAND_FIELDS`, or a field is missing, unknown or out of bounds.
    """
    if not isinstance(raw, Mapping):
        raise CommandError('a command is a JSON object such as {{"do": "pause"}}')
    do = raw.get("do")
    if not isinstance(do, str) or do not in COMMAND_FIELDS:
        raise CommandError("there is no such command; there are {names}", names=tuple(COMMAND_FIELDS))
    return Command(do, check_fields(COMMAND_FIELDS[do], {key: value for key, value in raw.items() if key != "do"}))


def check_fields(kind: type[CommandFields], raw: object) -> dict[str, Any]:
    """Return the checked fields of a record of this kind.

    Raises:
        CommandError: a field is missing, unknown or out of bounds; the message names it and says what it should be.
    """
    if not isinstance(raw, dict):
        raise CommandError("post a JSON object here")
    try:
        made = kind.model_validate(raw)
    except ValidationError as error:
        mistakes = {"extra_forbidden": 0, "missing": 1}
        found = min(error.errors(), key=lambda mistake: mistakes.get(mistake["type"], 2))
        key, known = str(found["loc"][0]), kind.model_fields
        if found["type"] == "extra_forbidden" and not known:
            raise CommandError("there is no such field here, nor any other") from None
        if found["type"] == "extra_forbidden":
            raise CommandError("there is no such field here; it has {names}", names=tuple(known)) from None
        what = known[key].description or ""
        if found["type"] == "missing":
            raise CommandError('"{key}" is missing: {what}', key=key, what=what) from None
        raise CommandError('"{key}" must be {what}', key=key, what=what) from None
    if kind.needs_one and not made.model_fields_set.intersection(kind.needs_one):
        raise CommandError("say {either}", either=kind.needs_one)
    return made.model_dump(exclude_unset=True)
