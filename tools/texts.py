"""`make texts`: every text that people meet at first sight on every page, in each language, in out/texts-XX.txt.

``python -m tools.texts [--only SCENE]``. A line is the page's name, the element and its text; a section that is closed
shows its heading alone. The pages are opened on a phone, in the states that an evening passes through. At the end it
prints what belongs in no such text (`strange_in`), texts that are still English, pages that a phone scrolls sideways,
and the pages' heights. Needs chromium; the hall needs Mosquitto.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

from hardware.clock import monotonic
from referee.record.certificates import Certificate, CertificateLine, beside_record, save_certificate
from referee.sentence import Sentence, to_json
from referee.settings.model import parse_settings
from referee.table.seats import table_facts
from referee.text.catalogue import LANGUAGES
from tests.options.broker.test_telling import ASKED, NAMES
from tests.options.hall.broker import PROGRAM, Mosquitto
from tests.options.hall.listener import Listener
from tests.options.hall.served import ServedHall
from tests.options.hall.test_hall_page import Room
from tests.support.chromium import ARGUMENTS, CHROMIUM
from tests.support.dispute_client import ReviewedVideo
from tests.support.filmed_disputes import film_briefly
from tests.web.listening import listening, pair_at_once
from tests.web.served import House, Served
from tests.web.table import Table, demo_lines
from tests.web.test_mending_in_browser import FIRST, GAP, UNREAD
from tests.web.test_page_buttons_in_browser import ABOUT, Main, telling
from tests.web.test_page_table import CALIBRATED
from tools.contact_sheet import PAGES, PAIRED, serve_evening
from tools.measure.play_test import ARGUMENTS as DEVICES
from tools.measure.play_test import Evening, StreamedTable, playing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

OUT: Final = Path(__file__).parents[1] / "out"
PHONE: Final = (390, 844)
_PAUSE_MS: Final = 300
"""Time for the scripts to fill a page that is loaded."""
_READ: Final = """
() => {
  const blocks = new Map();
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const name = (element) => element.closest("#said li") ? "caption"
    : element.tagName.toLowerCase() + (element.id ? "#" + element.id
    : element.classList.length ? "." + element.classList[0] : "");
  const block = (element) => {
    while (getComputedStyle(element).display.startsWith("inline") && element.parentElement !== document.body
      && !element.matches("a, button, option")) element = element.parentElement;
    return element;
  };
  const add = (element, kind, text) => {
    const words = text.replace(/\\s+/g, " ").trim();
    if (words) blocks.set(element, [...(blocks.get(element) ?? []), [kind, words]]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    if (element.closest("script, style, noscript, template")) continue;
    const list = element.closest("select, datalist");
    if (!seen(list ?? element)) continue;
    if (node.nodeType === Node.TEXT_NODE) add(block(element), "", node.data);
    else for (const kind of ["aria-label", "title", "placeholder", "alt"])
      add(element, "@" + kind, element.getAttribute(kind) ?? "");
  }
  const out = [["title", document.title]];
  for (const [element, parts] of blocks) {
    const said = parts.filter(([kind]) => !kind).map(([, words]) => words).join(" ");
    if (said) out.push([name(element), said]);
    for (const [kind, words] of parts) if (kind && words !== said) out.push([name(element) + kind, words]);
  }
  return out;
}
"""
"""Returns the visible texts of a page, each with its element; the options of a list count as visible."""
_COMMANDS: Final = r"(?:run|play|demo|setup|calibrate|enrol|doctor|certify|games|people|league|backup|restore|page)"
STRANGE: Final[Mapping[str, re.Pattern[str]]] = {
    "an option": re.compile(r"(?<![\w-])--[a-z]"),
    "a rule's row": re.compile(r"\b[SCPMFENK]\d{1,2}[a-c]?\b"),
    "a command": re.compile(rf'(?:["`(„“«] ?|\b[Rr]un |then |: )referee {_COMMANDS}\b|\bmake [a-z]+-[a-z]+\b'),
    "a file": re.compile(r"(?<![\w:/.])(?:~|\.\.?)?/\w[\w.-]*/[\w./-]*|\b[\w-]+\.(?:toml|py|md|jsonl|db|sqlite|zip)\b"),
    "a setting": re.compile(r"\b(?:camera|pads|lights|voice|record|page|eye|seat|calibration)\.[a-z_]+\b"),
    "an error number": re.compile(r"\b[Ee]rrno\b|\b[Ee]xit status \d"),
    "a ruling's name": re.compile(r"\b[a-z_]+@[a-z0-9.-]+"),
    "a hexadecimal number": re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b"),
    "a value of the code": re.compile(r"\b(?:undefined|NaN)\b|\b[a-z]+_[a-z_]+\b|\{\w*\}"),
}
"""Words that no text at first sight may hold; they may stand in the details."""


class Shown(NamedTuple):
    """One text of a page."""

    page: str
    element: str
    words: str


def strange_in(words: str) -> list[str]:
    """Return what a text holds that means nothing to people who play cards."""
    return [name for name, pattern in STRANGE.items() if pattern.search(words)]


def still_english(shown: Mapping[str, list[Shown]]) -> Iterator[tuple[str, Shown]]:
    """Yield texts of several words that another language shows as English does, with the language; captions are in the
    language that the table speaks.
    """
    english = {text.words for text in shown["en"] if text.element != "caption"}
    for language in shown.keys() - {"en"}:
        for text in shown[language]:
            if text.words in english and text.element != "caption" and re.search(r"[a-z]{3,} [a-z]{3,}", text.words):
                yield language, text


class Reader:
    """Opens pages on phones, one phone for each language, and keeps what they show."""

    def __init__(self, browser: Browser, languages: tuple[str, ...] = tuple(LANGUAGES)) -> None:
        self.browser, self._languages = browser, languages
        self.shown: dict[str, list[Shown]] = {language: [] for language in languages}
        self.heights: dict[str, int] = {}
        """By page, its height on an English phone, px."""
        self.wide: list[str] = []
        """Pages that scroll sideways."""

    @contextmanager
    def phones(self) -> Iterator[dict[str, Page]]:
        """Open a new phone for each language."""
        with ExitStack() as opened:
            phones = {}
            for language in self._languages:
                context: BrowserContext = self.browser.new_context(
                    viewport={"width": PHONE[0], "height": PHONE[1]}, locale=language, reduced_motion="reduce"
                )
                opened.callback(context.close)
                phones[language] = context.new_page()
            yield phones

    def read(
        self, phones: Mapping[str, Page], name: str, address: str | None = None, ready: str = "",
        act: Callable[[Page], object] = lambda _: None,
    ) -> None:  # fmt: skip
        """Read one page in each language.

        Args:
            phones: by language.
            name: of the page and its state.
            address: to open; None: read what is shown.
            ready: selects an element that is there once the page shows everything.
            act: done before reading.
        """
        for language, page in phones.items():
            if address is not None:
                page.goto(address)
                page.wait_for_load_state("load")
            if ready:
                page.locator(ready).first.wait_for()
            page.wait_for_timeout(_PAUSE_MS)
            act(page)
            found = [Shown(name, element, words) for element, words in page.evaluate(_READ)]
            self.shown[language] += found
            if page.evaluate("document.documentElement.scrollWidth") > PHONE[0]:
                self.wide.append(f"{name} ({language})")
            if language == "en":
                self.heights[name] = page.evaluate("document.documentElement.scrollHeight")


def read_empty(reader: Reader) -> None:
    """Read the pages of a table that has not played yet."""
    names = (
        "board", "projector", "latest-finish", "games", "figures", "league", "table", "certificate", "rules", "control",
        "pads", "pad",
    )  # fmt: skip
    with ExitStack() as opened:
        house = opened.enter_context(_house())
        opened.enter_context(listening(house))
        served, phones = opened.enter_context(house.serve_controlled()), opened.enter_context(reader.phones())
        for name in names:
            reader.read(phones, f"{name}, no game yet", served.address + PAGES[name])


def read_evening(reader: Reader) -> None:
    """Read every page while a game is on: on a phone that only looks, and on one that is paired."""
    with serve_evening(4) as (served, desk), reader.phones() as phones:
        for name, path in PAGES.items():
            if name not in PAIRED and name != "person":
                reader.read(phones, name, served.address + path)
        person = phones["en"]
        person.goto(f"{served.address}/league")
        reader.read(phones, "person", served.address + (person.locator("th a").first.get_attribute("href") or ""))
        reader.read(phones, "replay as a lesson", f"{served.address}/games/1/replay?lesson=1&at=55")
        for page in phones.values():
            pair_at_once(page, desk.pairing.show(monotonic()), served.address)
        for name in ("board", "games", "game", "finish", "league", "table", "pads"):
            reader.read(phones, f"{name}, paired", served.address + PAGES[name])


def read_control(reader: Reader) -> None:
    """Read Control on a paired phone, closed and open, and the dialogs that touching a card opens."""
    with _house() as house:
        first, *rest = demo_lines()[:420]
        table = Table(house.record, first, at_once=True)
        for line in rest:
            table.observe(line)
        table.join(house.link)
        seated = table_facts(parse_settings(CALIBRATED))
        trouble = to_json(Sentence("the camera fell silent; starting it anew"))
        with (
            listening(house) as desk, house.serve_controlled() as served, reader.phones() as phones,
            telling(Main(table, {**seated, **ABOUT})),
        ):  # fmt: skip
            for page in phones.values():
                pair_at_once(page, desk.pairing.show(monotonic()), served.address)
            closed = "details.more.narrow:not([hidden])"
            reader.read(phones, "control, paired", f"{served.address}/control", closed)
            reader.read(phones, "control, More", act=lambda page: page.locator("details.more > summary").click())
            reader.read(phones, "rules, paired", f"{served.address}/rules?preset=classic")
            reader.read(phones, "rules, as text", act=lambda page: page.locator("#as-text").click())
            reader.read(phones, "table, calibrated", f"{served.address}/table")
            table.tell(troubles={"camera": trouble})
            reader.read(phones, "board, a problem", served.address, "#troubles li")
            reader.read(phones, "table, a problem", f"{served.address}/table")
            reader.read(phones, "board, a card touched", served.address, "body.paired", _touch_card)


def _touch_card(page: Page) -> None:
    """Touch the newest card of the pile, and wait for what it opens."""
    page.locator("#pile").get_by_role("button").last.click()
    page.locator("dialog.sheet[open]").wait_for()
    page.wait_for_timeout(300)


def read_questions(reader: Reader) -> None:
    """Read the board with open questions, and after the game."""
    for name, first, lines in (
        ("a card that cannot be read", FIRST, UNREAD), ("the table was unseen", FIRST, GAP),
        ("the game is over", demo_lines()[0], demo_lines()[1:]),
    ):  # fmt: skip
        with ExitStack() as opened:
            house = opened.enter_context(_house())
            desk, served = opened.enter_context(listening(house)), opened.enter_context(house.serve_controlled())
            phones = opened.enter_context(reader.phones())
            table = Table(house.record, first, house.link)
            for line in lines:
                table.observe(line)
            if name == "the game is over":
                table.finish()
            opened.enter_context(telling(Main(table, ABOUT)))
            reader.read(phones, f"board, {name}", served.address)
            reader.read(phones, f"projector, {name}", f"{served.address}/projector")
            for page in phones.values():
                pair_at_once(page, desk.pairing.show(monotonic()), served.address)
            reader.read(phones, f"board, {name}, paired", served.address, "body.paired")
            reader.read(phones, f"control, {name}, paired", f"{served.address}/control", "details.more")


def read_certificates(reader: Reader) -> None:
    """Read the certificate of a table on which everything failed, and of one on which one thing passed."""
    lines = (
        CertificateLine("bounce", False, {"limit": 6.4}, {"worst": 7.9, "who": "Cho"}),
        CertificateLine("order", False, {}, {"told": 1, "pairs": 2, "wrong": "Ana, Ben"}),
        CertificateLine("focus", False, {"limit": 3.3}, {"value": 5.1}),
        CertificateLine("exposure", False, {"limit": 120, "clipped": 2}, {"white": 70, "over": 0.1}),
        CertificateLine("flicker", False, {"limit": 8.0}, {"value": 12.0}),
        CertificateLine("look", False, {"limit": 4}, {"cards": 2.1, "ms": 480}),
        CertificateLine("light", False, {"limit": 20}, {"value": 31.0, "count": 20}),
        CertificateLine("sound", False, {"limit": 120}, {"value": 200.0, "count": 20}),
        CertificateLine("clock", False, {"limit": 1}, {"source": "hpet", "step": 4}),
        CertificateLine("disk", False, {"limit": 50}, {"value": 120.0, "count": 20}),
        CertificateLine("seal", False, {}, {"game": 3, "seal": "2eb1 1c87 437b 71ac"}),
        CertificateLine(
            "versions",
            True,
            {},
            {
                "referee": "0.1.0",
                "eye": "bf249fb8",
                "python": "3.11.7",
                "system": "Linux 6.18",
                "machine": "x86_64, 2 cores",
            },
        ),
    )
    for name, kept in (("failed", lines), ("passed", (replace(lines[0], passed=True),))):
        with _house() as house:
            made = Certificate(
                "2026-03-01T18:40:00+01:00", "17b68d2c75a5", "0.1.0", "50a3823055b8", kept, seats=("Ana", "Ben", "Cho")
            )
            save_certificate(beside_record(house.record.path), made, "page")
            with house.serve() as served, reader.phones() as phones:
                reader.read(phones, f"certificate, {name}", f"{served.address}/certificate")


def read_errors(reader: Reader) -> None:
    """Read the pages of a record that is none, and of a game whose log is damaged."""
    with tempfile.TemporaryDirectory() as folder, reader.phones() as phones:
        path = Path(folder) / "games.sqlite"
        path.write_bytes(b"this is no database, whatever its name says" * 50)
        with Served(path) as served:
            reader.read(phones, "no record", f"{served.address}/games")
    with _house() as house, reader.phones() as phones:
        game = house.record.add_game("2026-03-14T18:05:00+00:00", list(enumerate(demo_lines()[:20], start=1)))
        with closing(sqlite3.connect(house.record.path)) as db:
            db.executescript(f"DROP TRIGGER line_stays; UPDATE line SET text='{{' WHERE game={game} AND number=1;")
        with house.serve() as served:
            reader.read(phones, "a damaged game", f"{served.address}/games/{game}/replay")


class _ReadEvening(Evening):
    """A wizard whose every question is read in each language before it is answered."""

    def __init__(self, browser: Browser, address: str, reader: Reader, phones: Mapping[str, Page]) -> None:
        super().__init__(browser, address, None)
        self._reader, self._phones = reader, phones

    def say(self, question: str, answer: str, picture: str = "") -> None:
        self._read(question)
        super().say(question, answer, picture)

    def switch(self, question: str, wanted: Mapping[str, bool], picture: str = "") -> None:
        self._read(question)
        super().switch(question, wanted, picture)

    def name_players(self, names: Any) -> None:
        self.main.locator(".ask").first.wait_for()
        self._read("Who plays?")
        super().name_players(names)

    def _read(self, question: str) -> None:
        self.main.locator(".ask", has_text=question).locator("input, .choices").first.wait_for()
        self._reader.read(self._phones, f"wizard, {question}", self._address, ".ask")
        # One address may hold a limited number of connections.
        for page in self._phones.values():
            page.goto("about:blank")


def read_wizard(reader: Reader) -> None:
    """Read each question of `referee play`, and the board that the game begins on."""
    bare = np.asarray(cv2.imencode(".jpg", np.full((480, 640, 3), 70, np.uint8))[1]).tobytes()
    with (
        tempfile.TemporaryDirectory() as home, closing(StreamedTable([bare], 0)) as table,
        playing(Path(home)) as address, reader.phones() as phones,
    ):  # fmt: skip
        evening = _ReadEvening(reader.browser, address, reader, phones)
        evening.walk(("Ana", "Ben", "Cho", "Dan"), 2, table)
        reader.read(phones, "board, the wizard's game", address, "#board")
        reader.read({"en": evening.windows[1]}, "a phone as a pad")


def read_class(reader: Reader) -> None:
    """Read the room's page of a class, and a pupil's phone."""
    with tempfile.TemporaryDirectory() as home, playing(Path(home), "class") as room, reader.phones() as phones:
        reader.read(phones, "class, the room", room, "#stage")
        reader.read(phones, "class, a phone", f"{room}join", "#trial[data-pupil]")


def read_review(reader: Reader) -> None:
    """Read the page on which people settle a dispute from their own video."""
    with tempfile.TemporaryDirectory() as home:
        clip = film_briefly(Path(home)).file
        with ReviewedVideo(clip, Path(home) / "dispute.jsonl") as review, reader.phones() as phones:
            reader.read(phones, "review of a video", f"{review.address}/")


def read_hall(reader: Reader) -> None:
    """Read the hall's pages: no table, several, one that needs help, the league."""
    if PROGRAM is None:
        print("the hall is left out: Mosquitto is not here", file=sys.stderr)
        return
    with ExitStack() as opened:
        broker = opened.enter_context(Mosquitto(Path(opened.enter_context(tempfile.TemporaryDirectory()))))
        hall, speaker = opened.enter_context(ServedHall(broker.port)), opened.enter_context(Listener(broker.port))
        phones = opened.enter_context(reader.phones())
        for name, path in (("tables", "/"), ("league", "/league"), ("no such table", "/tables/t9")):
            reader.read(phones, f"hall, {name}, empty", hall.address + path)
        room = Room(broker, hall, speaker)
        for table in ("t1", "t2", "t3"):
            room.state(table, seats=[{"name": name, "cards": 17} for name in NAMES])
        room.telling("t3").ruling(ASKED)
        room.state("t3", troubles={"camera": to_json(Sentence("the camera fell silent; starting it anew"))})
        speaker.say("referee/t2/available", b"offline", retain=True)
        for name, path in (("tables", "/"), ("projector", "/projector"), ("table", "/tables/t3")):
            reader.read(phones, f"hall, {name}", hall.address + path, "main .tile")


@contextmanager
def _house() -> Iterator[House]:
    with tempfile.TemporaryDirectory() as folder, closing(House(Path(folder))) as house:
        yield house


SCENES: Final[Mapping[str, Callable[[Reader], None]]] = {
    "empty": read_empty, "evening": read_evening, "control": read_control, "questions": read_questions,
    "certificates": read_certificates, "errors": read_errors, "wizard": read_wizard, "class": read_class,
    "review": read_review, "hall": read_hall,
}  # fmt: skip


def faults_of(reader: Reader) -> list[str]:
    """Return what is wrong with the texts and pages that were read, in a line each."""
    every = [text for texts in reader.shown.values() for text in texts]
    strange = [(text, ", ".join(strange_in(text.words))) for text in every if strange_in(text.words)]
    english = [(text, f"English in {language}") for language, text in still_english(reader.shown)]
    told = [f"{text.page} {text.element}: {wrong}: {text.words}" for text, wrong in (*strange, *english)]
    return list(dict.fromkeys([*told, *(f"scrolls sideways: {page}" for page in reader.wide)]))


def main() -> int:
    """Write the lists; exit status 1 if a text holds what it should not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SCENES, action="append", help="one scene alone")
    wanted = parser.parse_args().only or list(SCENES)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=list({*ARGUMENTS, *DEVICES}))
        reader = Reader(browser)
        for scene in wanted:
            SCENES[scene](reader)
        browser.close()
    OUT.mkdir(exist_ok=True)
    faults = faults_of(reader)
    for language, texts in reader.shown.items():
        file = OUT / f"texts-{language}.txt"
        file.write_text("".join(f"{text.page}\t{text.element}\t{text.words}\n" for text in texts), encoding="utf-8")
        print(f"{file}: {len(texts)} texts, {len({text.words for text in texts})} different")
    print(*(f"{height:6} px  {name}" for name, height in reader.heights.items()), sep="\n")
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
