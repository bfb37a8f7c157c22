"""The referee as people run it in a terminal, and its page in a browser: paired, and another game begun."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from referee.record.store import Record
from referee.setup.calibration.report import write_picture
from tests.support.patience import PATIENCE, PATIENCE_MS

if TYPE_CHECKING:
    from playwright.sync_api import Page


class Running:
    """`referee run` at a table with a camera, and no pads, lights or voice."""

    def __init__(self, folder: Path) -> None:
        (folder / "frames").mkdir()
        for number in range(30):
            write_picture(folder / "frames" / f"f{number:03}.jpg", np.full((240, 320, 3), 60, np.uint8))
        (folder / "table.toml").write_text(
            f'[camera]\nsource = "{folder / "frames"}"\nwidth = 320\nheight = 240\n'
            '[page]\nhost = "127.0.0.1"\nport = 0\n[lights]\nenabled = false\n[voice]\nenabled = false\n'
            '[pads]\nroll_call = false\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n[[seat]]\nname = "Cho"\n'
        )
        self.folder, self._printed = folder, folder / "printed"
        environ = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"} | {
            "XDG_CACHE_HOME": str(folder), "XDG_DATA_HOME": str(folder),
            "RUNTIME_DIRECTORY": str(folder / "run"), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        command = [sys.executable, "-m", "referee", "run", "--settings", str(folder / "table.toml")]
        with self._printed.open("w") as out:
            self.process = subprocess.Popen(
                command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def printed(self, pattern: str) -> str:
        """Wait for a printed text; return it."""
        end = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self._printed.read_text())) is None:
            assert self.process.poll() is None, self._printed.read_text()
            assert time.monotonic() < end, self._printed.read_text()
            time.sleep(0.05)
        return found.group(1)

    def seats(self) -> list[tuple[str, ...]]:
        """Return the players of each game, the latest first."""
        with Record(self.folder / "table-referee" / "games" / "record.db", read_only=True) as record:
            return [info.seats for info in record.games()]

    def stop(self) -> None:
        """Stop it as the system does; a background shell makes it ignore Ctrl-C."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    table = Running(tmp_path)
    yield table
    table.stop()


def test_another_game_is_begun_from_a_phone(running: Running, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    address, code = running.printed(r"(http://\S+?)/?\s"), running.printed(r"the code (\d{6})")
    page.goto(f"{address}/control")
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Pair").click()
    page.get_by_role("button", name="Remove seat 3").click()
    page.get_by_role("textbox", name="Seat 1").fill("Dan")
    page.get_by_role("textbox", name="Seat 2").fill("Eve")
    page.locator("select[name=rules]").select_option("slapjack")
    page.get_by_role("button", name="Begin the game").click()
    page.get_by_role("button", name="Abandon it").click()
    page.get_by_text("a new game for Dan, Eve").wait_for()
    page.goto(f"{address}/")
    page.get_by_text("Eve").first.wait_for(timeout=PATIENCE_MS)
    assert running.seats() == [("Dan", "Eve"), ("Seat 1", "Seat 2", "Seat 3")]
