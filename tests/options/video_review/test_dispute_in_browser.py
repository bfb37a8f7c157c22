"""A dispute settled in a real browser, by the real command, from a filmed clip whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.dispute_client import ReviewedVideo, first_frame
from tests.support.filmed_disputes import FilmedDispute, film_briefly
from tests.web.test_page_buttons_in_browser import serious_faults
from tests.web.test_page_in_browser import SIZES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

FPS = 15.0


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> FilmedDispute:
    return film_briefly(tmp_path_factory.mktemp("film"))


@pytest.fixture
def reviewed(browser: Browser, filmed: FilmedDispute, tmp_path: Path) -> Iterator[ReviewedVideo]:
    """The page of a clip; the browser first, because without one the test is skipped."""
    with ReviewedVideo(filmed.file, tmp_path / "dispute.jsonl") as opened:
        yield opened


def shown_large(moment: Locator) -> int:
    """Return the enlarged frame."""
    return int(str(moment.locator(".large").get_attribute("src")).rpartition("/")[2].removesuffix(".jpg"))


def test_hands_are_marked_and_the_log_is_saved(
    page: Page, reviewed: ReviewedVideo, filmed: FilmedDispute, tmp_path: Path
) -> None:
    page.goto(reviewed.address)
    moment = page.locator("section[data-moment]").first
    ruled = moment.locator(".ruled")
    for slap in filmed.slaps:
        moment.locator(f"input[value='{slap.seat}']").check()
        moment.locator(f"[data-frame='{first_frame(slap, FPS)}']").click()
        moment.locator(".marks > span").nth(filmed.slaps.index(slap)).wait_for()
    assert "Ben wins the slap, double" in ruled.inner_text()
    assert "frames that people marked" in ruled.inner_text()
    # The frame that was clicked is shown large.
    assert shown_large(moment) == first_frame(slap, FPS)

    page.locator("#undo").click()
    moment.locator(".marks > span").nth(1).wait_for(state="detached")
    assert "alone" in ruled.inner_text()
    page.reload()
    assert moment.locator(".marks > span").all_inner_texts() == ["Ben"]

    page.locator("#save").click()
    page.locator("#answer").get_by_text("dispute.jsonl").wait_for()
    assert "Ben wins the slap, double, alone" in reviewed.stop()
    lines = [json.loads(line) for line in (tmp_path / "dispute.jsonl").read_text().splitlines()]
    (told,) = [line for line in lines if line["kind"] == "slap"]
    truth = filmed.slaps[0]
    assert (told["seat"], told["by"]) == (truth.seat, "people")
    assert abs(told["t"] - truth.t) <= told["t_error"]


def test_a_card_that_was_misread_is_put_right(page: Page, reviewed: ReviewedVideo) -> None:
    page.goto(reviewed.address)
    moment = page.locator("section[data-moment]").first
    assert "double" in moment.locator("h3").inner_text()
    moment.locator("summary").click()
    moment.locator("select").select_option("7c")
    moment.locator("[data-act=name]").click()
    page.get_by_text("No card was seen that may be slapped").wait_for()
    page.locator("#undo").click()
    page.locator("h3").get_by_text("double").wait_for()


def test_marks_that_were_not_saved_are_saved_at_the_end(
    reviewed: ReviewedVideo, filmed: FilmedDispute, tmp_path: Path
) -> None:
    moment = reviewed.moments()[-1]
    reviewed.post("mark", moment=moment.name, seat=2, frame=first_frame(filmed.slaps[0], FPS))
    assert "rest on frames that people marked" in reviewed.stop()
    assert '"kind":"slap"' in (tmp_path / "dispute.jsonl").read_text()


def test_the_arrow_keys_go_from_frame_to_frame(page: Page, reviewed: ReviewedVideo) -> None:
    page.goto(reviewed.address)
    moment = page.locator("section[data-moment]").first
    frames = moment.locator("[data-frame]")
    frames.nth(3).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    name = frames.nth(4).get_attribute("data-frame")
    assert page.evaluate("document.activeElement.dataset.frame") == name
    assert shown_large(moment) == int(str(name))


def test_axe_finds_no_serious_fault_and_nothing_sticks_out(page: Page, reviewed: ReviewedVideo) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        page.goto(reviewed.address)
        page.locator("[data-frame]").first.click()
        page.locator(".ruled li").first.wait_for()
        page.locator("details summary").first.click()
        assert serious_faults(axe, page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
