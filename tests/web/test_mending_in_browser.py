"""What the board shows is mended by touch: one tap on what is wrong, one on what is right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from referee.control.commands import Command
from referee.control.facts import Accepted, Outcome
from tests.web.listening import listening, paired
from tests.web.served import House
from tests.web.table import Table
from tests.web.test_page_buttons_in_browser import serious_faults

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
CARDS = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"8c","seat":2,"confidence":0.92,'
    '"candidates":[["8c",0.92],["3c",0.05],["7c",0.02]]}',
)
FALSE = ('{"kind":"slap","t":2300000000,"id":"s1","seat":3}', '{"kind":"tick","t":4000000000}')


@dataclass
class Heard:
    """A main process that writes down what it is told."""

    commands: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def __call__(self, command: Command) -> Outcome:
        self.commands.append((command.do, dict(command.fields)))
        return Accepted("that is done")


@contextmanager
def board(house: House, page: Page, heard: Heard, *lines: str, pair: bool = True) -> Iterator[Table]:
    """A phone with the scoreboard of a game."""
    page.set_viewport_size({"width": 390, "height": 844})
    with listening(house, heard) as desk, house.serve_controlled() as served:
        table = Table(house.record, FIRST, house.link)
        if pair:
            page.goto(f"{served.address}/control")
            paired(page, desk)
        page.goto(served.address)
        page.locator("#seats .seat").first.wait_for()
        for line in (*CARDS, *lines):
            table.observe(line)
        page.locator("#pile .card").nth(1).wait_for()
        yield table


def test_a_wrong_card_is_mended_in_two_taps_and_taken_back(house: House, page: Page) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    heard = Heard()
    with board(house, page, heard):
        page.locator("#pile .card").nth(1).click()
        sheet = page.locator("dialog.mend")
        likely = sheet.locator(".likely button")
        likely.first.wait_for()
        names = [one.get_attribute("data-card") for one in likely.all()]
        assert names[:2] == ["3c", "7c"], "what the eye held possible comes first"
        assert len(names) == 6 and "7h" not in names, "the card that lies there cannot be this one"
        assert serious_faults(axe, page) == []
        likely.nth(1).click()
        sheet.wait_for(state="detached")
        assert heard.commands == [("correct", {"line": "c2", "card": "7c"})]
        page.locator("#mended button").click()
        page.locator("#mended:not(.undoable)").wait_for(state="attached")
        assert heard.commands[1:] == [("undo", {})]


def test_a_slap_that_was_none_is_struck_out_in_two_taps(house: House, page: Page) -> None:
    heard = Heard()
    with board(house, page, heard, *FALSE):
        page.locator("#rulings .k-slap_false .wrong").click()
        page.get_by_role("button", name="There was no such slap").click()
        page.locator("dialog.mend").wait_for(state="detached")
        assert heard.commands == [("void", {"line": "s1"})]


def test_what_is_wrong_is_found_without_a_pointer(house: House, page: Page) -> None:
    heard = Heard()
    with board(house, page, heard):
        page.locator("#mend").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="8♣ · Ben").wait_for()
        page.keyboard.press("Enter")
        page.locator(".likely button").first.wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog.mend").wait_for(state="detached")
        assert heard.commands == []


def test_a_question_that_is_settled_leaves_the_screen(house: House, page: Page) -> None:
    heard = Heard()
    unread = '{"kind":"card","t":3000000000,"id":"c3","card":"??","seat":3,"candidates":[["9s",0.4],["6s",0.3]]}'
    with board(house, page, heard, unread, '{"kind":"tick","t":3500000000}') as table:
        page.locator("#questions [data-question]").click()
        sheet = page.locator("dialog.mend")
        likely = sheet.locator(".likely button")
        likely.first.wait_for()
        assert [one.get_attribute("data-card") for one in likely.all()][:2] == ["9s", "6s"]
        table.observe('{"kind":"answer","t":3600000000,"to":"question@c3","value":"9s"}')
        sheet.wait_for(state="detached")
        assert heard.commands == []


def test_a_question_is_answered_by_its_likeliest_card(house: House, page: Page) -> None:
    heard = Heard()
    unread = '{"kind":"card","t":3000000000,"id":"c3","card":"??","seat":3,"candidates":[["9s",0.4],["6s",0.3]]}'
    with board(house, page, heard, unread, '{"kind":"tick","t":3500000000}'):
        page.locator("#questions [data-question]").click()
        page.locator(".likely button").nth(1).click()
        page.locator("dialog.mend").wait_for(state="detached")
        assert heard.commands == [("answer", {"question": "question@c3", "value": "6s"})]


def test_who_has_not_paired_is_told_how_to(house: House, page: Page) -> None:
    heard = Heard()
    with board(house, page, heard, pair=False):
        page.locator("#pile .card").nth(1).click()
        page.get_by_text("This device is not paired").wait_for()
        assert page.locator(".likely").count() == 0
        page.get_by_role("link", name="Pair this device").click()
        page.get_by_label("Code").wait_for()
        assert heard.commands == []
