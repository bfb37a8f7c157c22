"""A game is recorded once, however often and in whatever form it comes: as a log, in another record, in a backup."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.record.backup import Places, back_up
from referee.record.database import RecordError
from referee.record.erasure import forget, rename_everywhere
from referee.record.export import export_game, import_game
from referee.record.merge import copied_record, find_left_behind, merge_record
from referee.record.people import People
from referee.record.pictures import FRAMES_FILE, Picture, PictureStore
from referee.record.store import Record
from tests.record.playing import add_game, game_lines

AT = "2026-05-01T20:00:00+00:00"
LATER = "2026-06-01T20:00:00+00:00"
QUICK = 200_000_000
"""A reaction by which a game differs from the usual one, ns."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here" / "record.db"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there" / "record.db"


def players(path: Path) -> dict[int, tuple[str, ...]]:
    """Return the seats of each game, by its number."""
    with Record(path, read_only=True) as record:
        return {info.id: info.seats for info in record.games()}


def bring(into: Path, other: Path, at: str = LATER) -> tuple[int, int, int]:
    """Merge another record; return the numbers of added, completed and known games."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with copied_record(other, into.parent) as copy:
        found = merge_record(into, copy, at)
    return len(found.missing), len(found.longer), len(found.twins) - len(found.missing)


def log_of(path: Path, game: int, to: Path) -> Path:
    with Record(path, read_only=True) as record:
        to.write_text("".join(export_game(record, game)), encoding="utf-8")
    return to


def take_in(path: Path, log: Path) -> tuple[int, int]:
    """Import a log; return the game's number, and how many lines were added."""
    with Record(path) as record:
        imported = import_game(record, log, LATER)
    return imported.game, imported.added


def test_a_log_that_is_imported_twice_is_one_game(here: Path, there: Path, tmp_path: Path) -> None:
    """Also one whose seals were taken out, and one of a game that was played here."""
    game = add_game(there, ["Ana", "Ben"], AT)
    log = log_of(there, game, tmp_path / "log.jsonl")
    plain = tmp_path / "plain.jsonl"
    plain.write_text("\n".join(game_lines(["Ana", "Ben"])), encoding="utf-8")
    lines = len(game_lines(["Ana", "Ben"]))
    assert take_in(here, log) == (1, lines)
    before = here.read_bytes()
    assert take_in(here, log) == take_in(here, plain) == (1, 0)
    assert take_in(there, log) == (game, 0)
    assert here.read_bytes() == before


def test_games_that_differ_in_one_line_are_two(here: Path, tmp_path: Path) -> None:
    add_game(here, ["Ana", "Ben"], AT)
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(game_lines(["Ana", "Ben"], reaction=QUICK)), encoding="utf-8")
    assert take_in(here, other)[0] == 2


@pytest.mark.parametrize("lines", [2, 4])
def test_a_beginning_is_the_same_game_and_is_completed(here: Path, tmp_path: Path, lines: int) -> None:
    whole, part = game_lines(["Ana", "Ben"]), tmp_path / "part.jsonl"
    part.write_text("\n".join(whole[:lines]), encoding="utf-8")
    log = tmp_path / "whole.jsonl"
    log.write_text("\n".join(whole), encoding="utf-8")
    assert take_in(here, part) == (1, lines)
    assert take_in(here, log) == (1, len(whole) - lines)
    assert take_in(here, part) == (1, 0)
    with Record(here, read_only=True) as record:
        assert [text for _, text in record.lines(1)] == whole
        assert record.broken_seals(1) == [], "it ends with the seal of its last line"
        assert record.game(1).ended == LATER


