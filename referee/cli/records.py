"""The commands for what was played: games, people, league, backup and restore.

Each function that runs a command imports what it needs when it is called, so that help opens no database.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hardware.clock import wall_now
from referee.cli.parser import Commands, command
from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.places import SHOWN_FOLDER, data_folder, earlier_records, find_settings, record_at
from referee.text.escapes import escape_controls
from referee.text.terminal_language import here, translate

if TYPE_CHECKING:
    from referee.record.backup import Places
    from referee.record.erasure import Erased
    from referee.record.export import ImportedGame
    from referee.record.people import People
    from referee.record.store import Record

_SQLITE: Final = b"SQLite format 3\0"
"""First bytes of a record, which no log begins with."""
_ZIP: Final = b"PK\3\4"
"""First bytes of a backup."""


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", type=Path, default=record_at(), metavar="FILE",
                        help=f"the record (default: your own, in {SHOWN_FOLDER})")  # fmt: skip


def require_record(path: Path) -> None:
    """Raise `UserError` if there is no record; games that an earlier version left elsewhere are named."""
    if path == record_at() and (earlier := earlier_records()):
        from referee.record.merge import find_left_behind

        for words in find_left_behind(path, earlier):
            if not path.exists():
                raise UserError(words)
            print(escape_controls(translate(words)), file=sys.stderr)
    if not path.exists():
        raise UserError(
            "there is no record {path}; `referee play` or `referee run` begins one, or name it: --record FILE",
            path=path,
        )


@contextmanager
def _writing(record: Path, program: str) -> Iterator[None]:
    """Hold the record against other writers inside the block; raises `UserError` while a game is on."""
    from referee.record.lock import hold_record

    with hold_record(record, program, wall_now()) as words:
        if words:
            print(words, file=sys.stderr)
        yield


# Games


def add_games(commands: Commands) -> None:
    parser = command(
        commands, "games", "the recorded games: list, export, import, keep, remove",
        "Every game is recorded line by line, on the disk before anything is announced. Without options: the list.\n\n"
        "examples:\n  referee games\n  referee games --export 12 > game.jsonl      the log, for `referee replay`\n"
        "  referee games --csv 12 > game.csv           the rulings, for a spreadsheet\n"
        "  referee games --import game.jsonl           a log of another table; twice is once\n"
        "  referee games --import table-2.zip          the games of a backup (or record) that are missing here\n"
        "  referee games --keep 12                     never remove it to make room\n"
        "  referee games --remove 12                   remove it and its pictures now\n"
        "  referee games --check                       hold every line against its seal\n"
        "  referee games --rescue                      after a damage: a new record of all that can be read",
        _games,
    )  # fmt: skip
    _add_record(parser)
    add = parser.add_mutually_exclusive_group().add_argument
    add("--export", type=int, metavar="N", help="print a game as a log (JSON Lines)")
    add("--csv", type=int, metavar="N", help="print a game's rulings as CSV")
    add("--import", dest="take_in", type=Path, metavar="FILE",
        help="record a log file as a game, or all games of another record or backup; those that are there already are "
        "left as they are")  # fmt: skip
    add("--keep", type=int, metavar="N", help="never remove this game to make room")
    add("--release", type=int, metavar="N", help="it may be removed again")
    add("--remove", type=int, metavar="N", help="remove a game and its pictures")
    add("--check", action="store_true", help="print each game's seal, and every line that is not what was written")
    add("--rescue", action="store_true", help="move a damaged record aside, and go on with what can be read of it")


def _games(args: argparse.Namespace) -> int:
    if args.take_in is None:
        require_record(args.record)
    option = "--import" if args.take_in is not None else "--remove" if args.remove is not None else ""
    option = "--rescue" if args.rescue else option
    # Keeping or releasing a game is possible while another is on: no line is touched.
    with _writing(args.record, f"referee games {option}") if option else nullcontext():
        return _do_games(args)


def _do_games(args: argparse.Namespace) -> int:
    if args.rescue:
        return _rescue(args.record)
    if args.take_in is not None and (start := _first_bytes(args.take_in)).startswith((_SQLITE, _ZIP)):
        return _import_record(args.record, args.take_in, is_backup=start.startswith(_ZIP))
    from referee.record.erasure import erase_game
    from referee.record.export import export_game, import_game, write_rulings_csv
    from referee.record.people import People
    from referee.record.store import Record
    from referee.record.stored_lines import LineReader, tell_odd_lines

    reader = LineReader()
    writes = any(value is not None for value in (args.take_in, args.keep, args.release))
    with Record(args.record, read_only=not writes) as record:
        if args.export is not None:
            for line in export_game(record, args.export):
                sys.stdout.write(escape_controls(line, lines=True))
        elif args.csv is not None:
            record.game(args.csv)
            csv = write_rulings_csv(text for _, text in record.lines(args.csv))
            sys.stdout.write(escape_controls(csv, lines=True))
        elif args.take_in is not None:
            imported = import_game(record, args.take_in, wall_now())
            if imported.added:
                with People(args.record) as people:
                    # Figures count people who agreed to be remembered; the game's names stay as in the file.
                    people.tie(imported.game)
            print(escape_controls(translate(_tell_import(args.take_in, imported))))
            reader.read(record.lines(imported.game))
            if reader.odd:
                print(escape_controls(f"note: {tell_odd_lines(reader.odd)}"), file=sys.stderr)
        elif args.keep is not None or args.release is not None:
            number = args.keep if args.keep is not None else args.release
            record.game(number)
            record.keep(number, keep=args.keep is not None)
            words = "game {number} is kept" if args.keep is not None else "game {number} is no longer kept"
            print(translate(words, number=number))
        elif args.remove is not None:
            record.game(args.remove)
        elif args.check:
            return _check_games(record)
        else:
            _list_games(record)
    if args.remove is not None:
        with People(args.record) as people:
            erased = erase_game(people, args.remove, wall_now())
        print(translate("game {number} is removed", number=args.remove))
        if not erased.clean:
            print(translate("its bytes are overwritten as soon as no program reads the record"))
    return 0


def _first_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_SQLITE))
    except OSError as error:
        raise UserError("{file} cannot be read: {why}", file=file, why=error.strerror) from None


def _tell_import(file: Path, imported: ImportedGame) -> Sentence:
    game, twin = imported.game, imported.twin
    if twin is None:
        return Sentence("game {number}", number=game)
    if imported.added:
        words = "game {number} was recorded up to line {last}; lines added: {added}"
        return Sentence(words, number=game, last=twin.lines, added=imported.added)
    if twin.renamed:
        words = "{file} is game {number}, in which names were changed since; nothing was changed"
        return Sentence(words, file=file, number=game)
    return Sentence("{file} is recorded already as game {number}; nothing was changed", file=file, number=game)


def _import_record(record: Path, other: Path, *, is_backup: bool) -> int:
    """Bring the games of another record, or of a backup of one, into this one."""
    from referee.record.backup import RECORD
    from referee.record.merge import copied_record, merge_record
    from referee.record.restore import unpacked_backup
    from referee.record.store import Record

    if record.exists() and other.samefile(record):
        raise UserError("{other} is this record itself", other=other)
    record.parent.mkdir(parents=True, exist_ok=True)
    if is_backup:
        with unpacked_backup(other, record.parent) as (_, folder):
            found = merge_record(record, folder / RECORD, wall_now())
    else:
        Record(other, read_only=True).close()
        with copied_record(other, record.parent) as copy:
            found = merge_record(record, copy, wall_now())
        if record == record_at() and any(other.samefile(earlier) for earlier in earlier_records()):
            _bring_certificates(record, other)
    new, more = len(found.missing), len(found.longer)
    words = Sentence(
        "{record} has all games of {other}; added: {new}, completed: {more}, there already: {there}",
        record=record, other=other, new=new, more=more, there=len(found.twins) - new,
    )  # fmt: skip
    print(escape_controls(translate(words)))
    for words in found.forgotten_words:
        print(translate(words))
    return 0


def _bring_certificates(record: Path, earlier: Path) -> None:
    """Copy the certificates of this machine from beside its earlier record; those that are here stay."""
    from referee.record.certificates import beside_record

    to = beside_record(record)
    for file in beside_record(earlier).glob("*"):
        if not (to / file.name).exists():
            to.mkdir(exist_ok=True)
            shutil.copy2(file, to)


def add_shadow(commands: Commands) -> None:
    parser = command(
        commands, "shadow", "what people ruled against what the referee would have: after `referee run --shadow`",
        "Compare the verdicts that people marked in a shadowed game with the referee's: how often they agree, with\n"
        "the error of that; each difference with the referee's reasons; and the slaps that the referee itself could\n"
        "not decide, which do not count. The page shows the same with pictures, at /games/N/shadow.\n\n"
        "examples:\n  referee shadow\n  referee shadow --game 12 --language de\n"
        "  referee shadow --case 3 > case.jsonl        difference 3 as a regression case, as people ruled it\n"
        "  referee shadow --case 3 --right referee     the same, as the referee ruled it",
        _shadow,
    )  # fmt: skip
    _add_record(parser)
    add = parser.add_argument
    add("--game", type=int, metavar="N", help="this game (default: the latest that was shadowed)")
    add("--case", type=int, metavar="N", help="print difference N as a log with the verdict that must come of it")
    add("--right", choices=("people", "referee"), default="people",
        help="whose verdict must come of the case (default: people's)")  # fmt: skip


def _shadow(args: argparse.Namespace) -> int:
    from referee.options.shadow.shadowed_games import shadow_case, shadow_report
    from referee.record.store import Record

    require_record(args.record)
    with Record(args.record, read_only=True) as record:
        if args.case is None:
            lines = shadow_report(record, args.game, here().language)
            sys.stdout.writelines(f"{escape_controls(line)}\n" for line in lines)
        else:
            case = shadow_case(record, args.game, args.case, by_people=args.right == "people")
            sys.stdout.writelines(escape_controls(line, lines=True) for line in case)
    return 0


def _rescue(path: Path) -> int:
    """Rescue what can be read, and report what is missing then."""
    from referee.record.rescue import find_broken_games, find_damage, finish_rescue, is_rescue_better, rescue_record

    finish_rescue(path)
    why = find_damage(path)
    if not why:
        why = find_broken_games(path)
        if not why:
            print(translate("{path} is as it was written", path=path))
            return 0
        if not is_rescue_better(path):
            print(escape_controls(f"{path} was left as it is, for no more can be read of it: {why}"))
            return 1
    print(escape_controls(rescue_record(path, why, _stamp()).words))
    return 0


def _stamp() -> str:
    """Return the present second, for file names."""
    return datetime.now().astimezone().strftime("%Y%m%dT%H%M%S")


def _check_games(record: Record) -> int:
    """Report everything that differs from what was written; return the exit status, 1 if anything does."""
    from referee.record.seals import show_seal
    from referee.record.stored_lines import LineReader

    damage = [f"the file: {words}" for words in record.check_file()]
    for info in reversed(record.games()):
        rows = list(record.sealed_lines(info.id))
        broken = record.broken_seals(info.id)
        damage += [f"game {info.id}, line {number} {words}" for number, words in broken]
        reader = LineReader()
        reader.read((number, text) for number, text, _ in rows)
        damage += [f"game {info.id}, line {number} cannot be used: {why}" for number, why in reader.odd]
        if not rows or rows[-1][2] is None:
            words = "written by a program without seals"
        elif broken:
            words = f"{_count(len(broken), 'line')} not as written"
        else:
            words = f"as written, seal {show_seal(rows[-1][2])}"
        anew = "; sealed anew when names in it were changed" if record.is_resealed(info.id) else ""
        print(escape_controls(f"game {info.id}, {info.began[:16].replace('T', ' ')}, {len(rows)} lines: {words}{anew}"))
    for words in damage:
        print(escape_controls(words))
    return int(bool(damage))


def _list_games(record: Record) -> None:
    sizes, games = record.sizes(), record.games()
    for info in games:
        rules = info.rules if isinstance(info.rules, str) else f"{info.rules.get('base', 'house rules')}, changed"
        marks = [mark for mark, there in (("not ended", info.ended is None), ("kept", info.keep)) if there]
        notes = "; ".join([f"{rules}, {sizes.get(info.id, 0) / 1e6:.1f} MB", *marks])
        who = f"{info.began[:16].replace('T', ' ')}  {', '.join(info.seats)}  ({notes})"
        print(f"{info.id:5}  {escape_controls(who)}")
    if not games:
        print(translate("no game is recorded yet"))


# People


def add_people(commands: Commands) -> None:
    parser = command(
        commands, "people", "who is remembered: consent, names, copies, deletion",
        "The players whom this table remembers: those who agreed when asked. Without options: their list, and how\n"
        "long the table keeps each kind of data. Deleting is for good: the name leaves every game and the file.\n\n"
        "examples:\n  referee people --ask Ana                    what to read to her\n"
        "  referee people --agrees Ana                 she said yes; --declines: no\n"
        "  referee people --rename Anna Ana            called otherwise from now on\n"
        "  referee people --rename Anna Ana --everywhere    in old games too; the old name is gone\n"
        "  referee people --merge Ana 'Ana B.'         two spellings of one person\n"
        "  referee people --export Ana > ana.json      all that is kept of her\n"
        "  referee people --forget Ana                 remove her\n"
        "  referee people --erase-game 12              remove a game and its pictures\n"
        "  referee people --periods 30 365 1095        days: pictures, names and figures, games\n"
        "  referee people --tidy                       remove what is overdue now",
        _people,
    )  # fmt: skip
    _add_record(parser)
    add = parser.add_argument
    add("--everywhere", action="store_true", help="with --rename: in the lines of old games too")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--ask", metavar="NAME", help="print what this person is to be asked")
    add("--agrees", metavar="NAME", help="this person was asked, and agreed to be remembered")
    add("--declines", metavar="NAME", help="this person was asked, and did not agree")
    add("--rename", nargs=2, metavar=("OLD", "NEW"), help="change a player's name")
    add("--merge", nargs=2, metavar=("KEEP", "OTHER"), help="two names are one person")
    add("--forget", metavar="NAME", help="remove this person, and the name from every game")
    add("--export", metavar="NAME", help="print all that is kept of this person (JSON)")
    add("--erase-game", type=int, metavar="N", help="remove a game, its pictures and its figures")
    add("--periods", type=int, nargs=3, metavar=("PICTURES", "FIGURES", "GAMES"), help="for how many days what is kept")
    add("--tidy", action="store_true", help="remove now what is overdue")


def _people(args: argparse.Namespace) -> int:
    from referee.record.people import People
    from referee.record.store import Record

    if args.ask is not None and not args.record.exists():
        from referee.record.people import consent_question
        from referee.record.retention import RetentionPeriods

        print(consent_question(args.ask, RetentionPeriods(), here().language))
        return 0
    if (args.agrees, args.declines, args.periods) != (None, None, None) and _may_begin(args.record):
        # People answer before their first game.
        Record(args.record).close()
    require_record(args.record)
    if args.everywhere and args.rename is None:
        raise UserError("--everywhere belongs to --rename OLD NEW")
    changes = (args.agrees, args.declines, args.rename, args.merge, args.forget, args.erase_game, args.periods)
    writes = args.tidy or any(value is not None for value in changes)
    try:
        # A read-only look first: a damaged or newer record is reported, and never changed.
        Record(args.record, read_only=True).close()
        # Answers and names may be given while a game is on; commands that change lines may not.
        alone = args.tidy or args.everywhere or args.forget is not None or args.erase_game is not None
        with (
            _writing(args.record, "referee people") if alone else nullcontext(),
            People(args.record, read_only=not writes) as people,
        ):
            words = _change_people(args, people) if writes else _show_people(args, people)
            print(escape_controls(words, lines=True))
    except ValueError as error:
        raise UserError(str(error)) from None
    return 0


def _may_begin(record: Path) -> bool:
    """Return whether answers may begin the record: there is none, no earlier one, and the folder is this user's own."""
    own = data_folder()
    is_own = not own.exists() or not hasattr(os, "geteuid") or own.stat().st_uid == os.geteuid()
    return record == record_at() and not record.exists() and is_own and not earlier_records()


