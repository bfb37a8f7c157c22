"""The commands that look after the appliance."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

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


RECORD: Final = Path("games") / "record.db"
_GAMES: Final = (
    "Every game is recorded line by line, on the disk before anything is announced. Without options: the list.\n\n"
    "examples:\n  referee games\n  referee games --export 12 > game.jsonl      the log, for `referee replay`\n"
    "  referee games --csv 12 > game.csv           the rulings, for a spreadsheet\n"
    "  referee games --import game.jsonl           a log of another table\n"
    "  referee games --keep 12                     never remove it to make room\n"
    "  referee games --remove 12                   remove it and its pictures now"
)


def _games(args: argparse.Namespace) -> int:
    from referee.app.games import games

    return games(args)


def add_games(commands: Commands) -> None:
    """The command and its options."""
    parser = command(commands, "games", "the recorded games: list, export, import, keep, remove", _GAMES, _games)
    add = parser.add_argument
    add("--record", type=Path, default=RECORD, metavar="FILE", help=f"the record (default: {RECORD})")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--export", type=int, metavar="N", help="print a game as a log (JSON Lines)")
    one.add_argument("--csv", type=int, metavar="N", help="print a game's rulings as CSV")
    one.add_argument("--import", dest="take_in", type=Path, metavar="LOG", help="record a log file as a new game")
    one.add_argument("--keep", type=int, metavar="N", help="never remove this game to make room")
    one.add_argument("--release", type=int, metavar="N", help="it may be removed again")
    one.add_argument("--remove", type=int, metavar="N", help="remove a game and its pictures")
