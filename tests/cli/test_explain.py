"""`referee explain`: the pile then, the instants, and what else was considered; and a replay in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from referee.engine.log import encode_observation
from tests.engine.playing import log

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
    """A log as a file."""
    file = tmp_path / "game.jsonl"
    file.write_text("".join(encode_observation(line) + "\n" for line in log(text, **table)))
    return str(file)


@pytest.mark.parametrize(
    ("ruling", "words"),
    [
        ("slap_won@s1", ["Cho wins the slap", "the pile then: 7h 7c", "+14.5 ms", "Ana was 14.50 ms later, ± 0.04 ms"]),
        ("slap_void@s2", ["too late", "Cho was first: this hand came 14.50 ms later, ± 0.04 ms"]),
        ("slap_false@s3", ["rule F1", "no  P1 double: it needs 2 cards, and only one is there"]),
        ("burn@s3", ["Ben held"]),
        ("slap_void@s5", ["the pad was held down", "down for 200.0 ms, since s4, without a lift"]),
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
    assert "slap and 7c lie -1.0 ms apart, ± 1.5 ms: slap first it is false (nothing to slap)" in told
    assert "card first it is won (P1)" in told


def test_a_covered_pattern_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "1000 1:7h\n2000 2:7c\n3000 3:9d\n3100 slap 1\n")
    assert main(["explain", file, "slap_void@s1"]) == 0
    assert "9d came 100.0 ms before, less than 150 ms; it covered P1" in capsys.readouterr().out


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
    assert "did you mean slap_won@s1?" in capsys.readouterr().err


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
    assert "    2.241 s  Cho wins the slap, double, by 14.500 ms ± 0.040 ms  [M1 P1 K3]  slap_won@s1" in lines
