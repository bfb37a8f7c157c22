"""The moment of a decided slap takes the screen, and no losing hand ever does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.play import file_lines
from tests.web.listening import listening, open_board
from tests.web.served import House
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho","Dora"],"dealer":4,"rules":"classic"}'
CARDS = file_lines("1000 1:7h", "2000 2:7c ±8")
WON = file_lines("2300 slap 4", "2320 tick")
LATE = file_lines("2344.694 slap 1 #s2", "2600 tick", "2700 slap 2 #s3", "3300 tick")
TAKEN = file_lines("4000 taken 4", "4500 tick")


def shot(page: Page, name: str) -> None:
    folder = os.environ.get("SHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def watch_slap(house: House, page: Page, address: str) -> Table:
    """Open a board, let Dora win a slap before it, and return the table."""
    table = Table(house.record, FIRST, house.link)
    open_board(page, address)
    for line in (*CARDS, *WON):
        table.observe(line)
    return table


def test_the_winner_has_the_screen_and_late_hands_never(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        table = watch_slap(house, page, f"{served.address}/projector")
        screen = page.locator("#winner")
        screen.locator(".who", has_text="Dora").wait_for()
        # Other hands may still come: the screen says what was slapped, and nothing about them.
        assert screen.locator(".how").text_content() == "double" and screen.locator(".under").text_content() == ""
        shown = page.locator("#board").get_attribute("data-shown")
        for line in LATE:
            table.observe(line)
            table.tell()
        page.wait_for_function("was => document.getElementById('board').dataset.shown !== was", arg=shown)
        screen.locator(".how", has_text="45 ms ahead").wait_for()
        assert screen.is_visible() and screen.locator(".who").text_content() == "Dora"
        assert screen.locator(".under").text_content() == "give or take 3\xa0ms"
        assert [card.get_attribute("alt") for card in screen.locator(".hand img").all()] == [
            "7 of hearts", "7 of clubs",
        ]  # fmt: skip
        assert page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")
        # As large as a name, and the board beneath says the same.
        sizes = [screen.locator(part).evaluate("(e) => getComputedStyle(e).fontSize") for part in (".who", ".how")]
        assert sizes[0] == sizes[1]
        assert page.locator("#state .headline").text_content() == "The pile is Dora's"
        assert "Dora first" in (page.locator("#last").text_content() or "")
        shot(page, "winner")
        page.keyboard.press("Escape")
        assert not screen.is_visible()
        for line in TAKEN:
            table.observe(line)
        page.locator("#state .headline", has_text="Dora's turn").wait_for()
        assert not screen.is_visible(), "a moment that has been seen does not come back"


def test_a_hand_is_called_the_only_one_once_its_pile_is_gone(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        table = watch_slap(house, page, f"{served.address}/projector")
        screen = page.locator("#winner")
        screen.locator(".how", has_text="double").wait_for()
        assert "alone" not in (page.locator("#last").text_content() or "")
        for line in TAKEN:
            table.observe(line)
        screen.locator(".how", has_text="no other hand").wait_for()
        assert screen.locator(".under").text_content() == "double"
        assert page.locator("#last .head").text_content() == "Dora, alone"
        assert "Dora wins the slap, double, alone" in (page.locator("#rulings").text_content() or "")


def test_whose_pile_it_is_is_told_as_soon_as_it_is_decided(house: House, page: Page) -> None:
    """Not the seat whose turn it had been."""
    with listening(house), house.serve_controlled() as served:
        watch_slap(house, page, served.address)
        page.locator("#winner .who", has_text="Dora").wait_for()
        assert page.locator("#state .headline").text_content() == "The pile is Dora's"
        assert page.locator("#seats .owner .name").text_content() == "Dora"
        assert page.locator("#seats .turn").count() == 0
