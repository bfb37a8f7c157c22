"""The record: committed lines are there, and lines that cannot be written are reported and kept."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.errors import UserError
from referee.record.database import RecordError
from referee.record.export import export_game, import_game, write_rulings_csv
from referee.record.journal import FEW_LINES, GameWriter, LogWriter
from referee.record.people import People
from referee.record.pictures import PICTURE_PAGE, Picture, PictureStore
from referee.record.retention import choose_games_to_remove, make_room
from referee.record.seals import detach_seal
from referee.record.store import GameInfo, Record

TABLE = json.dumps({"kind": "table", "t": 0, "id": "table", "seats": ["Ana", "Ben"], "dealer": 1, "rules": "classic"})
CARD = '{"kind":"card","t":1,"id":"c1","card":"7h","seat":1}'
SLAP = '{"kind":"slap","t":2,"id":"s1.1","seat":2}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games" / "record.db"


def _begun(record: Record) -> tuple[GameWriter, int]:
    keeper = record.begin("2026-01-02T03:04:05")
    keeper.write(TABLE)
    keeper.commit()
    assert keeper.game is not None
    return keeper, keeper.game


def without_seals(log: str) -> str:
    return "".join(f"{detach_seal(line)[0]}\n" for line in log.splitlines())


def test_committed_lines_are_there_for_another_reader(path: Path) -> None:
    with Record(path) as record:
        keeper, game = _begun(record)
        keeper.write(CARD)
        with Record(path, read_only=True) as reader:
            assert list(reader.lines(game)) == [(1, TABLE)]
            keeper.commit()
            assert list(reader.lines(game)) == [(1, TABLE), (2, CARD)]
            keeper.write(SLAP)
            keeper.commit()
            assert list(reader.lines(game, after=2)) == [(3, SLAP)]
            assert reader.game(game).seats == ("Ana", "Ben")


def test_only_the_last_promise_of_a_sensor_is_kept_between_lines(path: Path) -> None:
    with Record(path) as record:
        keeper, game = _begun(record)
        for t in (10, 20, 30):
            keeper.write(f'{{"kind":"tick","t":{t},"sensor":"pads"}}', "pads")
            keeper.write(f'{{"kind":"tick","t":{t + 1},"sensor":"camera"}}', "camera")
        keeper.write(CARD)
        keeper.commit()
        kept = [json.loads(text) for _, text in record.lines(game, after=1)]
        assert [(line["kind"], line["t"]) for line in kept] == [("tick", 30), ("tick", 31), ("card", 1)]


def test_an_unfinished_game_is_found_and_gone_on_with(path: Path) -> None:
    with Record(path) as record:
        _begun(record)
    with Record(path) as record:
        left = record.unfinished()
        assert left is not None
        keeper = record.again(left.id)
        keeper.write(CARD)
        keeper.end("2026-01-02T04:00:00")
        assert record.unfinished() is None
        assert [text for _, text in record.lines(left.id)] == [TABLE, CARD]
        with pytest.raises(RecordError, match="has ended"):
            record.again(left.id)


def test_a_game_that_is_over_is_in_the_file_itself(path: Path) -> None:
    log = path.with_name(f"{path.name}-wal")
    with Record(path) as record:
        keeper, _ = _begun(record)
        assert log.stat().st_size > 0
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            # A reader is active: the end of the game does not wait for it.
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM line").fetchone()
            keeper.end("2026-01-02T04:00:00")
            assert record.game(1).ended is not None
        keeper.reopen()
        keeper.write(CARD)
        keeper.end("2026-01-02T04:00:01")
        assert log.stat().st_size == 0
        assert len(list(record.lines(1))) == 2


def test_lines_are_never_changed(path: Path) -> None:
    with Record(path) as record:
        _begun(record)
    raw = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
        raw.execute("UPDATE line SET text='{}'")
    raw.close()


def test_a_full_disk_is_told_and_loses_nothing(path: Path) -> None:
    with Record(path) as record:
        keeper, game = _begun(record)
        pages = record._db.execute("PRAGMA page_count").fetchone()[0]
        record._db.execute(f"PRAGMA max_page_count={pages}")
        lines = [f'{{"kind":"card","t":{t},"id":"c{t}","card":"7h","seat":1}}' for t in range(2000)]
        for line in lines:
            keeper.write(line)
        with pytest.raises(RecordError, match="disk is full"):
            keeper.commit()
        assert keeper.waiting == len(lines)
        record._db.execute("PRAGMA max_page_count=1000000")
        keeper.commit()
        assert [text for _, text in record.lines(game, after=1)] == lines


def test_a_disk_that_takes_nothing_is_tried_with_a_few_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many wait; a sensor's progress waits as one line; and all are there in order in the end."""
    tried: list[int] = []
    with Record(path) as record:
        keeper, game = _begun(record)
        with monkeypatch.context() as broken:

            def full(_: int, rows: list[tuple[int, str]]) -> None:
                tried.append(len(rows))
                raise RecordError("the disk is full")

            broken.setattr(record, "add", full)
            for number in range(1000):
                keeper.write(f'{{"kind":"odd","t":{number}}}')
            for t in range(100):
                keeper.write(f'{{"kind":"tick","t":{t},"sensor":"pads"}}', "pads")
                with pytest.raises(RecordError):
                    keeper.commit()
        assert (max(tried[1:]), keeper.waiting) == (FEW_LINES, 1000)
        keeper.commit()
        texts = [text for _, text in record.lines(game, after=1)]
        assert [json.loads(text)["t"] for text in texts] == [*range(1000), 99]
        assert keeper.waiting == 0


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "make room"), (errno.EROFS, "worn out or locked")])
def test_what_to_do_depends_on_what_is_wrong(number: int, words: str) -> None:
    class Broken:
        def write(self, line: str, sensor: str | None = None) -> None: ...

        def commit(self) -> None:
            raise OSError(number, os.strerror(number))

    keeper = LogWriter(Broken())
    keeper.write("x")
    assert words in (keeper.save() or "")


