"""People: asked once, tied to their games, renamed, merged - and forgotten down to the file's bytes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from referee.engine.rulings import encode_ruling
from referee.record.erasure import (
    erase_game,
    erase_overdue,
    forget,
    rename_everywhere,
    scrub_noted,
    settle_names,
    take_names,
)
from referee.record.people import People, PeopleError, consent_question
from referee.record.pictures import Picture, PictureStore
from referee.record.redaction import seat_name
from referee.record.retention import RetentionPeriods, find_overdue, make_room
from referee.record.statistics import list_results
from referee.record.store import GameInfo, Record
from referee.record.stored_lines import replay_rows
from referee.text.catalogue import LANGUAGES
from tests.record.playing import add_game, game_lines

AT = "2026-05-01T20:00:00+00:00"
NAME = "Zoë Quagmire"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


@pytest.fixture
def people(path: Path) -> Iterator[People]:
    Record(path).close()
    with People(path) as store:
        yield store


def _bytes(path: Path) -> bytes:
    """Return the record with its write-ahead log and shared memory."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def _forms(name: str) -> list[bytes]:
    """Return the encodings of a name in the file: as UTF-8 and with JSON's escapes, in every case in use."""
    forms = {name, name.casefold(), json.dumps(name)[1:-1]}
    return [form.encode() for form in forms]


def _held(path: Path, name: str) -> bool:
    return any(form in _bytes(path) for form in _forms(name))


def _rulings(path: Path, game: int) -> list[str]:
    with Record(path, read_only=True) as record:
        return [encode_ruling(ruling) for ruling in replay_rows(record.lines(game))[0].rulings]


def test_who_was_asked_is_not_asked_again(people: People) -> None:
    people.answer("Ana", True, AT)
    people.answer("Ben", False, AT)
    assert people.to_ask(["ana ", "Ben", "Cho"]) == ["Cho"]


def test_only_who_agreed_gets_a_name_at_the_table(people: People) -> None:
    people.answer("Ana", True, AT)
    people.answer("Ben", False, AT)
    assert people.seats(["ANA", "Ben", "Cho"]) == ("Ana", "Seat 2", "Seat 3")


def test_who_agreed_cannot_be_set_to_declined_with_everything_kept(people: People) -> None:
    people.answer("Ana", True, AT)
    with pytest.raises(PeopleError, match="forget"):
        people.answer("Ana", False, AT)
    people.answer("Ben", False, AT)
    assert people.answer("Ben", True, AT).agreed


@pytest.mark.parametrize("bad", ["", "   ", "x" * 41, "a\x00b", "tab\x1b[31m"])
def test_names_that_nobody_can_bear(people: People, bad: str) -> None:
    with pytest.raises(PeopleError, match="1 to 40"):
        people.answer(bad, True, AT)


def test_a_game_that_is_over_keeps_the_names_of_those_who_agreed_only(people: People, path: Path) -> None:
    people.answer("Ana", True, AT)
    game = add_game(path, ["Ana", NAME, "Seat 3"], AT)
    before = _rulings(path, game)
    done = settle_names(people, game)
    with Record(path, read_only=True) as record:
        assert record.game(game).seats == ("Ana", "Seat 2", "Seat 3")
    assert done.clean
    assert not _held(path, NAME)
    assert people.ties() == {(game, 1): people.named("Ana").id}
    assert _rulings(path, game) == before


def test_after_forgetting_the_name_is_nowhere_in_the_bytes(people: People, path: Path) -> None:
    for name in (NAME, "Ben"):
        people.answer(name, True, AT)
    games = [add_game(path, [NAME, "Ben"] if odd else ["Ben", NAME], AT) for odd in (0, 1, 1)]
    # Names among other lines too, and one that SQLite moves about: the page is filled, emptied and filled again.
    with Record(path) as record:
        record.add(games[0], [(50, json.dumps({"kind": "note", "t": 5, "text": f"well done, {NAME}!"}))])
        doomed = record.add_game(AT, [(1, json.dumps({"kind": "table", "t": 0, "seats": [NAME, "B"]}))])
        record.remove(doomed, AT, "asked for")
    for game in games:
        people.tie(game)
    people.merge(people.named(NAME), people.answer(f"{NAME} Jr", True, AT))
    before = [_rulings(path, game) for game in games]
    assert _held(path, NAME)
    with Record(path, read_only=True) as record:
        others = [list(record.lines(game))[1:6] for game in games]

    done = forget(people, people.named(NAME), AT)

    assert done.clean
    assert done.games == tuple(games)
    assert not _held(path, NAME)
    assert not _held(path, "Quagmire")
    assert [_rulings(path, game) for game in games] == before
    with Record(path, read_only=True) as record:
        assert [list(record.lines(game))[1:6] for game in games] == others
        first = json.loads(next(record.lines(games[0]))[1])
        assert first["seats"] == ["Ben", "Seat 2"]
        assert first["nameless"] == [2]
    assert people.find(NAME) is None
    assert set(people.ties().values()) == {people.named("Ben").id}


