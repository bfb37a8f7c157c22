"""`make pictures`: the pictures of the documents, from a recorded game at the simulated table and a filmed dispute.

The game stops after its closest slap; the scoreboard and the photo-finish are browser screenshots of that moment, the
terminal is the output of `referee demo`, and the moving picture plays the slap from the camera's frames to the
photo-finish. The pictures of vision are drawn by `tools.eye_stages`. Needs chromium.
"""

from __future__ import annotations

import asyncio
import html
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import cv2
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, sync_playwright
from rich.console import Console

from hardware.fonts import font_file
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.announce.terminal import Display, Gauge
from referee.cli.serve import page_options
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.adjudicator import Adjudicator
from referee.engine.log import read_observations
from referee.engine.observations import Slap, Table
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords
from referee.units import MS, SECOND
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.server import build
from referee.web.site import Site
from tests.support.dispute_client import ReviewedVideo, first_frame
from tests.support.filmed_disputes import film_winner
from tests.web.browser import HOST, request
from tests.web.listening import listening, paired
from tests.web.served import House
from tests.web.table import Table as RecordedTable
from tools.eye_stages import draw_stages, draw_surfaces, draw_told_card
from tools.measure.play_test import playing

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
GAME: Final = ROOT / "tests" / "web" / "demo.jsonl"
UP_TO: Final = 404
"""Number of lines of the game: its closest slap was won, and the next pile has begun."""
SEED: Final = 19
"""The demo's seed that plays this game."""
CLOSEST: Final = "slap_won@s1.4"
"""The ruling on its closest slap."""
_LANES: Final = ("#4a90d9", "#d98a2b", "#3fa34d", "#b0307a")
"""Colours of the seats."""


def draw_terminal(lines: list[str]) -> None:
    """Draw the terminal's table into docs/terminal.svg."""
    seen = [line for _, line in read_observations(BytesIO("\n".join(lines).encode()))]
    adjudicator = Adjudicator()
    rulings = [ruling for line in seen for ruling in adjudicator.observe(line)]
    first = seen[0]
    assert isinstance(first, Table)
    display = Display(first.seats, live=True)
    display(rulings)
    cards = sum(line.kind == "card" for line in seen)
    display.gauge = Gauge("a game at the simulated table", seen[-1].t, cards, 15.0)
    console = Console(record=True, width=96, file=sys.stderr)
    console.print(display.render(adjudicator.view))
    console.save_svg(str(DOCS / "terminal.svg"), title="referee demo")


_SHOWN: Final = {
    "scoreboard.png": ("/", ""), "photo-finish.png": ("/games/1/finish", "slap=s1.4"),
    "what-if.png": ("/games/1/what-if", "slap=s1.4&line=s2.5&by=-12"),
}  # fmt: skip
"""The page that each picture shows, and its query."""
TEXTS: Final = DOCS / "pictures.json"
"""Texts of those pages when the pictures were drawn: a test finds pictures whose page has changed since."""


def read_texts(record: Path) -> dict[str, list[str]]:
    """Return the texts of each pictured page, for a record of the game."""
    site = Site(GameCache(record), Hub(Board()))
    try:
        app, found = build(site, options=page_options()), {}
        for name, (path, query) in _SHOWN.items():
            reply = asyncio.run(request(app, "GET", path, [("host", HOST)], query=query.encode()))
            body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", reply.body.decode())
            found[name] = html.unescape(re.sub(r"<[^>]*>", "\n", body)).split("\n")
    finally:
        site.close()
    return {name: [line.strip() for line in lines if line.strip()] for name, lines in found.items()}


def record_game(folder: Path, lines: list[str]) -> Path:
    """Return a record that holds the game, imported through the ordinary import."""
    log, record = folder / "game.jsonl", folder / "record.db"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "referee", "games", "--record", str(record), "--import", str(log)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return record


def game_lines() -> list[str]:
    """Return the lines of the game that the pictures show."""
    return GAME.read_text(encoding="utf-8").splitlines()[:UP_TO]