def test_a_removed_game_leaves_a_note(path: Path) -> None:
    with Record(path) as record:
        _, game = _begun(record)
        record.remove(game, "2026-02-01", "to make room")
        assert record.games() == []
        assert record.removed() == [("2026-02-01", game, "2026-01-02T03:04:05", "to make room")]
        assert _begun(record)[1] > game, "a number is never given twice"


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"this is no database, but a text of some length" * 100, "damaged"), (None, "cannot be opened")],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "record.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(RecordError, match=words):
        Record(path)


def test_a_newer_file_is_left_alone(path: Path) -> None:
    Record(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version=99")
    raw.close()
    with pytest.raises(RecordError, match="newer program"):
        Record(path)


def _info(number: int, *, ended: bool = True, keep: bool = False) -> GameInfo:
    return GameInfo(number, f"2026-01-{number:02}", "later" if ended else None, ("Ana",), "classic", keep)


def test_the_oldest_ended_games_go_first_and_kept_ones_stay() -> None:
    games = [(_info(1), 40), (_info(2, keep=True), 40), (_info(3, ended=False), 40), (_info(4), 40), (_info(5), 40)]
    assert choose_games_to_remove(games, 200) == []
    assert [info.id for info in choose_games_to_remove(games, 199)] == [1]
    assert [info.id for info in choose_games_to_remove(games, 140)] == [1, 4]
    assert [info.id for info in choose_games_to_remove(games, 10)] == [1, 4], (
        "kept, unfinished and the latest stay, whatever the cap"
    )


def test_room_is_made_and_told(path: Path) -> None:
    with Record(path) as record:
        for _ in range(4):
            keeper, _ = _begun(record)
            keeper.write(CARD)
            keeper.end("2026-01-02T04:00:00")
        each = next(iter(record.sizes().values()))
        assert make_room(record, "now", cap=4 * each).words == ""
        room = make_room(record, "now", cap=3 * each)
        assert [info.id for info in record.games()] == [4, 3]
        assert "2 old games were removed" in room.words
        assert [game for _, game, _, _ in record.removed()] == [1, 2]
        record.keep(3)
        assert "raise the cap" in make_room(record, "now", cap=1).words


def test_a_game_goes_out_and_comes_in_as_it_was(path: Path, tmp_path: Path) -> None:
    won = (
        '{"ruling":"slap_won","id":"slap_won@s1.1","t":1500000000,"seat":2,"patterns":["P1"],"cards":["7h","7c"],'
        '"margin":14500000,"error":40000,"runners_up":[],"decided_by":"time","because":["s1.1"],"rule":["M1"]}'
    )
    with Record(path) as record:
        keeper, game = _begun(record)
        for line in (CARD, SLAP, won):
            keeper.write(line)
        keeper.end("2026-01-02T04:00:00")
        file = tmp_path / "game.jsonl"
        file.write_text("".join(export_game(record, game)), encoding="utf-8")
        lines = list(record.lines(game))
    with Record(tmp_path / "other.db") as other:
        again = import_game(other, file, "2026-01-03").game
        assert list(other.lines(again)) == lines
        table = write_rulings_csv(text for _, text in other.lines(again))
    head, row = table.splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True)) | {"margin_ms": "14.500", "player": "Ben"} == dict(
        zip(head.split(","), row.split(","), strict=True)
    )