def test_a_name_in_free_pages_goes_too(people: People, path: Path) -> None:
    """Left there by a deletion that did not overwrite: only rebuilding the file removes it."""
    people.answer(NAME, True, AT)
    with Record(path) as record:
        note = json.dumps({"kind": "note", "t": 5, "text": f"{NAME} " * 20}, ensure_ascii=False)
        table = json.dumps({"kind": "table", "t": 0, "seats": [NAME, "B"]}, ensure_ascii=False)
        game = record.add_game(AT, [(1, table), *((number, note) for number in range(2, 200))])
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA secure_delete=OFF")
        db.execute("DELETE FROM line WHERE game=?", (game,))
        db.execute("DELETE FROM game WHERE id=?", (game,))
    db.close()
    assert forget(people, people.named(NAME), AT).clean
    assert not _held(path, NAME)


def test_the_test_of_bytes_notices_a_plain_delete(people: People, path: Path) -> None:
    """Without overwriting and rebuilding the name stays in the file; so the test above can fail."""
    people.answer(NAME, True, AT)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA secure_delete=OFF")
        db.execute("DELETE FROM spelling")
        db.execute("DELETE FROM person")
    assert people.people() == []
    assert _held(path, NAME)


def test_while_somebody_reads_it_says_that_bytes_are_left_and_cleans_up_later(people: People, path: Path) -> None:
    people.answer(NAME, True, AT)
    add_game(path, [NAME, "Ben"], AT)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM line").fetchone()
    done = forget(people, people.named(NAME), AT)
    assert not done.clean
    assert people.find(NAME) is None
    reader.close()
    assert scrub_noted(people)
    assert not _held(path, NAME)


def test_a_game_that_is_being_recorded_goes_on_meanwhile(people: People, path: Path) -> None:
    people.answer(NAME, True, AT)
    with Record(path) as record:
        keeper = record.begin(AT)
        for line in game_lines([NAME, "Ben"])[:2]:
            keeper.write(line)
        keeper.commit()
        done = forget(people, people.named(NAME), AT)
        for line in game_lines([NAME, "Ben"])[2:]:
            keeper.write(line)
        keeper.end(AT)
        assert done.clean
        assert not _held(path, NAME)
        assert [number for number, _ in record.lines(1)] == [1, 2, 3, 4, 5, 6, 7]


def test_a_power_cut_between_deleting_and_cleaning_is_made_up_for(people: People, path: Path) -> None:
    people.answer(NAME, True, AT)
    game = add_game(path, [NAME, "Ben"], AT)
    with sqlite3.connect(path) as holds:
        holds.execute("BEGIN")
        holds.execute("SELECT * FROM game").fetchone()
        assert not take_names(people, {(game, 1): NAME}).clean
    holds.close()
    with People(path) as again:
        assert again.meta("scrub") == "waits"
        assert scrub_noted(again)
        assert again.meta("scrub") is None


def test_a_name_that_is_part_of_another_stays_there(people: People, path: Path) -> None:
    people.answer("Ana", True, AT)
    people.answer("Ana Maria", True, AT)
    game = add_game(path, ["Ana", "Ana Maria"], AT)
    people.tie(game)
    forget(people, people.named("Ana"), AT)
    with Record(path, read_only=True) as record:
        assert record.game(game).seats == ("Seat 1", "Ana Maria")


def test_rules_that_mention_the_name_are_told(people: People, path: Path) -> None:
    people.answer("Ana", True, AT)
    rules = {"base": "classic", "on": ["P19"], "set": {"P19": {"Ana": "7 7"}}}
    table = {"kind": "table", "t": 0, "seats": ["Ana", "Ben"], "rules": rules}
    with Record(path) as record:
        game = record.add_game(AT, [(1, json.dumps(table))])
    assert forget(people, people.named("Ana"), AT).left == (game,)


