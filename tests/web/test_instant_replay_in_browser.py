"""The instant replay in a browser: by itself on the board, by hand on the photo-finish, and kept as a clip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import pytest

from referee.record.pictures import Picture
from referee.units import MS
from tests.play import file_lines
from tests.web.listening import listening
from tests.web.served import House, Served
from tests.web.table import Table
from tests.web.test_winner_in_browser import CARDS, FIRST, LATE, TAKEN, WON, shot

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ZERO = 2_300_000_000
NEXT = '{"kind":"card","t":5000000000,"id":"c3","card":"9s","seat":4}'
OPEN = "#instant-replay[open]"
REMEMBER = """() => {
  window.drawn = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
    window.drawn.push(text);
    return write.call(this, text, ...more);
  };
}"""
"""Notes every text that is written on a canvas."""
AS_IN_FIREFOX = """() => {
  const take = CanvasCaptureMediaStreamTrack.prototype.requestFrame;
  delete CanvasCaptureMediaStreamTrack.prototype.requestFrame;
  MediaStream.prototype.requestFrame = function () { take.call(this.getVideoTracks()[0]); };
}"""
"""Puts the request for a clip's next picture where Firefox has it."""


def frames(every: Sequence[int]) -> list[Picture]:
    """Return pictures at instants after the slap, ms, each in another grey."""
    from PIL import Image

    made = []
    for n, ms in enumerate(every):
        out = BytesIO()
        Image.new("RGB", (320, 240), (n * 20, n * 20, n * 20)).save(out, "JPEG")
        made.append(Picture(ZERO + ms * MS, 4 * MS, out.getvalue()))
    return made


KEPT = frames((-460, -310, -160, -10, 70, 140, 390))


def slapped(house: House) -> Table:
    """Play a slap without viewers, with its pictures."""
    table = Table(house.record, FIRST)
    for line in (*CARDS, *WON, *LATE, *TAKEN):
        table.observe(line)
    table.finish()
    house.pictures.add(table.game, KEPT)
    return table


def slap_live(house: House, page: Page, address: str) -> Table:
    """Open a board, and let Dora win a slap before it whose pictures are kept a moment later."""
    table = Table(house.record, FIRST, house.link)
    stop_clock(page, address)
    for line in (*CARDS, *WON):
        table.observe(line)
    house.pictures.add(table.game, KEPT)
    return table


def stop_clock(page: Page, address: str) -> None:
    """Open a board and stop its clock: on the busiest machine, too, no replay comes late or ends by itself."""
    page.clock.install()
    page.goto(address)
    page.locator("#board[data-shown]").wait_for()
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)


@pytest.fixture
def live(house: House) -> Iterator[Served]:
    with listening(house), house.serve_controlled() as served:
        yield served


@pytest.mark.parametrize("path", ["/projector", "/"])
def test_a_decided_slap_is_played_by_itself_until_a_card_is_laid(
    house: House, live: Served, page: Page, path: str
) -> None:
    table = slap_live(house, page, live.address + path)
    page.locator("#last [data-replay]").wait_for()
    page.clock.run_for(1000)
    page.locator(f"{OPEN}.auto").wait_for()
    page.clock.run_for(500)
    assert int(page.locator(f"{OPEN} canvas").get_attribute("data-t") or 0) in [picture.t for picture in KEPT]
    assert not page.locator("#winner").is_visible()
    # Nothing is read out that the board says already, and the focus stays where it was.
    assert page.locator(OPEN).get_attribute("aria-hidden") == "true"
    assert not page.evaluate("document.getElementById('instant-replay').contains(document.activeElement)")
    for line in (*LATE, *TAKEN, NEXT, '{"kind":"tick","t":5300000000}'):
        table.observe(line)
    page.locator("#pile .newest[alt='9 of spades']").wait_for()
    page.locator(OPEN).wait_for(state="detached")
    assert page.locator("#pile .newest").is_visible() and not page.locator("#winner").is_visible()


def test_a_dead_heat_is_played_by_itself(house: House, live: Served, page: Page) -> None:
    table = Table(house.record, FIRST, house.link)
    stop_clock(page, f"{live.address}/projector")
    for line in (*CARDS, *file_lines("2300 slap 4 #s1 ±20", "2310 slap 1 #s2 ±20", "2700 tick")):
        table.observe(line)
    assert [ruling.kind for ruling in table.rulings if ruling.kind in ("dead_heat", "slap_won")] == ["dead_heat"]
    house.pictures.add(table.game, KEPT)
    page.locator("#winner [data-film]").wait_for(state="attached")
    page.clock.run_for(1000)
    page.locator(f"{OPEN}.auto").wait_for()
    # Once people say whose it is, the same moment is not played again.
    page.keyboard.press("Escape")
    question = next(ruling for ruling in table.rulings if ruling.kind == "question")
    table.observe(f'{{"kind":"answer","t":3000000000,"id":"a1","to":"{question.id}","value":1}}')
    table.observe('{"kind":"tick","t":3300000000}')
    page.locator("#winner [data-ruling='slap_won@s2'][data-film]").wait_for(state="attached")
    page.clock.run_for(1000)
    assert page.locator(OPEN).count() == 0


