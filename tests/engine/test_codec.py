"""The lines of the table log: what each field may hold, what is said where it does not, and the way back to a line."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from referee.engine.log import decode_line, encode_observation, from_fields, parse_object, to_fields
from referee.engine.observations import Card, LogError, Other, Slap, Table

TABLE: Final = {"kind": "table", "t": 0, "seats": ["Ana", "Ben"]}
VALID: Final[dict[str, dict[str, Any]]] = {
    "table": TABLE,
    "card": {"kind": "card", "t": 1, "card": "7h"},
    "slap": {"kind": "slap", "t": 1, "seat": 1},
    "lift": {"kind": "lift", "t": 1, "seat": 1},
    "taken": {"kind": "taken", "t": 1},
    "placed": {"kind": "placed", "t": 1},
    "foul": {"kind": "foul", "t": 1, "seat": 1, "foul": "peek"},
    "contest": {"kind": "contest", "t": 1, "by": [1], "against": 2},
    "answer": {"kind": "answer", "t": 1, "to": "question@s1", "value": 1},
    "say": {"kind": "say", "t": 1, "seat": 1, "rank": "7"},
    "draw": {"kind": "draw", "t": 1, "rank": "7"},
    "join": {"kind": "join", "t": 1, "seat": 3},
    "count": {"kind": "count", "t": 1, "seat": 1, "cards": 3},
    "day": {"kind": "day", "t": 1, "date": "2026-11-21"},
    "pause": {"kind": "pause", "t": 1},
    "resume": {"kind": "resume", "t": 1},
    "correct": {"kind": "correct", "t": 1, "line": "c1"},
    "tick": {"kind": "tick", "t": 1},
}
SEAT: Final = ((1, 8), (0, 9, "1", 1.0, True))
SEAT_OR_NULL: Final = ((1, 8, None), (0, 9, "1"))
ERROR: Final = ((0, 1_000_000_000), (-1, 1_000_000_001, 0.5))
TEXT: Final = (("x",), ("", 3, None, ["x"]))
RANK: Final = (tuple("A23456789TJQK"), ("10", "1", "", "7h", 7, "A2"))
COUNT: Final = ((0, 1000), (-1, 1001, "3"))
FIELDS: Final[dict[tuple[str, str], tuple[tuple[Any, ...], tuple[Any, ...]]]] = {
    ("table", "seats"): (
        (["Ana", "Ben"], list("abcdefgh")),
        (["Ana"], list("abcdefghi"), "Ana", ["Ana", ""], ["Ana", 3]),
    ),
    ("table", "dealer"): SEAT,
    ("table", "packs"): ((1, 8, None), (0, 9, "2")),
    ("table", "jokers"): ((0, 32, None), (-1, 33)),
    ("table", "counts"): (([3, None], [0, 1000], None), (3, [-1, 1], [1001, 1], ["3", 1])),
    ("table", "direction"): (("clockwise", "counter-clockwise", None), ("left", 1)),
    ("table", "sensors"): (([], ["camera", "pads"]), ("camera", [1], [""])),
    ("card", "card"): (("7h", "Th", "Xr", "Xb", "??"), ("h7", "10h", "X", "", 7, None, ["7h"])),
    ("card", "seat"): SEAT_OR_NULL,
    ("card", "t_error"): ERROR,
    ("card", "confidence"): ((0, 1, 0.5, None), (-0.1, 1.1, "1", True)),
    ("card", "known_at"): ((-(2**63), 2**63 - 1, None), (2**63, -(2**63) - 1, 0.5)),
    ("card", "zone"): (("pile", "seat"), ("floor", 1, None)),
    ("card", "bearing"): ((-360, 360, 90.5, None), (-361, 361, "90", True)),
    ("slap", "seat"): SEAT,
    ("slap", "force"): ((0, 1, 0.5, None), (-0.1, 1.1, "1", True)),
    ("slap", "t_error"): ERROR,
    ("lift", "seat"): SEAT,
    ("lift", "t_error"): ERROR,
    ("taken", "seat"): SEAT_OR_NULL,
    ("taken", "t_error"): ERROR,
    ("placed", "seat"): SEAT_OR_NULL,
    ("placed", "count"): COUNT,
    ("placed", "where"): (("bottom", "top"), ("middle", None)),
    ("placed", "cards"): (([], ["7h", "??"]), ("7h", ["7"], [3])),
    ("foul", "seat"): SEAT,
    ("foul", "foul"): TEXT,
    ("contest", "by"): (([], [1, 8]), (1, [0], [9], ["1"])),
    ("contest", "against"): SEAT,
    ("contest", "ruling"): (("slap_won@s1", None), ("", 3)),
    ("answer", "to"): TEXT,
    ("answer", "value"): ((None, 1, "7h", [1], {}, True), ()),
    ("say", "seat"): SEAT,
    ("say", "rank"): RANK,
    ("draw", "rank"): RANK,
    ("join", "seat"): SEAT,
    ("count", "seat"): SEAT,
    ("count", "cards"): COUNT,
    ("day", "date"): TEXT,
    ("correct", "line"): TEXT,
    ("correct", "void"): ((True, False), (1, None, "true")),
    ("tick", "sensor"): (("pads", None), ("", 1)),
}
"""By kind and field: what it may hold, and what it may not."""


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_field_holds_what_it_may_and_nothing_else(kind: str, field: str) -> None:
    """Every value that may stand there is read and written again; every other is refused by the field's name."""
    good, bad = FIELDS[kind, field]
    for value in good:
        line = {**VALID[kind], field: value}
        seen = from_fields(line, 4)
        held = getattr(seen, field)
        assert (list(held) if isinstance(held, tuple) else held) == value
        assert from_fields(to_fields(seen), 4) == seen
    for value in bad:
        with pytest.raises(LogError, match=f'"{field}" of this {kind} must be') as refusal:
            from_fields({**VALID[kind], field: value}, 4)
        assert refusal.value.line == 4


