"""The commands that look after the appliance."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.app.command import Commands, command


def _doctor(args: argparse.Namespace) -> int:
    from referee.app.doctor import doctor

    return doctor(as_json=args.json, settings=args.settings)


def add_doctor(commands: Commands) -> None:
    parser = command(
        commands, "doctor", "what hardware and libraries are here, and what to install",
        "Look at every part that the referee can use and say whether it is fine, missing or broken, and the command\n"
        "that installs it. Exit status 1 only if something is broken that even the simulated table needs.\n\n"
        "examples:\n  referee doctor\n  referee doctor --json",
        _doctor,
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--settings", type=Path, metavar="FILE",
                        help="the table's settings (default: table.toml here, else the appliance's)")  # fmt: skip
