"""The hall in use: its process on a real broker, its answers, and (where there is one) a real browser."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.options.broker.messages import Telling, encoded
from tests.options.broker.test_telling import ASKED, NAMES, VIEW, WON
from tests.options.hall.broker import Mosquitto
from tests.options.hall.listener import Listener
from tests.options.hall.served import ServedHall
from tests.options.hall.test_hall_tables import SCRIPT
from tests.support.patience import PATIENCE
from tests.web.conftest import new_window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = ("/", "/projector", "/tables/kitchen", "/league", "/nothing-here")
SIZES = {"phone": (390, 844), "laptop": (1366, 768), "projector": (1920, 1080)}


class Room:
    """A broker, a hall, and a client that publishes for the tables."""

    def __init__(self, broker: Mosquitto, hall: ServedHall, speaker: Listener) -> None:
        self.broker, self.hall, self.speaker = broker, hall, speaker
        self.tellings: dict[str, Telling] = {}

    def telling(self, table: str) -> Telling:
        if table not in self.tellings:
            self.tellings[table] = Telling("run")
            self.tellings[table].begin(1, NAMES)
            self.speaker.say(f"referee/{table}/available", b"online", retain=True)
        return self.tellings[table]

    def state(self, table: str, **more: Any) -> None:
        self.speaker.say(f"referee/{table}/state", encoded({**self.telling(table).state(VIEW), **more}), retain=True)


@pytest.fixture
def room(broker: Mosquitto) -> Iterator[Room]:
    with ServedHall(broker.port) as hall, Listener(broker.port) as speaker:
        yield Room(broker, hall, speaker)


def fetched(address: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers or {}), timeout=PATIENCE) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


class Stream:
    """The hall's events, one after the other."""

    def __init__(self, address: str) -> None:
        self._open = urllib.request.urlopen(address, timeout=PATIENCE)

    def until(self, table: str, **wanted: Any) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for line in self._open:
            if line.startswith(b"data: "):
                facts |= json.loads(line[6:])["tables"].get(table, {})
                if facts and all(facts.get(key) == value for key, value in wanted.items()):
                    return facts
        raise AssertionError(facts)


def test_a_table_is_seen_silenced_and_back_and_the_broker_killed(room: Room) -> None:
    room.state("t1")
    stream = Stream(f"{room.hall.address}/events?lang=de")
    stream.until("t1", condition="live", top="7c")
    room.speaker.say("referee/t1/ruling", encoded(room.telling("t1").ruling(WON)))
    assert stream.until("t1", n=1)["said"]["words"].startswith("Cho gewinnt den Schlag")
    room.speaker.say("referee/t1/available", b"offline", retain=True)
    assert stream.until("t1", condition="silent")["quiet"] is not None
    room.speaker.say("referee/t1/available", b"online", retain=True)
    stream.until("t1", condition="live")
    room.broker.kill()
    stream.until("t1", condition="silent")
    # It may have been tried again since.
    assert re.search("the broker .* (is gone|cannot be reached)", room.hall.health()["trouble"])
    room.broker.start()
    with Listener(room.broker.port) as room.speaker:
        room.speaker.say("referee/t1/available", b"online", retain=True)
        room.state("t1", paused=True)
        stream.until("t1", condition="paused")
    assert room.hall.health()["well"]


def test_hostile_payloads_leave_the_hall_standing(room: Room) -> None:
    room.state("t1", paused=True)
    Stream(f"{room.hall.address}/events").until("t1", condition="paused")
    for topic in ("t1/state", "t1/day", "t1/ruling", "t1/available", "<script>/state", "t1/state/more"):
        for payload in (b"\xff\x00", b"[" * 40000, b"{" * 9, b"null", b"x" * 2_000_000, b'{"seats":[1e999]}'):
            room.speaker.say(f"referee/{topic}", payload)
    room.state("t1")
    Stream(f"{room.hall.address}/events").until("t1", condition="live")
    health = room.hall.health()
    # The filters pass neither a deeper topic nor one of another leaf, and the broker no oversized message.
    assert (health["refused"], health["tables"], health["well"]) == (20, 1, True)


