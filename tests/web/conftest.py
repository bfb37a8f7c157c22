"""Windows of a real browser, and pages to open in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.patience import PATIENCE_MS
from tests.web import browser as raw
from tests.web.served import House, Served
from tests.web.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


def new_window(browser: Browser, **options: Any) -> BrowserContext:
    """Return a window that waits for as long as a busy machine needs."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh window; an error of any script fails the test."""
    context = new_window(browser, viewport={"width": 1366, "height": 768}, locale="en-GB")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    # Console messages about refused requests or a stopped server are no script errors.
    assert [text for text in complaints if "Failed to load resource" not in text] == []


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A record with no game yet."""
    made = House(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Table]]:
    """A page with the demo game in its record."""
    made = House(tmp_path_factory.mktemp("page"))
    table = made.demo()
    with made.serve() as served:
        yield served, table
    made.close()


@pytest.fixture
def whole(tmp_path: Path) -> tuple[raw.House, Path]:
    """The whole page for raw requests, and its record with one game."""
    return raw.whole_page(tmp_path)
