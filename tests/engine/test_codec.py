"""The lines of the table log: the values of each field, the errors for others, and the way back to a line."""

from __future__ import annotations

import dataclasses
import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest

from referee.engine.log import (
    decode_line,
    encode_observation,
    find_replacements,
    from_fields,
    open_log,
    parse_object,
    read_observations,
    ruling_of,
    to_fields,
)
from referee.engine.observations import OBSERVATION_KINDS, Card, LogError, Other, Slap, Table
from referee.engine.rulings import Ruling, encode_ruling
from referee.errors import UserError

TABLE: Final = {"kind": "table", "t": 0, "seats": ["Ana", "Ben"]}
VALID: Final[dict[str, dict[str, Any]]] = {
    "table": TABLE,
    "card": {"kind": "card", "t": 1, "card": "7h"},
    "slap": {"kind": "slap", "t": 1, "seat": 1},
    "lift": {"kind": "lift", "t": 1, "seat": 1},
    "taken": {"kind": "taken", "t": 1},
    "gap": {"kind": "gap", "t": 1, "until": 2},
    "placed": {"kind": "placed", "t": 1},
    "foul": {"kind": "foul", "t": 1, "seat": 1, "foul": "peek"},
    "contest": {"kind": "contest", "t": 1, "by": [1], "against": 2},
    "answer": {"kind": "answer", "t": 1, "to": "question@s1", "value": 1},
    "say": {"kind": "say", "t": 1, "seat": 1, "rank": "7"},
    "draw": {"kind": "draw", "t": 1, "rank": "7"},
    "join": {"kind": "join", "t": 1, "seat": 3},
    "leave": {"kind": "leave", "t": 1, "seat": 3},
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
    ("gap", "until"): ((-(2**63), 2**63 - 1), (2**63, 0.5, None)),
    ("gap", "lying"): (([], ["7h", "??"]), ("7h", ["7"], [3])),
    ("gap", "since"): ((-(2**63), 0, None), (2**63, 0.5, "1")),
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
    ("leave", "seat"): SEAT,
    ("count", "seat"): SEAT,
    ("count", "cards"): COUNT,
    ("day", "date"): TEXT,
    ("correct", "line"): TEXT,
    ("slap", "late"): ((True, False), (1, None, "true")),
    ("correct", "void"): ((True, False), (1, None, "true")),
    ("correct", "take"): ((True, False), (1, None, "true")),
    ("tick", "sensor"): (("pads", None), ("", 1)),
}
"""By kind and field: allowed values, and refused ones."""


def test_no_kind_and_no_field_is_left_out_here() -> None:
    """The values of a table's rules are tested with the house rules."""
    assert set(VALID) == set(OBSERVATION_KINDS)
    there = {(kind, field.name) for kind, cls in OBSERVATION_KINDS.items() for field in dataclasses.fields(cls)}
    assert {field for field in there if field[1] not in ("t", "id", "extra")} - set(FIELDS) == {
        ("table", "rules"),
        ("card", "candidates"),
    }


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_field_holds_what_it_may_and_nothing_else(kind: str, field: str) -> None:
    """Every allowed value is read and written again; every other is refused by the field's name."""
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
    ("draw", "rank"), ("join", "seat"), ("leave", "seat"), ("count", "seat"), ("count", "cards"), ("day", "date"),
    ("correct", "line"), ("gap", "until"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "field"), sorted(REQUIRED))
def test_a_field_that_must_be_there_is_missed(kind: str, field: str) -> None:
    """The others may be left out; see `VALID`, which has only required fields."""
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
    """The format may grow: unknown fields pass through unchanged."""
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
        ({**TABLE, "seats": ["Ana", ""]}, "that of seat 2 is empty"),
    ],
)
def test_what_every_line_must_have(line: dict[str, Any], words: str) -> None:
    """Every line needs a kind, an instant within 64 bits, and an id that is a text if it is there."""
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
        ("5", "every line of a log is one"),
        ("null", "every line of a log is one"),
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
    """Colons within a text are no mistake either."""
    assert parse_object('{"t":1,"of":[{"t":2},{"t":3}],"say":"t:t:t"}', 1)["of"] == [{"t": 2}, {"t": 3}]