def _show_people(args: argparse.Namespace, people: People) -> str:
    """Return the words of a command that changes nothing: a question, a copy, or the list."""
    from referee.record.export import export_person
    from referee.record.people import consent_question

    if args.ask is not None:
        return consent_question(args.ask, people.keeping, here().language)
    if args.export is not None:
        return json.dumps(export_person(people, people.named(args.export)), ensure_ascii=False, indent=2)
    rows = []
    for person in people.people():
        answer = f"{'agreed' if person.agreed else 'declined'} {person.asked[:10]}"
        if person.agreed:
            answer += f", {_count_games(people.games_of(person))}"
        rows.append(f"{person.name}  ({answer})")
    rows = rows or ["no player was asked yet: `referee people --ask NAME` prints what to ask"]
    return "\n".join([*rows, "", f"Here {people.keeping.words}."])


def _change_people(args: argparse.Namespace, people: People) -> str:
    """Carry out a command, and return its result in words."""
    from referee.record import erasure
    from referee.record.certificates import beside_record
    from referee.record.retention import RetentionPeriods

    if args.periods is not None:
        people.keep_for(RetentionPeriods(*args.periods))
        return people.keeping.words
    if args.tidy:
        erasure.scrub_noted(people)
        _, words = erasure.erase_overdue(people, datetime.now().astimezone())
        return words or "nothing is overdue"
    if args.erase_game is not None:
        return _add_remains(
            f"game {args.erase_game} is removed", erasure.erase_game(people, args.erase_game, wall_now())
        )
    if args.agrees is not None:
        person = people.remember(args.agrees, wall_now())
        return f"{person.name} agreed, and is remembered; {_count_games(people.games_of(person))} so far"
    if args.declines is not None:
        return f"{people.answer(args.declines, False, wall_now()).name} declined, and plays as the seat's name"
    if args.merge is not None:
        keep, other = map(people.named, args.merge)
        people.merge(keep, other)
        return f"{other.name} is {keep.name} now"
    if args.forget is not None:
        person = people.named(args.forget)
        erased = erasure.forget(people, person, wall_now())
        words = f"forgotten; the name was removed from {_count_games(erased.games)}"
        left = erasure.files_with_name(args.record, person.name, beside_record(args.record).glob("*"))
        if left:
            words += f"; it still stands in {', '.join(map(str, left))}: remove those files"
        return _add_remains(words, erased)
    old, new = args.rename
    person = people.named(old)
    if args.everywhere:
        erased = erasure.rename_everywhere(people, person, new)
        return _add_remains(f"{person.name} is {new} now, in {_count_games(erased.games)} too", erased)
    return f"{person.name} is {people.rename(person, new).name} now; lines of old games stay as they were written"


