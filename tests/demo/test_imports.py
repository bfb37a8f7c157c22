"""Modules that a demo does not import: people, backups and power, which only a real table's evening needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNWANTED = (
    "referee.record.people", "referee.record.erasure", "referee.record.backup",
    "referee.record.restore", "referee.record.league", "referee.table.names", "referee.table.power_off",
    "referee.table.orders", "referee.options.broker",
    "referee.options.hall", "referee.setup.calibration", "paho", "starlette",
)  # fmt: skip
PLAY = """
import sys
from referee.demo.simulated_game import DemoOptions, script_of
from tests.support.stepped_demo import play
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames

options = DemoOptions(seed=6, pace=False, live=False, max_cards=8)
script = script_of(options)
play(options, script, ScriptedWatcher(as_seen(script.truth, 66_000_000)), frames=blank_frames(15.0, script.duration))
print(*sys.modules, file=sys.stderr)
"""


def test_a_demo_loads_no_module_that_it_does_not_use() -> None:
    done = subprocess.run([sys.executable, "-c", PLAY], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert "referee.table.loop" in loaded, "the appliance's own loop"
    assert [name for name in loaded if name.startswith(UNWANTED)] == []
