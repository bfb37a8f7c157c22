"""The commands that look after the appliance."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.app.command import Commands, command, whole


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


def _wiring(args: argparse.Namespace) -> int:
    from referee.app.wiring import draw

    return draw(args.out, args.settings, args.seats)


def add_wiring(commands: Commands) -> None:
    parser = command(
        commands, "wiring", "draw which wire goes to which pin of the header",
        "Draw the 40-pin header with every pad, light and resistor on it (SVG; a browser shows and prints it), as the\n"
        "settings have it, or for the pin map that the referee takes without any.\n\n"
        "examples:\n  referee wiring --out wiring.svg\n  referee wiring --settings table.toml --out wiring.svg",
        _wiring,
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.svg", help="where to draw it")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--settings", type=Path, metavar="FILE", help="draw this table (default: the default pin map)")
    which.add_argument("--seats", type=whole(2, 8, "seats"), default=8, metavar="N",
                       help="seats of the default pin map (default: 8)")  # fmt: skip