def _count_games(games: Sequence[object]) -> str:
    return _count(len(games), "game")


def _count(many: int, noun: str) -> str:
    return f"{many} {noun}" if many == 1 else f"{many} {noun}s"


def _add_remains(words: str, erased: Erased) -> str:
    """Add to the words where remains of the removed data still are."""
    if erased.left:
        words += f"; the house rules of game {', '.join(map(str, erased.left))} mention the name: remove those games"
    if erased.clean:
        return words
    return (
        f"{words}. Another program has the record open, so its file still holds bytes of what was removed; "
        "they go at its next start, or with `referee people --tidy`"
    )


# League


def add_league(commands: Commands) -> None:
    parser = command(
        commands, "league", "who won how often, slaps, reaction times, and a rating with its uncertainty",
        "The league of those who agreed to be remembered (`referee people`): games and slaps won, false slaps, the\n"
        "median reaction time with how many times it rests on, and a rating with its uncertainty. A season is the\n"
        "days from --from to --to, both included. Players with too few games are not ranked.\n\n"
        "examples:\n  referee league\n  referee league --from 2026-09-01 --to 2026-12-31 --csv > autumn.csv",
        _league,
    )  # fmt: skip
    _add_record(parser)
    add = parser.add_argument
    add("--from", dest="start", type=_day, metavar="DAY", help="the season's first day (default: from the beginning)")
    add("--to", dest="end", type=_day, metavar="DAY", help="its last day (default: until now)")
    add("--csv", action="store_true", help="as CSV, for a spreadsheet")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a day is written as 2026-09-01, not {text!r}") from None


