"""A phone's page as a seat's pad, in a real browser: reloaded it stays the pad, and a second phone is refused."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.control.seat_codes import HANDS_SOCKET, call_in, make_seat_codes, read_seat_codes
from tests.support.patience import PATIENCE
from tests.web.conftest import new_window
from tests.web.served import House

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


Heard = queue.SimpleQueue[dict[str, Any]]


@contextmanager
def hearing(folder: Path) -> Iterator[Heard]:
    """Yield the referee's reports."""
    heard: Heard = queue.SimpleQueue()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hands:
        hands.bind(str(folder / HANDS_SOCKET))

        def listen() -> None:
            while (datagram := hands.recv(1 << 16)) != b"end":
                heard.put(json.loads(datagram))

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield heard
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
                last.sendto(b"end", str(folder / HANDS_SOCKET))
            thread.join()


def until(heard: Heard, is_wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return the next report of this kind."""
    while not is_wanted(report := heard.get(timeout=PATIENCE)):
        pass
    return report


def has_hands(report: dict[str, Any]) -> bool:
    """Whether it reports a hand."""
    return any(report.get("hands", {}).values())


def join(page: Page, address: str, folder: Path) -> None:
    """Open the page of the first seat's phone, with its current code."""
    page.goto("about:blank")
    page.goto(f"{address}/pad#{read_seat_codes(folder)[0].code}")


def test_one_phone_is_a_seats_pad_however_often_it_is_loaded(house: House, page: Page, browser: Browser) -> None:
    folder = house.folder / "runtime"
    with house.serve_controlled() as served, hearing(folder) as heard:
        make_seat_codes(folder, {1: ""}, {1: "Ana"})
        pages: set[str] = set()
        for _ in range(2):
            # A page that is loaded again is another page, and is heard, too.
            join(page, served.address, folder)
            page.locator(".pad:not([disabled])").dispatch_event("pointerdown")
            page.locator(".pad.down").wait_for()
            pages.add(until(heard, lambda report: has_hands(report) and report["page"] not in pages)["page"])
            page.evaluate("window.dispatchEvent(new Event('pointerup'))")
            until(heard, lambda report: not has_hands(report))
        other = new_window(browser).new_page()
        join(other, served.address, folder)
        other.get_by_text("replace the code on the control page").wait_for()
        assert other.locator(".pad[disabled]").count() == 1
        refused = until(heard, lambda report: "refused" in report)
        assert (refused["refused"], refused["why"]) == (1, "phone")
        assert call_in(folder, 1) == ""
        page.get_by_text("Ana: this code was replaced; scan the new one at the table").wait_for()
        join(other, served.address, folder)
        other.locator(".pad:not([disabled])").wait_for()
        other.context.close()
