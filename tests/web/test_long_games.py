"""A game that is too long to be ruled again is shown by its log, and long games are counted in the background."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.engine import replay
from referee.engine.replay import TooLong
from referee.engine.rulings import SHOWN_BY_POSITION
from referee.record.database import connect
from referee.record.store import Record
from referee.web import games_cache
from referee.web.games_cache import GameCache
from tests.web.table import Table, demo_lines
from tests.web.test_page_answers import Answering

GAMES = 3


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Games of a hundred lines each."""
    with Record(tmp_path / "games.sqlite") as record:
        for _ in range(GAMES):
            table = Table(record, demo_lines()[0], at_once=True)
            for line in demo_lines()[1:250]:
                table.observe(line)
            table.finish()
    return tmp_path / "games.sqlite"


@pytest.fixture
def shelf(record: Path) -> Iterator[GameCache]:
    made = GameCache(record)
    yield made
    made.close()


def test_a_long_game_is_shown_as_its_log_has_it(shelf: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    folded = shelf.folded(1)
    monkeypatch.setattr(replay, "LONGEST_GAME", 30)
    with pytest.raises(TooLong):
        shelf.folded(1)
    logged = shelf.logged(1)
    assert shelf.rulings(1, logged.every) == folded.rulings
    assert shelf.rulings(1, logged.listed) == [
        ruling for ruling in folded.rulings if ruling.kind not in SHOWN_BY_POSITION
    ]
    assert shelf.rulings(1, logged.every[5:8]) == folded.rulings[5:8] and shelf.rulings(1, []) == []
    assert (logged.table, logged.replaced_by, logged.odd) == (folded.table, folded.replaced_by, folded.odd)
    assert logged.seals.last == folded.seals.last and not logged.seals.broken
    assert shelf.logged(1) is logged


def test_its_page_turns_over_and_says_what_cannot_be_had(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering = Answering(record)
    usual = answering.get("/games/1", "all=1")
    monkeypatch.setattr(replay, "LONGEST_GAME", 30)
    monkeypatch.setattr("referee.web.games._RULINGS_A_PAGE", 10)
    first, last = answering.get("/games/1", "all=1"), answering.get("/games/1", "all=1&from=10")
    assert (first.status, last.status) == (200, 200)
    assert "Its log holds all of it" in first.body.decode() and "/games/1/replay" not in first.body.decode()
    rows = [reply.body.count(b"data-id=") for reply in (first, last)]
    assert rows == [10, 10] and usual.body.count(b"data-id=") > 20
    assert "from=20" in last.body.decode()
    for path in ("/games/1/replay", "/games/1/figures", "/games/1/ruling"):
        assert answering.get(path).status == 422
    assert answering.get("/").status == 200
    answering.site.close()


def test_a_changed_line_of_a_long_game_is_told(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(record, "rw") as db:
        db.execute("DROP TRIGGER line_stays")
        db.execute("UPDATE line SET text=replace(text, '\"t\":', '\"t\":1') WHERE game=1 AND number=9")
    monkeypatch.setattr(replay, "LONGEST_GAME", 30)
    shelf = GameCache(record)
    assert [seal.number for seal in shelf.logged(1).seals.broken] == [9]
    shelf.close()


def test_the_promises_and_rulings_of_a_game_do_not_make_it_long(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Record(record, read_only=True) as games:
        observed = sum('"kind":"tick"' not in text and '"ruling"' not in text for _, text in games.lines(1))
        monkeypatch.setattr(replay, "LONGEST_GAME", observed)
        assert games.last_line(1) > observed and not games.is_too_long(1)
        monkeypatch.setattr(replay, "LONGEST_GAME", observed - 1)
        assert games.is_too_long(1)


def _counted_aside(shelf: GameCache) -> None:
    """Wait until the background count is done."""
    assert shelf._counting is not None
    shelf._counting.join()


def test_counted_aside_as_at_once(record: Path, shelf: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    games = list(range(1, GAMES + 1))
    at_once, left = shelf.count(games)
    assert left == 0 and all(result.hands for result in at_once)
    monkeypatch.setattr(games_cache, "COUNTED_AT_ONCE", 0)
    other = GameCache(record)
    assert other.count(games) == ([], GAMES)
    _counted_aside(other)
    assert other.count(games) == (at_once, 0)
    other.close()


def test_a_game_over_which_the_counting_dies_is_left_out(shelf: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games_cache, "COUNTED_AT_ONCE", 0)
    monkeypatch.setattr(games_cache, "_COUNT", "import sys; sys.exit(9)")
    for left in range(GAMES, 0, -1):
        assert shelf.count(list(range(1, GAMES + 1)))[1] == left
        _counted_aside(shelf)
    results, left = shelf.count(list(range(1, GAMES + 1)))
    assert left == 0 and [result.hands for result in results] == [()] * GAMES


@pytest.mark.parametrize("path", ["/figures", "/figures.csv"])
def test_who_asks_for_figures_is_told_to_wait(record: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(games_cache, "COUNTED_AT_ONCE", 0)
    answering = Answering(record)
    first = answering.get(path)
    header = dict(first.headers)
    if path == "/figures":
        assert first.status == 200 and header["refresh"] == "3"
    else:
        assert first.status == 503 and header["retry-after"] == "3"
    assert "3 games are still being counted" in first.body.decode()
    _counted_aside(answering.site.shelf)
    whole = answering.get(path)
    assert whole.status == 200 and "refresh" not in dict(whole.headers) and "Ana" in whole.body.decode()
    answering.site.close()
