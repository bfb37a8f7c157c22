"""A damaged record is moved aside, and its readable part goes on; a power cut is no damage."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.record.database import RecordError
from referee.record.erasure import settle_noted
from referee.record.people import People
from referee.record.pictures import Picture, PictureStore
from referee.record.rescue import find_broken_games, find_damage, finish_rescue, mend_record, rescue_record
from referee.record.sqlite_wal import read_wal
from referee.record.store import Record
from tests.record.damages import JPEG, STAMP, Whole, damage, try_damages
from tests.record.playing import add_game, game_lines

AT = "2026-01-02T03:04:05+00:00"
PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record with two games, one broken off, and a person who agreed."""
    path = tmp_path / "record.db"
    add_game(path, ["Ana", "Ben"], AT)
    with People(path) as people:
        people.remember("Ana", AT)
    with Record(path) as record:
        keeper = record.begin(AT)
        for line in game_lines(["Cho", "Dan"])[:5]:
            keeper.write(line)
        keeper.commit()
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return Whole(tmp_path_factory.mktemp("whole"))


def _spoil(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def _root(path: Path, table: str) -> int:
    """Return where the first page of a table begins."""
    with closing(sqlite3.connect(path)) as db:
        row = db.execute("SELECT rootpage FROM sqlite_schema WHERE name=?", (table,)).fetchone()
    return (int(row[0]) - 1) * PAGE


def test_damages_of_every_sort_are_told_and_rescued() -> None:
    tally = try_damages(20)
    assert (tally.tracebacks, tally.silent, tally.left) == ([], [], [])
    assert tally.rescues > 4 and tally.missing > 0


def test_a_record_that_is_whole_is_left_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (find_damage(path), find_broken_games(path), mend_record(path, STAMP)) == ("", "", "")
    assert main(["games", "--record", str(path), "--rescue"]) == 0
    assert capsys.readouterr().out == f"{path} is as it was written\n"
    assert mend_record(path.with_name("none.db"), STAMP) == ""
    assert not list(path.parent.glob("*damaged*")) and not list(path.parent.glob("none*"))


def test_a_change_that_the_power_cut_short_is_taken_back_and_is_no_damage(path: Path, tmp_path: Path) -> None:
    """While a file is made SQLite keeps a journal beside it, which only a writer can roll back."""
    left = tmp_path / "left.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA cache_size=1")
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO people_meta VALUES (?, ?)", ((str(n), "x" * PAGE) for n in range(200)))
        for name in ("", "-journal"):
            shutil.copy(f"{path}{name}", f"{left}{name}")
    with closing(sqlite3.connect(f"file:{left}?mode=ro", uri=True)) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("SELECT * FROM game")
    assert mend_record(left, STAMP) == ""
    assert not list(tmp_path.glob("*damaged*"))
    with Record(left) as record:
        assert len(record.games()) == 2


