"""Shadow mode on the page: nothing of the game before its end, and everything afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from referee.cli.serve import page_options
from referee.record.store import Record
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.scoreboard import Follower
from referee.web.server import build
from referee.web.site import Site
from tests.web.browser import request

TABLE = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
SHADOW = '{"kind":"shadow","t":1,"id":"x1"}'
GAME = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"7c","seat":2}',
    '{"kind":"slap","t":2300000000,"id":"s1","seat":3}',
    '{"kind":"mark","t":4000000000,"id":"m1","verdict":"false"}',
)


def recorded(path: Path, *lines: str) -> Record:
    record = Record(path)
    record.add_game("2026-03-14T18:05:00+00:00", list(enumerate((TABLE, *lines), start=1)))
    return record


def fetch(site: Site, path: str) -> tuple[int, str]:
    reply = asyncio.run(request(build(site, options=page_options()), "GET", path, [("host", "localhost")]))
    return reply.status, reply.body.decode()


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return recorded(tmp_path / "record.db", SHADOW, *GAME)


HIDDEN = (
    "/", "/projector", "/finish", "/figures", "/games/1", "/games/1/finish", "/games/1/log.jsonl", "/games/1/shadow",
)  # fmt: skip


@pytest.mark.parametrize("path", HIDDEN)
def test_nothing_of_the_game_is_shown_before_its_end(record: Record, path: str) -> None:
    status, body = fetch(Site(GameCache(record.path), Hub(Board()), controlled=True), path)
    assert status == 200 and "The referee is in shadow mode" in body
    assert "slap_won@" not in body and "Cho" not in body


def test_the_scoreboard_forgets_the_game_before(record: Record) -> None:
    hub = Hub(Board(7, ("Eve",)))
    asyncio.run(Follower(Site(GameCache(record.path), hub)).look())
    assert hub.board.game is None


def test_the_report_is_shown_afterwards(record: Record) -> None:
    record.end(1, "2026-03-14T19:05:00+00:00")
    site = Site(GameCache(record.path), Hub(Board()))
    status, body = fetch(site, "/games/1/shadow")
    assert status == 200
    assert "0 of 1 slaps were ruled alike" in body
    assert 'id="difference-1"' in body and "referee shadow --game 1 --case 1" in body
    assert "/games/1/shadow" in fetch(site, "/games/1")[1]


def test_a_game_that_the_referee_ruled_itself_has_no_such_report(tmp_path: Path) -> None:
    record = recorded(tmp_path / "record.db", *GAME[:3])
    site = Site(GameCache(record.path), Hub(Board()))
    assert fetch(site, "/games/1/shadow")[0] == 404
    assert fetch(site, "/games/1")[0] == 200
