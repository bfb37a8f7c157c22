"""`make contact-sheet`: every page at every usual size, light and dark, four and eight players, for visual inspection.

``python -m tools.contact_sheet [--only NAME]`` writes each picture to ``out/contact``, one sheet for each size, theme
and number of players, and one for each size and theme of the pages that belong to no game (set-up, class, review).
Needs chromium.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

from referee.control.socket import CommandDispatcher
from referee.record.people import People
from tests.support.chromium import ARGUMENTS, CHROMIUM
from tests.support.dispute_client import ReviewedVideo
from tests.support.filmed_disputes import film_briefly
from tests.web.crowd import crowd_lines
from tests.web.listening import listening, paired
from tests.web.served import House, Served
from tests.web.table import Table
from tests.web.test_page_buttons_in_browser import Main, telling
from tools.measure.play_test import playing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

OUT: Final = Path(__file__).parents[1] / "out" / "contact"
SIZES: Final = ((390, 844), (1280, 720), (1366, 768), (1920, 1080))
THEMES: Final = ("light", "dark")
PAGES: Final = {
    "board": "/", "projector": "/projector", "winner": "/projector", "end": "/games/1/end",
    "end-projector": "/games/1/end?from=projector", "finish": "/games/3/finish?slap=s1", "games": "/games",
    "game": "/games/1", "ruling": "/games/3/ruling?id=slap_won@s1", "replay": "/games/1/replay?at=120",
    "figures": "/figures", "game-figures": "/games/1/figures", "what-if": "/games/3/what-if?slap=s1",
    "latest-finish": "/finish",
    "league": "/league", "person": "/people/ID", "table": "/table", "certificate": "/certificate", "rules": "/rules",
    "control": "/control", "pads": "/pads", "pad": "/pad", "shadow": "/games/2/shadow", "missing": "/nothing-here",
    "paired": "/control", "mending": "/",
}  # fmt: skip
PAIRED: Final = ("paired", "mending")
"""Pages that look different on a paired device; they come last."""
ELSEWHERE: Final = ("set-up", "class", "class-phone", "review")
"""Pages that other commands than the table serve; the number of players does not matter to them."""
_SHADOW: Final = (
    '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}',
    '{"kind":"shadow","t":1,"id":"x1"}',
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"7c","seat":2}',
    '{"kind":"slap","t":2300000000,"id":"s1","seat":3}',
    '{"kind":"mark","t":4000000000,"id":"m1","verdict":"false"}',
    '{"kind":"tick","t":9000000000}',
)
"""A game in which the people disagreed with the shadow-mode referee."""
_COLUMNS: Final = 4
_PAUSE_MS: Final = 600
"""The page rate-limits file requests per second (`referee.web.security.limits`)."""
_WIDE: Final = 480
"""Width of a page on a sheet, px."""


def open_device(browser: Browser, theme: str) -> BrowserContext:
    """Open a new browser profile, light or dark, with animations off."""
    return browser.new_context(
        locale="en-GB", color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce"
    )


def shoot(page: Page, address: str, name: str, file: Path) -> None:
    """Take a picture of one freshly opened page."""
    page.goto(address + ("/league" if name == "person" else PAGES.get(name, "")))
    if name == "person":
        page.locator("th a").first.click()
    page.wait_for_load_state("load")
    page.wait_for_timeout(_PAUSE_MS)
    if name == "winner":
        page.evaluate("document.getElementById('winner').hidden = false")
    if name == "mending":
        page.locator("body.paired").wait_for()
        page.locator("#pile").get_by_role("button").last.click()
        page.locator("dialog.sheet[open] .pick").first.wait_for()
    page.evaluate("document.fonts.ready")
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    page.screenshot(path=str(file))


def join_sheet(files: list[Path], to: Path) -> None:
    """Join pictures of one size side by side, with their names."""
    made = []
    for file in files:
        with Image.open(file) as opened:
            made.append((file.stem, opened.convert("RGB").resize((_WIDE, _WIDE * opened.height // opened.width))))
    high = made[0][1].height + 24
    sheet = Image.new("RGB", (_COLUMNS * (_WIDE + 8), -(-len(made) // _COLUMNS) * high), "#777")
    pen = ImageDraw.Draw(sheet)
    for place, (name, picture) in enumerate(made):
        x, y = place % _COLUMNS * (_WIDE + 8), place // _COLUMNS * high
        sheet.paste(picture, (x, y + 20))
        pen.text((x + 4, y + 4), name, "white")
    sheet.save(to)


def shoot_elsewhere(browser: Browser, names: list[str]) -> Iterator[Path]:
    """Yield every sheet of the pages that other commands serve, as soon as it is finished."""
    with ExitStack() as served:
        homes = [Path(served.enter_context(tempfile.TemporaryDirectory())) for _ in range(3)]
        clip = film_briefly(homes[2]).file
        review = served.enter_context(ReviewedVideo(clip, homes[2] / "dispute.jsonl"))
        room = served.enter_context(playing(homes[1], "class"))
        addresses = {
            "set-up": served.enter_context(playing(homes[0])), "class": room, "class-phone": f"{room}join",
            "review": f"{review.address}/",
        }  # fmt: skip
        for theme in THEMES:
            for width, height in SIZES:
                files = []
                for name in names:
                    files.append(OUT / f"elsewhere-{theme}-{width}" / f"{name}.png")
                    files[-1].parent.mkdir(parents=True, exist_ok=True)
                    context = open_device(browser, theme)
                    page = context.new_page()
                    page.set_viewport_size({"width": width, "height": height})
                    shoot(page, addresses[name], name, files[-1])
                    context.close()
                sheet = OUT / f"sheet-elsewhere-{theme}-{width}.png"
                join_sheet(files, sheet)
                yield sheet


@contextmanager
def serve_evening(players: int) -> Iterator[tuple[Served, CommandDispatcher]]:
    """Serve a record with a finished game, one in shadow mode and one in progress; yield its page and its commands."""
    with tempfile.TemporaryDirectory() as folder, closing(House(Path(folder))) as house:
        house.demo()
        with People(house.record.path) as people:
            for name in ("Ana", "Ben", "Cho"):
                people.remember(name, "2026-03-14T18:00:00+00:00")
        house.record.add_game("2026-03-14T18:05:00+00:00", list(enumerate(_SHADOW, start=1)))
        with (
            listening(house) as desk,
            house.serve("--runtime", f"{folder}/runtime", "--host", "0.0.0.0") as served,
        ):
            lines = list(crowd_lines(players))
            table = Table(house.record, lines[0], house.link)
            for line in lines[1:]:
                table.observe(line)
            house.link.tell("Benedikt, false slap. Burn one card.")
            with telling(Main(table, None)):
                yield served, desk


def shoot_tables(only: str | None) -> Iterator[Path]:
    """Yield every sheet as soon as it is finished; ``only``: of one page."""
    names = [name for name in PAGES if only in (None, name)]
    elsewhere = [name for name in ELSEWHERE if only in (None, name)]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        if elsewhere:
            yield from shoot_elsewhere(browser, elsewhere)
        for players in (4, 8) if names else ():
            with serve_evening(players) as (served, desk):
                for theme in THEMES:
                    context = open_device(browser, theme)
                    page = context.new_page()
                    for width, height in SIZES:
                        page.set_viewport_size({"width": width, "height": height})
                        context.clear_cookies()
                        here, files = False, []
                        for name in names:
                            files.append(OUT / f"{players}-{theme}-{width}" / f"{name}.png")
                            files[-1].parent.mkdir(parents=True, exist_ok=True)
                            if name in PAIRED and not here:
                                page.goto(f"{served.address}/control")
                                paired(page, desk)
                                here = True
                            shoot(page, served.address, name, files[-1])
                        sheet = OUT / f"sheet-{players}-{theme}-{width}.png"
                        join_sheet(files, sheet)
                        yield sheet
                    context.close()
        browser.close()


def main() -> None:
    """Write all sheets and print their paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*PAGES, *ELSEWHERE], help="one page alone")
    for sheet in shoot_tables(parser.parse_args().only):
        print(sheet)


if __name__ == "__main__":
    main()