def test_a_slap_soon_after_another_is_played_by_itself_too(house: House, live: Served, page: Page) -> None:
    table = slap_live(house, page, f"{live.address}/projector")
    page.locator("#winner [data-film]").wait_for(state="attached")
    for line in file_lines("2500 taken 4", "2700 4:9s #c3", "3100 1:9d #c4", "3400 slap 3 #s9", "3700 tick"):
        table.observe(line)
    house.pictures.add(table.game, [replace(picture, t=picture.t + 1100 * MS) for picture in KEPT])
    page.locator("#winner [data-ruling='slap_won@s9'][data-film]").wait_for(state="attached")
    page.clock.run_for(1000)
    page.locator(f"{OPEN}.auto[data-slap=s9]").wait_for()


def test_a_slap_on_a_card_whose_instant_may_lie_after_it_is_played_by_itself(
    house: House, live: Served, page: Page
) -> None:
    table = Table(house.record, FIRST, house.link)
    stop_clock(page, f"{live.address}/projector")
    for line in file_lines("1000 1:7h", "2350 2:7c ±300", "2300 slap 4 #s1", "3300 tick"):
        table.observe(line)
    house.pictures.add(table.game, KEPT)
    page.locator("#winner [data-film]").wait_for(state="attached")
    page.clock.run_for(1000)
    page.locator(f"{OPEN}.auto").wait_for()


def replay_by_itself(house: House, live: Served, page: Page) -> Locator:
    """Slap before the projector until the replay has begun by itself; return its canvas."""
    slap_live(house, page, f"{live.address}/projector")
    page.locator("#last [data-replay]").wait_for()
    page.clock.run_for(1000)
    page.locator(f"{OPEN}.auto").wait_for()
    page.clock.run_for(50)
    return page.locator("#instant-replay canvas")


def test_by_itself_a_replay_leaves_the_quiet_time_out(house: House, live: Served, page: Page) -> None:
    canvas = replay_by_itself(house, live, page)
    shown = []
    for _ in range(70):
        if not page.locator(OPEN).count():
            break
        state = (canvas.get_attribute("data-t"), canvas.get_attribute("data-verdict"))
        if state not in shown:
            shown.append(state)
        page.clock.run_for(50)
    assert len(shown) > 1 and page.locator(OPEN).count() == 0
    # The card before and after it is turned up, the hand before, at and after it is down, the verdict.
    places = [[str(picture.t) for picture in KEPT].index(t or "") for t, _ in shown]
    assert places == [0, 1, 2, 3, 6] and [verdict for _, verdict in shown] == ["false"] * 4 + ["true"]


