"""`referee games`: the games that were recorded, listed, taken out, put in, kept and removed."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path

from referee.app.problems import UserError
from referee.app.record import GameInfo, Record, RecordError
from referee.app.record_files import exported, imported, rulings_table


def games(args: argparse.Namespace) -> int:
    """The command, by its options (`referee.app.command_table.add_games`). Raises `UserError`."""
    path: Path = args.record
    writes = args.take_in is not None or any(value is not None for value in (args.keep, args.release, args.remove))
    if not path.exists() and args.take_in is None:
        raise UserError(f"there is no record {path}; `referee run` begins one, or name it: --record FILE")
    try:
        if args.remove is not None:
            with Record(path, read_only=True) as record:
                record.game(args.remove)
            _remove(path, args.remove)
            return 0
        with Record(path, read_only=not writes) as record:
            return _do(args, record)
    except RecordError as bad:
        raise UserError(str(bad)) from None


def _do(args: argparse.Namespace, record: Record) -> int:
    if args.export is not None:
        sys.stdout.writelines(exported(record, args.export))
    elif args.csv is not None:
        record.game(args.csv)
        sys.stdout.write(rulings_table(text for _, text in record.lines(args.csv)))
    elif args.take_in is not None:
        print(f"game {imported(record, args.take_in, now())}")
    elif args.keep is not None or args.release is not None:
        number = args.keep if args.keep is not None else args.release
        record.game(number)
        record.keep(number, keep=args.keep is not None)
        print(f"game {number} is {'kept' if args.keep is not None else 'no longer kept'}")
    else:
        _list(record)
    return 0


def _remove(path: Path, number: int) -> None:
    from referee.app.people.erasing import erase_game
    from referee.app.people.store import People

    with People(path) as people:
        gone = erase_game(people, number, now())
    later = "" if gone.clean else "; its bytes are overwritten as soon as nobody reads the record"
    print(f"game {number} is removed{later}")


def now() -> str:
    """Wall time to the second, ISO 8601: a label for people."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _list(record: Record) -> None:
    games = record.games()
    if not games:
        print("no game is recorded yet")
        return
    sizes = record.sizes()
    for info in games:
        print(_line(info, sizes.get(info.id, 0)))


def _line(info: GameInfo, size: int) -> str:
    rules = info.rules if isinstance(info.rules, str) else f"{info.rules.get('base', 'house rules')}, changed"
    marks = [mark for mark, there in (("not ended", info.ended is None), ("kept", info.keep)) if there]
    notes = "; ".join([f"{rules}, {size / 1e6:.1f} MB", *marks])
    return f"{info.id:5}  {info.began[:16].replace('T', ' ')}  {', '.join(info.seats)}  ({notes})"
