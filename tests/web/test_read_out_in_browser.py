"""The text for a screen reader: each caption once, soon, and nothing besides."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.web.listening import listening
from tests.web.served import House
from tests.web.table import Table
from tests.web.test_sound_in_browser import SPEECH

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
SPOKEN_WITHIN = 400
"""Milliseconds from a card's line on the page to the screen's speech."""
LISTEN = """() => {
  window.readOut = [];
  for (const region of document.querySelectorAll("[aria-live], [role=status], [role=alert]"))
    new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) readOut.push(node.textContent.trim());
    }).observe(region, { childList: true, subtree: true, characterData: true });
}"""
"""Records every text that is added to a live region, as a screen reader would receive it."""
SPOKEN = """() => {
  window.spoken = [];
  speechSynthesis.speak = (words) => {
    spoken.push(words.text);
    setTimeout(() => words.onend?.());
  };
}"""
"""Records what an instantaneous synthesiser received."""


def lay(table: Table, number: int, card: str, seat: int, *said: str) -> None:
    """Report one card, with the voice's call for it."""
    table.observe(f'{{"kind":"card","t":{number}000000000,"id":"c{number}","card":"{card}","seat":{seat}}}', *said)


def test_a_card_is_one_message(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        table = Table(house.record, FIRST, house.link)
        page.goto(served.address)
        lay(table, 1, "7h", 1, "the seven of hearts, next Ben, one")
        page.locator("#said").get_by_text("the seven of hearts").wait_for()
        page.evaluate(LISTEN)
        lay(table, 2, "9c", 2, "the nine of clubs, next Cho, two")
        page.locator("#said").get_by_text("the nine of clubs").wait_for()
        # Other changes by the card have come with it or come with the next look.
        table.tell()
        page.locator("#state .headline").filter(has_text="Cho's turn").wait_for()
        assert page.evaluate("readOut") == ["the nine of clubs, next Cho, two"]


def test_a_burst_is_read_once_each_and_no_old_line_again(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        table = Table(house.record, FIRST, house.link)
        page.goto(served.address)
        lay(table, 1, "7h", 1, "call 1")
        page.locator("#said").get_by_text("call 1").wait_for()
        page.evaluate(LISTEN)
        lay(table, 2, "9c", 2, "call 2")
        lay(table, 3, "4d", 3, "call 3")
        lay(table, 4, "4s", 1, "call 4")
        table.observe('{"kind":"slap","t":4300000000,"id":"s1","seat":3}')
        table.observe('{"kind":"tick","t":6000000000}', "Cho wins the slap")
        page.locator("#said").get_by_text("Cho wins the slap").wait_for()
        read = page.evaluate("readOut")
        assert read[-1] == "Cho wins the slap"
        assert len(read) == len(set(read)) and set(read) <= {"call 2", "call 3", "call 4", "Cho wins the slap"}


def test_a_card_is_on_the_page_and_spoken_soon(house: House, page: Page) -> None:
    """By the page's clock, which stands still while the machine works."""
    page.add_init_script(SPEECH)
    page.clock.install()
    with listening(house), house.serve_controlled() as served:
        table = Table(house.record, FIRST, house.link)
        page.goto(served.address)
        page.locator("#sound").click()
        page.evaluate(SPOKEN)
        page.evaluate("speechSynthesis.end()")
        page.locator("#state .headline").filter(has_text="Ana's turn").wait_for()
        page.clock.pause_at(time.time() + 3600)
        for number, card in enumerate(("2c", "3d", "4h", "5s", "6c", "7d", "8h", "9s", "2h"), start=1):
            call = f"call {number}"
            lay(table, number, card, (number - 1) % 3 + 1, call)
            page.locator("#said").get_by_text(call).wait_for()
            page.clock.run_for(SPOKEN_WITHIN)
            assert page.evaluate("spoken").count(call) == 1