def test_a_table_alone_is_no_beginning_of_a_game(here: Path, tmp_path: Path) -> None:
    """Two evenings of the same people begin alike."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(game_lines(["Ana", "Ben"])[0], encoding="utf-8")
    second.write_text("\n".join(game_lines(["Ana", "Ben"])), encoding="utf-8")
    assert (take_in(here, first)[0], take_in(here, second)[0]) == (1, 2)
    assert take_in(here, first) == (1, 0)


@pytest.mark.parametrize("forgotten", [True, False])
def test_a_game_without_its_names_is_known(here: Path, tmp_path: Path, forgotten: bool) -> None:
    """Its seals are new, and a log of before would bring the name back."""
    game = add_game(here, ["Ana", "Ben"], AT)
    log = log_of(here, game, tmp_path / "log.jsonl")
    with People(here) as people:
        ana = people.remember("Ana", AT)
        if forgotten:
            forget(people, ana, AT)
        else:
            rename_everywhere(people, ana, "Anna")
    assert take_in(here, log) == (game, 0)
    assert players(here) == {game: ("Seat 1" if forgotten else "Anna", "Ben")}


def test_another_record_adds_only_what_is_missing(here: Path, there: Path) -> None:
    for path in (here, there):
        add_game(path, ["Ana", "Ben"], AT)
    add_game(there, ["Cho", "Dan"], LATER)
    add_game(here, ["Eve", "Fay"], LATER)
    kept = there.read_bytes()
    assert bring(here, there) == (1, 0, 1)
    assert players(here) == {1: ("Ana", "Ben"), 2: ("Eve", "Fay"), 3: ("Cho", "Dan")}
    assert bring(here, there) == (0, 0, 2)
    assert there.read_bytes() == kept
    with Record(here, read_only=True) as record, Record(there, read_only=True) as other:
        assert list(record.sealed_lines(3)) == list(other.sealed_lines(2))
        assert record.broken_seals(3) == []


def test_an_empty_record_takes_over_numbers_and_marks(here: Path, there: Path) -> None:
    for names in (["Ana", "Ben"], ["Cho", "Dan"], ["Eve", "Fay"]):
        add_game(there, names, AT)
    with Record(there) as record:
        record.remove(1, LATER, "asked for")
        record.keep(3)
    assert bring(here, there) == (2, 0, 0)
    with Record(here, read_only=True) as record:
        assert {info.id: (info.began, info.ended, info.keep) for info in record.games()} == {
            2: (AT, AT, False),
            3: (AT, AT, True),
        }


def test_a_removed_game_comes_back_under_its_number(here: Path, there: Path) -> None:
    for path in (here, there):
        add_game(path, ["Ana", "Ben"], AT)
        add_game(path, ["Cho", "Dan"], AT)
    with Record(here) as record:
        record.remove(1, LATER, "asked for")
    assert bring(here, there) == (1, 0, 1)
    assert players(here) == {1: ("Ana", "Ben"), 2: ("Cho", "Dan")}


def test_people_come_along_and_answers_given_here_count(here: Path, there: Path) -> None:
    add_game(here, ["Ana", "Ben"], AT)
    add_game(there, ["Ana", "Ben", "Cho"], AT)
    with People(here) as people:
        own = people.remember("Ana", AT)
        people.answer("Ben", False, AT)
    with People(there) as people:
        for name in ("Ana", "Ben", "Cho"):
            people.remember(name, LATER)
    assert bring(here, there) == (1, 0, 0)
    with People(here, read_only=True) as people:
        assert [(person.name, person.agreed) for person in people.people()] == [
            ("Ana", True), ("Ben", False), ("Cho", True)
        ]  # fmt: skip
        cho = people.named("Cho")
        assert people.ties() == {(1, 1): own.id, (2, 1): own.id, (2, 3): cho.id}


@pytest.mark.parametrize("forgotten_here", [True, False])
def test_a_person_forgotten_in_either_is_forgotten_in_both(here: Path, there: Path, forgotten_here: bool) -> None:
    add_game(here, ["Ana", "Ben"], AT)
    with People(here) as people:
        people.remember("Ana", AT)
    assert bring(there, here) == (1, 0, 0)
    add_game(there, ["Ana", "Cho"], AT, reaction=QUICK)
    add_game(here, ["Ana", "Dan"], LATER, reaction=QUICK // 2)
    with People(here if forgotten_here else there) as people:
        forget(people, people.named("Ana"), LATER)
    assert bring(here, there) == (1, 0, 1)
    assert players(here) == {1: ("Seat 1", "Ben"), 2: ("Seat 1", "Dan"), 3: ("Seat 1", "Cho")}
    with People(here, read_only=True) as people:
        assert people.people() == []


def _keep_picture(path: Path, game: int, jpeg: bytes) -> None:
    with closing(PictureStore(path.with_name(FRAMES_FILE))) as store:
        store.add(game, [Picture(1, 1, jpeg)])


def _pictures(path: Path, game: int) -> list[bytes]:
    with closing(PictureStore(path.with_name(FRAMES_FILE), read_only=True)) as store:
        return [picture.jpeg for picture in store.near(game, 0, 10)]


def test_pictures_follow_their_games(here: Path, there: Path) -> None:
    add_game(here, ["Ana", "Ben"], AT)
    _keep_picture(here, 1, b"here")
    add_game(there, ["Cho", "Dan"], AT)
    _keep_picture(there, 1, b"there")
    bring(here, there)
    assert (_pictures(here, 1), _pictures(here, 2)) == ([b"here"], [b"there"])


def test_pictures_of_a_forgotten_person_stay_away(here: Path, there: Path) -> None:
    for path in (here, there):
        add_game(path, ["Ana", "Ben"], AT)
        _keep_picture(path, 1, b"her hand")
    with People(here) as people:
        forget(people, people.remember("Ana", AT), LATER)
    assert bring(here, there) == (0, 0, 1)
    assert _pictures(here, 1) == []


def _begin(path: Path, lines: Sequence[str], began: str = AT) -> int:
    """Begin a game, and break it off."""
    with Record(path) as record:
        return record.add_game(began, list(enumerate(lines, start=1)))


def test_a_game_that_was_broken_off_can_be_gone_on_with_at_its_new_place(here: Path, there: Path) -> None:
    add_game(there, ["Ana", "Ben"], AT)
    _begin(there, game_lines(["Cho", "Dan"])[:3])
    bring(here, there)
    with Record(here, read_only=True) as record:
        left = record.unfinished()
        assert left is not None and left.seats == ("Cho", "Dan")


def test_no_game_comes_between_people_and_the_one_that_they_broke_off(here: Path, there: Path) -> None:
    lines = game_lines(["Cho", "Dan"])
    game = _begin(here, lines[:3])
    for names in (["Ana", "Ben"], ["Eve", "Fay"]):
        add_game(there, names, AT)
    with pytest.raises(RecordError, match=f"game {game} was broken off"):
        bring(here, there)
    assert players(here) == {game: ("Cho", "Dan")}
    with Record(here) as record:
        record.end(game, LATER)
    assert bring(here, there) == (2, 0, 0)


def test_a_game_that_went_on_elsewhere_is_completed(here: Path, there: Path) -> None:
    lines = game_lines(["Ana", "Ben"])
    _begin(here, lines[:4])
    add_game(there, ["Ana", "Ben"], AT)
    assert bring(here, there) == (0, 1, 0)
    with Record(here, read_only=True) as record:
        assert [text for _, text in record.lines(1)] == lines
        assert record.broken_seals(1) == [] and record.unfinished() is None
    assert bring(there, here) == (0, 0, 1)


def test_a_record_without_seals_is_compared_as_well(here: Path, there: Path) -> None:
    """Lines that an old program wrote were not vouched for; they have seals all the same, from their text."""
    add_game(here, ["Ana", "Ben"], AT)
    add_game(there, ["Ana", "Ben"], AT)
    with closing(sqlite3.connect(there)) as db:
        db.execute("UPDATE line SET seal=NULL")
        db.commit()
    assert bring(here, there) == (0, 0, 1)


def test_games_at_an_earlier_place_are_named_until_they_are_here(here: Path, there: Path) -> None:
    add_game(there, ["Ana", "Ben"], AT)
    (words,) = find_left_behind(here, [there])
    assert f"`referee games --import {there}`" in words and str(here) in words
    bring(here, there)
    assert list(find_left_behind(here, [there])) == []
    with Record(here) as record:
        record.remove(1, LATER, "asked for")
    assert list(find_left_behind(here, [there])) == [], "it was removed on purpose"
    there.write_bytes(b"no data base" * 100)
    assert len(list(find_left_behind(here, [there]))) == 1, "rescue may read some of it"


def test_a_backup_of_another_table_brings_its_games_alone(
    here: Path, there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not its settings and decks, as a restore would; who was forgotten there is forgotten here."""
    add_game(there, ["Ana", "Ben"], AT)
    with People(there) as people:
        people.remember("Ana", AT)
    bring(here, there)
    with People(there) as people:
        forget(people, people.named("Ana"), LATER)
    add_game(there, ["Cho", "Dan"], AT, reaction=QUICK)
    settings = tmp_path / "table.toml"
    settings.write_text("dealer = 2\n")
    back_up(Places(there, settings, tmp_path / "decks"), tmp_path / "table-2.zip", LATER)
    settings.unlink()
    assert main(["games", "--record", str(here), "--import", str(tmp_path / "table-2.zip")]) == 0
    said = capsys.readouterr().out
    assert "added: 1, completed: 0, there already: 1" in said and "forgotten there, and now here as well: 1" in said
    assert players(here) == {1: ("Seat 1", "Ben"), 2: ("Cho", "Dan")} and not settings.exists()
    (tmp_path / "torn.zip").write_bytes((tmp_path / "table-2.zip").read_bytes()[:200])
    assert main(["games", "--record", str(here), "--import", str(tmp_path / "torn.zip")]) == 2
    assert "torn or no backup" in capsys.readouterr().err


