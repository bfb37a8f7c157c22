"""The what-if page: both verdicts, errors in clear words, and a record that stays unchanged."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from referee.cli.serve import page_options
from referee.options.what_if import what_if_page
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.security.fair_turns import ASKER
from referee.web.server import build
from referee.web.site import Site
from tests.play import TABLE, file_lines
from tests.support.patience import PATIENCE
from tests.web.browser import HOST, Reply, request
from tests.web.served import House
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

GAME = file_lines(
    TABLE, "1000 1:7h", "2000 2:7c ±8", "2300 slap 3", "2304 slap 1", "2500 lift 3", "2510 lift 1", "4000 taken 3",
    "9000 tick",
)  # fmt: skip
"""Cho came down 4 ms before Ana, and both pads together can be wrong by 3 ms."""


def play(house: House) -> None:
    table = Table(house.record, GAME[0], at_once=True)
    for line in GAME[1:]:
        table.observe(line)
    table.finish()


class Visitor:
    """Opens the pages of a record."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.site = Site(GameCache(record), Hub(Board()))
        self._app = build(self.site, options=page_options())

    def ask(self, query: str) -> Reply:
        head = [("host", HOST)]
        return asyncio.run(request(self._app, "GET", "/games/1/what-if", head, query=query.encode()))

    def read(self, query: str) -> str:
        reply = self.ask(query)
        assert reply.status == 200
        return reply.body.decode().replace("\u00a0", " ")


@pytest.fixture
def visitor(house: House) -> Iterator[Visitor]:
    play(house)
    made = Visitor(house.record.path)
    yield made
    made.site.close()


def test_both_verdicts_stand_side_by_side(visitor: Visitor) -> None:
    told = visitor.read("slap=s1&line=s2&by=-8")
    was, _, would_be = told.partition("If the hand of Ana had come 8 ms sooner")
    assert "Cho first" in was and "Ana first" not in was
    assert "Ana first" in would_be
    assert "data-other" in would_be
    assert "Cho picks up 2 cards (4.0 s)" in would_be and "Ana picks up 2 cards (4.0 s)" in would_be


def test_a_dead_heat_by_5_ms_and_by_a_worse_clock(visitor: Visitor) -> None:
    assert "the referee cannot say who was first" in visitor.read("slap=s1&line=s2&by=-5")
    assert "the referee cannot say who was first" in visitor.read("slap=s1&line=s2&error=2.6")
    same = visitor.read("slap=s1&line=s2&by=0")
    assert "The ruling stays the same." in same and "All later rulings would be the same." in same


@pytest.mark.parametrize("by", ["−5", "-5,0", " -5 ", "-5.000"])
def test_numbers_are_read_as_people_write_them(visitor: Visitor, by: str) -> None:
    assert "5 ms sooner" in visitor.read(f"slap=s1&line=s2&by={quote(by)}")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("slap=s1&by=soon", "Write a number of milliseconds"),
        ("slap=s1&by=1e9", "Write a number of milliseconds"),
        ("slap=s1&by=51", "An instant is moved by 50 ms at most"),
        ("slap=s1&error=-1", "its error is from 0 to 50 ms"),
        ("slap=s1&line=t1", "This game has no such hand or card"),
        ("slap=s1&line=%3Cscript%3E", "This game has no such hand or card"),
        ("slap=s1&by=51&lang=de", "Ein Zeitpunkt wird um höchstens 50 ms verschoben"),
    ],
)
def test_what_cannot_be_asked_is_told_and_the_form_stays(visitor: Visitor, query: str, words: str) -> None:
    reply = visitor.ask(query)
    assert reply.status == 400
    text = reply.body.decode()
    assert words in text and 'id="what-if"' in text and "<script>" not in text


def test_a_slap_that_is_none_is_not_found(visitor: Visitor) -> None:
    assert visitor.ask("slap=s9").status == visitor.ask("").status == 404


def test_a_game_that_costs_too_much_is_refused(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if_page, "LONGEST_MOVED", 5)
    reply = visitor.ask("slap=s1&by=1")
    assert reply.status == 400 and b"too long for this page" in reply.body


def test_the_record_is_not_touched(visitor: Visitor) -> None:
    """Neither its file nor the page's cache of the game."""
    folder = visitor.record.parent
    before = {file.name: hashlib.sha256(file.read_bytes()).digest() for file in folder.glob("games.sqlite*")}
    rulings = list(visitor.site.shelf.folded(1).rulings)
    for by in range(-50, 51, 10):
        visitor.read(f"slap=s1&line=s2&by={by}")
        visitor.read(f"slap=s1&line=c2&by={by}")
    after = {file.name: hashlib.sha256(file.read_bytes()).digest() for file in folder.glob("games.sqlite*")}
    assert {name: after[name] for name in before if "shm" not in name} == {
        name: said for name, said in before.items() if "shm" not in name
    }
    assert visitor.site.shelf.folded(1).rulings == rulings


def test_one_is_answered_at_a_time(visitor: Visitor) -> None:
    """Of two visitors the second waits, and visitors of other pages do not."""
    began: list[str] = []
    go_on = threading.Event()

    def rule_again(who: str) -> None:
        began.append(who)
        assert go_on.wait(PATIENCE)

    async def come(who: str) -> None:
        ASKER.set(who)
        await visitor.site.run_exclusively(rule_again, who)

    async def ask() -> None:
        both = [asyncio.create_task(come("first")), asyncio.create_task(come("second"))]
        ASKER.set("third")
        await visitor.site.run_in_worker(began.append, "something else")
        assert "second" not in began
        go_on.set()
        await asyncio.gather(*both)

    asyncio.run(ask())
    assert [who for who in began if who != "something else"] == ["first", "second"]


def test_paused_stepped_and_5_ms_sooner_another_wins(house: House, page: Page) -> None:
    """As a class does it: play, pause, step to the slap, ask what if, press −5 ms twice."""
    play(house)
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/replay")
        page.locator("#slider[data-shown='0']").wait_for(state="attached")
        page.keyboard.press("Space")
        page.locator("#play", has_text="Stop").wait_for()
        page.keyboard.press("Space")
        page.locator("#play", has_text="Play").wait_for()
        page.keyboard.press("Home")
        for step in (1, 2, 3):
            page.keyboard.press("ArrowRight")
            page.locator(f"#slider[data-shown='{step}']").wait_for(state="attached")
        assert "Cho wins the slap" in (page.locator("#ruled").text_content() or "")
        page.locator("#ruled a", has_text="What if?").click()
        page.locator("select[name=line]").select_option("s2")
        sooner = page.locator("[data-step='-5']")
        sooner.click()
        page.locator(".sides section", has_text="5 ms sooner").wait_for()
        heads = page.locator(".sides .head")
        assert heads.all_text_contents() == ["Cho first", "Dead heat"]
        sooner.click()
        page.locator(".sides section", has_text="10 ms sooner").wait_for()
        assert heads.all_text_contents() == ["Cho first", "Ana first"]
        assert page.locator("#slide").input_value() == "-10"
        page.locator("#by").fill("soon")
        page.locator("#outcome", has_text="Write a number of milliseconds").wait_for()
        page.locator("#by").fill("0")
        page.locator("#outcome", has_text="The ruling stays the same.").wait_for()
        assert page.locator("[name=error]").get_attribute("placeholder") == "1.5"
        page.locator("select[name=line]").select_option("c2")
        page.locator("[name=error][placeholder='8']").wait_for()