def test_renaming_keeps_the_past_and_everywhere_does_not(people: People, path: Path) -> None:
    people.answer(NAME, True, AT)
    game = add_game(path, [NAME, "Ben"], AT)
    people.tie(game)
    people.rename(people.named(NAME), "Kim")
    assert people.named(NAME).name == "Kim"
    with Record(path, read_only=True) as record:
        assert record.game(game).seats[0] == NAME
    rename_everywhere(people, people.named("Kim"), "Kim")
    with Record(path, read_only=True) as record:
        assert record.game(game).seats[0] == "Kim"
    assert people.find(NAME) is None
    assert not _held(path, NAME)
    assert people.games_of(people.named("Kim")) == [(game, 1)]


def test_two_spellings_become_one_person_with_all_games(people: People, path: Path) -> None:
    for name in ("Ana", "Anna", "Ben"):
        people.answer(name, True, AT)
    games = [add_game(path, [name, "Ben"], AT) for name in ("Ana", "Anna")]
    for game in games:
        people.tie(game)
    people.merge(people.named("Ana"), people.named("Anna"))
    assert [game for game, _ in people.games_of(people.named("anna"))] == games
    with pytest.raises(PeopleError, match="two people"):
        people.merge(people.named("Ana"), people.named("Ben"))
    with pytest.raises(PeopleError, match="called so already"):
        people.rename(people.named("Ana"), "ben")


def test_a_game_that_is_erased_takes_ties_and_pictures_along(people: People, path: Path) -> None:
    people.answer("Ana", True, AT)
    games = [add_game(path, ["Ana", NAME], AT) for _ in range(2)]
    for game in games:
        people.tie(game)
    mark = b"a hand is seen here " * 300
    frames = PictureStore(path.with_name("frames.db"))
    for game in games:
        frames.add(game, [Picture(1, 1, mark + str(game).encode())])
    frames.close()
    done = erase_game(people, games[0], AT)
    assert done.clean
    assert people.ties() == {(games[1], 1): people.named("Ana").id}
    kept = path.with_name("frames.db")
    assert (mark + str(games[1]).encode())[-60:] in _bytes(kept)
    assert (mark + str(games[0]).encode())[-60:] not in _bytes(kept)
    with pytest.raises(PeopleError, match="no game 99"):
        erase_game(people, 99, AT)


def test_games_that_make_room_take_their_ties_along(people: People, path: Path) -> None:
    people.answer("Ana", True, AT)
    first, second = (add_game(path, ["Ana", "Ben"], AT) for _ in range(2))
    people.tie(first)
    people.tie(second)
    with Record(path) as record:
        make_room(record, AT, cap=800)
    assert set(people.ties()) == {(second, 1)}


def test_pictures_of_a_game_that_made_room_go_with_the_next_tidying(people: People, path: Path) -> None:
    first, second = (add_game(path, ["Ana", "Ben"], AT) for _ in range(2))
    frames = PictureStore(path.with_name("frames.db"))
    for game in (first, second):
        frames.add(game, [Picture(1, 1, b"jpeg")])
    with Record(path) as record:
        make_room(record, AT, cap=800)
    _, words = erase_overdue(people, datetime.fromisoformat(AT))
    assert words == "removed, for their time was over: 1 picture"
    assert [len(list(frames.near(game, 0, 9))) for game in (first, second)] == [0, 1]
    frames.close()


def test_a_forgotten_person_is_on_no_picture(people: People, path: Path) -> None:
    people.answer(NAME, True, AT)
    hers, other = add_game(path, [NAME, "Ben"], AT), add_game(path, ["Cho", "Ben"], AT)
    people.tie(hers)
    mark = b"a hand is seen here " * 300
    frames = PictureStore(path.with_name("frames.db"))
    for game in (hers, other):
        frames.add(game, [Picture(1, 1, mark + str(game).encode())])
    frames.close()
    assert forget(people, people.named(NAME), AT).games == (hers,)
    kept = _bytes(path.with_name("frames.db"))
    assert (mark + str(other).encode())[-60:] in kept
    assert (mark + str(hers).encode())[-60:] not in kept


