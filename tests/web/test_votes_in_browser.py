"""A class votes on slaps in real browsers: phones that join, change their minds and come back, and the room's page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from referee.text.catalogue import texts
from tests.web.conftest import new_window
from tests.web.test_class_in_browser import chromium
from tests.web.test_page_buttons_in_browser import serious_faults
from tools.measure.play_test import playing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SEATS = ("Ana", "Ben", "Cho", "Dora")


class Room:
    """The room's page of a lesson, and the phones that join it."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser, self.address = browser, address
        self.complaints: list[str] = []
        self.page = self._open({"width": 1280, "height": 720}, f"{address}games/1/replay?lesson=1")
        self.page.locator("#slider[data-shown]").wait_for(state="attached")

    def _open(self, size: dict[str, int], address: str) -> Page:
        opened = new_window(self._browser, viewport=size, locale="en-GB").new_page()
        opened.on("pageerror", lambda error: self.complaints.append(str(error)))
        opened.goto(address)
        return opened

    def join(self) -> Page:
        phone = self._open({"width": 390, "height": 844}, f"{self.address}join")
        phone.locator("#nickname:not(:empty)").wait_for()
        return phone

    def next_question(self, *phones: Page) -> None:
        self.page.locator("[data-move=question]").click()
        for phone in phones:
            phone.locator("button[data-choice]").first.wait_for()

    def wait_for_votes(self, cast: int, joined: int) -> None:
        self.page.locator("#votes b", has_text=f"Votes: {cast} of {joined}").wait_for()

    @property
    def is_answered(self) -> bool:
        return bool(self.page.locator("#ask details[open]").count())


@contextmanager
def lesson(folder: Path, vote_time: int) -> Iterator[Room]:
    command = ("demo", "--lesson", "--seed", "4", "--max-cards", "60", "--vote-time", str(vote_time))
    with chromium() as browser, playing(folder, *command) as address:
        room = Room(browser, address)
        yield room
        assert room.complaints == []


def vote(phone: Page, choice: str) -> None:
    phone.locator(f"button[data-choice={choice}]").click()
    phone.locator(f"button[data-choice={choice}][aria-pressed=true]").wait_for()
    assert phone.locator("[aria-pressed=true]").count() == 1


def test_phones_vote_change_and_come_back_and_the_teacher_shows_the_answer(tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    with lesson(tmp_path, 600) as room:
        first, second, third = (room.join() for _ in range(3))
        assert room.page.locator("#votes .names li").all_inner_texts() == texts("en")("nickname.animals").split()[:3]
        room.next_question(first, second, third)
        hidden = room.page.locator(".unnamed").inner_html() + second.locator("#asked").inner_html()
        assert [name for name in SEATS if name in hidden] == [] and not room.page.locator("#ask .verdict").is_visible()
        vote(first, "A")
        vote(first, "heat")
        vote(second, "B")
        room.wait_for_votes(2, 3)
        room.page.locator("#left", has_text="s until the answer").wait_for()
        first.reload()
        first.locator("button[data-choice=heat][aria-pressed=true]").wait_for()
        name = second.locator("#nickname").inner_text()
        # Scanned again, it has the same place and the same vote.
        second.goto(f"{room.address}join")
        second.locator("button[data-choice=B][aria-pressed=true]").wait_for()
        assert second.locator("#nickname").inner_text() == name
        late = room.join()
        late.locator("button[data-choice]").first.wait_for()
        vote(late, "B")
        room.wait_for_votes(3, 4)
        for page in (room.page, first):
            assert serious_faults(axe, page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
        assert not room.is_answered
        room.page.locator("#ask summary").click()
        for page in (room.page, first, late):
            page.locator("#votes tr.right").wait_for()
        counted = room.page.locator("#votes tr").all_inner_texts()
        assert sum(int(row.split()[-1]) for row in counted) == 3
        assert first.locator("#votes tr[data-choice=heat]", has_text="your vote").count() == 1
        assert third.locator("#votes tr", has_text="your vote").count() == 0
        assert room.page.locator("#ask .verdict").is_visible() and first.locator("#asked .verdict").is_visible()
        for page in (room.page, first):
            assert serious_faults(axe, page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
        # The page comes back to the answer, and phones go on to the next question.
        room.page.reload()
        room.page.locator("#ask details[open]").wait_for()
        room.next_question(first, late)
        room.wait_for_votes(0, 4)
        # All have voted: nothing is left to wait for.
        for phone in (first, second, third, late):
            phone.locator("button[data-choice=B]").click()
        room.page.locator("#ask details[open]").wait_for()
        assert room.page.locator("#votes tr[data-choice=B]").inner_text().split()[-1] == "4"


def test_the_answer_comes_by_itself_when_the_time_is_over(tmp_path: Path) -> None:
    with lesson(tmp_path, 4) as room:
        voter, silent = room.join(), room.join()
        room.next_question(voter, silent)
        voter.locator("button[data-choice=A]").click()
        room.page.locator("#ask details[open]").wait_for()
        silent.locator("#votes tr.right").wait_for()
        assert room.page.locator("#votes tr[data-choice=A]").inner_text().split()[-1] == "1"
        room.page.locator("[data-move=next]").click()
        silent.locator("#asked", has_text="The next question comes").wait_for()
