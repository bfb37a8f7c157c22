"""A main process that hears the page's commands, and a browser that is paired with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hardware.clock import monotonic
from referee.control.commands import Command
from referee.control.facts import Outcome, Refused
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher, ControlServer
from tests.web.served import House

if TYPE_CHECKING:
    from playwright.sync_api import Page

TURN = 0.005
"""Seconds between two polls of the socket by the main process."""


@contextmanager
def listening(
    house: House, obey: Callable[[Command], Outcome] = lambda _: Refused("no")
) -> Iterator[CommandDispatcher]:
    """A main process that hears commands, and reports the table's state."""
    desk = CommandDispatcher(Pairing(), obey, monotonic, lambda: house.link.state)
    inlet = ControlServer(house.folder / "runtime", desk)
    over = threading.Event()

    def turns() -> None:
        while not over.wait(TURN):
            inlet.turn()

    thread = threading.Thread(target=turns)
    thread.start()
    try:
        yield desk
    finally:
        over.set()
        thread.join()
        inlet.close()


def open_board(page: Page, address: str) -> None:
    """Open a live board and stop the page's clock, so that a moment stays on the screen for as long as a test looks.

    The first state that the stream brings counts as seen: lines observed before it show no moment.
    """
    page.emulate_media(reduced_motion="reduce")
    page.clock.install()
    page.goto(address)
    page.locator("#board[data-shown]").wait_for()
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)


def pair_at_once(page: Page, code: str, address: str) -> None:
    """Pair a browser as its form does, but without the form."""
    fields = {"code": code, "device": "a phone"}
    answer = page.request.post(f"{address}/api/pair", data=fields, headers={"Origin": address})
    assert answer.ok, answer.text()


def show_all_controls(page: Page) -> None:
    """Open "More" on the control page, where a phone keeps what a game seldom needs."""
    size = page.viewport_size
    # A window that became narrow closes it once, and then has the class.
    state = ".narrow" if size is not None and size["width"] <= 640 else ":not(.narrow)"
    page.locator(f"details.more{state}:not([hidden])").wait_for(state="attached")
    if not page.evaluate("document.querySelector('details.more').open"):
        page.locator("details.more > summary").click()


def paired(page: Page, desk: CommandDispatcher) -> None:
    """Pair a browser at its form."""
    page.get_by_label("Code").fill(desk.pairing.show(monotonic()))
    page.get_by_label("Name of this device").fill("a phone")
    page.get_by_role("button", name="Pair").click()
    page.get_by_text("This device is paired.").wait_for()
