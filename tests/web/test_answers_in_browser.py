"""An answer in a browser: the page's language, the players' names, and the mark of English text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardware.clock import monotonic
from referee.control.commands import Command
from referee.control.facts import Accepted, Outcome, Refused
from referee.sentence import Sentence
from tests.web.listening import listening
from tests.web.served import House
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'


def test_answers_are_in_the_language_of_the_page(house: House, page: Page) -> None:
    """Untranslated text is marked as English; none of it is markup."""
    answers: list[Outcome] = [
        Refused(Sentence("the table is paused already")),
        Accepted(Sentence("{seat} was first; the referee rules again on everything after it", seat=2)),
        Accepted("is <b>done</b>"),
    ]

    def obey(command: Command) -> Outcome:
        del command
        return answers.pop(0)

    with listening(house, obey) as desk, house.serve_controlled() as served:
        Table(house.record, FIRST, house.link)
        page.goto(f"{served.address}/control?lang=de")
        page.get_by_label("Code").fill(desk.pairing.show(monotonic()))
        page.get_by_role("button", name="Koppeln").click()
        page.get_by_text("Dieses Gerät ist gekoppelt.").wait_for()
        for language, words in (
            ("de", "der Tisch hat schon Pause"),
            ("de", "Ben war zuerst; der Schiedsrichter entscheidet alles danach neu"),
            ("en", "is <b>done</b>"),
        ):
            page.get_by_role("button", name="Pause").click()
            page.locator(f"#answer span[lang={language}]").get_by_text(words, exact=True).wait_for()
        assert not answers
