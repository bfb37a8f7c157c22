"""A phone is paired at the table, then pauses, answers and corrects; an unpaired one can only watch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.control.commands import Command
from referee.control.facts import Accepted, Outcome
from referee.record.backup import open_backup
from tests.web.listening import listening, paired
from tests.web.served import House
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
CARDS = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"??","seat":2}',
    '{"kind":"tick","t":4000000000}',
)


def test_a_device_pairs_and_controls_the_table(house: House, page: Page) -> None:
    heard: list[Command] = []
    table: list[Table] = []

    def obey(command: Command) -> Outcome:
        heard.append(command)
        table[0].tell(paused=command.do == "pause")
        return Accepted(f"{command.do} is done")

    with listening(house, obey) as desk, house.serve_controlled() as served:
        table.append(Table(house.record, FIRST, house.link))
        for line in CARDS:
            table[0].observe(line)
        page.goto(f"{served.address}/control")
        page.get_by_label("Code").fill("000000")
        page.get_by_role("button", name="Pair").click()
        page.locator("#answer").filter(has_text="Refused").wait_for()
        assert not page.get_by_role("button", name="Pause").is_visible()
        paired(page, desk)

        with page.expect_download() as download:
            page.get_by_role("link", name="Download").click()
        with open_backup(download.value.path()) as (_, manifest):
            assert manifest.games == 1

        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Resume").wait_for()
        assert heard[-1].do == "pause"
        assert "Paused" in _headline(page, served.address)

        page.goto(f"{served.address}/control")
        question = page.locator("fieldset", has_text="Which card is this?")
        question.get_by_role("button", name="7", exact=True).click()
        question.get_by_role("button", name="7 of clubs").click()
        page.locator("#answer").filter(has_text="answer is done").wait_for()
        assert heard[-1].fields == {"question": "question@c2", "value": "7c"}

        correcting = page.locator("fieldset", has_text="Correct a card")
        correcting.get_by_label("Which card of the pile").select_option("c1")
        correcting.get_by_label("Rank").select_option("T")
        correcting.get_by_label("Suit").select_option("s")
        correcting.get_by_role("button", name="Apply").click()
        page.locator("#answer").filter(has_text="correct is done").wait_for()
        assert heard[-1].fields == {"line": "c1", "card": "Ts"}


def _headline(page: Page, address: str) -> str:
    page.goto(address)
    return page.locator("#state .headline").text_content() or ""


def test_a_page_without_a_table_lets_people_watch(house: House, page: Page) -> None:
    with house.serve() as served:
        page.goto(f"{served.address}/control")
        page.get_by_text("This device is not paired, so it cannot change the game.").wait_for()
        assert page.get_by_label("Code").count() == 0


def test_a_referee_that_is_not_there_is_told(house: House, page: Page) -> None:
    with house.serve_controlled() as served:
        page.goto(f"{served.address}/control")
        page.get_by_label("Code").fill("123456")
        page.get_by_role("button", name="Pair").click()
        page.locator("#answer").filter(has_text="Refused").wait_for()
