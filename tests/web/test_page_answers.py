"""Every address answers sensibly: existing, missing and damaged things, and arbitrary addresses."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette

from referee.cli.serve import page_options
from referee.control.page_address import PageAddress, listen_at, page_address
from referee.engine import replay as folding
from referee.errors import UserError
from referee.record.store import Record
from referee.text.catalogue import LANGUAGES
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.scoreboard import Follower
from referee.web.server import build
from referee.web.site import Site
from tests.web.browser import Reply, request
from tests.web.served import Served
from tests.web.table import BEGAN, Table, demo_lines

EVIL = "<script>alert(1)</script>"


class Answering:
    """The page's own app, without a guard and without a process."""

    def __init__(self, record: Path, address: PageAddress | None = None) -> None:
        self.site = Site(GameCache(record), Hub(Board()), address=address)
        self.app: Starlette = build(self.site, options=page_options())

    def get(self, path: str, query: str = "", *headers: tuple[str, str]) -> Reply:
        async def ask() -> Reply:
            await Follower(self.site, None).look()
            return await request(self.app, "GET", path, [("host", "localhost"), *headers], query=query.encode())

        return asyncio.run(ask())


@pytest.fixture(scope="module")
def answering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answering]:
    with Record(tmp_path_factory.mktemp("answers") / "games.sqlite") as record:
        lines = demo_lines()
        table = Table(record, lines[0], at_once=True)
        for line in lines[1:300]:
            table.observe(line)
        table.finish()
    made = Answering(record.path)
    yield made
    made.site.close()


