"""One writer: the lock beside the record, its holder, and the refusals meanwhile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from referee.cli import main
from referee.errors import UserError
from referee.record.lock import RecordInUseError, hold_record
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.table.session import Evening
from tests.record.intrusions import intrude
from tests.record.playing import add_game

AT = "2026-01-02T03:04:05+00:00"
SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


def test_a_second_holder_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    record = tmp_path / "games" / "record.db"
    with hold_record(record, "referee run", AT) as words:
        assert words == ""
        said = rf"in use by referee run, process {os.getpid()}, since 2026-01-02 03:04:05"
        with pytest.raises(RecordInUseError, match=said), hold_record(record, "referee games", AT):
            pass
        other = tmp_path / "other.db"
        other.symlink_to(record)
        with pytest.raises(RecordInUseError, match="in use"), hold_record(other, "referee games", AT):
            pass
    with hold_record(record, "referee games", AT) as words:
        assert words == ""


def test_a_holder_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    record, (read, write) = tmp_path / "record.db", os.pipe()
    pid = os.fork()
    if not pid:
        with hold_record(record, "referee run", AT):
            os.write(write, b"!")
            os.kill(os.getpid(), 9)
    os.read(read, 1)
    os.waitpid(pid, 0)
    with hold_record(record, "referee run", AT) as words:
        assert words == ""


def test_where_nothing_can_be_locked_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with hold_record(tmp_path / "record.db", "referee run", AT) as words:
        assert "has no flock" in words
    (tmp_path / "file").write_text("")
    with hold_record(tmp_path / "file" / "record.db", "referee run", AT) as words:
        assert "cannot be locked" in words


@pytest.mark.parametrize(
    "words",
    [["games", "--remove", "1"], ["people", "--erase-game", "1"], ["people", "--tidy"], ["people", "--forget", "Ana"]],
)
def test_what_changes_lines_is_refused_while_a_game_is_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    record = tmp_path / "record.db"
    add_game(record, ["Ana", "Ben"], AT)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with hold_record(record, "referee run", AT):
        assert main([*words, "--record", str(record)]) == 2
        assert main(["games", "--keep", "1", "--record", str(record)]) == 0, "no line is touched"
    assert "in use by referee run" in capsys.readouterr().err
    assert before.keys() <= {file.name for file in tmp_path.iterdir()}
    with Record(record, read_only=True) as opened:
        assert [info.id for info in opened.games()] == [1]


@pytest.mark.parametrize("new", [False, True])
def test_a_camera_that_is_missing_leaves_no_ended_or_begun_game_behind(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "record.db"
    with Record(path) as record:
        table = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":1,"rules":"classic"}'
        left = record.add_game(AT, [(1, table)])
    settings = parse_settings(
        f'[record]\nfile = "{path}"\n[camera]\nsource = "{tmp_path / "none"}"\n'
        f"[lights]\nenabled = false\n[voice]\nenabled = false\n{SEATS}"
    )
    with pytest.raises(UserError, match="camera"):
        Evening(settings).play({}, new=new)
    with Record(path, read_only=True) as record:
        assert [(info.id, info.ended) for info in record.games()] == [(left, None)]


def test_intrusions_into_a_running_game_are_refused_and_cost_it_nothing() -> None:
    toll = intrude(16)
    assert toll.well, toll.wrong or (toll.lost, toll.ended)
    assert len(toll.tried) == 8
    assert toll.kept > 16