def shoot_page(record: Path) -> None:
    """Take browser screenshots of the scoreboard, the photo-finish and the what-if page."""
    command = [sys.executable, "-m", "referee", "page", "--record", str(record), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server, sync_playwright() as play:
        assert server.stdout is not None
        address = next(word for word in server.stdout.readline().split() if word.startswith("http")).rstrip("/")
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--headless"])
        page = browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB")
        page.goto(address)
        page.wait_for_timeout(500)
        page.screenshot(path=str(DOCS / "scoreboard.png"))
        page.goto(f"{address}/finish")
        page.locator("svg.finish, figure svg, main svg").first.screenshot(path=str(DOCS / "photo-finish.png"))
        page.goto(f"{address}/games/1/what-if?slap=s1.4&line=s2.5&by=-12")
        page.wait_for_timeout(500)
        page.screenshot(path=str(DOCS / "what-if.png"), full_page=True)
        browser.close()
        server.terminate()


def animate_slap(lines: list[str]) -> None:
    """The closest slap in slow motion, and then its photo-finish, into docs/slap.webp."""
    observations = [line for _, line in read_observations(BytesIO("\n".join(lines).encode()))]
    adjudicator = Adjudicator()
    rulings = [ruling for line in observations for ruling in adjudicator.observe(line)]
    verdict = next(ruling for ruling in rulings if ruling.id == CLOSEST)
    table = observations[0]
    assert isinstance(table, Table)
    words = RulingWords(table.seats, texts("en"))(verdict)
    hands = [line for line in observations if isinstance(line, Slap) and abs(line.t - verdict.t) < 300 * MS]
    camera = SimulatedTable(script_of(DemoOptions(seed=SEED)), 25.0, (640, 480))
    font, pictures, lasting = ImageFont.truetype(font_file("Roboto-Medium"), 20), list[Image.Image](), list[int]()
    height = 480 + 34 * (len(hands) + 1)
    for t in range(verdict.t - 900 * MS, verdict.t + 900 * MS, 40 * MS):
        picture = Image.new("RGB", (640, height), "#14171c")
        picture.paste(Image.fromarray(cv2.cvtColor(camera.render(t).image, cv2.COLOR_BGR2RGB)))
        draw, since = ImageDraw.Draw(picture), (t - verdict.t) // MS
        for lane, hand in enumerate(hands):
            top, left = 484 + 34 * lane, 120 + 2 * (100 + (hand.t - verdict.t) // MS)
            draw.text((12, top + 15), table.seats[hand.seat - 1], "white", font, anchor="lm")
            draw.line((120, top + 15, 620, top + 15), "#3a4048")
            if t >= hand.t:
                now = max(left + 4, min(620, 120 + 2 * (100 + since)))
                draw.rectangle((left, top + 3, now, top + 27), _LANES[hand.seat - 1])
        text = words if since > 150 else f"{since:+} ms"
        draw.text((320, height - 17), text, "white", font, anchor="mm")
        pictures.append(picture)
        lasting.append(200 if -350 < since < 250 else 60)
    lasting[-1] = 3000
    pictures[0].save(
        DOCS / "slap.webp", save_all=True, append_images=pictures[1:], duration=lasting, loop=0, quality=60, method=4
    )


def shoot_mending(folder: Path, lines: list[str]) -> None:
    """Photograph a paired phone on which the newest card was touched, into docs/mending.png."""
    house = House(folder)
    table = RecordedTable(house.record, lines[0], at_once=True)
    for line in lines[1:]:
        table.observe(line)
    table.join(house.link)
    with listening(house) as desk, house.serve_controlled() as served, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--headless"])
        page = browser.new_page(viewport={"width": 390, "height": 844}, locale="en-GB")
        page.goto(f"{served.address}/control")
        paired(page, desk)
        table.tell()
        page.goto(served.address)
        page.locator("#pile [role=button]").last.click()
        page.locator("dialog.sheet .pick").first.wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=str(DOCS / "mending.png"))
        browser.close()
    house.close()


def shoot_dispute(folder: Path) -> None:
    """Photograph the page of `referee review` with two hands marked, into docs/review.jpg."""
    filmed = film_winner(folder)
    with ReviewedVideo(filmed.file, folder / "dispute.jsonl") as reviewed, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--headless"])
        page = browser.new_page(viewport={"width": 1180, "height": 900}, locale="en-GB")
        page.goto(reviewed.address)
        moment = page.locator("section[data-moment]").first
        for slap in filmed.slaps:
            moment.locator(f"input[value='{slap.seat}']").check()
            moment.locator(f"[data-frame='{first_frame(slap, 30.0)}']").click()
            moment.locator(".marks > span").nth(filmed.slaps.index(slap)).wait_for()
        moment.screenshot(path=str(DOCS / "review.jpg"), type="jpeg", quality=80)
        browser.close()


class SimulatedPupil:
    """A phone that reacts some time after each card, and has shown it at the requested time."""

    def __init__(self, address: str, chance: random.Random, usual: float, left: float) -> None:
        """``usual`` is this pupil's shortest reaction, ms; the ``left`` hand takes so much longer."""
        self._address, self._chance, self._usual, self._left = address, chance, usual, left
        page = http.client.HTTPConnection(address.partition("//")[2].rstrip("/"))
        page.request("GET", "/join")
        self._code = str(page.getresponse().headers["location"]).partition("#")[2]

    def make_trials(self) -> None:
        """Make all requested trials."""
        told = self._report({})
        while told["number"] is not None:
            took = self._usual + self._chance.expovariate(1 / 40) + (self._left if told["hand"] == "left" else 0)
            shown, touched = [SECOND, SECOND + 17 * MS], SECOND + round((took + 25) * MS)
            luck = self._chance.random()
            trial = {"pupil": told["pupil"], "number": told["number"], "kind": "touch", "sampling": 0, "ready": 0}
            trial |= {"shown": shown, "touched": None if luck < 0.02 else touched}
            trial |= {"shown": None, "touched": SECOND // 2} if luck > 0.96 else {}
            told = self._report({"trial": trial})

    def _report(self, fields: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"code": self._code, **fields}).encode()
        head = {"Content-Type": "application/json", "Origin": self._address.rstrip("/")}
        while True:
            try:
                with urllib.request.urlopen(urllib.request.Request(f"{self._address}api/trial", body, head)) as answer:
                    told: dict[str, Any] = json.load(answer)
                    return told
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.TOO_MANY_REQUESTS:
                    raise
                time.sleep(1)


def shoot_class(folder: Path) -> None:
    """Photograph the room's page of `referee class` with simulated pupils, into docs/class.jpg."""
    chance = random.Random(17)
    with playing(folder, "class", "--hands", "--host", "0.0.0.0") as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--headless"])
        page = browser.new_page(viewport={"width": 1280, "height": 1120}, locale="en-GB")
        page.goto(address)
        for n in range(8):
            SimulatedPupil(address, chance, chance.gauss(235, 22), (0, 70)[n == 2]).make_trials()
        page.locator("#results tbody tr").nth(8).locator("td", has_text="20").first.wait_for()
        page.wait_for_timeout(1000)
        page.screenshot(path=str(DOCS / "class.jpg"), type="jpeg", quality=80)
        browser.close()


def shoot_votes(folder: Path) -> None:
    """Photograph a lesson's page on which phones have voted, before the answer and after it, into docs/votes.jpg."""
    command = ("demo", "--lesson", "--seed", "4", "--max-cards", "60", "--host", "0.0.0.0", "--vote-time", "60")
    with playing(folder, *command) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--headless"])

        def look(width: int, height: int, path: str) -> Page:
            page = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB").new_page()
            page.goto(f"{address}{path}")
            return page

        room = look(1280, 720, "games/1/replay?lesson=1")
        phones = [look(390, 720, "join") for _ in range(10)]
        for phone in phones:
            phone.locator("#nickname:not(:empty)").wait_for()
        for stop in range(1, 5):
            room.locator("[data-move=question]").click()
            room.locator(f"#slider[data-shown='{_stop(room, stop)}']").wait_for(state="attached")
        for phone, choice in zip(phones, ("C", "heat", "C", "B", "heat", "heat", "A"), strict=False):
            phone.locator(f"[data-choice={choice}]").click()
            phone.locator("[aria-pressed=true]").wait_for()
        room.locator("#votes b", has_text="7").wait_for()
        room.mouse.move(0, 0)
        shots = [room.screenshot(), phones[0].screenshot()]
        room.locator("#ask summary").click()
        phones[0].locator("#votes tr.right").wait_for()
        room.locator("#votes tr.right").wait_for()
        shots += [room.screenshot(), phones[0].screenshot()]
        browser.close()
    images = [Image.open(BytesIO(shot)) for shot in shots]
    sheet = Image.new("RGB", (1280 + 10 + 390, 2 * 720 + 10), "white")
    for place, image in enumerate(images):
        sheet.paste(image, (place % 2 * 1290, place // 2 * 730))
    sheet.resize((sheet.width * 3 // 4, sheet.height * 3 // 4)).save(DOCS / "votes.jpg", quality=80)


def _stop(room: Page, number: int) -> str:
    """Return the step of a lesson's question, from 1 on."""
    return str(room.locator("#slider").get_attribute("data-questions")).split()[number - 1]


def shoot_certificate(folder: Path, log: Path) -> None:
    """Draw the results of `referee certify --simulated` beside a recorded game, into docs/certificate.png."""
    file = folder / "certificate.html"
    command = [sys.executable, "-m", "referee"]
    where: dict[str, Any] = {
        "cwd": folder,
        "stdout": subprocess.DEVNULL,
        "env": {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(folder)},
    }
    subprocess.run([*command, "games", "--import", str(log)], check=True, **where)
    subprocess.run([*command, "certify", "--simulated", "--out", str(file)], check=False, **where)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--headless"])
        page = browser.new_page(viewport={"width": 1000, "height": 800}, locale="en-GB", color_scheme="light")
        page.goto(file.as_uri())
        page.screenshot(path=str(DOCS / "certificate.png"), full_page=True)
        browser.close()


def main() -> int:
    """Draw all of them."""
    lines = game_lines()
    draw_terminal(lines)
    draw_stages()
    draw_surfaces()
    draw_told_card()
    with tempfile.TemporaryDirectory() as folder:
        record = record_game(Path(folder), lines)
        log = record.with_name("game.jsonl")
        TEXTS.write_text(json.dumps(read_texts(record), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        shoot_page(record)
        animate_slap(lines)
        shoot_mending(Path(folder), [line for line in lines if not line.startswith('{"ruling"')])
        shoot_certificate(Path(folder), log)
        shoot_dispute(Path(folder))
        shoot_class(Path(folder))
        shoot_votes(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
