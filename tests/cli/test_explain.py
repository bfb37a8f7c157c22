"""`referee explain`: the pile then, the instants, and the other facts considered; and a replay in words."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from referee.engine.log import encode_observation
from referee.engine.observations import Table
from referee.engine.rulings import Ruling
from referee.text.ruling_lines import RulingWords
from tests.play import log

GAME = """
    1000 1:7h
    2000 2:7c
    2241.3 slap 3 ±0.02
    2255.8 slap 1 ±0.02
    2300 lift 3
    2310 lift 1
    4000 3:9c
    4300 slap 2
    4400 lift 2
    4500 slap 3
    4700 slap 3
    5000 2:9d
    5200 slap 2
    6000 1:8c
    6001 slap 2
"""


def written(tmp_path: Path, text: str, **table: Any) -> str:
    """Write a log to a file."""
    file = tmp_path / "game.jsonl"
    file.write_text("".join(encode_observation(line) + "\n" for line in log(text, **table)))
    return str(file)


@pytest.mark.parametrize(
    ("ruling", "words"),
    [
        (
            "slap_won@s1",
            ["Cho wins the slap", "the pile then: 7h 7c", "+14.50 ± 0.04 ms", "Ana was 14.50 ± 0.04 ms later"],
        ),
        ("slap_void@s2", ["too late", "Cho was first: this hand came 14.50 ± 0.04 ms later"]),
        ("slap_false@s3", ["rule F1", "no  P1 double: it needs 2 cards, and only one is there"]),
        ("burn@s3", ["Ben held"]),
        ("slap_void@s5", ["the pad was held down", "down for 200 ± 3 ms, since s4, without a lift"]),
        ("dead_card@c4", ["the pile then: [??] [??] 9c", "it was the turn of Ana"]),
        ("slap_false@s6", ["on a dead card", "(9d)", "(dead)"]),
        ("pile@c3", ["rule C8"]),
        ("lead@table", ["Ana leads"]),
    ],
)
def test_a_ruling_is_explained_in_words(
    ruling: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", written(tmp_path, GAME), ruling]) == 0
    told = capsys.readouterr().out
    for expected in words:
        assert expected in told


def test_json_holds_the_same_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", written(tmp_path, GAME), "slap_won@s1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["notation"] == "7h 7c"
    assert facts["ruling"]["margin"] == 14_500_000
    assert {"id": "P1", "name": "double", "title": "double: the top two share a rank"} in facts["rules"]
    runner = next(moment for moment in facts["moments"] if moment["id"] == "s2")
    assert (runner["offset"], runner["error"], runner["seat"]) == (14_500_000, 20_000, 1)
    assert {"row": "P1", "held": True, "why": "it holds"} in facts["considered"]


def test_a_doubtful_slap_shows_both_readings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """K9: a millisecond before the double is complete, and the errors reach across."""
    file = written(tmp_path, "1000 1:7h\n2000 2:7c\n1999 slap 3\n")
    assert main(["explain", file, "slap_won@s1"]) == 0
    told = capsys.readouterr().out
    assert "slap and 7c lie -1.0 ± 1.5 ms apart: slap first it is false (nothing to slap)" in told
    assert "card first it is won (P1)" in told


def test_a_covered_pattern_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "1000 1:7h\n2000 2:7c\n3000 3:9d\n3100 slap 1\n")
    assert main(["explain", file, "slap_void@s1"]) == 0
    assert "9d came 100.0 ± 1.5 ms before, less than 150 ms; it covered P1" in capsys.readouterr().out


def test_what_every_pattern_missed_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All patterns at once, on a pile that has none of them."""
    rows = ["P1", "P2", "P3a", "P3b", "P4a", "P5a", "P6", "P7", "P8", "P9", "P10a", "P10b", "P11", "P12", "P13a", "P14"]
    rows += ["P15", "P16", "P17", "P18", "N4", "N14", "C3b", "P4b", "P5c", "P19"]
    rules = {"on": rows, "set": {"P19": {"mine": "size > 9"}, "P16": "slap"}}
    file = written(tmp_path, "1000 1:2h\n2000 2:8c\n3000 3:3d\n4000 1:9s\n4400 slap 1\n", rules=rules)
    assert main(["explain", file, "slap_false@s1"]) == 0
    told = capsys.readouterr().out
    assert all(f"no  {row} " in told for row in rows if row != "P19")
    assert "3d and 9s make 12, not 10" in told
    assert "P19 mine: its condition does not hold" in told