def test_every_answer_is_guarded_and_nothing_can_be_changed(room: Room) -> None:
    for path in (*PAGES, "/healthz", "/static/hall.js", "/static/hall.css", "/static/league.js", "/static/page.css"):
        status, headers, body = fetched(room.hall.address + path)
        assert status == (404 if path == "/nothing-here" else 200), path
        assert headers["content-security-policy"].startswith("default-src 'none'"), path
        assert b"http://" not in body.replace(room.hall.address.encode(), b"").replace(b"http://www.w3.org/", b"")
        if path in PAGES:
            assert b"<script>" not in body and b" style=" not in body and b" on" + b"click" not in body
    for path in ("/tables/a%3Cb%3E", "/tables/" + "x" * 41, "/events?table=%3Cscript%3E", "/static/../app.py"):
        assert fetched(room.hall.address + path)[0] in (400, 404), path
    request = urllib.request.Request(room.hall.address + "/", data=b"{}", method="POST")
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request, timeout=PATIENCE)
    assert fetched(room.hall.address + "/", {"Host": "evil.example"})[0] in (400, 403, 421)


def test_people_find_the_table_that_needs_help(room: Room, page: Page) -> None:
    for name in ("attic", "garden", "kitchen"):
        room.state(name)
    page.goto(room.hall.address + "/?lang=en")
    tiles = page.locator("#tables .tile")
    tiles.nth(2).wait_for()
    assert tiles.locator("h2").all_text_contents() == ["attic", "garden", "kitchen"]
    room.telling("kitchen").ruling(ASKED)
    room.state("kitchen")
    page.locator(".tile.helped").wait_for()
    assert tiles.locator("h2").all_text_contents() == ["kitchen", "attic", "garden"], "who needs help comes first"
    assert page.locator("#news").text_content() == "Table kitchen: needs help: Which card is this?"
    page.locator("#show").select_option("help")
    assert tiles.locator("h2").all_text_contents() == ["kitchen"]
    page.locator("#show").select_option("all")
    page.locator("#sort").select_option("by_name")
    page.locator("#find").fill("GARD")
    assert tiles.locator("h2").all_text_contents() == ["garden"]
    room.speaker.say("referee/garden/available", b"offline", retain=True)
    page.get_by_text("silent for").wait_for()
    page.locator("#find").press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tables/garden")
    page.locator(".tile.c-silent").wait_for()


def test_script_in_names_is_shown_and_not_run(room: Room, page: Page) -> None:
    page.add_init_script("window.alert = () => { window.hurt = true; }")
    seats = [{"name": SCRIPT[:40], "cards": 1}, {"name": "<b>bold</b>", "cards": 2}]
    room.state("t1", seats=seats, troubles={"<i>": SCRIPT})
    day = {"day": page.evaluate("new Date().toLocaleDateString('sv')"), "players": [{"name": SCRIPT, "won": 1}]}
    room.speaker.say("referee/t1/day", json.dumps(day), retain=True)
    page.goto(room.hall.address + "/")
    page.get_by_text("<b>bold</b>").wait_for()
    assert page.locator("#tables .player").first.text_content() == SCRIPT[:40]
    assert page.locator("#tables :is(b, i, img, script)").count() == 0
    page.goto(room.hall.address + "/league")
    assert page.locator("#league th").first.text_content() == SCRIPT[:40]
    assert page.locator("#league :is(b, i, img, script)").count() == 0
    assert page.evaluate("window.hurt") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it_at_any_size(room: Room, browser: Browser, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    for name in ("attic", "garden", "kitchen"):
        room.state(name, seats=[{"name": "a player of a very long name " * 2, "cards": 17}] * 3)
    room.telling("kitchen").ruling(ASKED)
    room.state("kitchen", troubles={"camera": "no frames: look at its cable"})
    room.speaker.say("referee/garden/available", b"offline", retain=True)
    faults: dict[str, Any] = {}
    for size, (width, height) in SIZES.items():
        context = new_window(browser, viewport={"width": width, "height": height}, color_scheme=scheme)
        opened = context.new_page()
        for path in PAGES:
            opened.goto(room.hall.address + path)
            if path in PAGES[:3]:
                opened.locator("#tables .tile").first.wait_for()
            assert opened.evaluate("document.documentElement.scrollWidth") <= width, f"{path}, {size}"
            found = axe.run(opened).response["violations"] if size != "projector" else []
            serious = [violation for violation in found if violation["impact"] in ("serious", "critical")]
            if serious:
                faults[f"{path}, {size}"] = [(seriou["id"], seriou["nodes"][0]["html"][:200]) for seriou in serious]
            if shots := os.environ.get("SHOTS"):
                Path(shots).mkdir(parents=True, exist_ok=True)
                place = path.strip("/").replace("/", "-") or "hall"
                opened.screenshot(path=f"{shots}/{place}-{size}-{scheme}.png")
        context.close()
    assert faults == {}