def test_a_lost_schema_costs_no_line_and_nobody(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Record(path, read_only=True) as record:
        before = {info: list(record.sealed_lines(info.id)) for info in record.games()}
    _spoil(path, 0, bytes(PAGE))
    assert main(["games", "--record", str(path)]) == 2
    assert "`referee games --rescue` moves it aside" in capsys.readouterr().err
    assert main(["games", "--record", str(path), "--rescue"]) == 0
    told = capsys.readouterr().out
    assert "12 lines of 2 games were rescued into a new one: nothing of it is known to be missing" in told
    with Record(path) as record:
        assert {info: list(record.sealed_lines(info.id)) for info in record.games()} == before
        assert (record.unfinished() or record.games()[-1]).id == 2
        assert record.begin(AT).game is None
    with People(path) as people:
        assert [person.name for person in people.people()] == ["Ana"]
        assert people.games_of(people.named("Ana"))
    kept = min(path.parent.glob("record.db.damaged-*"))
    assert kept.read_bytes()[:PAGE] == bytes(PAGE)


def test_games_whose_list_is_lost_are_known_by_their_lines(path: Path) -> None:
    _spoil(path, _root(path, "game"), b"\xff" * PAGE)
    words = mend_record(path, STAMP)
    assert "12 lines of 2 games were rescued" in words
    with Record(path) as record:
        assert [info.seats for info in record.games()] == [("Cho", "Dan"), ("Ana", "Ben")]
        assert [info.ended is None for info in record.games()] == [True, False]
        again = record.add_game(AT, [(1, game_lines(["Eve", "Fay"])[0])])
    assert again == 3, "a number is never given twice"


def test_notes_that_damage_left_unreadable_cost_no_game(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE people_meta SET value='of no version'")
        db.execute("INSERT INTO people_meta VALUES ('keeping', '{'), ('settle', 'x')")
        db.commit()
    assert main(["people", "--record", str(path), "--tidy"]) == 0
    assert capsys.readouterr().out == "nothing is overdue\n"
    with People(path) as people:
        settle_noted(people)
        assert "36500 days" in people.keeping.words


def test_a_removed_game_does_not_come_back(path: Path) -> None:
    with Record(path) as record:
        record.remove(1, AT, "asked for")
    _spoil(path, 0, bytes(100))
    mend_record(path, STAMP)
    with Record(path) as record:
        assert [info.id for info in record.games()] == [2]
        assert [row[1] for row in record.removed()] == [1]


def test_a_line_that_only_its_seal_knows_is_found_under_another_number(path: Path) -> None:
    data = path.read_bytes()
    text = game_lines(["Ana", "Ben"])[3].encode()
    at = data.index(text)
    # The number stands in one byte before the text.
    assert data[at - 1] == 4
    _spoil(path, at - 1, b"\x63")
    assert "game 2, line 4 and 94 after it are missing" in find_broken_games(path)
    assert "12 lines of 2 games" in mend_record(path, STAMP)
    assert find_broken_games(path) == ""


def test_first_lines_that_no_page_points_to_are_known_by_what_follows(whole: Whole, tmp_path: Path) -> None:
    for name, data in whole.files.items():
        (tmp_path / name).write_bytes(data)
    path = tmp_path / "record.db"
    page = whole.files["record.db"].index(whole.sealed[1, 1].encode()) // PAGE * PAGE
    _spoil(path, page, bytes(512))
    assert "nothing of it is known to be missing" in mend_record(path, STAMP)
    with Record(path) as record:
        assert dict(record.lines(1)) == whole.lines[1]


def test_a_line_of_many_pages_is_rescued(tmp_path: Path) -> None:
    """Its row goes on in other pages, which are not its neighbours."""
    path, lines = tmp_path / "record.db", game_lines(["Ana", "Ben"])
    lines[0] = lines[0].replace("}", f', "more": "{"äx" * 5000}"}}', 1)
    lines[2] = lines[2].replace("}", f', "more": "{"y" * 1100}"}}', 1)
    with Record(path) as record:
        record.add_game(AT, list(enumerate(lines, start=1)))
        before = list(record.sealed_lines(1))
    assert len(before[0][1]) > 2 * PAGE
    _spoil(path, 0, bytes(PAGE))
    assert "nothing of it is known to be missing" in mend_record(path, STAMP)
    with Record(path) as record:
        assert list(record.sealed_lines(1)) == before


def test_a_line_whose_seal_is_spoilt_is_proved_by_the_next(path: Path) -> None:
    with Record(path, read_only=True) as record:
        before = list(record.sealed_lines(1))
    data = path.read_bytes()
    _spoil(path, data.index((before[2][2] or "").encode()), b"\x00")
    assert "nothing of it is known to be missing" in mend_record(path, STAMP)
    with Record(path) as record:
        assert list(record.sealed_lines(1)) == before


def test_a_sector_that_cuts_a_seal_costs_no_line_beyond_it(whole: Whole, tmp_path: Path) -> None:
    """Lines lie in a page from its end on: behind the seal of line 144 stand line 143 and those before it."""
    for name, data in whole.files.items():
        (tmp_path / name).write_bytes(data)
    path = tmp_path / "record.db"
    line = whole.sealed[1, 144].encode()
    _spoil(path, whole.files["record.db"].index(line) + len(line) - 8, bytes(512))
    mend_record(path, STAMP)
    with Record(path) as record:
        found = dict(record.lines(1))
    assert 144 not in found and found == {number: whole.lines[1][number] for number in found}
    assert set(whole.lines[1]) - set(found) == set(range(min(set(whole.lines[1]) - set(found)), 145))


def test_a_rescue_leaves_out_a_line_that_its_seal_does_not_prove(path: Path) -> None:
    data = path.read_bytes()
    _spoil(path, data.rindex(b'"card": "7c"') + 9, b"8")
    _spoil(path, 0, bytes(PAGE))
    assert "11 lines of 2 games were rescued into a new one: game 1, line 3 is missing" in mend_record(path, STAMP)


def test_a_changed_value_is_named_and_not_rescued_again_and_again(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = path.read_bytes()
    _spoil(path, data.index(b'"card": "7c"') + 9, b"8")
    for _ in range(2):
        words = mend_record(path, STAMP)
        assert words.startswith("the record is not what was written: game ") and "line 3 is not the line" in words
    assert not list(path.parent.glob("*.damaged-*"))
    assert main(["games", "--record", str(path), "--rescue"]) == 1
    assert "no more can be read of it" in capsys.readouterr().out


def test_damaged_pictures_are_moved_aside_and_the_others_go_on(path: Path) -> None:
    frames = path.with_name("frames.db")
    with closing(PictureStore(frames)) as store:
        store.add(1, [Picture(t, 5, JPEG) for t in range(40)])
        store.add(1, [Picture(99, 5, JPEG[:100])])
    assert mend_record(path, STAMP) == ""
    size = frames.stat().st_size
    _spoil(frames, size // 2 // PAGE * PAGE, bytes(PAGE))
    words = mend_record(path, STAMP)
    with closing(PictureStore(frames)) as store:
        kept = [picture.t for picture in store.near(1, 0, 1000)]
        assert all(picture.jpeg == JPEG for picture in store.near(1, 0, 1000))
    assert 30 <= len(kept) < 40, "all but those on the lost page, and the one that is cut off"
    assert words.endswith(f"kept as frames.db.damaged-{STAMP}; {len(kept)} of them were rescued")
    assert mend_record(path, STAMP) == ""


def test_what_is_no_record_is_left_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("this is no database, but a letter\n" * 200, encoding="utf-8")
    assert "was left as it is" in mend_record(path, STAMP)
    assert main(["games", "--record", str(path), "--rescue"]) == 2
    assert "nothing in it can be read as a record" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8").startswith("this is no database")


def test_a_newer_record_is_refused_and_not_rescued(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=9")
    assert mend_record(path, STAMP).endswith("was made by a newer program (version 9); update this one")
    with pytest.raises(RecordError, match="newer program"):
        Record(path)


@pytest.mark.parametrize("done", range(4))
def test_a_rescue_that_the_power_cut_short_is_finished(path: Path, done: int) -> None:
    """However many of its steps were done."""
    _spoil(path, 0, bytes(100))
    other = path.with_name("other.db")
    shutil.copy(path, other)
    rescue_record(other, "tried", STAMP)
    other.replace(path.with_name(f"{path.name}.rescued-{STAMP}"))
    kept = path.with_name(f"{path.name}.damaged-{STAMP}")
    path.with_name("record.db-wal").write_bytes(b"of the damaged one")
    if done > 0:
        path.replace(kept)
    if done > 1:
        path.with_name("record.db-wal").replace(kept.with_name(f"{kept.name}-wal"))
    if done > 2:
        path.with_name(f"{path.name}.rescued-{STAMP}").replace(path)
    assert finish_rescue(path) == (kept if done < 3 else None)
    assert kept.exists() and kept.with_name(f"{kept.name}-wal").read_bytes() == b"of the damaged one"
    with Record(path) as record:
        assert len(record.games()) == 2


def test_a_log_that_was_cut_short_is_whole_and_one_that_was_changed_is_not(whole: Whole) -> None:
    log, chance = whole.files["record.db-wal"], random.Random(1)
    frames = read_wal(log).frames
    assert len(frames) > 60 and frames[-1].commits
    for _ in range(60):
        cut = read_wal(log[: chance.randrange(len(log))])
        assert cut.damaged == 0 and cut.frames == frames[: len(cut.frames)]
    used = 32 + len(frames) * (24 + PAGE)
    for _ in range(60):
        changed = damage(log, "a bit", chance.randrange(used), chance)
        read = read_wal(changed)
        assert read.damaged and len(read.frames) == len(frames)


def test_a_last_write_of_which_sectors_are_missing_is_no_damage(whole: Whole) -> None:
    log, chance = whole.files["record.db-wal"], random.Random(2)
    frames = read_wal(log).frames
    ends = [place for place, frame in enumerate(frames) if frame.commits]
    first, last = 32 + (ends[-2] + 1) * (24 + PAGE), 32 + (ends[-1] + 1) * (24 + PAGE)
    for _ in range(60):
        torn = bytearray(log[:last])
        for at in range(first // 512 * 512 + 512, last, 512):
            if chance.random() < 0.5:
                torn[at : at + 512] = bytes(len(torn[at : at + 512]))
        assert read_wal(bytes(torn)).damaged == 0
