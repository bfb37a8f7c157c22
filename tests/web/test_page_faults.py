"""The page's answers under faults: damaged games, no record, an empty league."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from referee.cli.serve import page_options
from referee.control.page_address import listen_at
from referee.errors import UserError
from referee.record.erasure import forget
from referee.record.people import People
from referee.record.pictures import Picture, PictureStore
from referee.record.seals import show_seal
from referee.record.store import Record
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.server import build
from referee.web.site import Site
from tests.record.playing import S, add_game
from tests.web.browser import HOST, Reply, request

AT = "2026-05-01T20:00:00+00:00"
TABLE = {"kind": "table", "t": 0, "id": "t", "seats": ["Ana", "Ben"], "dealer": 2, "rules": "classic"}


class Page:
    """The page's application over a record, and its client."""

    def __init__(self, folder: Path) -> None:
        self.path, self.pictures = folder / "record.db", folder / "frames.db"
        self.hub = Hub(Board())
        self.site = Site(GameCache(self.path, self.pictures), self.hub)
        self._app = build(self.site, options=page_options())

    def get(self, path: str, query: str = "") -> Reply:
        return asyncio.run(request(self._app, "GET", path, [("host", HOST)], query=query.encode()))

    def shown(self, path: str, query: str = "") -> str:
        """Return the page at this existing address."""
        reply = self.get(path, query)
        assert reply.status == 200, reply
        return reply.body.decode()

    def add(self, *lines: dict[str, Any]) -> int:
        """Add a game of these unchanged lines; return its number."""
        with Record(self.path) as record:
            rows = [(number, json.dumps(line)) for number, line in enumerate((TABLE, *lines), start=1)]
            game = record.add_game(AT, rows)
            record.end(game, AT)
        return game


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    made = Page(tmp_path)
    yield made
    made.site.close()


def card(n: int, face: str, seat: int) -> dict[str, Any]:
    return {"kind": "card", "t": n * S, "id": f"c{n}", "card": face, "seat": seat}


def test_a_game_without_a_table_is_told_and_one_with_an_odd_line_is_shown_without_it(page: Page) -> None:
    game = page.add(card(1, "7h", 1), {"kind": "slap", "t": 2 * S, "id": "s1"})
    assert "1 line of this game cannot be used and is left out: line 3." in page.shown(f"/games/{game}")
    for at in ("/replay", "/figures"):
        page.shown(f"/games/{game}{at}")
    game = page.add(card(1, "7h", 1))
    with closing(sqlite3.connect(page.path)) as db:
        db.executescript(f"DROP TRIGGER line_stays; UPDATE line SET text='{{' WHERE game={game} AND number=1;")
    for at in ("", "/replay", "/figures", "/finish"):
        assert page.get(f"/games/{game}{at}").status == 422


def test_the_seal_stands_on_the_game_its_end_and_its_photo_finishes(page: Page) -> None:
    game = add_game(page.path, ["Ana", "Ben"], AT)
    with Record(page.path) as record:
        record.reopen(game)
        keeper = record.again(game)
        keeper.write('{"ruling":"slap_won","id":"slap_won@s1","t":2250000000,"seat":1}')
        keeper.end(AT)
        seal = show_seal(record.seal(game))
    for at in ("", "/end", "/finish"):
        assert f"seal: {seal}" in page.shown(f"/games/{game}{at}", "slap=s1"), at
    assert f"line 8, seal {seal}" in page.shown(f"/games/{game}/finish.svg", "slap=s1")
    assert f'"seal":"{seal.replace(" ", "")}"' in page.shown(f"/games/{game}/log.jsonl")


def test_a_line_that_is_not_what_was_written_is_named_on_every_page_of_its_game(page: Page) -> None:
    game = add_game(page.path, ["Ana", "Ben"], AT)
    with closing(sqlite3.connect(page.path)) as db:
        db.executescript("DROP TRIGGER line_stays; UPDATE line SET text=replace(text, '7c', '7d') WHERE number=3;")
    for at in ("", "/end", "/finish"):
        shown = page.shown(f"/games/{game}{at}", "slap=s1")
        assert "changed or damaged: line 3." in shown and "seal:" not in shown, at


