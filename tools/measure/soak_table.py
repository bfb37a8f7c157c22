"""A whole rendered game in real time, recorded and shown: ``python -m tools.measure.soak_table --seed 72 …``.

It is the demo's table (`referee.demo.demo_table`) under the appliance's own wiring: the camera is opened by the
process that looks and drawn by one beneath it; record, orders, names, pictures and page are there. The result is
written into a file as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from referee.demo.demo_table import PacedTable
from referee.demo.score import DemoSummary
from referee.demo.simulated_game import DemoOptions, play_at, script_of, settings_for, view_of
from referee.table.session import open_services


def play(options: DemoOptions, folder: Path, port: int) -> DemoSummary:
    """Play it to its end."""
    script = script_of(options)
    settings = settings_for(script, folder / "record.db")
    settings = settings.model_copy(update={"page": settings.page.model_copy(update={"port": port})})
    with ExitStack() as stack:
        missing: dict[str, str] = {}
        _, services = open_services(settings, (), stack, missing)
        table = PacedTable(script, view_of(options, script), stack, pictures=True)
        summary, _ = play_at(table, options, settings, services=services)
    return replace(summary, troubles=dict(summary.troubles) | missing)


def main() -> int:
    """Play, and write down the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cards", type=int, default=400, help="at most")
    parser.add_argument("--folder", type=Path, required=True, help="takes the record, and how it went")
    parser.add_argument("--port", type=int, required=True, help="of the page")
    args = parser.parse_args()
    summary = play(DemoOptions(seed=args.seed, max_cards=args.cards, live=False), args.folder, args.port)
    (args.folder / "summary.json").write_text(json.dumps(summary.as_fields()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
