"""The commands that look after the appliance."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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


def as_one_word(arguments: Sequence[str]) -> list[str]:
    """``calibrate pads`` as the one command that it is."""
    given = list(arguments)
    return ["calibrate-pads", *given[2:]] if given[:2] == ["calibrate", "pads"] else given


def _calibrate_pads(args: argparse.Namespace) -> int:
    from referee.app.calibrating_pads import calibrate_pads

    return calibrate_pads(args)


def add_calibrate_pads(commands: Commands) -> None:
    parser = command(
        commands, "calibrate-pads", "measure the pads: bounce, what neighbours hear, how far they agree",
        "Asks each seat to slap its pad a few times while the others keep their hands off, and measures how long its\n"
        "contact bounces and how long other pads hear it. With --board each two neighbours' pads are hit by one blow,\n"
        "through a stiff board that lies over both: that tells how far their answers differ, and so the error that\n"
        "each states. What is measured goes into the settings, [pads_measured]; nothing else there changes.\n"
        "Exit status 1 if a pad was not heard.\n\n"
        "examples:\n  referee calibrate pads --simulated --board\n"
        "  referee calibrate pads --settings table.toml --board",
        _calibrate_pads,
    )  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE", help="the table's settings (TOML)")
    parser.add_argument("--simulated", action="store_true", help="pads and hands of the simulated table")
    parser.add_argument("--seats", type=whole(2, 8, "seats"), metavar="N", help="simulated seats (default: 4)")
    parser.add_argument("--blows", type=whole(2, 50, "blows"), default=8, metavar="N",
                        help="how often each pad is hit (default: 8)")  # fmt: skip
    parser.add_argument("--board", action="store_true", help="a board is here: hit two pads by one blow as well")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
