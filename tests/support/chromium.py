"""A real browser for the tests of pages."""

from __future__ import annotations

import asyncio
import os
from asyncio import AbstractEventLoop
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
_SHELL = Path("/usr/bin/chromium-headless-shell")
"""The same browser without a window: it opens a page in 2/5 of the time."""
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, AbstractEventLoop]]:
    """Debian's chromium, started once, and the event loop that drives it."""
    program = _SHELL if _SHELL.exists() and "CHROMIUM" not in os.environ else CHROMIUM
    if not program.exists():
        pytest.skip("chromium is not here")
    pytest.importorskip("playwright", reason="chromium is not here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(program), args=ARGUMENTS)
        loop = asyncio.get_running_loop()
        yield opened, loop
        asyncio._set_running_loop(loop)
        opened.close()


@pytest.fixture(scope="module")
def browser(chromium: tuple[Browser, AbstractEventLoop]) -> Iterator[Browser]:
    """The browser for one module: playwright's loop counts as running only there, so other tests may run their own."""
    opened, loop = chromium
    asyncio._set_running_loop(loop)
    yield opened
    asyncio._set_running_loop(None)