def test_a_replaced_ruling_names_its_successor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, '1000 1:7h\n2000 2:8c\n2300 slap 3\n3500 taken\n5000 correct c2 {"card": "7c"}')
    assert main(["explain", file, "slap_false@s1"]) == 0
    assert "it no longer holds: slap_won@s1 replaced it" in capsys.readouterr().out
    assert main(["explain", file]) == 0
    told = capsys.readouterr().out
    assert "slap_false@s1:" not in told
    assert "it replaces slap_false@s1" in told


def test_a_ruling_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", written(tmp_path, GAME), "slap_wno@s1"]) == 2
    assert 'did you mean "slap_won@s1"?' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("until", "last"),
    [
        ("2s", "turn@c2"),
        ("2000000000", "turn@c2"),
        ("c2", "turn@c2"),
        ("lead@table", "lead@table"),
        ("2250ms", "turn@s1"),
    ],
)
def test_replay_stops_where_it_is_told(
    until: str, last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", written(tmp_path, GAME), "--until", until]) == 0
    shown = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert shown[-1] == last or last == "turn@s1"
    assert "slap_false@s3" not in shown


@pytest.mark.parametrize("until", ["c99", "slap_won@s99", "2 s"])
def test_what_is_no_instant_and_no_id_is_refused(
    until: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", written(tmp_path, GAME), "--until", until]) == 2
    assert "--until" in capsys.readouterr().err


def test_replay_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", written(tmp_path, GAME), "--format", "text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "    2.2 s  Cho wins the slap, double, by 14.50 ± 0.04 ms  [M1 P1 K3]  slap_won@s1" in lines


TIE = "1000 1:7h\n2000 2:7c\n2300 slap 3 {0}\n2301 slap 1 {1}\n2400 lift 3\n2410 lift 1\n"


def told_of(ruling: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], **table: Any) -> str:
    """Return the output for one ruling of a small log."""
    assert main(["explain", written(tmp_path, text, **table), ruling]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("ruling", "text", "rules", "words"),
    [
        (
            "slap_won@s2",
            TIE.format("!0.2", "!0.9"),
            {},
            ["double, by the harder hand", "harder hand: 0.90 against 0.20"],
        ),
        ("slap_void@s1", TIE.format("!0.2", "!0.9"), {}, ["the tie went to another hand", "Ana had the harder hand"]),
        (
            "slap_won@s1",
            TIE.format("", "") + "3000 taken 3\n",
            {"on": ["M3"]},
            ["double, shared", "the pile is shared"],
        ),
        (
            "slap_won@s2~a1",
            TIE.format("", "") + "5000 answer question@s1 1\n5500 taken 1\n5600 1:2c\n",
            {},
            ["double, the players said so", "the players said so"],
        ),
        (
            "slap_won@s1",
            '1000 1:7h\n2000 2:8c\n2300 slap 3\n5000 correct slap_false@s1 {"ruling": "slap_won"}\n',
            {},
            ["Cho wins the slap: the players said so", "yes K6 corrections: the players said so"],
        ),
        (
            "slap_void@s1",
            '1000 1:7h\n2000 2:8c\n2300 slap 3\n5000 correct slap_false@s1 {"void": true}\n',
            {},
            ["Void slap by Cho: the players said so"],
        ),
        ("slap_won@s1", "1000 1:7h\n1999 slap 3\n2000 2:7c\n", {}, ["double, alone (in doubt, so for the slapper)"]),
    ],
)
def test_what_decided_is_said_as_it_was(
    ruling: str,
    text: str,
    rules: dict[str, Any],
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Force, a split, people, doubt: never a margin that decided nothing."""
    file = written(tmp_path, text, rules=rules or "classic")
    main(["replay", file])
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    found = next(name for name in (ruling, *ids) if name in ids and name.partition("~")[0] == ruling.partition("~")[0])
    told = told_of(found, text, tmp_path, capsys, rules=rules or "classic")
    for expected in words:
        assert expected in told, told
    assert " by -" not in told and " by −" not in told


def test_a_war_that_decided_is_said_so() -> None:
    won = Ruling(
        "slap_won", "slap_won@s1", 0, ("s1",), ("M1", "P1", "M4"),
        {"seat": 3, "patterns": ["P1"], "cards": [], "margin": None, "error": None, "runners_up": [],
         "decided_by": "war"},
    )  # fmt: skip
    assert RulingWords(("Ana", "Ben", "Cho"))(won) == "Cho wins the slap, double, War decided"
    doubted = replace(won, fields={**won.fields, "decided_by": "doubt"}, doubt=True)
    assert RulingWords(("Ana", "Ben", "Cho"))(doubted) == "Cho wins the slap, double, in doubt, so for the slapper"


def test_a_turn_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So is the lead, which the position shows as well."""
    assert told_of("turn@c2", GAME, tmp_path, capsys) == "turn@c2: Cho's turn  [S5]\n"
    assert told_of("lead@table", GAME, tmp_path, capsys) == "lead@table: Ana leads  [S5]\n"


def test_a_late_hand_beside_a_tie_that_nobody_has_settled_is_told_by_how_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TIE.format("", "") + "2340 slap 2\n"
    told = told_of("slap_void@s3", text, tmp_path, capsys)
    assert "Cho and Ana are too close to call: this hand came 40 ± 3 ms after their first" in told


@pytest.mark.parametrize(
    ("ruling", "pile"),
    [
        ("challenge@c3", "7h 8c Jd"),
        ("dead_card@c4", "7h 8c Jd (9s)"),
        ("slap_false@s1", "7h 8c"),
        ("burn@s1", "7h 8c"),
        ("pile@t1", "[??] 7h 8c Jd (9s) 2c"),
    ],
)
def test_the_pile_is_shown_with_the_card_that_decided(
    ruling: str, pile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "1000 1:7h\n2000 2:8c\n2300 slap 1\n2400 lift 1\n3000 3:Jd\n4000 2:9s\n5000 1:2c\n6000 taken 3\n"
    told = told_of(ruling, text, tmp_path, capsys)
    shown = next(line for line in told.splitlines() if "the pile then" in line).partition(": ")[2].partition("   ")[0]
    assert shown in (pile, f"[??] {pile}")


def test_a_question_and_its_answer_are_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TIE.format("", "") + "3000 answer question@s1 1\n"
    told = told_of("question@s1", text, tmp_path, capsys)
    assert told.startswith("question@s1: Who was first?")
    assert 'people answered "Who was first?": Ana (a1)' in told


NASTY = "A\x1b[2Jn\x9ba\u202eB\u2066\n\x07"


def test_what_a_terminal_would_obey_is_written_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names and ids with control characters, in words, in JSON and in errors; JSON stays the same JSON."""
    lines = log(GAME)
    assert isinstance(lines[0], Table)
    lines[0] = replace(lines[0], seats=(NASTY, "Ben", "Cho"))
    lines[1] = replace(lines[1], id=f"c1{NASTY}")
    file = tmp_path / "game.jsonl"
    file.write_text("".join(encode_observation(line) + "\n" for line in lines))
    asked = (["replay"], ["replay", "--format", "text"], ["explain"], ["explain", "--json"])
    for command, *options in asked:
        assert main([command, str(file), *options]) == 0
        told = capsys.readouterr().out
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)
        assert "\\u009b" in told and "\\u202e" in told
        assert not [line for line in told.splitlines() if line.startswith("\\u0007")], "no line of a name's own"
        if command == "replay" and not options:
            assert f"turn@c1{NASTY}" in [json.loads(line)["id"] for line in told.splitlines()]
    for wrong in (["explain", str(file), f"slap{NASTY}"], ["replay", f"no{NASTY}.jsonl"], ["replay", str(file), NASTY]):
        with suppress(SystemExit):
            assert main(wrong) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)


def _crowded(lines: int) -> str:
    """Return a log in which all nearby events may have been simultaneous."""
    return "\n".join(
        f"{1000 + 40 * n} slap {n % 3 + 1} ±1000" if n % 2 else f"{1000 + 40 * n} ?:{'23456789TJQK'[n % 12]}h ±1000"
        for n in range(lines)
    )


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_long_log_with_wide_errors_is_told_in_few_words(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Omissions are counted; twice the lines are twice the words."""
    sizes = []
    for lines in (300, 600):
        assert main(["explain", written(tmp_path, _crowded(lines)), *options]) == 0
        told = capsys.readouterr().out
        sizes.append(len(told.encode()))
    assert ("more lines as near" in told) if not options else ('"left_out":' in told)
    assert sizes[1] < 1_000_000
    assert sizes[1] < 2.5 * sizes[0]


def test_names_are_those_of_the_table_as_it_was_corrected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GAME + '7000 correct table {"seats": ["Anna", "Ben", "Cho"]}\n'
    for command in (["replay", "--format", "text"], ["explain"]):
        assert main([command[0], written(tmp_path, text), *command[1:]]) == 0
        told = capsys.readouterr().out
        assert "Anna" in told and "Ana " not in told and "Ana's" not in told


def test_a_rule_is_told_with_the_value_that_it_has_at_this_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not with the default of most tables."""
    rules = {"set": {"F1": 2, "C1": {"A": 1, "K": 1, "Q": 1, "J": 1}}}
    text = "1000 1:7h\n1300 slap 2\n1400 lift 2\n2000 2:Kd\n"
    told = told_of("burn@s1", text, tmp_path, capsys, rules=rules)
    assert "rule F1: A false slap costs 2 cards" in told
    told = told_of("challenge@c2", text, tmp_path, capsys, rules=rules)
    assert "rule C1: An ace asks for 1 card, a king 1" in told


def test_a_hand_that_people_told_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(written(tmp_path, "1000 1:7h\n2000 2:7c\n2241.3 slap 3 ±30\n2400 slap 1 ±0.02"))
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line[:-1] + ',"by":"people"}' if '"seat":3' in line else line for line in lines) + "\n")
    assert main(["explain", str(file), "slap_won@s1"]) == 0
    told = capsys.readouterr().out
    assert "slap Cho, entered by people (s1)" in told
    assert "slap Ana (s2)" in told
    assert main(["explain", str(file), "slap_won@s1", "--json"]) == 0
    moments = json.loads(capsys.readouterr().out)["moments"]
    assert [moment["id"] for moment in moments if "by_people" in moment] == ["s1"]


def test_what_would_have_been_stands_below_what_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hand 20 ms sooner: both verdicts with their reasons, and the pile that another player would have had."""
    file = written(tmp_path, GAME)
    before = Path(file).read_bytes()
    assert main(["explain", file, "--what-if", "s2=-20ms"]) == 0
    told = capsys.readouterr().out
    was, _, would_be = told.partition("If the hand of Ana had come 20 ms sooner")
    assert was.startswith("As it was\n  slap_won@s1: Cho wins the slap")
    assert "slap_won@s2: Ana wins the slap, double, by 5.50 ± 0.04 ms" in would_be
    assert "Correction" not in would_be and "replaces" not in would_be
    assert "From here on the game would have gone otherwise:" in would_be
    assert Path(file).read_bytes() == before
    assert main(["explain", file, "--what-if", "s2=-14.49ms,0.02ms", "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["was"]["ruling"]["id"] == "slap_won@s1"
    assert fields["would_be"]["ruling"]["ruling"] == "dead_heat"


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("s2", "as in s12=-5ms"),
        ("s2=-5", "as in s12=-5ms"),
        ("s2=nanms", "as in s12=-5ms"),
        ("s2=51ms", "moved by 50 ms at most"),
        ("s77=5ms", "no such hand or card"),
    ],
)
def test_a_move_that_cannot_be_made_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], move: str, words: str
) -> None:
    with suppress(SystemExit):
        assert main(["explain", written(tmp_path, GAME), "--what-if", move]) == 2
    assert words in capsys.readouterr().err
