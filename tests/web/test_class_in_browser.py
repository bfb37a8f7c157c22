"""A class at reaction trials in real browsers: phones that show the card themselves, and a card on the room's page."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web.conftest import CHROMIUM
from tools.measure.play_test import ARGUMENTS, HARNESS, playing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TRIALS = 20
SKEWS = ((3000.0, 50e-6), (-3000.0, -50e-6), (0.0, 0.0))
"""By how much each phone's clock is ahead, ms, and how fast it drifts."""
REACTING = """
([watched, kind, code]) => {
  const seen = document.querySelector(watched);
  let on = false;
  window.truth = [];
  new MutationObserver(() => {
    const before = on;
    on = seen.classList.contains("now");
    if (!on || before) return;
    const shown = window.realNow();
    setTimeout(() => {
      const many = window.done.length;
      window.hand(kind, 1, code, true);
      window.hand(kind, 1, code, false);
      window.truth.push(window.done[many][1] - shown);
    }, 160 + Math.random() * 60);
  }).observe(seen, { attributes: true });
}
"""
"""Reacts to each card after a time that it notes; the harness stamps the hand late, as screens and keyboards do."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Windows that each stand for a device of its own."""
    if not CHROMIUM.exists():
        pytest.skip("chromium is not here")
    sync_api = pytest.importorskip("playwright.sync_api", reason="chromium is not here")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield opened
        opened.close()


def device(browser: Browser, address: str, skew: tuple[float, float], *, wide: bool = False) -> Page:
    """A window whose clock stands elsewhere."""
    size = {"width": 1280, "height": 720} if wide else {"width": 390, "height": 700}
    page = browser.new_context(viewport=size, locale="en-GB").new_page()  # type: ignore[arg-type]
    page.add_init_script(HARNESS.replace("__SKEW__", json.dumps((*skew, False))))
    page.goto(address)
    return page


def check_times(rows: list[dict[str, str]], truth: list[float]) -> None:
    """Every line holds the true time within the error that it states, and states no more than a phone's."""
    assert [row["outcome"] for row in rows] == ["reaction"] * len(truth)
    off = [float(row["reaction_ms"]) - true for row, true in zip(rows, truth, strict=True)]
    bounds = [float(row["error_ms"]) for row in rows]
    assert [one for one, bound in zip(off, bounds, strict=True) if abs(one) > bound] == []
    assert sorted(bounds)[len(bounds) // 2] <= 40


def test_three_phones_make_twenty_trials_each_and_the_file_is_right_to_what_it_says(tmp_path: Path) -> None:
    kept = tmp_path / "class.csv"
    command = ("class", "--trials", str(TRIALS), "--wait", "0.05", "--hands", "--csv", str(kept))
    with chromium() as browser, playing(tmp_path, *command) as address:
        room = device(browser, address, (0.0, 0.0), wide=True)
        phones = []
        for skew in SKEWS:
            phone = device(browser, f"{address}join", skew)
            phone.locator("#trial[data-pupil]").wait_for(timeout=10_000)
            phone.evaluate(REACTING, ["#trial", "touch", ""])
            phones.append(phone)
        for phone in phones:
            phone.evaluate("window.hand('touch', 1, '', true)")
        for phone in phones:
            phone.locator("#trial[data-over=true]").wait_for(timeout=30_000)
        room.locator("#results tr.all td", has_text=str(3 * TRIALS)).first.wait_for(timeout=5_000)
        medians = room.locator("#results tbody tr b").all_inner_texts()
        shown = [phone.locator("#trial b").inner_text() for phone in phones]
        truths = {int(phone.get_attribute("#trial", "data-pupil") or 0): phone.evaluate("truth") for phone in phones}
    rows = list(csv.DictReader(kept.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 3 * TRIALS and sorted(truths) == [1, 2, 3]
    for pupil, truth in truths.items():
        own = [row for row in rows if row["pupil"] == str(pupil)]
        assert [int(row["trial"]) for row in own] == list(range(1, TRIALS + 1))
        assert [row["hand"] for row in own].count("left") == TRIALS // 2
        check_times(own, truth)
    assert sorted(medians[1:]) == sorted(shown), "the room sees each median as its pupil does"
    assert all("±" in median for median in medians)


def test_a_card_on_the_rooms_page_is_answered_by_its_keys(tmp_path: Path) -> None:
    kept = tmp_path / "class.csv"
    command = (
        "class", "--stimulus", "screen", "--keys", "f", "--trials", "3", "--wait", "0.1", "--csv", str(kept),
    )  # fmt: skip
    with chromium() as browser, playing(tmp_path, *command) as address:
        room = device(browser, address, (500.0, 50e-6), wide=True)
        room.locator(".pad:not([disabled])").wait_for(timeout=10_000)
        room.evaluate(REACTING, ["#card", "key", "KeyF"])
        room.evaluate("['true', ''].forEach((down) => window.hand('key', 1, 'KeyF', Boolean(down)))")
        room.locator("#stage", has_text="1 pupil is there").wait_for(timeout=5_000)
        room.locator("[data-act=begin]").click()
        room.locator("#results tr.all td", has_text="3").first.wait_for(timeout=15_000)
        truth = room.evaluate("truth")
    check_times(list(csv.DictReader(kept.read_text(encoding="utf-8").splitlines())), truth)
