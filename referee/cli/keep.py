"""What `referee people` does, by its options."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path

from referee.app.games import now
from referee.app.people.consent import question
from referee.app.people.erasing import Erased, enforce, erase_game, forget, respell, scrub_waiting
from referee.app.people.export import exported
from referee.app.people.keeping import Keeping
from referee.app.people.names import PeopleError, key_of
from referee.app.people.store import People
from referee.app.problems import UserError
from referee.app.record import Record, RecordError

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
            print(_do(args, store))
    except (RecordError, PeopleError, ValueError) as bad:
        raise UserError(str(bad)) from None
    return 0


def _writes(args: argparse.Namespace) -> bool:
    asked = (args.agrees, args.declines, args.rename, args.merge, args.forget, args.erase_game, args.periods)
    return args.tidy or any(value is not None for value in asked)


def _do(args: argparse.Namespace, store: People) -> str:
    if args.everywhere and args.rename is None:
        raise PeopleError("--everywhere belongs to --rename OLD NEW")
    if args.ask is not None:
        return question(args.ask, store.keeping, args.language)
    if args.export is not None:
        return json.dumps(exported(store, store.named(args.export)), ensure_ascii=False, indent=2)
    if args.periods is not None:
        store.keep_for(Keeping(*args.periods))
        return store.keeping.words
    if args.tidy:
        scrub_waiting(store)
        _, words = enforce(store, datetime.now().astimezone())
        return words or "nothing is overdue"
    if args.erase_game is not None:
        return _told(f"game {args.erase_game} is removed", erase_game(store, args.erase_game, now()))
    return _about_somebody(args, store) or _listed(store)


def _about_somebody(args: argparse.Namespace, store: People) -> str:
    if args.agrees is not None:
        return _agreed(store, args.agrees)
    if args.declines is not None:
        person = store.answer(args.declines, False, now())
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
        done = forget(store, person, now())
        return _told(f"forgotten; the name was removed from {_games(done)}", done)
    return ""


def _agreed(store: People, name: str) -> str:
    """From now on; games that bear the name already are theirs as well."""
    person = store.answer(name, True, now())
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
