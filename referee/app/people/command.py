"""`referee people`: who is remembered here, and everything that may be asked about it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from referee.app.command import Commands, command

RECORD: Final = Path("games") / "record.db"
_ABOUT: Final = (
    "The people whom this table remembers: those who were asked and agreed. Without options: the list, and for how\n"
    "long what is kept. Deleting is for good: the name leaves every game, and the file's bytes.\n\n"
    "examples:\n  referee people --ask Ana                    what to read to her\n"
    "  referee people --agrees Ana                 she said yes; --declines: no\n"
    "  referee people --rename Anna Ana            called otherwise from now on\n"
    "  referee people --rename Anna Ana --everywhere    in old games too; the old name is gone\n"
    "  referee people --merge Ana 'Ana B.'         two spellings of one person\n"
    "  referee people --export Ana > ana.json      all that is kept of her\n"
    "  referee people --forget Ana                 remove her\n"
    "  referee people --erase-game 12              remove a game and its pictures\n"
    "  referee people --periods 30 365 1095        days: pictures, names and figures, games\n"
    "  referee people --tidy                       remove what is overdue now"
)


def _people(args: argparse.Namespace) -> int:
    from referee.app.people.desk import people

    return people(args)


def add_people(commands: Commands) -> None:
    """The command `people`."""
    parser = command(commands, "people", "who is remembered: consent, names, copies, deletion", _ABOUT, _people)
    add = parser.add_argument
    add("--record", type=Path, default=RECORD, metavar="FILE", help=f"the record (default: {RECORD})")
    add("--language", default="en", choices=("en", "es", "de", "fr"), help="of what is asked (default: en)")
    add("--everywhere", action="store_true", help="with --rename: in the lines of old games too")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--ask", metavar="NAME", help="print what this person is to be asked")
    one.add_argument("--agrees", metavar="NAME", help="this person was asked, and agreed to be remembered")
    one.add_argument("--declines", metavar="NAME", help="this person was asked, and did not agree")
    one.add_argument("--rename", nargs=2, metavar=("OLD", "NEW"), help="somebody is called otherwise")
    one.add_argument("--merge", nargs=2, metavar=("KEEP", "OTHER"), help="two names are one person")
    one.add_argument("--forget", metavar="NAME", help="remove this person, and the name from every game")
    one.add_argument("--export", metavar="NAME", help="print all that is kept of this person (JSON)")
    one.add_argument("--erase-game", type=int, metavar="N", help="remove a game, its pictures and its figures")
    one.add_argument("--periods", type=int, nargs=3, metavar=("PICTURES", "FIGURES", "GAMES"),
                     help="for how many days what is kept")  # fmt: skip
    one.add_argument("--tidy", action="store_true", help="remove now what is overdue")
