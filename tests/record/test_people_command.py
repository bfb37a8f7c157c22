"""`referee people` as typed commands."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cli import main
from referee.cli.parser import Parser
from referee.cli.records import add_people
from referee.errors import UserError
from tests.record.playing import add_game

AT = "2026-05-01T20:00:00+00:00"
Run = Callable[..., str]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


@pytest.fixture
def run(path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def typed(*words: str) -> str:
        top = Parser(prog="referee")
        add_people(top.add_subparsers(parser_class=Parser))
        args: argparse.Namespace = top.parse_args(["people", "--record", str(path), *words])
        assert args.run(args) == 0
        return capsys.readouterr().out.strip()

    return typed


def test_from_being_asked_to_being_forgotten(path: Path, run: Run) -> None:
    game = add_game(path, ["Ana", "Ben"], AT, reaction=240_000_000)
    before = path.read_bytes()
    assert "May this table remember you, Ana?" in run("--ask", "Ana")
    assert "no player was asked yet" in run()
    assert path.read_bytes() == before, "reading writes nothing"
    assert run("--agrees", "ana") == "ana agreed, and is remembered; 1 game so far"
    assert run("--rename", "ana", "Ana").startswith("ana is Ana now")
    assert run("--agrees", "Ana") == "Ana agreed, and is remembered; 1 game so far"
    assert run("--declines", "Ben").startswith("Ben declined")
    assert "Ana  (agreed" in run()
    data = json.loads(run("--export", "Ana"))
    assert data["name"] == "Ana"
    (played,) = data["games"]
    assert (played["game"], played["seat"], played["won"]) == (game, 1, True)
    assert [slap["since_reveal"] for slap in played["slaps"]] == [240_000_000]
    assert run("--rename", "Ana", "Anna", "--everywhere") == "Ana is Anna now, in 1 game too"
    assert run("--forget", "anna") == "forgotten; the name was removed from 1 game"
    assert "Anna" not in run()
    assert run("--erase-game", str(game)) == f"game {game} is removed"


def test_people_answer_before_their_first_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer begins the record at its usual place; a mistyped one, or a question, begins none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    assert main(["people", "--ask", "Ana"]) == 0
    assert "pictures 30 days" in capsys.readouterr().out
    assert main(["people", "--record", str(tmp_path / "typo.db"), "--agrees", "Ana"]) == 2
    assert list(tmp_path.iterdir()) == []
    assert main(["people", "--agrees", "Ana"]) == 0
    assert "Ana agreed, and is remembered; 0 games so far" in capsys.readouterr().out
    assert main(["games"]) == 0 and main(["league"]) == 0


def test_forgetting_a_person_names_the_files_that_still_hold_the_name(path: Path, run: Run) -> None:
    add_game(path, ["Jürgen", "Ben"], AT)
    run("--agrees", "Jürgen")
    certificates = path.parent / "certificates"
    certificates.mkdir()
    (certificates / "a.html").write_text("<p>Ben, J\u00fcrgen</p>", encoding="utf-8")
    (certificates / "b.html").write_text("<p>Ben, Jürgensen</p>", encoding="utf-8")
    aside = path.with_name(f"{path.name}.damaged-20260502T100000")
    aside.write_bytes(b'\x07"seats":["J\\u00fcrgen"]')
    path.with_name(f"{path.name}.before-20260502T100000").write_bytes(b"Ben")
    said = run("--forget", "Jürgen")
    assert said == (
        "forgotten; the name was removed from 1 game; "
        f"it still stands in {certificates / 'a.html'}, {aside}: remove those files"
    )


def test_periods_are_set_and_told(path: Path, run: Run) -> None:
    add_game(path, ["Ana", "Ben"], AT)
    assert "names and figures for 20 days" in run("--periods", "10", "20", "30")
    assert "pictures are kept for 10 days" in run()
    assert "10" in run("--ask", "Ana", "--language", "de")
    assert run("--tidy") == "nothing is overdue"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--forget", "Nobody"), 'the record has no player "Nobody"'),
        (("--erase-game", "9"), "no game 9"),
        (("--periods", "9", "9", "1"), "longer than the games"),
        (("--everywhere",), "belongs to --rename"),
        (("--merge", "Ana", "Ben"), "no player"),
    ],
)
def test_mistakes_are_one_line(path: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    add_game(path, ["Ana", "Ben"], AT)
    with pytest.raises(UserError, match=said):
        run(*words)


def test_without_a_record(run: Run) -> None:
    with pytest.raises(UserError, match="no record"):
        run()
