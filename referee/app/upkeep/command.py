"""`referee backup` and `referee restore`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from referee.app.command import Commands, command

RECORD: Final = Path("games") / "record.db"
SETTINGS: Final = Path("table.toml")


def _backup(args: argparse.Namespace) -> int:
    from referee.app.upkeep.desk import backup

    return backup(args)


def _restore(args: argparse.Namespace) -> int:
    from referee.app.upkeep.desk import bring_back

    return bring_back(args)


def add_backup(commands: Commands) -> None:
    """The command `backup`."""
    parser = command(
        commands, "backup", "games, people, settings and learned decks in one file",
        "Write one archive (zip) with everything of this table and a checksum of each part. A game may go on\n"
        "meanwhile. Pictures round slaps are left out unless asked for. Whoever holds the file holds the names and\n"
        "games in it: keep it as you keep the machine.\n\n"
        "examples:\n  referee backup table.zip\n  referee backup /media/stick/table.zip --frames",
        _backup,
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE", help="where to write it")
    parser.add_argument("--frames", action="store_true", help="the pictures round slaps as well")
    _add_places(parser)


def add_restore(commands: Commands) -> None:
    """The command `restore`."""
    parser = command(
        commands, "restore", "bring a backup back",
        "Look through a backup and say what would be put where. With --yes it is done: what is there now is kept\n"
        "beside it under another name. A torn file changes nothing. The referee and its page must be stopped.\n"
        "Who was forgotten at this table since the backup stays forgotten.\n\n"
        "examples:\n  referee restore table.zip\n  referee restore table.zip --yes",
        _restore,
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE", help="the backup")
    parser.add_argument("--yes", action="store_true", help="do it")
    _add_places(parser)


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", type=Path, default=RECORD, metavar="FILE",
                        help=f"the record of games (default: {RECORD})")  # fmt: skip
    parser.add_argument("--settings", type=Path, default=SETTINGS, metavar="FILE",
                        help=f"the table's settings (default: {SETTINGS})")  # fmt: skip
