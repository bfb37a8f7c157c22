"""The referee's voice from a screen whose user has switched speech on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.listening import listening
from tests.web.served import House
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":2,"rules":"classic"}'
SPEECH = """
window.spoken = [];
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
const now = { words: null };
const end = () => { const words = now.words; now.words = null; words?.onend(); };
Object.defineProperty(window, "speechSynthesis", { value: {
  speak(words) { now.words = words; spoken.push(`${words.lang}: ${words.text}`); },
  cancel() { end(); },
  end,
  refuse() { now.words.onerror({ error: "not-allowed" }); },
} });
"""
"""A synthesiser that notes its speech, and ends on request."""


def spoken(page: Page, count: int) -> list[str]:
    """Return the spoken phrases, once there are enough."""
    page.wait_for_function("count => spoken.length >= count", arg=count)
    return list(page.evaluate("spoken"))


def shown(page: Page, text: str) -> None:
    page.locator("#said li", has_text=text).wait_for(state="attached")


def test_a_screen_speaks_when_asked_and_verdicts_come_first(house: House, page: Page) -> None:
    page.add_init_script(SPEECH)
    with listening(house), house.serve_controlled() as served:
        Table(house.record, FIRST, house.link)
        house.link.tell("Ben is to play", language="de")
        page.goto(f"{served.address}/projector")
        button = page.locator("#sound")
        button.wait_for()
        shown(page, "Ben is to play")
        house.link.tell("Ana is to play")
        shown(page, "Ana is to play")
        assert page.evaluate("spoken") == [], "this screen has not been asked to speak"
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert spoken(page, 1) == ["en: Sound is on here"]
        # While it speaks, only the newest phrase that is no verdict waits.
        for words in ("Stapel mit drei Karten", "Stapel mit vier Karten"):
            house.link.tell(words)
            shown(page, words)
        page.evaluate("speechSynthesis.end()")
        assert spoken(page, 2)[1:] == ["de: Stapel mit vier Karten"]
        # A verdict interrupts other speech, and is never interrupted.
        for words in ("Ana gewinnt", "Ben verliert"):
            house.link.tell(words, verdict=True)
            shown(page, words)
        assert spoken(page, 3)[2:] == ["de: Ana gewinnt"]
        page.evaluate("speechSynthesis.end()")
        assert spoken(page, 4)[3:] == ["de: Ben verliert"]
        button.click()
        house.link.tell("Ana ist dran")
        shown(page, "Ana ist dran")
        assert len(page.evaluate("spoken")) == 4


def test_a_screen_that_speaks_goes_on_with_the_next_page(house: House, page: Page) -> None:
    """The end of a game has a separate page, and the next game begins on a fresh board."""
    page.add_init_script(SPEECH)
    with listening(house), house.serve_controlled() as served:
        Table(house.record, FIRST, house.link)
        page.goto(f"{served.address}/projector")
        page.locator("#sound").click()
        page.goto(f"{served.address}/games")
        page.goto(f"{served.address}/projector")
        button = page.locator("#sound")
        button.wait_for()
        assert button.get_attribute("aria-pressed") == "true"
        assert page.evaluate("spoken") == [], "what was said before is not said again"
        house.link.tell("Ana ist dran")
        assert spoken(page, 1) == ["en: Ana ist dran"]
        # A browser that requires a new touch says so, and the button shows it.
        page.evaluate("speechSynthesis.refuse()")
        assert button.get_attribute("aria-pressed") == "false"
        page.reload()
        page.locator("#seats .seat").first.wait_for()
        assert button.get_attribute("aria-pressed") == "false"


def test_a_browser_without_a_voice_offers_none(house: House, page: Page) -> None:
    page.add_init_script("Object.defineProperty(window, 'speechSynthesis', { value: undefined });")
    with listening(house), house.serve_controlled() as served:
        Table(house.record, FIRST, house.link)
        page.goto(served.address)
        page.locator("#seats .seat").first.wait_for()
        assert page.locator("#sound").is_hidden()