@pytest.mark.parametrize(
    "path, query",
    [
        ("/", ""), ("/projector", ""), ("/games", ""), ("/games/1", ""), ("/games/1", "all=1&from=30"),
        ("/figures", ""), ("/games/1/figures", ""), ("/games/1/replay", "at=40"), ("/control", ""),
        ("/games/1/ruling", "id=lead@table"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_there_in_every_language(answering: Answering, path: str, query: str, language: str) -> None:
    reply = answering.get(path, f"{query}&lang={language}")
    assert reply.status == 200
    html = reply.body.decode()
    assert f'<html lang="{language}">' in html
    # Scripts fill these fields.
    shown = re.sub(r"\{(at|all|left)\}", "", html.partition("<main")[2].partition("data-words")[0])
    assert "<h1" in html and "{" not in shown


@pytest.mark.parametrize(
    "path, query, status",
    [
        ("/nothing", "", 404), ("/games/99", "", 404), ("/games/0", "", 404), (f"/games/{2**70}", "", 404),
        ("/games/1/finish", "slap=none", 404), ("/games/1/finish", "", 404), ("/games/1/finish.svg", "slap=%00", 404),
        ("/games/1/ruling", "id=none", 404), ("/games/1/pictures/5.jpg", "", 404), ("/static/nothing.css", "", 404),
        ("/static/..", "", 404), ("/games/1/replay", "at=-5", 200), ("/games/1/replay", "at=99999999999999999999", 200),
        ("/games/1/steps", "from=99999", 200), ("/games/1/steps", "from=x", 200), ("/games", "from=77", 200),
        ("/games/1", "from=99999", 200), ("/", f"lang={EVIL}", 200), ("/finish", "", 303),
    ],
)  # fmt: skip
def test_odd_addresses_are_no_harm(answering: Answering, path: str, query: str, status: int) -> None:
    assert answering.get(path, query).status == status


def test_files_are_files(answering: Answering) -> None:
    slap = answering.get("/finish").header("location")
    assert slap is not None
    path, _, query = slap.partition("?")
    kinds = {
        f"{path}.svg": "image/svg+xml", "/games/1/rulings.csv": "text/csv; charset=utf-8",
        "/games/1/figures.csv": "text/csv; charset=utf-8", "/figures.csv": "text/csv; charset=utf-8",
        "/games/1/log.jsonl": "application/jsonl",
    }  # fmt: skip
    for at, kind in kinds.items():
        reply = answering.get(at, query)
        assert (reply.status, reply.header("content-type")) == (200, kind)
        assert "attachment" in (reply.header("content-disposition") or "")
    log = answering.get("/games/1/log.jsonl").body.decode().splitlines()
    assert json.loads(log[0])["kind"] == "table"
    assert answering.get("/qr.svg").body.startswith(b"<svg")


def test_steps_come_in_pieces_that_join(answering: Answering) -> None:
    first = json.loads(answering.get("/games/1/steps", "from=0").body)
    second = json.loads(answering.get("/games/1/steps", f"from={len(first['steps'])}").body)
    ids = [step["id"] for step in [*first["steps"], *second["steps"]]]
    assert len(ids) == len(set(ids)) and second["from"] == len(first["steps"])


def test_static_files_are_kept_by_their_mark(answering: Answering) -> None:
    mark = answering.get("/static/page.css").header("etag")
    assert mark is not None
    assert answering.get("/static/page.css", "", ("if-none-match", mark)).status == 304


def test_a_page_that_is_stopped_lets_its_viewers_go_and_tidies_up(tmp_path: Path) -> None:
    socket_ = tmp_path / "page.sock"
    Record(tmp_path / "games.sqlite").close()
    served = Served(tmp_path / "games.sqlite", "--listen", str(socket_))
    assert socket_.exists()
    viewer = socket.create_connection(("127.0.0.1", served.port))
    viewer.sendall(f"GET /events HTTP/1.1\r\nHost: localhost:{served.port}\r\n\r\n".encode())
    assert b"200 OK" in viewer.recv(4096)
    assert served.stop() == 0
    while viewer.recv(65536):
        pass
    viewer.close()
    assert not socket_.exists()


def test_an_address_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UserError, match="try another --port"):
        listen_at("127.0.0.1", taken.getsockname()[1])


def test_phones_are_shown_an_address_that_they_reach_or_told_that_there_is_none(tmp_path: Path) -> None:
    room = Answering(tmp_path / "none.sqlite", page_address("0.0.0.0", 8080, lambda: "192.168.1.7"))
    shown = room.get("/").body.decode()
    assert 'src="/qr.svg"' in shown and "<b>192.168.1.7:8080</b>" in shown
    alone = Answering(tmp_path / "none.sqlite", page_address("127.0.0.1", 8080))
    shown = alone.get("/", "lang=de").body.decode()
    assert 'src="/qr.svg"' not in shown and "nur für diesen Rechner" in shown
    assert room.get("/qr.svg").body != alone.get("/qr.svg").body
    for each in (room, alone):
        each.site.close()


def test_no_record_yet_is_a_page_that_waits(tmp_path: Path) -> None:
    answering = Answering(tmp_path / "none.sqlite")
    assert b"Waiting for a game" in answering.get("/").body
    assert b"No game has been recorded yet" in answering.get("/games").body
    assert b"No slap has been ruled yet" in answering.get("/finish").body
    answering.site.close()


def test_a_record_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite").write_bytes(b"this is no database, whatever its name says" * 50)
    answering = Answering(tmp_path / "games.sqlite")
    reply = answering.get("/games")
    assert reply.status == 503 and b"The record cannot be read" in reply.body
    assert answering.get("/").status == 200
    answering.site.close()


def test_a_damaged_game_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    with Record(tmp_path / "games.sqlite") as record:
        table = Table(record, demo_lines()[0])
        table.observe(demo_lines()[5])
        damaged = record.begin(BEGAN)
        damaged.write(demo_lines()[0])
        damaged.write("{no line")
        damaged.commit()
    answering = Answering(record.path)
    assert b"left out: line 2." in answering.get("/games/2").body
    assert answering.get("/games/2/log.jsonl").status == 200
    assert answering.get("/figures").status == 200
    assert answering.get("/games/1").status == 200
    assert answering.get("/").status == 200
    answering.site.close()


def test_a_game_too_long_to_step_through_says_what_to_do(answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "LONGEST_GAME", 5)
    answering.site.shelf._folded.clear()
    reply = answering.get("/games/1/replay")
    assert reply.status == 422 and b"too long to step through" in reply.body
    assert answering.get("/").status == 200


def test_names_cannot_carry_markup_anywhere(tmp_path: Path) -> None:
    with Record(tmp_path / "games.sqlite") as record:
        first = json.loads(demo_lines()[0]) | {"seats": [EVIL, "=1+1", '"&', "d"]}
        table = Table(record, json.dumps(first), at_once=True)
        for line in demo_lines()[1:200]:
            table.observe(line)
        table.finish()
    answering = Answering(record.path)
    slap = (answering.get("/finish").header("location") or "").partition("?")[2]
    for path, query in (
        ("/", ""), ("/games", ""), ("/games/1", "all=1"), ("/games/1/replay", "at=50"), ("/games/1/figures", ""),
        ("/games/1/finish", slap), ("/games/1/finish.svg", slap), ("/games/1/steps", ""),
    ):  # fmt: skip
        body = answering.get(path, query).body
        if path.endswith("/steps"):
            # Data is inserted as text; the regions are markup.
            body = json.dumps([step | {"what": ""} for step in json.loads(body)["steps"]]).encode()
        assert b"<script>alert" not in body, path
    answering.site.close()


def test_a_game_begins_with_its_summary_and_shows_its_rulings_in_portions(answering: Answering) -> None:
    first = answering.get("/games/1", "all=1").body.decode()
    order = [first.index(part) for part in ('class="curve"', "panel moments", '<table class="rulings"')]
    assert order == sorted(order)
    assert first.index("<details") < first.index("note seal") < first.index("</details>")
    second = answering.get("/games/1", "all=1&from=50").body.decode()
    assert 'class="curve"' not in second
    shown = [re.findall(r'data-id="([^"]+)"', html) for html in (first, second)]
    assert len(shown[0]) == 50 and shown[1] and not set(shown[0]) & set(shown[1])
    assert "from=50" in first
