"""`referee play` in a real browser, from the first question to the game; `make play-test` plays a whole game."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from referee.settings.model import load_settings
from referee.settings.places import RECORD
from tests.support.chromium import CHROMIUM
from tests.web.test_page_in_browser import kept
from tools.measure.play_test import ARGUMENTS, Evening, StreamedTable, playing


def test_an_evening_is_set_up_with_phones_keys_and_a_camera_in_the_network(tmp_path: Path) -> None:
    if not CHROMIUM.exists():
        pytest.skip("chromium is not here")
    sync_api = pytest.importorskip("playwright.sync_api", reason="chromium is not here")
    bare = np.asarray(cv2.imencode(".jpg", np.full((480, 640, 3), 70, np.uint8))[1]).tobytes()
    table = StreamedTable([bare], 0)
    with playing(tmp_path) as address, sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        evening = Evening(chromium, address, None)
        evening.main.set_viewport_size({"width": 390, "height": 844})
        evening.walk(("Ana", "Ben", "Cho", "Dan"), 2, table, "counter-clockwise")
        evening.main.locator("#pads", has_text="Cho").wait_for()
        evening.windows[1].locator("#pads", has_text="hears you").wait_for()
        # Ben deals, and Ana sits on his right (S5).
        evening.main.goto(address)
        evening.main.locator("#state .headline").get_by_text("Ana's turn").wait_for()
        kept(evening.main, "counter-clockwise-phone")
        chromium.close()
    table.close()
    settings = load_settings(tmp_path / "table-referee" / "table.toml")
    assert [(seat.name, str(seat.pad)) for seat in settings.seats] == [
        ("Ana", "phone"), ("Ben", "phone"), ("Cho", "browser:f"), ("Dan", "browser:j"),
    ]  # fmt: skip
    assert (settings.rules, settings.direction) == ("classic", "counter-clockwise")
    assert (settings.dealer, settings.camera.source, settings.camera.delay_ms) == (2, table.url, 0)
    assert settings.record.file == RECORD
    assert (tmp_path / "table-referee" / RECORD).exists()
