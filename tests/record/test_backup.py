"""Backups: of one instant while a game goes on, checked before anything is touched, and the old kept beside."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli.parser import Parser
from referee.cli.records import add_backup, add_restore
from referee.errors import UserError
from referee.record.backup import MANIFEST, BackupError, Places, back_up, open_backup
from referee.record.database import RecordError
from referee.record.erasure import forget
from referee.record.people import People
from referee.record.pictures import Picture, PictureStore
from referee.record.restore import plan_restore, restore
from referee.record.store import Record
from tests.record.playing import add_game, game_lines

AT = "2026-05-01T20:00:00+00:00"
STAMP = "20260502T100000"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home = tmp_path / "table"
    made = Places(home / "games" / "record.db", home / "table.toml", home / "decks")
    add_game(made.record, ["Ana", "Ben"], AT)
    assert made.settings is not None
    made.settings.write_text('rules = "house.toml"\n')
    (home / "house.toml").write_text('base = "classic"\n')
    made.decks.mkdir()
    (made.decks / "old-tarot.npz").write_bytes(b"looks")
    (made.decks / "Not a deck.txt").write_bytes(b"?")
    store = PictureStore(made.frames)
    store.add(1, [Picture(1, 1, b"jpeg")])
    store.close()
    return made


@pytest.fixture
def saved(places: Places, tmp_path: Path) -> Path:
    back_up(places, tmp_path / "table.zip", AT, pictures=True)
    return tmp_path / "table.zip"


def _state(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def _games(record: Path) -> list[tuple[str, ...]]:
    with Record(record, read_only=True) as opened_record:
        return [info.seats for info in opened_record.games()]


def _remove_game(record: Path, game: int) -> None:
    with Record(record) as opened_record:
        opened_record.remove(game, AT, "asked for")


def test_certificates_are_kept_with_the_games(places: Places, tmp_path: Path) -> None:
    folder = places.record.with_name("certificates")
    folder.mkdir()
    for name in ("2026-05-01T184000p0100.json", "2026-05-01T184000p0100.html", "notes.txt", ".hidden.json"):
        (folder / name).write_text(name)
    back_up(places, tmp_path / "table.zip", AT)
    home = tmp_path / "other"
    restore(tmp_path / "table.zip", Places(home / "games" / "record.db", None, home / "decks"), STAMP)
    found = {file.name: file.read_text() for file in (home / "games" / "certificates").iterdir()}
    assert found == {name: name for name in ("2026-05-01T184000p0100.json", "2026-05-01T184000p0100.html")}


def test_everything_comes_back_to_an_empty_machine(saved: Path, places: Places, tmp_path: Path) -> None:
    home = tmp_path / "other"
    other = Places(home / "games" / "record.db", home / "table.toml", home / "decks")
    plan = restore(saved, other, STAMP)
    assert [step.beside for step in plan.steps] == [None] * 5
    assert _games(other.record) == [("Ana", "Ben")]
    with Record(places.record, read_only=True) as one, Record(other.record, read_only=True) as two:
        assert list(one.lines(1)) == list(two.lines(1))
    assert (other.decks / "old-tarot.npz").read_bytes() == b"looks"
    assert other.settings is not None
    assert other.settings.read_text() == 'rules = "house.toml"\n'
    assert (home / "house.toml").read_text() == 'base = "classic"\n'
    store = PictureStore(other.frames, read_only=True)
    assert [picture.jpeg for picture in store.near(1, 0, 9)] == [b"jpeg"]
    store.close()


def test_pictures_only_where_asked_for(places: Places, tmp_path: Path) -> None:
    names = [part.name for part in back_up(places, tmp_path / "small.zip", AT).parts]
    assert names == ["record.db", "table.toml", "rules/house.toml", "decks/old-tarot.npz"]


@pytest.mark.parametrize("name", ["/etc/house.toml", "../house.toml", "sub/house.toml", ".toml"])
def test_house_rules_from_elsewhere_are_left_out_and_told(
    places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert places.settings is not None
    places.settings.write_text(f'rules = "{name}"\n')
    top = Parser(prog="referee")
    add_backup(top.add_subparsers(parser_class=Parser))
    where = ["--record", str(places.record), "--settings", str(places.settings)]
    args = top.parse_args(["backup", str(tmp_path / "table.zip"), *where])
    assert args.run(args) == 0
    assert f"not in it: the house rules {name}" in capsys.readouterr().out


def test_while_a_game_is_being_written_it_is_of_one_instant(places: Places, tmp_path: Path) -> None:
    file = tmp_path / "live.zip"
    with Record(places.record) as record:
        keeper = record.begin(AT)
        for line in game_lines(["Cho", "Dora"]):
            keeper.write(line)
            keeper.commit()
            back_up(places, file, AT)
            with open_backup(file) as (archive, manifest):
                (tmp_path / "copy.db").write_bytes(archive.read("record.db"))
            assert manifest.games == 2
            with Record(tmp_path / "copy.db", read_only=True) as copy:
                assert len(list(copy.lines(2))) == keeper.written
        keeper.write('{"kind":"tick","t":99000000000}')
        keeper.commit()


def test_what_was_there_is_kept_beside_and_can_be_brought_back(saved: Path, places: Places) -> None:
    add_game(places.record, ["Later", "Eve"], AT)
    plan = plan_restore(saved, places, STAMP)
    assert not any("before-" in line for line in plan.words), "it has all that is in the backup"
    _remove_game(places.record, 1)
    plan = plan_restore(saved, places, STAMP)
    assert any("record.db.before-20260502T100000" in line for line in plan.words)
    restore(saved, places, STAMP)
    assert _games(places.record) == [("Later", "Eve"), ("Ana", "Ben")]
    beside = places.record.with_name(f"record.db.before-{STAMP}")
    assert _games(beside) == [("Later", "Eve")]
    _remove_game(places.record, 1)
    with pytest.raises(BackupError, match="there already"):
        restore(saved, places, STAMP)
    assert _games(places.record) == [("Later", "Eve")]


def test_saying_what_would_be_done_changes_nothing(saved: Path, places: Places) -> None:
    before = _state(places.record.parent.parent)
    plan_restore(saved, places, STAMP)
    assert _state(places.record.parent.parent) == before


def test_a_torn_archive_changes_nothing(saved: Path, places: Places, tmp_path: Path) -> None:
    whole, before = saved.read_bytes(), _state(places.record.parent.parent)
    chance, torn = random.Random(1), tmp_path / "torn.zip"
    for length in (0, 1, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(60))):
        torn.write_bytes(whole[:length])
        with pytest.raises(BackupError, match="torn"):
            restore(torn, places, STAMP)
    assert _state(places.record.parent.parent) == before


def _content(file: Path) -> dict[str, bytes]:
    with open_backup(file) as (archive, manifest):
        return {part.name: archive.read(part.name) for part in manifest.parts}


def test_an_archive_with_a_changed_bit_is_refused_or_holds_the_same(saved: Path, tmp_path: Path) -> None:
    whole, content = saved.read_bytes(), _content(saved)
    chance, changed = random.Random(2), tmp_path / "changed.zip"
    refused = 0
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        changed.write_bytes(flipped)
        try:
            # A bit that is never read, such as one of a member's date, harms nothing.
            assert _content(changed) == content
        except BackupError:
            refused += 1
    assert refused > 200


def _repacked(saved: Path, to: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(to, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return to


def _manifest(members: dict[str, bytes], change: Callable[[dict[str, object]], None]) -> None:
    said = json.loads(members[MANIFEST])
    change(said)
    members[MANIFEST] = json.dumps(said).encode()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda members: members.update({"more.txt": b"x"}), "does not hold"),
        (lambda members: members.pop("table.toml"), "does not hold"),
        (lambda members: members.update({"table.toml": b"seats = 3\n"}), "not what was saved"),
        (lambda members: members.pop(MANIFEST), "no backup"),
        (lambda members: _manifest(members, lambda said: said.update(format=2)), "newer program"),
        (lambda members: _manifest(members, lambda said: said.update(parts=3)), "no backup"),
        (lambda members: members.update({MANIFEST: b"[" * 100_000}), "no backup"),
        (lambda members: members.update({MANIFEST: b" " * (2 << 20)}), "its manifest is too long"),
        (
            lambda members: _manifest(members, lambda said: said["parts"][0].update(size=-1)),  # type: ignore[index]
            "is said to hold -1 bytes",
        ),
        (
            lambda members: _manifest(
                members, lambda said: said.update(parts=[{"name": "../evil", "size": 0, "sha256": ""}])
            ),
            "no part of a backup",
        ),
    ],
)
def test_archives_that_are_none_of_ours(
    saved: Path, places: Places, tmp_path: Path, change: Callable[[dict[str, bytes]], None], why: str
) -> None:
    before = _state(places.record.parent.parent)
    bad = _repacked(saved, tmp_path / "bad.zip", change)
    with pytest.raises(BackupError, match=why):
        restore(bad, places, STAMP)
    assert _state(places.record.parent.parent) == before
    assert not (tmp_path / "evil").exists()


def _with_member(saved: Path, to: Path, name: str, content: bytes) -> Path:
    """Return a whole archive, with other bytes in one of its files."""

    def change(members: dict[str, bytes]) -> None:
        members[name] = content
        said = json.loads(members[MANIFEST])
        for part in said["parts"]:
            if part["name"] == name:
                part |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        members[MANIFEST] = json.dumps(said).encode()

    return _repacked(saved, to, change)


def _database(folder: Path, *statements: str) -> bytes:
    file = folder / "made.db"
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
    return file.read_bytes()


def test_an_archive_whose_record_is_none_changes_nothing(saved: Path, places: Places, tmp_path: Path) -> None:
    """No data base, one of another program, and one with damaged pages, each with its own message."""
    before = _state(places.record.parent.parent)
    rows = _database(tmp_path, "CREATE TABLE t (a)", *(f"INSERT INTO t VALUES ('{n:0900}')" for n in range(20)))
    damaged = rows[:4096] + b"\xff" * 4096 + rows[8192:]
    for content, why in (
        (b"no data base" * 100, r"its record.db is no data base \(.*\), and nothing was changed"),
        (rows, "its record.db is no record of games, and nothing was changed"),
        (damaged, "(?s)its record.db is (damaged|no data base) .*, and nothing was changed"),
    ):
        bad = _with_member(saved, tmp_path / "bad.zip", "record.db", content)
        with pytest.raises(BackupError, match=why):
            restore(bad, places, STAMP)
    assert _state(places.record.parent.parent) == before


def test_a_present_record_that_is_damaged_is_kept_beside_and_the_old_one_comes_back(
    saved: Path, places: Places
) -> None:
    """Damage may be just why a backup is restored."""
    places.record.write_bytes(b"no data base" * 100)
    restore(saved, places, STAMP)
    assert _games(places.record) == [("Ana", "Ben")]
    assert places.record.with_name(f"record.db.before-{STAMP}").read_bytes() == b"no data base" * 100


def test_an_archive_that_is_not_there_and_a_table_without_record_are_told(places: Places, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="none"):
        restore(tmp_path / "none.zip", places, STAMP)
    places.record.unlink()
    with pytest.raises(BackupError, match=r"there is no record .*: name it with --record FILE"):
        back_up(places, tmp_path / "table.zip", AT)
    assert not (tmp_path / "table.zip").exists()


def test_settings_that_cannot_be_read_name_no_house_rules(places: Places) -> None:
    assert places.settings is not None
    assert places.house == "house.toml"
    places.settings.write_text("rules = [")
    assert places.house == ""
    places.settings.unlink()
    assert places.house == ""
    assert Places(places.record, None, places.decks).house == ""
    assert Places(places.record, None, places.decks).of("table.toml") is None


def test_a_record_of_a_newer_program_is_refused(saved: Path, places: Places, tmp_path: Path) -> None:
    with closing(sqlite3.connect(places.record)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA user_version=99")
    new = _with_member(saved, tmp_path / "new.zip", "record.db", places.record.read_bytes())
    with pytest.raises(BackupError, match="newer program"):
        plan_restore(new, places, STAMP)
    with pytest.raises(RecordError, match="newer program"):
        back_up(places, tmp_path / "newer.zip", AT)


def test_a_record_in_use_is_left_alone(saved: Path, places: Places) -> None:
    add_game(places.record, ["Later", "Eve"], AT)
    _remove_game(places.record, 1)
    with Record(places.record) as record:
        record.games()
        with pytest.raises(BackupError, match="in use"):
            restore(saved, places, STAMP)
    assert _games(places.record) == [("Later", "Eve")]
    assert not places.record.with_name(f"record.db.before-{STAMP}").exists()


def test_where_a_file_cannot_be_put_in_place_all_are_taken_back(saved: Path, places: Places) -> None:
    add_game(places.record, ["Later", "Eve"], AT)
    for deck in places.decks.iterdir():
        deck.unlink()
    places.decks.rmdir()
    places.decks.write_text("a file where the folder of decks should be")
    with pytest.raises(BackupError, match="cannot be written"):
        restore(saved, places, STAMP)
    assert _games(places.record) == [("Later", "Eve"), ("Ana", "Ben")]
    assert [
        path.name for path in places.record.parent.iterdir() if "before" in path.name or "restore" in path.name
    ] == []


def test_who_was_forgotten_since_stays_forgotten(places: Places, tmp_path: Path) -> None:
    with People(places.record) as people:
        people.answer("Ana", True, AT)
        people.tie(1)
        back_up(places, tmp_path / "before.zip", AT)
        forget(people, people.named("Ana"), AT)
    restore(tmp_path / "before.zip", places, STAMP)
    with People(places.record) as people:
        assert people.find("Ana") is None
    assert _games(places.record) == [("Seat 1", "Ben")]
    assert b'"Ana"' not in places.record.read_bytes()


def test_a_backup_that_fails_leaves_the_older_one(places: Places, tmp_path: Path) -> None:
    file = tmp_path / "table.zip"
    file.write_bytes(b"the older one")
    places.record.write_bytes(b"not a data base" * 100)
    with pytest.raises(OSError, match=r"damaged|cannot"):
        back_up(places, file, AT)
    assert file.read_bytes() == b"the older one"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_as_it_is_typed(places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str],
                        monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def typed(*words: str) -> str:
        top = Parser(prog="referee")
        commands = top.add_subparsers(parser_class=Parser)
        add_backup(commands)
        add_restore(commands)
        where = ["--record", str(places.record), "--settings", str(places.settings)]
        args: argparse.Namespace = top.parse_args([*words, *where])
        assert args.run(args) == 0
        return capsys.readouterr().out

    file = str(tmp_path / "typed.zip")
    assert "games: 1, parts: 3" in typed("backup", file)
    assert "nothing was changed" in typed("restore", file)
    add_game(places.record, ["Later", "Eve"], AT)
    _remove_game(places.record, 1)
    assert "games that are there already: 0; added: 1" in typed("restore", file, "--yes")
    assert _games(places.record) == [("Later", "Eve"), ("Ana", "Ben")]
    said = typed("restore", file, "--yes")
    assert "games that are there already: 1; added: 0" in said and "goes to" not in said
    with pytest.raises(UserError, match="no file"):
        typed("restore", str(tmp_path / "none.zip"))
