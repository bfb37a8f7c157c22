"""A demo in data time before any watcher: a whole game as the appliance plays it, at full speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hardware.ports import Frame
from hardware.simulated.table.script import Script
from referee.demo.demo_table import SteppedTable
from referee.demo.score import DemoSummary
from referee.demo.simulated_game import DemoOptions, play_at, settings_for
from referee.record.journal import Journal
from referee.table.game import Conductor
from referee.table.services import TableService
from referee.vision.sight import Watching


def play(
    options: DemoOptions, script: Script, watcher: Watching, *, frames: Iterator[Frame],
    services: Sequence[TableService] = (), journal: Journal | None = None, record: Path | None = None,
) -> tuple[DemoSummary, Conductor]:  # fmt: skip
    """Play a script in data time before any watcher, recorded in a file if one is given; see `play_at`."""
    settings = settings_for(script, record)
    lights = settings.lights.model_copy(update={"enabled": False})
    settings = settings.model_copy(update={"lights": lights})
    return play_at(SteppedTable(script, frames, watcher), options, settings, services=services, journal=journal)
