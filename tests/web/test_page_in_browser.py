"""The page in a real browser: a game watched to its end, photo-finishes, replaced rulings, keys, accessibility, looks.

``SHOTS=DIR`` keeps the screenshots.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.engine.rulings import Ruling
from referee.engine.view import View
from referee.record.pictures import Picture
from referee.web.markup import PALETTES
from tests.support.patience import PATIENCE
from tests.web.conftest import new_window
from tests.web.listening import listening
from tests.web.served import House, Served
from tests.web.table import DEMO, Table, demo_lines

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = {"phone": (390, 844), "laptop": (1366, 768), "projector": (1920, 1080)}
FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
EIGHT = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"8c","seat":2,"t_error":8000000,"known_at":2200000000}',
    '{"kind":"slap","t":2300000000,"id":"s1","seat":3}',
    '{"kind":"tick","t":4000000000}',
)
PAGES = (
    "/", "/projector", "/games", "/games/1", "/games/1/replay", "/games/1/end", "/games/1/figures", "/figures",
    "/control", "/rules", "/games/1/ruling?id=turn@c1", "/nothing-here",
    "/games/1/what-if?slap=s1.4&line=s2.5&by=-12", "/games/1/replay?lesson=1&at=55",
)  # fmt: skip


def kept(page: Page, name: str) -> None:
    """Keep a screenshot, if wanted."""
    folder = os.environ.get("SHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page="projector" not in name)


def last_won(table: Table) -> Ruling:
    return [ruling for ruling in table.in_force() if ruling.kind == "slap_won" and ruling["margin"] is not None][-1]


def test_a_game_is_watched_to_its_end(house: House, page: Page) -> None:
    lines = demo_lines()
    with listening(house), house.serve_controlled() as served:
        page.goto(served.address)
        page.get_by_text("Waiting for a game").wait_for()
        table = Table(house.record, lines[0], house.link)
        page.locator("#seats .seat").nth(3).wait_for()
        for place, line in enumerate(lines[1:]):
            table.observe(line, *([f"line {place}"] if place % 40 == 0 else []))
        table.finish()
        view = table.view
        shown_last(page, table)
        counts = [int(text) for text in page.locator("#seats .count").all_text_contents()]
        assert counts == list(view.counts)
        cards = page.locator("#pile .card").count()
        assert cards == min(len(view.pile), 8)
        clock = page.locator("#rulings li").first.locator(".clock").text_content()
        assert clock is not None and float(clock.split()[0]) > 40
        assert page.locator("#said li").last.text_content() == f"line {(len(lines) - 2) // 40 * 40}"
        assert "Live" in (page.locator("#state").text_content() or "")


def shown_last(page: Page, table: Table) -> None:
    """Send the present until it is on the screen, as the referee does: the last of a burst may find the page busy."""
    from playwright.sync_api import Error

    said = f"line {(len(demo_lines()) - 2) // 40 * 40}"
    for _ in range(PATIENCE):
        table.tell()
        try:
            page.locator("#state .headline").filter(has_text=headline(table.view)).wait_for(timeout=1000)
            page.locator("#said").get_by_text(said).wait_for(timeout=1000)
        except Error:
            continue
        return
    raise AssertionError(f"{headline(table.view)} never came to the screen")


def headline(view: View) -> str:
    if view.winner is not None:
        return f"{view.names[view.winner - 1]} wins the game"
    if view.owner is not None:
        return f"The pile is {view.names[view.owner - 1]}'s"
    if view.challenge is not None:
        return f"{view.names[view.challenge.challenged - 1]} has {view.challenge.left}"
    assert view.turn is not None
    return f"{view.names[view.turn - 1]}'s turn"


def test_a_photo_finish_is_one_click_away_and_says_what_the_log_says(shown: tuple[Served, Table], page: Page) -> None:
    served, table = shown
    page.goto(served.address)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Photo finish").click()
    page.wait_for_url(re.compile(r"/games/1/finish\?slap="))
    slap = page.url.partition("slap=")[2]
    slaps = {}
    for line in DEMO.read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        if raw.get("kind") == "slap":
            slaps[raw["id"]] = raw
    assert slap in slaps
    ruling = last_won(table)
    page.goto(f"{served.address}/games/1/finish?slap={ruling.id.partition('@')[2]}")
    for row in page.locator("tr[data-hand]").all():
        raw = slaps[row.get_attribute("data-hand")]
        cells = page.locator(f"tr[data-line='{raw['id']}'] td")
        assert int(cells.nth(1).get_attribute("data-ns") or 0) == raw["t"]
        assert int(cells.nth(2).get_attribute("data-ns") or 0) == raw.get("t_error", 1_500_000)
        behind = row.locator("td").first.get_attribute("data-behind")
        runner = {other["seat"]: other["margin"] for other in ruling["runners_up"]} | {ruling["seat"]: 0}
        if behind is not None:
            assert int(behind) == runner[raw["seat"]]
    drawn = page.locator("svg.print.wide text").all_text_contents()
    assert f"by {ruling['margin'] / 1e6:.0f} ± {ruling['error'] / 1e6:.0f} ms" in drawn


def test_a_photo_finish_is_taken_home_as_png_and_svg(shown: tuple[Served, Table], page: Page, tmp_path: Path) -> None:
    from PIL import Image

    served, table = shown
    slap = last_won(table).id.partition("@")[2]
    page.goto(f"{served.address}/games/1/finish?slap={slap}")
    page.locator("summary", has_text="drawing").click()
    files = {}
    for kind, head in (("PNG", b"\x89PNG\r\n"), ("SVG", b"<svg ")):
        with page.expect_download() as coming:
            page.get_by_role("link", name=f"Download {kind}").click()
        file = tmp_path / coming.value.suggested_filename
        coming.value.save_as(file)
        assert file.read_bytes().startswith(head)
        assert file.name == f"photo-finish-1-{slap.replace('.', '-')}.{kind.lower()}"
        files[kind] = file
    with Image.open(files["PNG"]) as png:
        assert f'width="{png.width}" height="{png.height}"' in files["SVG"].read_text(encoding="utf-8")
        ground = PALETTES["light"]["ground"]
        assert png.convert("RGB").getpixel((1, 1)) == tuple(int(ground[at : at + 2], 16) for at in (1, 3, 5))


def test_pictures_before_and_after_are_shown(house: House, page: Page) -> None:
    from io import BytesIO

    from PIL import Image

    table = house.demo()
    ruling = last_won(table)
    out = BytesIO()
    Image.new("RGB", (64, 48), "#0a5").save(out, "JPEG")
    frames = [Picture(ruling.t + ms * 1_000_000, 4_000_000, out.getvalue()) for ms in (-66, 1, 67)]
    house.pictures.add(table.game, frames)
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/finish?slap={ruling.id.partition('@')[2]}")
        images = page.locator(".pictures img")
        assert images.count() == 3
        images.last.scroll_into_view_if_needed()
        widths = images.evaluate_all("all => Promise.all(all.map((one) => one.decode().then(() => one.naturalWidth)))")
        assert widths == [64, 64, 64]
        assert "−66 ms" in (images.first.get_attribute("alt") or "")
        # Each opens in the replay, at its own instant.
        images.last.click()
        page.locator(f"#instant-replay[open] canvas[data-t='{frames[-1].t}']").wait_for()


def test_a_replaced_ruling_is_replaced_on_the_screen(house: House, page: Page) -> None:
    with house.serve() as served:
        table = Table(house.record, FIRST, house.link)
        page.goto(served.address)
        for line in EIGHT:
            table.observe(line, "false slap")
        false = page.locator('#rulings li[data-id="slap_false@s1"]')
        false.get_by_text("False slap by Cho").wait_for()
        assert page.locator("#rulings s").count() == 0
        kept(page, "before-correction-laptop-light")
        table.observe('{"kind":"correct","t":9000000000,"id":"x1","line":"c2","card":"7c"}', "correction")
        table.observe('{"kind":"tick","t":12000000000}')
        table.finish()
        page.locator('#rulings li[data-id="slap_false@s1"] s').wait_for()
        assert page.locator("#rulings li.correction").first.is_visible()
        listed = page.locator("#rulings li:not(.replaced)").all_text_contents()
        assert any("Correction: " in text for text in listed)
        assert any("Cho wins the slap, double, alone" in text for text in listed)
        kept(page, "replaced-laptop-light")


def test_troubles_and_questions_come_and_go(house: House, page: Page) -> None:
    with listening(house), house.serve_controlled() as served:
        table = Table(house.record, FIRST, house.link)
        page.goto(served.address)
        table.tell(troubles={"camera": "the camera fell silent; starting it anew"})
        page.get_by_text("the camera fell silent").wait_for()
        table.tell(troubles={})
        page.get_by_text("the camera fell silent").wait_for(state="hidden")
        for line in (EIGHT[0], EIGHT[1].replace("8c", "??"), EIGHT[3]):
            table.observe(line)
        page.locator("#questions").get_by_text("Which card is this?").wait_for()


def test_a_lost_connection_is_told_and_taken_up_again(house: House, page: Page) -> None:
    table = Table(house.record, FIRST)
    with house.serve() as served:
        page.goto(served.address)
        page.locator("#seats .seat").first.wait_for()
    page.get_by_text("Connection lost").wait_for()
    table.observe(EIGHT[0])
    with house.serve(port=served.port):
        page.get_by_text("Connection lost").wait_for(state="hidden")
        page.locator("#pile .card").wait_for()


def test_a_game_is_stepped_through_by_keys(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(f"{served.address}/games/1/replay")
    page.locator('#slider[data-shown="0"]').wait_for()
    first = page.locator("#what").text_content()
    for key, at in (("ArrowRight", 1), ("PageDown", 11), ("End", None), ("ArrowLeft", None), ("Home", 0)):
        page.keyboard.press(key)
        if at is not None:
            page.locator(f'#slider[data-shown="{at}"]').wait_for()
    assert page.locator("#what").text_content() == first
    page.keyboard.press("End")
    last = page.locator("#slider").get_attribute("max")
    page.locator(f'#slider[data-shown="{last}"]').wait_for()
    assert "at=" + str(last) in page.url


def test_everything_is_reached_by_keys_alone(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(served.address)
    names = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        names.add(page.evaluate("(document.activeElement.ariaLabel || document.activeElement.textContent).trim()"))
    assert {"Skip to the content", "Scoreboard", "Photo finish", "Games", "Statistics", "Control", "Projector"} <= names
    assert "Deutsch" in names and any(name.startswith("Light or dark") for name in names)


def test_the_theme_is_switched_and_kept(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(served.address)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.locator("#theme").click()
    page.locator("#theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.goto(f"{served.address}/games")
    assert page.evaluate(ground) == dark


def test_the_language_is_switched_and_kept(shown: tuple[Served, Table], page: Page) -> None:
    served, _ = shown
    page.goto(served.address)
    page.get_by_role("link", name="Deutsch").click()
    page.get_by_role("heading", name="Der Stapel").wait_for()
    page.goto(f"{served.address}/games")
    assert page.get_by_role("heading", name="Spiele").is_visible()
    assert page.locator("html").get_attribute("lang") == "de"


@pytest.mark.parametrize("size, scheme", [("phone", "dark"), ("laptop", "light")])
def test_axe_finds_no_serious_fault(shown: tuple[Served, Table], browser: Browser, size: str, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    served, table = shown
    width, height = SIZES[size]
    context = new_window(browser, viewport={"width": width, "height": height}, color_scheme=scheme)
    opened = context.new_page()
    faults = {}
    for path in (*PAGES, f"/games/1/finish?slap={last_won(table).id.partition('@')[2]}"):
        opened.goto(served.address + path)
        opened.wait_for_load_state("load")
        found = axe.run(opened).response["violations"]
        serious = [violation for violation in found if violation["impact"] in ("serious", "critical")]
        if serious:
            faults[path] = [(seriou["id"], [node["html"][:160] for node in seriou["nodes"][:3]]) for seriou in serious]
    context.close()
    assert faults == {}


# Colours move nothing: dark pages are only looked at.
@pytest.mark.parametrize("scheme", ["light", *(["dark"] if "SHOTS" in os.environ else [])])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_sticks_out_at_any_size(shown: tuple[Served, Table], browser: Browser, size: str, scheme: Any) -> None:
    served, table = shown
    width, height = SIZES[size]
    context = new_window(browser, viewport={"width": width, "height": height}, color_scheme=scheme)
    opened = context.new_page()
    lost: list[str] = []
    opened.on("requestfailed", lambda request: lost.append(f"{request.url}: {request.failure}"))
    finish = f"/games/1/finish?slap={last_won(table).id.partition('@')[2]}"
    names = {
        "board": "/projector" if size == "projector" else "/", "finish": finish, "replay": "/games/1/replay?at=60",
        "figures": "/figures", "game": "/games/1", "games": "/games", "control": "/control", "rules": "/rules",
    }  # fmt: skip
    for name, path in names.items():
        opened.goto(served.address + path)
        opened.wait_for_load_state("load")
        opened.evaluate("document.fonts.ready")
        wide = opened.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, (
            f"{path} is {wide} px wide; lost: {[request for request in lost if '/static/' in request]}"
        )
        kept(opened, f"{name}-{size}-{scheme}")
    context.close()


def test_a_wake_without_a_game_breaks_nothing(house: House, page: Page) -> None:
    """A main process that has not written anything yet."""
    with listening(house), house.serve_controlled() as served:
        page.goto(served.address)
        assert house.link.tell("hello")
        page.get_by_text("hello").wait_for()
        page.get_by_text("Waiting for a game").wait_for()
