"""`referee games`: the games that were recorded, listed, taken out, put in, kept and removed.

`referee people`: who is remembered here, and everything that may be asked about it.

What `referee people` does, by its options.

`referee league`.

`referee backup` and `referee restore`.

What `referee backup` and `referee restore` do, by their options.

`referee practise`.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Final

from hardware.clock import wall_now
from referee.cli.parser import Commands, command, whole
from referee.errors import UserError
from referee.record.backup import BackupError, Places, back_up
from referee.record.consent import question
from referee.record.erasure import Erased, enforce, erase_game, forget, respell, scrub_waiting
from referee.record.export import export_person, exported, imported, rulings_table
from referee.record.people import People, PeopleError, key_of
from referee.record.restore import planned, restore
from referee.record.retention import Keeping
from referee.record.store import GameInfo, Record, RecordError
from referee.vision.learned_decks import folder


def games(args: argparse.Namespace) -> int:
    """The command, by its options (`referee.cli.setup.add_games`). Raises `UserError`."""
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
        print(f"game {imported(record, args.take_in, wall_now())}")
    elif args.keep is not None or args.release is not None:
        number = args.keep if args.keep is not None else args.release
        record.game(number)
        record.keep(number, keep=args.keep is not None)
        print(f"game {number} is {'kept' if args.keep is not None else 'no longer kept'}")
    else:
        _list(record)
    return 0


def _remove(path: Path, number: int) -> None:
    from referee.record.erasure import erase_game
    from referee.record.people import People

    with People(path) as people:
        gone = erase_game(people, number, wall_now())
    later = "" if gone.clean else "; its bytes are overwritten as soon as nobody reads the record"
    print(f"game {number} is removed{later}")


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


_READS = ("ask", "export")


def people(args: argparse.Namespace) -> int:
    """The command. Raises `UserError`."""
    path: Path = args.record
    if not path.exists():
        raise UserError(f"there is no record {path}; `referee run` begins one, or name it: --record FILE")
    try:
        # A read-only look first: a damaged or newer record is told, and never changed.
        Record(path, read_only=True).close()
        with People(path, read_only=not _writes(args)) as store:
            print(_do_people(args, store))
    except (RecordError, PeopleError, ValueError) as bad:
        raise UserError(str(bad)) from None
    return 0


def _writes(args: argparse.Namespace) -> bool:
    asked = (args.agrees, args.declines, args.rename, args.merge, args.forget, args.erase_game, args.periods)
    return args.tidy or any(value is not None for value in asked)


def _do_people(args: argparse.Namespace, store: People) -> str:
    if args.everywhere and args.rename is None:
        raise PeopleError("--everywhere belongs to --rename OLD NEW")
    if args.ask is not None:
        return question(args.ask, store.keeping, args.language)
    if args.export is not None:
        return json.dumps(export_person(store, store.named(args.export)), ensure_ascii=False, indent=2)
    if args.periods is not None:
        store.keep_for(Keeping(*args.periods))
        return store.keeping.words
    if args.tidy:
        scrub_waiting(store)
        _, words = enforce(store, datetime.now().astimezone())
        return words or "nothing is overdue"
    if args.erase_game is not None:
        return _told(f"game {args.erase_game} is removed", erase_game(store, args.erase_game, wall_now()))
    return _about_somebody(args, store) or _listed(store)


def _about_somebody(args: argparse.Namespace, store: People) -> str:
    if args.agrees is not None:
        return _agreed(store, args.agrees)
    if args.declines is not None:
        person = store.answer(args.declines, False, wall_now())
        return f"{person.name} declined, and plays as the seat's name"
    if args.rename is not None:
        old, new = args.rename
        person = store.named(old)
        if args.everywhere:
            done = respell(store, person, new)
            return _told(f"{person.name} is {new} now, in {_games(done)} too", done)
        return f"{person.name} is {store.rename(person, new).name} now; lines of old games stay as they were written"
    if args.merge is not None:
        keep, other = map(store.named, args.merge)
        store.merge(keep, other)
        return f"{other.name} is {keep.name} now"
    if args.forget is not None:
        person = store.named(args.forget)
        done = forget(store, person, wall_now())
        return _told(f"forgotten; the name was removed from {_games(done)}", done)
    return ""


def _agreed(store: People, name: str) -> str:
    """From now on; games that bear the name already are theirs as well."""
    person = store.answer(name, True, wall_now())
    with Record(store.path, read_only=True) as record:
        games = [info.id for info in record.games() if key_of(name) in map(key_of, info.seats)]
    for game in games:
        store.tie(game)
    many = len(store.games_of(person))
    return f"{person.name} agreed, and is remembered; {many} {'game' if many == 1 else 'games'} so far"


def _games(done: Erased) -> str:
    return "1 game" if len(done.games) == 1 else f"{len(done.games)} games"


def _told(words: str, done: Erased) -> str:
    if done.left:
        words += f"; the house rules of game {', '.join(map(str, done.left))} mention the name: remove those games"
    if done.clean:
        return words
    return (
        f"{words}. Another program has the record open, so its file still holds bytes of what was removed; "
        "they go at its next start, or with `referee people --tidy`"
    )


def _listed(store: People) -> str:
    rows = []
    for person in store.people():
        many = len(store.games_of(person))
        answer = f"agreed {person.asked[:10]}, {many} {'game' if many == 1 else 'games'}"
        rows.append(f"{person.name}  ({answer if person.agreed else f'declined {person.asked[:10]}'})")
    if not rows:
        rows.append("nobody was asked yet: `referee people --ask NAME` prints what to ask")
    return "\n".join([*rows, "", f"Here {store.keeping.words}."])


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a day is written as 2026-09-01, not {text!r}") from None


def _league(args: argparse.Namespace) -> int:
    from referee.errors import UserError
    from referee.record.league import as_csv, as_text, table
    from referee.record.people import People
    from referee.record.statistics import Season, results
    from referee.record.store import RecordError

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


SETTINGS: Final = Path("table.toml")


def _backup(args: argparse.Namespace) -> int:

    return backup(args)


def _restore(args: argparse.Namespace) -> int:

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


def _places(args: argparse.Namespace) -> Places:
    return Places(args.record, args.settings, folder())


def backup(args: argparse.Namespace) -> int:
    """Write one. Raises `UserError`."""
    try:
        places = _places(args)
        manifest = back_up(places, args.file, wall_now(), pictures=args.frames)
    except (BackupError, RecordError) as bad:
        raise UserError(str(bad)) from None
    size = args.file.stat().st_size
    print(f"{args.file}: {manifest.games} games, {len(manifest.parts)} parts, {size / 1e6:.1f} MB, read back and whole")
    if places.house and f"rules/{places.house}" not in {part.name for part in manifest.parts}:
        print(f"not in it: the house rules {places.house}, which do not lie beside the settings; copy them yourself")
    return 0


def bring_back(args: argparse.Namespace) -> int:
    """Say what would be done, or do it. Raises `UserError`."""
    stamp = datetime.now().astimezone().strftime("%Y%m%dT%H%M%S")
    try:
        plan = (restore if args.yes else planned)(args.file, _places(args), stamp)
    except (BackupError, RecordError) as bad:
        raise UserError(str(bad)) from None
    print("\n".join(plan.words))
    print("done" if args.yes else "nothing was changed; do it with --yes")
    return 0


def _practise(args: argparse.Namespace) -> int:
    from referee.extras.practice.trainer import practise

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