def _league(args: argparse.Namespace) -> int:
    from referee.record.league import make_league, write_league_csv, write_league_text
    from referee.record.people import People
    from referee.record.statistics import Season, list_results
    from referee.record.stored_lines import tell_odd_lines

    require_record(args.record)
    if args.start is not None and args.end is not None and args.end < args.start:
        raise UserError("a season from {start} cannot end on {end}", start=args.start, end=args.end)
    with People(args.record, read_only=True) as people:
        names = {person.id: person.name for person in people.people() if person.agreed}
        results = list(list_results(people, Season(args.start, args.end)))
    for result in results:
        if result.odd:
            print(escape_controls(f"note: game {result.game}: {tell_odd_lines(result.odd)}"), file=sys.stderr)
    rows = make_league(results, names)
    words = write_league_csv(rows) if args.csv else write_league_text(rows)
    print(escape_controls(words, lines=True), end="" if args.csv else "\n")
    return 0


# Backup


def add_backup(commands: Commands) -> None:
    parser = command(
        commands, "backup", "games, people, settings and learned decks in one file",
        "Write one archive (zip) with everything of this table and a checksum of each part. A game may go on\n"
        "meanwhile. Pictures round slaps are left out unless asked for. The file holds names and\n"
        "games: keep it as safe as the machine.\n\n"
        "examples:\n  referee backup table.zip\n  referee backup /media/stick/table.zip --frames",
        _backup,
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE", help="where to write it")
    parser.add_argument("--frames", action="store_true", help="the pictures round slaps as well")
    _add_places(parser)


def add_restore(commands: Commands) -> None:
    parser = command(
        commands, "restore", "bring a backup back",
        "Look through a backup and list what goes where. With --yes it is done: a record keeps its games and\n"
        "receives those that it lacks; each replaced file is kept beside the new one under another name. A torn file\n"
        "changes nothing. The referee and its page must be stopped. A player forgotten at this table since the backup\n"
        "stays forgotten.\n\n"
        "examples:\n  referee restore table.zip\n  referee restore table.zip --yes",
        _restore,
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE", help="the backup")
    parser.add_argument("--yes", action="store_true", help="do it")
    _add_places(parser)


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", type=Path, metavar="FILE",
                        help=f"the record (default: that of --settings, else your own, in {SHOWN_FOLDER})")  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE",
                        help="the table's settings (default: table.toml here, else those of `referee play`, else the "
                        "appliance's)")  # fmt: skip


