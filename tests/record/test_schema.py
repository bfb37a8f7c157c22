"""An SQLite file with foreign contents is refused in words, and its games are saved."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.record.backup import MANIFEST, BackupError, Places, back_up
from referee.record.database import RecordError, connect
from referee.record.people import People
from referee.record.pictures import Picture, PictureStore
from referee.record.rescue import mend_record
from referee.record.restore import plan_restore, restore
from referee.record.store import Record
from tests.record.damages import JPEG
from tests.record.playing import add_game, game_lines

AT = "2026-01-02T03:04:05+00:00"
STAMP = "20260102T030405"
SPOIL = "UPDATE game SET keep=1"
STRANGERS = {
    'trigger "takes_all"': f"CREATE TRIGGER takes_all AFTER INSERT ON game BEGIN {SPOIL}; END",
    'trigger "line_stays"': "DROP TRIGGER line_stays; CREATE TRIGGER line_stays BEFORE UPDATE OF game ON line BEGIN "
    "DELETE FROM game; END",
    'view "seen"': "CREATE VIEW seen AS SELECT * FROM game",
    'table "more"': "CREATE TABLE more (a)",
    'table "words"': "CREATE VIRTUAL TABLE words USING fts5(text)",
    'index "by_began"': "CREATE INDEX by_began ON game (lower(began))",
    'table "removed"': "DROP TABLE removed; "
    "CREATE TABLE removed (at TEXT, game INTEGER, began TEXT, why TEXT CHECK (length(why) < 3))",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    add_game(tmp_path / "games" / "record.db", ["Ana", "Ben"], AT)
    return tmp_path / "games" / "record.db"


def change(path: Path, steps: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(steps)
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def lines(path: Path) -> list[tuple[int, str, str | None]]:
    with Record(path, read_only=True) as record:
        return list(record.sealed_lines(1))


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_record_with_a_stranger_is_refused_and_its_games_are_saved(
    path: Path, tmp_path: Path, stranger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = lines(path)
    change(path, STRANGERS[stranger])
    held = path.read_bytes()
    opened: tuple[Callable[[], object], ...] = (
        lambda: Record(path),
        lambda: Record(path, read_only=True),
        lambda: People(path),
        lambda: back_up(Places(path, None, tmp_path / "decks"), tmp_path / "made.zip", AT),
    )
    for attempt in opened:
        with pytest.raises(RecordError) as refused:
            attempt()
        assert f"something that no Table Referee made ({stranger})" in str(refused.value)
        assert "`referee games --rescue`" in str(refused.value)
    log = tmp_path / "game.jsonl"
    log.write_text("".join(f"{line}\n" for line in game_lines(["Cho", "Dan"])))
    assert main(["games", "--record", str(path), "--import", str(log)]) == 2
    assert stranger in capsys.readouterr().err
    assert path.read_bytes() == held, "nothing was written to it"
    assert main(["games", "--record", str(path), "--rescue"]) == 0
    assert lines(path) == before
    kept = min(path.parent.glob("record.db.damaged-*"))
    assert kept.read_bytes() == held
    with Record(path) as record:
        assert [info.keep for info in record.games()] == [False]


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_backup_with_a_stranger_changes_nothing(path: Path, tmp_path: Path, stranger: str) -> None:
    places = Places(path, None, tmp_path / "decks")
    back_up(places, tmp_path / "good.zip", AT)
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(path.read_bytes())
    change(foreign, STRANGERS[stranger])
    bad = _archive(tmp_path / "good.zip", tmp_path / "bad.zip", "record.db", foreign.read_bytes())
    before = path.read_bytes()
    for attempt in (plan_restore, restore):
        with pytest.raises(BackupError) as refused:
            attempt(bad, places, STAMP)
        assert f"its record.db holds something that no Table Referee made ({stranger})" in str(refused.value)
    assert path.read_bytes() == before
    assert not [file.name for file in path.parent.iterdir() if not file.name.startswith("record.db")]
    assert not list(path.parent.glob("*.before-*"))


def _archive(good: Path, to: Path, name: str, content: bytes) -> Path:
    """Return a whole archive with other bytes in one member."""
    with zipfile.ZipFile(good) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    said = json.loads(members[MANIFEST])
    for part in said["parts"]:
        if part["name"] == name:
            part |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    members |= {name: content, MANIFEST: json.dumps(said).encode()}
    with zipfile.ZipFile(to, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return to


def test_pictures_with_a_stranger_are_moved_aside(path: Path) -> None:
    frames = path.with_name("frames.db")
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS game, x AS t, x AS exposure"
    cases = {
        'trigger "late"': (f"CREATE TRIGGER late AFTER INSERT ON frame BEGIN {SPOIL}; END", 1),
        'view "frame"': (f"DROP TABLE frame; CREATE VIEW frame AS {endless}, x'ffd8ffd9' AS jpeg FROM n", 0),
    }
    for number, (stranger, (steps, rescued)) in enumerate(cases.items()):
        frames.unlink(missing_ok=True)
        with closing(PictureStore(frames)) as store:
            store.add(1, [Picture(1, 5, JPEG)])
        change(frames, steps)
        with pytest.raises(RecordError):
            PictureStore(frames, read_only=True)
        words = mend_record(path, f"2026010{number}T030405")
        assert stranger in words and words.endswith(f"; {rescued} of them were rescued")
        with closing(PictureStore(frames)) as store:
            assert store.count() == rescued


def test_what_sqlite_itself_leaves_in_a_file_is_no_stranger(path: Path) -> None:
    before = lines(path)
    People(path).close()
    change(path, "ANALYZE; VACUUM")
    assert lines(path) == before
    assert mend_record(path, STAMP) == ""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT 1 FROM sqlite_schema WHERE name='sqlite_stat1'").fetchone()


def test_a_file_is_opened_as_one_that_cannot_be_trusted(path: Path) -> None:
    with closing(connect(path, "rw")) as db:
        assert db.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert db.execute("PRAGMA cell_size_check").fetchone() == (1,)
        if sys.version_info >= (3, 12):
            # Python 3.11 cannot ask for it.
            db.execute("PRAGMA writable_schema=ON")
            with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
                db.execute("DELETE FROM sqlite_schema")


def test_an_empty_record_is_told_with_what_to_do(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for left in path.parent.iterdir():
        left.unlink()
    path.touch()
    for words in (["games"], ["games", "--check"], ["games", "--rescue"], ["backup", str(path.with_name("to.zip"))]):
        assert main([words[0], "--record", str(path), *words[1:]]) == 2, words
        told = capsys.readouterr().err
        assert "is empty (0 bytes)" in told and "`referee restore FILE`" in told and told.count("\n") == 1
    assert "was empty (0 bytes)" in mend_record(path, STAMP)
    Record(path).close()
    assert mend_record(path, STAMP) == ""
    assert main(["games", "--record", str(path)]) == 0