def test_a_replay_that_is_stepped_goes_on_at_length(house: House, live: Served, page: Page) -> None:
    canvas = replay_by_itself(house, live, page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.clock.run_for(4000)
    assert page.locator(OPEN).count() == 1 and canvas.get_attribute("data-verdict") == "false"
    page.clock.run_for(6000)
    assert page.locator(OPEN).count() == 1 and canvas.get_attribute("data-verdict") == "true"


def test_a_card_that_comes_before_the_pictures_lets_no_replay_begin(house: House, live: Served, page: Page) -> None:
    table = Table(house.record, FIRST, house.link)
    stop_clock(page, f"{live.address}/projector")
    for line in (*CARDS, *WON):
        table.observe(line)
    page.locator("#winner .who", has_text="Dora").wait_for()
    for line in (*LATE, *TAKEN, NEXT, '{"kind":"tick","t":5300000000}'):
        table.observe(line)
    page.locator("#pile .newest[alt='9 of spades']").wait_for()
    house.pictures.add(table.game, KEPT)
    page.locator("#last [data-replay]").wait_for()
    page.clock.run_for(1000)
    assert page.locator(OPEN).count() == 0


def test_a_screen_may_do_without_and_plays_on_request(house: House, live: Served, page: Page) -> None:
    page.goto(live.address)
    page.get_by_role("button", name="Replays are on here").click()
    slap_live(house, page, live.address)
    again = page.locator("#last [data-replay]")
    again.wait_for()
    page.clock.run_for(1000)
    assert page.locator(OPEN).count() == 0
    page.keyboard.press("Escape")
    again.click()
    page.locator(f"{OPEN}:not(.auto)").wait_for()
    page.clock.run_for(500)
    assert page.locator(f"{OPEN} canvas[data-t]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(OPEN).count() == 0


def test_a_table_may_do_without(house: House, page: Page) -> None:
    with listening(house), house.serve("--runtime", str(house.folder / "runtime"), "--no-replays") as served:
        slap_live(house, page, served.address)
        page.locator("#last [data-replay]").wait_for()
        page.clock.run_for(1000)
        assert page.locator(OPEN).count() == 0 and page.locator("#replays").count() == 0


def test_the_photo_finish_plays_and_steps_every_frame(house: House, page: Page) -> None:
    slapped(house)
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/finish?slap=s1#replay")
        canvas = page.locator(f"{OPEN} canvas")
        page.locator(f"{OPEN} canvas[data-verdict=true]").wait_for()
        page.wait_for_function("document.querySelector('#instant-replay canvas').dataset.t")
        assert canvas.get_attribute("data-t") == str(KEPT[-1].t)
        assert "Dora" in (canvas.get_attribute("aria-label") or "")
        read = [canvas.get_attribute("data-t")]
        for _ in KEPT[1:]:
            page.keyboard.press("ArrowLeft")
            read.append(canvas.get_attribute("data-t"))
        assert read == [str(picture.t) for picture in reversed(KEPT)], "the record's instants, frame by frame"
        assert "−460 ms" in (page.locator(f"{OPEN} p").text_content() or "")
        page.keyboard.press("ArrowRight")
        assert canvas.get_attribute("data-t") == str(KEPT[1].t)
        page.keyboard.press(" ")
        page.locator(f"{OPEN} canvas[data-t='{KEPT[3].t}']").wait_for()
        page.keyboard.press(" ")
        page.keyboard.press("Escape")
        assert page.locator(OPEN).count() == 0
        assert page.url.endswith("#replay"), "arrow keys step frames, not slaps"


def test_with_reduced_motion_three_stills_are_shown(house: House, page: Page) -> None:
    slapped(house)
    page.emulate_media(reduced_motion="reduce")
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/finish?slap=s1")
        page.get_by_role("button", name="Watch it again").click()
        page.locator(f"{OPEN} canvas[data-verdict=true]").wait_for()
        # The second card is up, the line, and the last hand is down.
        shown = (page.locator(f"{OPEN} canvas").get_attribute("data-t") or "").split()
        assert shown == [str(KEPT[2].t), str(KEPT[3].t), str(KEPT[6].t)]
        shot(page, "stills")


@pytest.mark.parametrize("named", [True, False])
def test_a_phone_keeps_a_clip_with_names_or_without(house: House, page: Page, tmp_path: Path, named: bool) -> None:
    slapped(house)
    page.set_viewport_size({"width": 390, "height": 844})
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/finish?slap=s1")
        page.get_by_role("button", name="Watch it again").click()
        page.locator(f"{OPEN} canvas[data-t]").wait_for()
        page.get_by_label("with names").set_checked(named)
        page.keyboard.press("ArrowRight")
        page.evaluate(REMEMBER)
        if not named:
            page.evaluate(AS_IN_FIREFOX)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save a clip").click()
        assert re.fullmatch(r"slap-1-s1\.(mp4|webm)", download.value.suggested_filename)
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        drawn = page.evaluate("window.drawn")
        assert page.locator(f"{OPEN} p", has_text="The clip is saved.").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert ("Dora" in drawn, "Ana" in drawn) == (named, named)
    assert "45\xa0ms ahead" in drawn and "give or take 3\xa0ms" in drawn
    if not named:
        assert not [text for text in drawn if "Dora" in text or "Ana" in text or "Ben" in text]
    assert path.stat().st_size < 2_000_000
    video = cv2.VideoCapture(str(path))
    pictures = 0
    while video.read()[0]:
        pictures += 1
    video.release()
    # Playing begins 150 ms before the card: each frame, one more at the line, and the verdict for three seconds.
    assert pictures == len(KEPT[1:]) + 1 + 6


def test_a_browser_that_cannot_make_a_clip_says_so(house: House, page: Page) -> None:
    slapped(house)
    page.add_init_script("delete window.MediaRecorder")
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/finish?slap=s1")
        page.get_by_role("button", name="Watch it again").click()
        page.locator(f"{OPEN} canvas[data-t]").wait_for()
        page.get_by_role("button", name="Save a clip").click()
        page.locator(f"{OPEN} p", has_text="cannot make a clip").wait_for()


def test_a_replay_whose_pictures_are_gone_says_so(house: House, page: Page) -> None:
    slapped(house)
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/finish?slap=s1")
        with house.pictures.writing() as db:
            db.execute("DELETE FROM frame")
        page.get_by_role("button", name="Watch it again").click()
        page.locator(f"{OPEN} p", has_text="no longer there").wait_for()


def test_the_moments_of_a_game_lead_to_their_replays(house: House, page: Page) -> None:
    slapped(house)
    with house.serve() as served:
        page.goto(f"{served.address}/games/1/end")
        page.locator(".moments").get_by_role("link", name="Watch it again").first.click()
        page.locator(f"{OPEN} canvas[data-t]").wait_for()