def _places(args: argparse.Namespace) -> Places:
    from referee.record.backup import Places
    from referee.vision.learned_decks import folder

    record = args.record
    if record is None and args.settings is not None and args.settings.exists():
        from referee.settings.model import load_settings

        record = load_settings(args.settings).record_file
    return Places(record or record_at(), args.settings or find_settings(), folder())


def _backup(args: argparse.Namespace) -> int:
    from referee.record.backup import back_up

    places = _places(args)
    require_record(places.record)
    manifest = back_up(places, args.file, wall_now(), pictures=args.frames)
    size = args.file.stat().st_size
    print(
        translate(
            "{file}: games: {games}, parts: {parts}, {size} MB, read back and whole",
            file=args.file,
            games=manifest.games,
            parts=len(manifest.parts),
            size=here().number(size / 1e6, 1),
        )
    )
    if places.house and f"rules/{places.house}" not in {part.name for part in manifest.parts}:
        print(
            translate(
                "not in it: the house rules {house}, which do not lie beside the settings; copy them yourself",
                house=places.house,
            )
        )
    return 0


def _restore(args: argparse.Namespace) -> int:
    from referee.record.restore import plan_restore, restore

    places = _places(args)
    with _writing(places.record, "referee restore") if args.yes else nullcontext():
        plan = (restore if args.yes else plan_restore)(args.file, places, _stamp())
    print("\n".join(escape_controls(translate(words)) for words in plan.words))
    print(translate("done") if args.yes else translate("nothing was changed; do it with --yes"))
    return 0