def test_letters_of_every_script_stand_as_they_are() -> None:
    seats = from_fields({**TABLE, "seats": ["Zoë", "李"]}, 1)
    assert '"Zoë","李"' in encode_observation(seats)


# Lines of a record: observations and rulings mixed

SAID: Final = (
    Ruling("slap_won", "slap_won@s1", 5, ("s1", "c2"), ("P1", "M1"), {"seat": 3, "margin": None, "patterns": ["P1"]}),
    Ruling("turn", "turn@c1", -5, ("c1",), (), {"seat": 2}),
    Ruling("burn", "burn@s1~x1", 6, ("s1",), ("F1",), {"seat": 1, "count": 2}, supersedes=("burn@s1",), doubt=True),
    Ruling("drawn", "drawn@c9", 7, ("c9",), ("E4",)),
)


@pytest.mark.parametrize("ruling", SAID, ids=lambda said: said.kind)
def test_a_ruling_is_read_as_it_was_written(ruling: Ruling) -> None:
    assert ruling_of(json.loads(encode_ruling(ruling))) == ruling


def test_a_ruling_that_says_nothing_of_what_it_rests_on_rests_on_nothing() -> None:
    assert ruling_of({"ruling": "turn", "id": "turn@c1", "t": 5, "seat": 2}) == Ruling(
        "turn", "turn@c1", 5, (), (), {"seat": 2}
    )
    for missing in ("ruling", "id", "t"):
        with pytest.raises(KeyError):
            ruling_of({key: said for key, said in {"ruling": "turn", "id": "x", "t": 5}.items() if key != missing})


def test_of_a_log_rulings_are_passed_over_and_lines_before_are_skipped() -> None:
    text = '{"kind":"tick","t":1}\n\n{"ruling":"turn","id":"turn@1","t":1}\n{"kind":"tick","t":2,"ruling":1}\n'
    assert [number for number, _ in read_observations(BytesIO(text.encode()))] == [1, 4]
    assert [number for number, _ in read_observations(BytesIO(text.encode()), 1)] == [4]
    assert [number for number, _ in read_observations(BytesIO(b"\xef\xbb\xbf" + text.encode()))] == [1, 4]


def test_a_line_that_is_too_long_or_no_text_is_refused_by_its_number() -> None:
    tick = b'{"kind":"tick","t":1}\n'
    longest = tick[:-1] + b" " * ((1 << 20) - len(tick)) + b"\n"
    assert len(longest) == 1 << 20
    assert len(list(read_observations(BytesIO(longest)))) == 1
    for bad, words in (
        (b" " + longest, "line 2: longer than 1048576 bytes: not a table log"),
        (b'{"a":"\xff"}\n', "line 2: not UTF-8 (byte 7 of the line); save the log as UTF-8"),
    ):
        with pytest.raises(LogError) as refusal:
            list(read_observations(BytesIO(tick + bad)))
        assert str(refusal.value) == words


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    for name, words in (
        (log, f"{log}: there is no such file"),
        (tmp_path, f"{tmp_path} is a folder; replay reads one log file"),
        (log / "x", f"{log}/x: there is no such file"),
    ):
        with pytest.raises(UserError) as refusal, open_log(str(name)):
            pass
        assert str(refusal.value) == words
    log.write_text('{"kind":"tick"}')
    with pytest.raises(UserError, match=rf"^{log}, line 1: ") as refusal, open_log(str(log)) as stream:
        list(read_observations(stream))
    with pytest.raises(UserError, match=rf"^{log}/x cannot be read: Not a directory$"), open_log(f"{log}/x"):
        pass


def test_of_what_was_replaced_each_finds_what_replaced_it() -> None:
    assert find_replacements(SAID) == {"burn@s1": "burn@s1~x1"}
