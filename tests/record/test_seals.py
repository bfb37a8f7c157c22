"""Seals: altered, missing and moved lines are named, in a record and in a log taken out of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cli import main
from referee.record.erasure import forget
from referee.record.export import export_game
from referee.record.people import People
from referee.record.schema import RECORD_SCHEMA
from referee.record.seals import attach_seal, detach_seal, find_broken_seals, seal_line, show_seal
from referee.record.store import Record
from tests.record.playing import add_game, game_lines

FROZEN = Path(__file__).parents[1] / "frozen" / "records"
AT = "2026-01-02T03:04:05+00:00"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    add_game(tmp_path / "record.db", ["Ana", "Ben"], AT)
    return tmp_path / "record.db"


def _damage(path: Path, *steps: str) -> None:
    db = sqlite3.connect(path)
    db.executescript("DROP TRIGGER line_stays;" + ";".join(steps))
    db.close()


def _broken(path: Path, game: int = 1) -> list[int]:
    with Record(path, read_only=True) as record:
        return [number for number, _ in record.broken_seals(game)]


def test_a_seal_can_be_made_by_anybody_s_shell(path: Path) -> None:
    with Record(path) as record:
        rows = list(record.sealed_lines(1))
    before = ""
    for _, text, seal in rows:
        said = subprocess.run(["sha256sum"], input=f"{before}\n{text}".encode(), capture_output=True, check=True)
        assert said.stdout.decode()[:16] == seal
        before = seal or ""
    assert show_seal("0123456789abcdef") == "0123 4567 89ab cdef"


def test_a_record_as_it_was_written_has_no_broken_seal(path: Path) -> None:
    assert _broken(path) == []


@pytest.mark.parametrize(
    ("steps", "numbers"),
    [
        (["UPDATE line SET text=replace(text, '7c', '7d') WHERE number=3"], [3]),
        (["UPDATE line SET seal='0123456789abcdef' WHERE number=3"], [3]),
        (["UPDATE line SET seal=NULL WHERE number=3"], [3]),
        (["DELETE FROM line WHERE number=3"], [3]),
        (["DELETE FROM line WHERE number IN (3, 4)"], [3]),
        (["DELETE FROM line WHERE number=7"], [7]),
        (["DELETE FROM line WHERE number=1"], [1]),
        (
            ["UPDATE line SET number=-3 WHERE number=3", "UPDATE line SET number=3 WHERE number=5",
             "UPDATE line SET number=5 WHERE number=-3"],
            [3, 4, 5, 6],
        ),
        (["UPDATE line SET text=text || ' ' WHERE number IN (2, 6)"], [2, 6]),
    ],
)  # fmt: skip
def test_each_change_is_named_by_its_line(path: Path, steps: list[str], numbers: list[int]) -> None:
    _damage(path, *steps)
    assert _broken(path) == numbers


def test_what_is_told_says_what_was_expected(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Record(path, read_only=True) as record:
        before, seal = [row[2] or "" for row in record.sealed_lines(1)][1:3]
    _damage(path, 'UPDATE line SET text=\'{"kind":"card"}\' WHERE number=3')
    assert main(["games", "--record", str(path), "--check"]) == 1
    made = seal_line(before, '{"kind":"card"}')
    words = f"game 1, line 3 is not the line that was sealed: its seal is {seal}, and this line makes {made}"
    assert words in capsys.readouterr().out


def test_a_check_prints_the_seal_of_each_game(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Record(path, read_only=True) as record:
        seal = record.seal(1)
    assert main(["games", "--record", str(path), "--check"]) == 0
    assert capsys.readouterr().out == f"game 1, 2026-01-02 03:04, 7 lines: as written, seal {show_seal(seal)}\n"


def test_a_log_carries_its_seals_and_comes_in_as_it_was(path: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    with Record(path, read_only=True) as record:
        log.write_text("".join(export_game(record, 1)), encoding="utf-8")
        rows = list(record.sealed_lines(1))
    assert [json.loads(line)["seal"] for line in log.read_text().splitlines()] == [seal for _, _, seal in rows]
    assert main(["games", "--record", str(tmp_path / "other.db"), "--import", str(log)]) == 0
    with Record(tmp_path / "other.db", read_only=True) as record:
        assert list(record.sealed_lines(1)) == rows


def _changed(lines: list[str]) -> list[str]:
    return [*lines[:2], lines[2].replace("7c", "7d"), *lines[3:]]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_changed, "line 3 is not the line that was sealed"),
        (lambda lines: [*lines[:3], *lines[4:]], "line 4 is not the line that was sealed"),
        (lambda lines: [lines[0], "", lines[2], lines[1], *lines[3:]], "line 3 is not the line that was sealed"),
        (lambda lines: [*lines[:4], detach_seal(lines[4])[0], *lines[5:]], "line 5 has no seal"),
    ],
)
def test_a_log_that_was_changed_is_told_and_not_taken_in(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[list[str]], list[str]], named: str
) -> None:
    log, other = tmp_path / "game.jsonl", tmp_path / "other.db"
    with Record(path, read_only=True) as record:
        lines = [line.rstrip("\n") for line in export_game(record, 1)]
    log.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    assert main(["games", "--record", str(other), "--import", str(log)]) == 2
    assert named in capsys.readouterr().err
    with Record(other, read_only=True) as record:
        assert record.games() == []
    assert main(["replay", str(log)]) == 0
    assert named in capsys.readouterr().err
    assert main(["explain", str(log)]) == 0
    assert named in capsys.readouterr().err


def test_a_field_that_is_called_so_already_is_left_alone() -> None:
    line = '{"kind":"card","t":1,"seal":"of the notary"}'
    assert attach_seal(line, "0123456789abcdef") == line
    assert detach_seal(line) == (line, None)
    assert attach_seal("{torn", "0123456789abcdef") == "{torn"


def test_a_game_whose_names_are_taken_out_is_sealed_anew_and_says_so(path: Path) -> None:
    with Record(path, read_only=True) as record:
        before = record.seal(1)
    with People(path) as people:
        person = people.remember("Ana", AT)
        forget(people, person, AT)
    with Record(path, read_only=True) as record:
        assert record.broken_seals(1) == []
        assert record.seal(1) != before
        assert record.is_resealed(1)


def test_what_did_not_hold_before_a_name_was_taken_out_does_not_hold_afterwards(path: Path) -> None:
    _damage(path, "UPDATE line SET text=replace(text, '7c', '7d') WHERE number=3")
    with People(path) as people:
        forget(people, people.remember("Ana", AT), AT)
    assert _broken(path) == [3]


def test_a_record_of_the_first_version_opens_and_goes_on_with_seals(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    shutil.copy(FROZEN / "version-1.db", path)
    with Record(path, read_only=True) as record:
        assert [info.seats for info in record.games()] == [("Fay", "Gus"), ("Cho", "Dan", "Eve"), ("Ana", "Ben")]
        assert {seal for _, _, seal in record.sealed_lines(1)} == {None}
        assert record.broken_seals(1) == []
    left = game_lines(["Fay", "Gus"])[:4]
    with Record(path) as record:
        keeper = record.again(3)
        keeper.write('{"kind":"resume","t":9}')
        keeper.commit()
        rows = list(record.sealed_lines(3))
        assert [text for _, text, _ in rows[:4]] == left
        assert rows[4][2] == record.seal(3) != ""
    assert _broken(path, 3) == []
    _damage(path, "UPDATE line SET text=replace(text, 'Fay', 'Kay') WHERE game=3 AND number=1")
    assert _broken(path, 3) == [5], "the first line with a seal speaks for those without"


@pytest.mark.parametrize("version", range(1, RECORD_SCHEMA.version + 1))
def test_a_record_of_every_version_opens(tmp_path: Path, version: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.db"
    shutil.copy(FROZEN / f"version-{version}.db", path)
    for words in (["games"], ["games", "--check"], ["games", "--export", "1"], ["people"], ["league"]):
        assert main([words[0], "--record", str(path), *words[1:]]) == 0, words
    out = capsys.readouterr().out
    assert "Ana" in out
    with People(path) as people:
        forget(people, people.named("Ana"), AT)
    with Record(path) as record:
        assert record.games()[-1].seats == ("Seat 1", "Ben")
        assert [record.broken_seals(info.id) for info in record.games()] == [[], [], []]
        assert (record.unfinished() or record.games()[-1]).seats == ("Fay", "Gus")


def test_the_end_of_a_game_is_missed() -> None:
    rows = [(1, "{}", seal_line("", "{}"))]
    assert list(find_broken_seals(rows, end=rows[0][2])) == []
    assert [number for number, _ in find_broken_seals(rows, end="0123456789abcdef")] == [2]
    assert [number for number, _ in find_broken_seals([], end="0123456789abcdef")] == [1]