REQUIRED: Final = {
    ("table", "seats"), ("card", "card"), ("slap", "seat"), ("lift", "seat"), ("foul", "seat"), ("foul", "foul"),
    ("contest", "by"), ("contest", "against"), ("answer", "to"), ("answer", "value"), ("say", "seat"), ("say", "rank"),
    ("draw", "rank"), ("join", "seat"), ("count", "seat"), ("count", "cards"), ("day", "date"), ("correct", "line"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "field"), sorted(REQUIRED))
def test_a_field_that_must_be_there_is_missed(kind: str, field: str) -> None:
    """The others may be left out; see `VALID`, which has no more than these."""
    with pytest.raises(LogError, match=f'this {kind} has no "{field}"'):
        from_fields({key: value for key, value in VALID[kind].items() if key != field}, 4)


def test_the_valid_lines_hold_no_more_than_they_must() -> None:
    assert {(kind, field) for kind, line in VALID.items() for field in line} - REQUIRED == {
        (kind, field) for kind in VALID for field in ("kind", "t")
    }


@pytest.mark.parametrize("kind", VALID)
def test_what_is_left_out_has_its_default_and_is_not_written(kind: str) -> None:
    """A slap's instant is known to 1.5 ms, a card's exactly; a line without an id has its number."""
    seen = from_fields(VALID[kind], 4)
    assert seen.id == "4"
    written = to_fields(seen)
    assert written == {
        **VALID[kind],
        "id": "4",
        **{key: None for key in ("seat",) if key in written and key not in VALID[kind]},
    }
    if isinstance(seen, Slap):
        assert seen.t_error == 1_500_000
    if isinstance(seen, Card):
        assert (seen.t_error, seen.zone, seen.seat) == (0, "pile", None)
    if isinstance(seen, Table):
        assert (seen.dealer, seen.rules, seen.packs, seen.counts, seen.sensors) == (1, "classic", None, None, ())


def test_unknown_fields_and_kinds_are_kept() -> None:
    """The format may grow: what this version does not know goes through it unchanged."""
    for line in (
        {"kind": "slap", "t": 1, "id": "s1", "seat": 1, "glove": "left", "heat": [1, 2]},
        {"kind": "sneeze", "t": 1, "id": "n1", "seat": 99, "loud": True},
    ):
        seen = decode_line(json.dumps(line), 4)
        assert json.loads(encode_observation(seen)) == line
        assert set(seen.extra) == set(line) - {"kind", "t", "id"} - ({"seat"} if line["kind"] == "slap" else set())
    assert isinstance(seen, Other)
    assert seen.name == "sneeze"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"t": 1}, 'no "kind"'),
        ({"kind": 3, "t": 1}, 'no "kind"'),
        ({"kind": "tick"}, "whole number of nanoseconds"),
        ({"kind": "tick", "t": True}, "whole number of nanoseconds"),
        ({"kind": "tick", "t": 2**63}, "whole number of nanoseconds"),
        ({"kind": "tick", "t": -(2**63) - 1}, "whole number of nanoseconds"),
        ({"kind": "tick", "t": 1, "id": ""}, "not empty"),
        ({"kind": "tick", "t": 1, "id": 3}, "not empty"),
    ],
)
def test_what_every_line_must_have(line: dict[str, Any], words: str) -> None:
    """A kind, an instant within 64 bits, and an id that is a text if it is there."""
    with pytest.raises(LogError, match=words) as refusal:
        from_fields(line, 4)
    assert refusal.value.line == 4
    assert str(refusal.value).startswith("line 4: ")


def test_instants_have_sixty_four_bits() -> None:
    for t in (-(2**63), 0, 2**63 - 1):
        assert from_fields({"kind": "tick", "t": t}, 1).t == t


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"kind":"tick","t":1', "torn or not JSON"),
        ('  {"kind":"tick","t":1}} ', "Extra data"),
        ("tick", "not a JSON object"),
        ("[1]", "every line of a log is one"),
        ("[" * 100_000, "nested too deep"),
        ('{"t":' + "9" * 5000 + "}", "too many digits"),
        ('{"kind":"tick","t":1,"t":2}', 'line 4: "t" stands there twice'),
        ('{"kind":"slap","note":"a:b","seat":1,"note":"c","t":1}', '"note" stands there twice'),
        ('{"kind":"tick" , "t" : 1 , "kind" : "slap"}', '"kind" stands there twice'),
        ('{"kind":"table","rules":{"set":{"F1":1,"F1":2}}}', '"F1" stands there twice'),
    ],
)
def test_a_line_that_is_no_object_is_refused(text: str, words: str) -> None:
    with pytest.raises(LogError, match=words):
        parse_object(text, 4)


def test_blanks_round_a_line_are_nothing() -> None:
    assert parse_object(' \t{"a": 1}\r\n', 1) == {"a": 1}


def test_a_name_that_stands_in_two_objects_of_a_line_is_no_mistake() -> None:
    """Nor are colons within a text."""
    assert parse_object('{"t":1,"of":[{"t":2},{"t":3}],"say":"t:t:t"}', 1)["of"] == [{"t": 2}, {"t": 3}]


def test_letters_of_every_script_stand_as_they_are() -> None:
    seats = from_fields({**TABLE, "seats": ["Zoë", "李"]}, 1)
    assert '"Zoë","李"' in encode_observation(seats)
