"""A lesson on the replay's page: it stops before each answer, asks, and shows it on a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.served import Served
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Page


def at(page: Page, step: int) -> None:
    page.locator(f"#slider[data-shown='{step}']").wait_for(state="attached")


def test_it_plays_to_a_question_and_tells_nothing_before_the_key(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(f"{served.address}/games/1/replay?lesson=1")
    at(page, 0)
    stops = [int(stop) for stop in (page.locator("#slider").get_attribute("data-questions") or "").split()]
    assert len(stops) > 5
    page.locator("[data-move=question]").click()
    at(page, stops[0])
    page.locator("[data-move=previous]").click()
    at(page, stops[0] - 1)
    # Played from just before, it stops by itself.
    page.locator("#slider").focus()
    page.keyboard.press("Space")
    at(page, stops[0])
    page.locator("#play", has_text="Play").wait_for()
    question = page.locator("#ask details")
    assert question.get_attribute("open") is None
    assert "Hands come down on the pile" in (page.locator("#what").text_content() or "")
    assert page.locator("#ruled li").count() == 0
    assert not page.locator("#ask .verdict").is_visible()
    page.keyboard.press("ArrowRight")
    page.locator("#ask .verdict").wait_for(state="visible")
    at(page, stops[0])
    page.keyboard.press("ArrowRight")
    at(page, stops[0] + 1)
    assert page.locator("#ask details").count() == 0


def test_a_tap_answers_and_leads_to_what_if(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(f"{served.address}/games/1/replay?lesson=1")
    at(page, 0)
    page.locator("[data-move=question]").click()
    page.locator("#ask summary").click()
    page.locator("#ask .verdict").wait_for(state="visible")
    page.locator("#ask a", has_text="What if?").click()
    page.locator("#what-if").wait_for()


def test_without_a_lesson_nothing_is_asked(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(f"{served.address}/games/1/replay")
    at(page, 0)
    assert page.locator("#ask, [data-questions]").count() == 0
    page.locator("a", has_text="Lesson: stop at each slap and ask").click()
    page.locator("[data-move=question]").wait_for()
