"""The simulated table in real time: drawn in one process, looked at in another, refereed in a third."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from referee.demo.demo_table import WaitingClock
from referee.engine.log import parse_object
from tests.support.patience import PATIENCE

MS = 1_000_000
WEIGHTS = Path(__file__).parents[2] / "models" / "weights"


@pytest.mark.skipif(not (WEIGHTS / "finder.ncnn").exists(), reason="the eye's weights are not here")
def test_a_game_in_real_time_is_refereed_as_it_was_played(tmp_path: Path) -> None:
    summary, log = tmp_path / "summary.json", tmp_path / "game.jsonl"
    command = [sys.executable, "-m", "referee", "demo", "--seed", "7", "--max-cards", "4"]
    done = subprocess.run(
        [*command, "--summary", str(summary), "--log", str(log)], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(summary.read_text())
    assert figures["cards"]["right"] == figures["cards"]["laid"] == 4
    assert figures["rulings"]["differing"] == [] and figures["troubles"] == {}
    seconds = figures["played_s"]
    assert figures["frames"] == pytest.approx(15 * seconds, abs=2), "each frame was looked at"
    lines = [parse_object(line, number) for number, line in enumerate(log.read_text().splitlines(), start=1)]
    cards = [line["t"] for line in lines if line.get("kind") == "card"]
    assert (cards[-1] - cards[0]) / 1e9 < seconds, "on one line of time"


def test_the_tables_time_waits_for_the_eye_and_follows_a_camera_that_has_caught_up() -> None:
    real = [0]
    clock = WaitingClock(lambda: real[0])
    real[0] = 9_000 * MS
    assert clock() == 9_000 * MS, "nothing is waited for before the first look"
    clock.note_seen(9_000 * MS)
    real[0] += 400 * MS
    assert clock() == 9_400 * MS and clock.pace == 1.0
    real[0] += 5_600 * MS
    assert clock() == 9_500 * MS, "half a second ahead of the last look, and no further"
    clock.note_seen(9_100 * MS)
    real[0] += 50 * MS
    assert clock() == 9_550 * MS
    assert clock.pace == pytest.approx(550 / 6_050)
    clock.note_seen(12_000 * MS)
    assert clock() == 12_000 * MS, "no look is of the future"