def test_a_torn_log_is_not_taken_in(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    file.write_text(TABLE + "\n" + CARD[:20], encoding="utf-8")
    with Record(path) as record:
        with pytest.raises(UserError, match="line 2"):
            import_game(record, file, "2026-01-03")
        assert record.games() == []


def test_pictures_stay_under_their_cap_the_oldest_go(tmp_path: Path) -> None:
    store = PictureStore(tmp_path / "frames.db", cap=10 * PICTURE_PAGE)
    assert store.add(1, [Picture(t, 5, bytes(PICTURE_PAGE)) for t in range(10)]) == 0
    assert store.add(1, [Picture(0, 5, bytes(5 * PICTURE_PAGE))]) == 0, "a frame that is kept already stays as it is"
    assert store.held == 10 * PICTURE_PAGE
    assert store.add(2, [Picture(3, 5, bytes(2 * PICTURE_PAGE + 1))]) == 3
    assert store.held == 10 * PICTURE_PAGE
    assert [picture.t for picture in store.near(1, 0, 100)] == list(range(3, 10))
    store.close()
    again = PictureStore(tmp_path / "frames.db", read_only=True)
    assert again.held == 10 * PICTURE_PAGE
    assert [len(picture.jpeg) for picture in again.near(2, 0, 10)] == [2 * PICTURE_PAGE + 1]
    again.close()


def test_games_are_listed_taken_out_kept_and_removed(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def games(*words: str) -> str:
        assert main(["games", "--record", str(path), *words]) == 0
        return capsys.readouterr().out

    log = tmp_path / "log.jsonl"
    log.write_text(TABLE + "\n" + CARD + "\n", encoding="utf-8")
    assert games("--import", str(log)) == "game 1\n"
    assert without_seals(games("--export", "1")) == log.read_text(encoding="utf-8")
    games("--keep", "1")
    assert "Ana, Ben  (classic" in games()
    assert "kept" in games()
    games("--remove", "1")
    assert "no game" in games()
    assert main(["games", "--record", str(path), "--export", "1"]) == 2
    assert "there is no game 1" in capsys.readouterr().err


def test_a_game_that_is_taken_in_counts_for_who_had_agreed(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(TABLE + "\n" + CARD + "\n", encoding="utf-8")
    other = tmp_path / "other.jsonl"
    other.write_text(TABLE + "\n" + CARD.replace("7h", "8h") + "\n", encoding="utf-8")
    for words in (["games", "--import", str(log)], ["people", "--agrees", "Ana"], ["games", "--import", str(other)]):
        assert main([words[0], "--record", str(path), *words[1:]]) == 0
    with People(path, read_only=True) as people:
        assert set(people.ties()) == {(1, 1), (2, 1)}
    capsys.readouterr()
    assert main(["games", "--record", str(path), "--export", "2"]) == 0
    assert without_seals(capsys.readouterr().out) == other.read_text(encoding="utf-8")
