"""`referee league`."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from referee.app.command import Commands, command
from referee.app.people.command import RECORD


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a day is written as 2026-09-01, not {text!r}") from None


def _league(args: argparse.Namespace) -> int:
    from referee.app.people.league import as_csv, as_text, table
    from referee.app.people.results import Season, results
    from referee.app.people.store import People
    from referee.app.problems import UserError
    from referee.app.record import RecordError

    path: Path = args.record
    if not path.exists():
        raise UserError(f"there is no record {path}; `referee run` begins one, or name it: --record FILE")
    if args.start is not None and args.end is not None and args.end < args.start:
        raise UserError(f"a season from {args.start} cannot end on {args.end}")
    try:
        with People(path, read_only=True) as people:
            names = {person.id: person.name for person in people.people() if person.agreed}
            rows = table(results(people, Season(args.start, args.end)), names)
    except RecordError as bad:
        raise UserError(str(bad)) from None
    print(as_csv(rows) if args.csv else as_text(rows), end="" if args.csv else "\n")
    return 0


def add_league(commands: Commands) -> None:
    """The command `league`."""
    parser = command(
        commands, "league", "who won how often, slaps, reaction times, and a rating with its uncertainty",
        "The league of those who agreed to be remembered (`referee people`): games and slaps won, false slaps, the\n"
        "median reaction time with how many times it rests on, and a rating with its uncertainty. A season is the\n"
        "days from --from to --to, both included. Nobody is ranked from too few games.\n\n"
        "examples:\n  referee league\n  referee league --from 2026-09-01 --to 2026-12-31 --csv > autumn.csv",
        _league,
    )  # fmt: skip
    add = parser.add_argument
    add("--record", type=Path, default=RECORD, metavar="FILE", help=f"the record (default: {RECORD})")
    add("--from", dest="start", type=_day, metavar="DAY", help="the season's first day (default: from the beginning)")
    add("--to", dest="end", type=_day, metavar="DAY", help="its last day (default: until now)")
    add("--csv", action="store_true", help="as CSV, for a spreadsheet")