def test_a_game_that_is_not_there_and_one_that_cannot_be_are_not_found(page: Page) -> None:
    add_game(page.path, ["Ana", "Ben"], AT)
    for path in ("/games/9", f"/games/{2**63}", f"/games/{2**70}/replay", "/nowhere"):
        reply = page.get(path)
        assert reply.status == 404
        assert b"<h1>" in reply.body, "in words"
    assert page.get("/api/nothing").body == b"", "a program gets the status alone"


def test_without_a_record_there_is_a_page_that_says_so(page: Page) -> None:
    page.path.write_bytes(b"this is no data base" * 100)
    reply = page.get("/games")
    assert reply.status == 503
    assert "record" in reply.body.decode()


def test_a_ruling_or_a_hand_that_is_not_there_is_not_found(page: Page) -> None:
    game = add_game(page.path, ["Ana", "Ben"], AT)
    assert page.get(f"/games/{game}/ruling", "id=slap_won@s9").status == 404
    assert page.get(f"/games/{game}/finish", "slap=s9").status == 404
    assert page.get(f"/games/{game}/finish.svg", "slap=s9").status == 404
    assert page.get(f"/games/{game}/pictures/5.jpg").status == 404
    assert page.get(f"/games/{game}/pictures/{2**63}.jpg").status == 404
    assert page.get(f"/games/{game}/finish.svg", "slap=s1&theme=none&width=abc").status == 200


def test_a_ruling_that_was_replaced_names_the_one_that_replaced_it(page: Page) -> None:
    game = page.add(
        card(1, "7h", 1),
        card(2, "8c", 2),
        {"kind": "slap", "t": 2 * S + 300_000_000, "id": "s1", "seat": 1},
        {"kind": "correct", "t": 9 * S, "id": "x1", "line": "slap_false@s1", "void": True},
    )
    old = page.shown(f"/games/{game}/ruling", "id=slap_false@s1")
    assert 'class="notice"' in old and "slap_void" in old
    finish = page.shown(f"/games/{game}/finish", "slap=s1")
    assert "<s>" in finish, "what it replaces"
    assert "replaced" in page.shown(f"/games/{game}", "all=1")


def test_lines_of_every_kind_are_told_when_a_game_is_stepped_through(page: Page) -> None:
    game = page.add(
        {"kind": "count", "t": 5, "id": "n1", "seat": 1, "cards": 26},
        {"kind": "day", "t": 6, "id": "d1", "date": "2026-05-01"},
        {"kind": "draw", "t": 7, "id": "r1", "rank": "7"},
        {"kind": "say", "t": 8, "id": "y1", "seat": 1, "rank": "9"},
        card(1, "8h", 1),
        {"kind": "placed", "t": 2 * S, "id": "p1", "seat": 2, "count": 1},
        {"kind": "sneeze", "t": 3 * S, "id": "z1"},
    )
    steps = page.shown(f"/games/{game}/steps", "lang=en")
    replayed = page.shown(f"/games/{game}/replay", "lang=en")
    assert "26 cards" in steps + replayed
    assert "2026-05-01" in steps + replayed
    assert "sneeze" not in steps + replayed, "an unknown kind is passed over"
    assert page.shown(f"/games/{game}/steps", "from=9999") != steps


def test_the_latest_finish_is_the_last_hand_of_the_record_or_none(page: Page) -> None:
    page.add(card(1, "7h", 1))
    assert "<h1>" in page.shown("/finish")
    game = page.add(card(1, "7h", 1))
    with Record(page.path) as record:
        record.add_game(AT, [(1, json.dumps(TABLE))])
    with_hand = add_game(page.path, ["Ana", "Ben"], AT)
    with Record(page.path) as record:
        rows = [*record.lines(with_hand)]
        void = '{"ruling":"slap_void","id":"slap_void@s1","t":1,"seat":1,"reason":"late","because":["s1"],"rule":[]}'
        rows.append((len(rows) + 1, void))
        game = record.add_game(AT, rows)
    reply = page.get("/finish")
    assert (reply.status, reply.header("location")) == (303, f"/games/{game}/finish?slap=s1")


def test_pictures_that_are_kept_are_shown_and_not_more_than_can_be_looked_at(page: Page) -> None:
    game = add_game(page.path, ["Ana", "Ben"], AT)
    assert 'loading="lazy"' not in page.shown(f"/games/{game}/finish", "slap=s1")
    store = PictureStore(page.pictures)
    store.add(game, [Picture(2 * S + n * 1_000_000, 1_000, b"jpeg") for n in range(60)])
    store.close()
    shown = page.shown(f"/games/{game}/finish", "slap=s1")
    assert 1 < shown.count('loading="lazy"') < 60
    assert page.get(f"/games/{game}/pictures/{2 * S}.jpg").body == b"jpeg"
    page.pictures.write_bytes(b"torn" * 1000)
    assert 'loading="lazy"' not in page.shown(f"/games/{game}/finish", "slap=s1"), (
        "a file that cannot be read shows none"
    )


