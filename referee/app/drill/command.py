"""`referee practise`."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.app.command import Commands, command, whole


def _practise(args: argparse.Namespace) -> int:
    from referee.app.drill.session import practise

    return practise(args)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0.3 <= found <= 10:
        raise argparse.ArgumentTypeError(f"a number of seconds from 0.3 to 10, not {text!r}")
    return found


def add_practise(commands: Commands) -> None:
    """The command `practise`."""
    parser = command(
        commands, "practise", "practise alone: slap on the patterns of the house rules, and only then",
        "Piles are dealt card by card. Slap the pad (or the space bar) when the newest card makes a pattern of the\n"
        "house rules. Patterns are taught one after another; what was missed comes back soon; at the end it says how\n"
        "quick you were, how sure that is, and what to practise. Nothing is kept.\n\n"
        "examples:\n  referee practise\n  referee practise house.toml --pace 1\n"
        "  referee practise --settings table.toml --seat 2      at a table's pad, with its voice and light",
        _practise,
    )  # fmt: skip
    add = parser.add_argument
    add("rules", nargs="?", metavar="RULES", help="a preset, or a house-rules file (default: the table's, or classic)")
    add("--settings", type=Path, metavar="FILE", help="a table's settings: its pads, voice and light are used")
    add("--seat", type=whole(1, 8, "seat"), metavar="N", help="only this seat's pad (default: any)")
    add("--piles", type=whole(1, 1000, "piles"), default=40, metavar="N", help="how many piles (default: 40)")
    add("--pace", type=_seconds, default=1.5, metavar="S", help="seconds from card to card (default: 1.5)")
    add("--all", action="store_true", help="all patterns from the start, without teaching them one by one")
    add("--seed", type=whole(0, 2**31 - 1, "seed"), metavar="N", help="which piles (default: others each time)")