def test_commands_look_in_one_place_and_name_the_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Games beside the current folder, and beside the settings of `referee play`, come in by the printed command."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "club").mkdir()
    monkeypatch.chdir(tmp_path / "club")
    data = tmp_path / "data" / "table-referee"
    add_game(tmp_path / "club" / "games" / "record.db", ["Ana", "Ben"], AT)
    add_game(data / "games.db", ["Cho", "Dan"], AT)
    for command in ("games", "people", "league", "shadow"):
        assert main([command]) == 2
        assert f"`referee games --import {tmp_path / 'club' / 'games' / 'record.db'}`" in capsys.readouterr().err
    certificate = tmp_path / "club" / "games" / "certificates" / "2026-05-01T184000p0100.json"
    certificate.parent.mkdir()
    certificate.write_text("{}")
    assert main(["games", "--import", "games/record.db"]) == 0
    assert (data / "games" / "certificates" / certificate.name).read_text() == "{}", "the table stays certified"
    assert main(["games"]) == 0
    said = capsys.readouterr()
    assert "Ana, Ben" in said.out and f"`referee games --import {data / 'games.db'}`" in said.err
    assert main(["games", "--import", str(data / "games.db")]) == 0
    assert main(["games"]) == 0
    said = capsys.readouterr()
    assert "Ana, Ben" in said.out and "Cho, Dan" in said.out and said.err == ""
    assert main(["games", "--import", str(data / "games" / "record.db")]) == 2
    assert "is this record itself" in capsys.readouterr().err
