"""What a screen reader is given to read: each caption once, soon, and nothing besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.listening import listening
from tests.web.served import House
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
SOON = 500
"""Milliseconds from a card's being told to its line on the page."""
LISTEN = """() => {
  window.readOut = [];
  for (const region of document.querySelectorAll("[aria-live], [role=status], [role=alert]"))
    new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) readOut.push(node.textContent.trim());
    }).observe(region, { childList: true, subtree: true, characterData: true });
}"""
"""Writes down every text that is added to a live region, as a screen reader would be given it."""


def lay(table: Table, number: int, card: str, seat: int, *said: str) -> None:
    """One card as the camera tells it, with the call that the voice gives it."""
    table.observe(f'{{"kind":"card","t":{number}000000000,"id":"c{number}","card":"{card}","seat":{seat}}}', *said)


def test_a_card_is_one_message_and_soon(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        table = Table(house.record, FIRST, house.link)
        page.goto(served.address)
        lay(table, 1, "7h", 1, "the seven of hearts, next Ben, one")
        page.locator("#said").get_by_text("the seven of hearts").wait_for()
        page.evaluate(LISTEN)
        lay(table, 2, "9c", 2, "the nine of clubs, next Cho, two")
        page.locator("#said").get_by_text("the nine of clubs").wait_for(timeout=SOON)
        # What else the card changes has come with it or comes with the next look.
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