def test_a_league_of_nobody_says_so_and_one_of_those_who_agreed_ranks_them(page: Page) -> None:
    assert 'class="panel none"' in page.shown("/league")
    for winner in (1, 1, 2):
        add_game(page.path, ["Ana", "Ben"], AT, winner=winner)
    assert 'class="panel none"' in page.shown("/league"), "no player agreed"
    with People(page.path) as people:
        people.answer("Ana", True, AT)
        people.answer("Ben", True, AT)
        for game in (1, 2, 3):
            people.tie(game)
    shown = page.shown("/league", "lang=en")
    assert ">Ana<" in shown and ">Ben<" in shown
    assert shown.index(">Ana<") < shown.index(">Ben<"), "who won more stands first"
    table = page.get("/league.csv")
    assert table.status == 200
    assert b"Ana" in table.body and (table.header("content-disposition") or "").endswith('league.csv"')


def test_the_first_page_leads_to_the_league_and_the_league_to_each_person(page: Page) -> None:
    """A person's page shows the games under any spelling; without consent there is no page."""
    for winner, name in ((1, "Ana"), (2, "Ana B.")):
        add_game(page.path, [name, "Ben <b>"], AT, winner=winner)
    with People(page.path) as people:
        ana = people.remember("Ana", AT)
        people.merge(ana, people.remember("Ana B.", AT))
        ben = people.answer("Ben <b>", False, AT)
    assert 'href="/league"' in page.shown("/") and 'href="/league"' not in page.shown("/projector")
    assert f'<a href="/people/{ana.id}">Ana</a>' in page.shown("/league")
    shown = page.shown(f"/people/{ana.id}", "lang=en")
    assert "<h1>Ana</h1>" in shown and 'href="/games/1"' in shown and 'href="/games/2"' in shown
    assert "Ana B., Ben &lt;b&gt;" in shown and "Reaction times of Ana: 2 hands" in shown
    for other in (ben.id, "Ana", "0", ana.id[1:]):
        assert page.get(f"/people/{other}").status == 404, other
    with People(page.path) as people:
        forget(people, ana, AT)
    assert page.get(f"/people/{ana.id}").status == 404


def test_a_person_without_a_hand_or_a_game_has_a_page_as_well(page: Page) -> None:
    page.add(card(1, "7h", 1))
    with People(page.path) as people:
        ana, eve = people.remember("Ana", AT), people.remember("Eve", AT)
    assert 'href="/games/1"' in page.shown(f"/people/{ana.id}") and "<svg" not in page.shown(f"/people/{ana.id}")
    assert 'class="panel none"' in page.shown(f"/people/{eve.id}")


def test_a_game_that_cannot_be_read_counts_for_the_league_as_one_without_an_end(page: Page) -> None:
    game = page.add(card(1, "7h", 1), {"kind": "slap", "t": 2 * S, "id": "s1"})
    with People(page.path) as people:
        people.answer("Ana", True, AT)
        people.tie(game)
    assert ">Ana<" in page.shown("/league")


def test_a_table_of_which_nothing_is_known_and_one_that_was_not_calibrated(page: Page) -> None:
    assert "panel none" in page.shown("/table")
    page.hub.board.about = {"seats": [{"name": "Ana", "bearing": 0.0}, {"name": "Ben", "bearing": 180.0}]}
    page.hub.board.troubles = {"strip": {"words": "is missing <b>"}}
    shown = page.shown("/table", "lang=en")
    assert "Ana" in shown and "is missing &lt;b&gt;" in shown
    assert "° </td>" not in shown


def test_an_address_that_is_taken_is_refused_with_what_to_do() -> None:
    first = listen_at("127.0.0.1", 0)
    port = first.getsockname()[1]
    try:
        with pytest.raises(UserError, match=f"127.0.0.1:{port} .*; try another --port"):
            listen_at("127.0.0.1", port)
    finally:
        first.close()
    with listen_at("::1", 0) as six:
        assert six.getsockname()[0] == "::1"
