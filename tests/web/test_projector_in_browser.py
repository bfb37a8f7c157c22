"""The projector at every usual size, with four to eight people: all of it in sight, and readable from six metres."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import pytest

from referee.text.catalogue import table as text_table
from tests.support.patience import PATIENCE
from tests.web.crowd import NAMES, crowd_lines
from tests.web.listening import listening, open_board
from tests.web.served import House
from tests.web.table import Table, demo_lines

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES = ((1280, 720), (1366, 768), (1920, 1080))
WIDE_MM, FAR_MM, LEAST_ARC_MINUTES = 2_000, 6_000, 20
CAPITAL = 0.711
"""Height of Roboto's capitals and figures against its size."""
TEXTS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, own = node.parentElement;
    if (!node.textContent.trim() || !own.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const aside = ".unseen, .share .button, .buttons :is(a, button), #answer, [hidden], title, desc, template, script";
    if (own.closest(aside)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width <= 1 || own.getBoundingClientRect().width <= 1) continue;
    let clip = 0;
    for (let up = own; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflow === "visible" || up.classList.contains("name")) continue;
      const edge = up.getBoundingClientRect();
      clip = Math.max(clip, box.bottom - edge.bottom, box.right - edge.right);
    }
    const scale = own.ownerSVGElement ? own.ownerSVGElement.getScreenCTM().a : 1;
    found.push({ text: node.textContent.trim(), size: parseFloat(getComputedStyle(own).fontSize) * scale,
      bottom: box.bottom, right: box.right, clip, list: Boolean(own.closest(".r-rulings, .p-said")) });
  }
  return found;
}"""


def arc_minutes(size: float, width: int) -> float:
    """Return the apparent height of capitals of this many pixels at six metres on a picture two metres wide."""
    return math.degrees(math.atan(size * CAPITAL * WIDE_MM / width / FAR_MM)) * 60


def check_room(page: Page, width: int, height: int) -> list[str]:
    """Check that every visible text that matters is large enough and lies on the picture; return them."""
    found: list[dict[str, Any]] = page.evaluate(TEXTS)
    small = {element["text"]: round(arc_minutes(element["size"], width), 1) for element in found}
    assert {text: size for text, size in small.items() if size < LEAST_ARC_MINUTES} == {}
    # A repetition in a list may be cut at its edge, and the ellipsis of a long name may hide a letter.
    beyond = [element for element in found if element["bottom"] > height + 1 or element["right"] > width + 1]
    assert [element["text"] for element in beyond if not element["list"]] == []
    assert [
        (element["text"], element["clip"]) for element in found if element["clip"] > 3 and not element["list"]
    ] == []
    assert page.evaluate("document.documentElement.scrollHeight") <= height
    return [element["text"] for element in found]


@pytest.mark.parametrize("seats", [4, 6, 8])
def test_nothing_that_matters_lies_below_the_fold_or_is_too_small(house: House, page: Page, seats: int) -> None:
    with listening(house), house.serve("--runtime", str(house.folder / "runtime"), "--host", "0.0.0.0") as served:
        lines = list(crowd_lines(seats))
        table = Table(house.record, lines[0], house.link)
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(f"{served.address}/projector")
        page.locator("#seats .seat").nth(seats - 1).wait_for()
        for line in lines[1:]:
            table.observe(line)
        house.link.tell("Benedikt, false slap. Burn one card.")
        page.locator("#said", has_text="false slap").wait_for()
        page.locator("#last", has_text="False slap by").wait_for()
        page.keyboard.press("Escape")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            if "SHOTS" in os.environ:
                page.screenshot(path=f"{os.environ['SHOTS']}/projector-{seats}-{width}.png")
            texts = check_room(page, width, height)
            assert set(NAMES[:seats]) <= set(texts)
            tall = page.locator("#pile .card").last.evaluate("(card) => card.getBoundingClientRect().height")
            # An index is 14.5 of 88 mm high.
            assert arc_minutes(tall * 14.5 / 88 / CAPITAL, width) >= LEAST_ARC_MINUTES
            for code in page.locator(".scan img").all():
                box = code.bounding_box()
                assert box is not None and box["y"] + box["height"] <= height and box["width"] / width * WIDE_MM >= 200
            if "SHOTS" in os.environ:
                page.screenshot(path=f"{os.environ['SHOTS']}/projector-{seats}-{width}.png")


@pytest.mark.parametrize("seats", [4, 8])
def test_longer_words_lie_on_the_picture_too(house: House, page: Page, seats: int) -> None:
    """With the longest reason of a standing slap as the last one, and two lines of spoken text."""
    with listening(house), house.serve("--runtime", str(house.folder / "runtime"), "--host", "0.0.0.0") as served:
        lines = list(crowd_lines(seats))
        table = Table(house.record, lines[0], house.link)
        for line in lines[1:]:
            table.observe(line)
        for language in ("de", "es", "fr"):
            page.goto(f"{served.address}/projector?lang={language}")
            page.locator("#seats .seat").nth(seats - 1).wait_for()
            house.link.tell("Emmanuelle, falsch geschlagen. Zwei Karten kommen unter den Stapel.")
            page.locator("#said", has_text="Emmanuelle").wait_for()
            page.locator("#last .head").wait_for()
            page.keyboard.press("Escape")
            # A hand that lost a tie has a winner before it, who stands there.
            words = text_table(language).items()
            longest = max((text for key, text in words if key.startswith("reason.") and key != "reason.tie"), key=len)
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                page.evaluate("text => { document.querySelector('#last .margin').textContent = text; }", longest)
                texts = check_room(page, width, height)
                assert longest in texts and set(NAMES[:seats]) <= set(texts)


def test_questions_and_problems_leave_the_rest_in_sight(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        lines = list(crowd_lines(8))
        table = Table(house.record, lines[0], house.link)
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(f"{served.address}/projector")
        for line in lines[1:]:
            table.observe(line)
        table.observe('{"kind":"card","t":40000000000,"id":"e1","card":"??","seat":2}')
        table.observe('{"kind":"tick","t":42000000000}')
        house.link.tell("Which card is this?", troubles={"voice": "no sound card: unplugged"})
        page.locator("#questions", has_text="Which card is this?").wait_for()
        page.locator("#troubles", has_text="no sound card").wait_for()
        page.keyboard.press("Escape")
        assert set(NAMES) <= set(check_room(page, 1280, 720))
        assert page.locator("#pile .card").last.bounding_box() is not None


def test_the_moment_of_a_slap_can_be_read_across_the_room(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        lines = list(crowd_lines(8))
        table = Table(house.record, lines[0], house.link)
        open_board(page, f"{served.address}/projector")
        for line in lines[1:15]:
            table.observe(line)
        page.locator("#winner .how", has_text="45").wait_for()
        # The board beneath is covered; only visible text is measured.
        page.evaluate("document.getElementById('board').remove()")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            assert {"Hal", "Ana", "first"} <= set(check_room(page, width, height))


def test_a_game_that_is_over_has_its_page_and_the_next_one_begins_on_the_board(house: House, page: Page) -> None:
    lines = demo_lines()
    with listening(house), house.serve_controlled() as served:
        page.clock.install()
        table = Table(house.record, lines[0], house.link)
        page.goto(f"{served.address}/projector")
        page.locator("#seats .seat").nth(3).wait_for()
        for line in lines[1:]:
            table.observe(line)
        table.finish()
        for _ in range(PATIENCE * 10):
            table.tell()
            if page.locator("#state [data-end]").count():
                break
            page.wait_for_timeout(100)
        assert table.view.winner is not None
        winner = table.view.names[table.view.winner - 1]
        page.clock.fast_forward(8_000)
        page.wait_for_url("**/games/1/end?from=projector")
        assert page.locator("h1").text_content() == f"{winner} wins the game"
        assert page.locator(".curve polyline").count() == 4
        assert page.locator(".moments li").count() == 5
        # A viewer who does not hear the voice reads the next step, without pairing a screen.
        page.locator("#another", has_text="tap a pad twice").wait_for()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            if "SHOTS" in os.environ:
                page.screenshot(path=f"{os.environ['SHOTS']}/end-{width}.png")
            check_room(page, width, height)
        Table(house.record, lines[0], house.link)
        page.wait_for_url("**/projector")