@pytest.mark.parametrize("content", [b"", b"no data base at all" * 400])
def test_a_damaged_file_of_pictures_does_not_stop_the_tidying(people: People, path: Path, content: bytes) -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    games = [add_game(path, ["Ana", "Ben"], (now - timedelta(days=days)).isoformat()) for days in (1200, 400, 1)]
    path.with_name("frames.db").write_bytes(content)
    over, words = erase_overdue(people, now)
    assert over.games == (games[0],)
    assert "the names of 1 game, 1 game" in words
    assert "pictures could not be removed" in words


def _info(number: int, days: int, *, keep: bool = False, ended: bool = True) -> GameInfo:
    began = (datetime(2026, 6, 1, tzinfo=UTC) - timedelta(days=days)).isoformat()
    return GameInfo(number, began, began if ended else None, ("Ana", "Ben"), "classic", keep)


def test_periods() -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    games = [
        _info(1, 2000, keep=True), _info(2, 2000, ended=False), _info(3, 1096), _info(4, 1095), _info(5, 366),
        _info(6, 31), _info(7, 30), _info(8, 0),
    ]  # fmt: skip
    over = find_overdue(games, RetentionPeriods(), now)
    assert over.games == (2, 3), "no program goes on with a game that was broken off, unless it is the newest"
    assert over.names == (4, 5)
    assert over.pictures == (4, 5, 6)


def test_a_clock_that_is_behind_removes_nothing_and_the_newest_game_stays() -> None:
    games = [_info(1, 400), _info(2, 0)]
    behind = find_overdue(games, RetentionPeriods(), datetime(2026, 1, 1, tzinfo=UTC))
    assert (behind.pictures, behind.names, behind.games) == ((), (), ())
    assert "clock" in behind.refused
    far = find_overdue(games, RetentionPeriods(), datetime(2126, 1, 1, tzinfo=UTC))
    assert far.games == (1,)


@pytest.mark.parametrize("days", [(-1, 5, 9), (40, 5, 9), (1, 10, 9), (1, 2, 99_999)])
def test_periods_that_make_no_sense(days: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="kept"):
        RetentionPeriods(*days)


def test_what_is_overdue_is_removed_and_told(people: People, path: Path) -> None:
    people.answer(NAME, True, AT)
    now = datetime(2026, 6, 1, tzinfo=UTC)
    began = [(now - timedelta(days=days)).isoformat() for days in (1200, 400, 40, 1)]
    games = [add_game(path, [NAME, "Ben"], day) for day in began]
    frames = PictureStore(path.with_name("frames.db"))
    for game in games:
        people.tie(game)
        frames.add(game, [Picture(1, 1, b"jpeg"), Picture(2, 1, b"jpeg")])
    _, words = erase_overdue(people, now)
    assert words == "removed, for their time was over: 6 pictures, the names of 1 game, 1 game"
    with Record(path, read_only=True) as record:
        assert [info.seats for info in reversed(record.games())] == [
            ("Seat 1", "Seat 2"), (NAME, "Ben"), (NAME, "Ben"),
        ]  # fmt: skip
        assert record.removed()[0][3] == "its time was over"
    assert [game for game, _ in people.games_of(people.named(NAME))] == games[2:]
    assert [len(list(frames.near(game, 0, 9))) for game in games] == [0, 0, 0, 2]
    frames.close()
    assert erase_overdue(people, now)[1] == ""


def test_what_is_asked_names_every_period_in_every_language() -> None:
    for language in LANGUAGES:
        words = consent_question("Ana", RetentionPeriods(11, 222, 3333), language)
        assert all(part in words for part in ("Ana", "11", "222", "3333")), language
    assert len({consent_question("Ana", RetentionPeriods(), language) for language in LANGUAGES}) == 4


def test_a_game_is_read_for_who_won_and_how_quick(people: People, path: Path) -> None:
    people.answer("Ana", True, AT)
    game = add_game(path, ["Ben", "Ana", "Cho"], AT, winner=2, reaction=231_000_000)
    people.tie(game)
    (found,) = list_results(people)
    assert (found.winner, found.finished, found.people) == (2, True, {2: people.named("Ana").id})
    assert [hand.since for hand in found.hands if hand.seat == 2] == [231_000_000]


def test_a_record_that_knows_no_people_reads_as_empty(path: Path) -> None:
    add_game(path, ["Ana", "Ben"], AT)
    with People(path, read_only=True) as store:
        assert store.people() == []
        assert list(list_results(store)) == []
        assert store.keeping == RetentionPeriods()


def test_seat_names() -> None:
    assert seat_name(3) == "Seat 3"
