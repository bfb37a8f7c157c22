"""Erases stored data from the file's bytes as well: a person, a name, a game, overdue data.

SQLite leaves deleted data in free pages and in its write-ahead log. So deletions overwrite (``secure_delete``), and
afterwards `scrub` writes the log back, rebuilds the file and truncates the log. While another program reads the record
that last step has to wait: it is noted, and done at the next opportunity.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from referee.record.database import RecordError, connect, record_errors
from referee.record.people import People, PeopleError, Person, name_key
from referee.record.pictures import FRAMES_FILE
from referee.record.redaction import has_name, print_line, rename_seats, seat_name, take_out_name
from referee.record.retention import Due, find_overdue
from referee.record.seals import renew_seals
from referee.record.store import Record

SCRUB_WAITS: Final = "scrub"
"""Key of the note that deleted data is not overwritten yet."""
_UNSETTLED: Final = "settle"


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure."""

    games: tuple[int, ...]
    """Games whose lines were changed, or which are gone."""
    clean: bool
    """Whether the data is gone from the file's bytes by now."""
    left: tuple[int, ...] = ()
    """Games whose house rules mention the name; these are left unchanged."""


def forget(people: People, person: Person, at: str) -> Erased:
    """Remove a person: their name from every game, the pictures of those games, every tie and spelling, and themselves.

    The games stay, with the seat's own name, and without pictures, since it is unknown whose hand is on which. Only the
    person's random id is kept, so that a restored backup does not bring the person back. Raises `RecordError`.
    """
    seats = _seats_of(people, person)
    left = tuple(_take_names(people, seats))
    _erase_pictures(people.path, tuple({game for game, _ in seats}))
    with people.writing() as db:
        _will_scrub(db)
        db.execute("DELETE FROM person WHERE id=?", (person.id,))
        db.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", (person.id, at))
    return Erased(tuple(sorted({game for game, _ in seats})), scrub(people), left)


def files_with_name(record: Path, name: str, others: Iterable[Path] = ()) -> list[Path]:
    """Return the files beside a record in which a name still stands and stays: renamed copies, and others.

    Args:
        record: its file; copies of it under other names are searched.
        name: as it was written.
        others: further files to search.
    """
    aside = [path for stem in (record.name, FRAMES_FILE) for path in record.parent.glob(f"{stem}.*-*")]
    # A log may hold the name in plain text, or escaped as in JSON.
    forms = {name.encode(), json.dumps(name)[1:-1].encode()}
    word = re.compile(
        rb"(?<![\w\x80-\xff])(?:" + b"|".join(map(re.escape, forms)) + rb")(?![\w\x80-\xff])", re.IGNORECASE
    )
    found = []
    for file in sorted({*aside, *others}):
        with suppress(OSError):
            if file.is_file() and word.search(file.read_bytes()):
                found.append(file)
    return found


def rename_everywhere(people: People, person: Person, name: str) -> Erased:
    """Rename a person in every line as well, and drop all other spellings: for a name that is to be gone.

    Raises:
        PeopleError: another person has that name.
        RecordError: the record cannot be written.
    """
    seats = _seats_of(people, person)
    renamed = people.rename(person, name)
    left = tuple(_take_names(people, seats, renamed.name))
    with people.writing() as db:
        _will_scrub(db)
        db.execute("DELETE FROM spelling WHERE person=? AND key<>?", (person.id, name_key(name)))
    return Erased(tuple(sorted({game for game, _ in seats})), scrub(people), left)


def take_names(people: People, seats: dict[tuple[int, int], str]) -> Erased:
    """Remove the names at these seats of games (name by game and seat), and the ties."""
    left = tuple(_take_names(people, seats))
    return Erased(tuple(sorted({game for game, _ in seats})), scrub(people), left)


def erase_game(people: People, game: int, at: str, why: str = "asked for") -> Erased:
    """Remove a game with its ties and its pictures; its existence stays noted. Raises `RecordError`."""
    _erase_pictures(people.path, (game,))
    _erase_games(people, (game,), at, why)
    return Erased((game,), scrub(people))


def note_unsettled(people: People, game: int | None) -> None:
    """Note that a finished game is still on display, and `settle_names` is due, even after a power cut.

    None: it is not over after all. Raises `RecordError`.
    """
    with people.writing() as db:
        db.execute("DELETE FROM people_meta WHERE key=?", (_UNSETTLED,))
        if game is not None:
            db.execute("INSERT INTO people_meta VALUES (?, ?)", (_UNSETTLED, str(game)))


def settle_names(people: People, game: int) -> Erased:
    """Tie the people of a finished game who agreed, and erase all other names. Raises `RecordError`."""
    loose = people.tie(game)
    done = Erased((), True)
    if loose:
        with Record(people.path, read_only=True) as record:
            names = record.game(game).seats
        done = take_names(people, {(game, seat): names[seat - 1] for seat in loose})
    with people.writing() as db:
        db.execute("DELETE FROM people_meta WHERE key=? AND value=?", (_UNSETTLED, str(game)))
    return done


def settle_noted(people: People) -> None:
    """Settle the names of a game that still waits for it, as at the start of the program. Raises `RecordError`."""
    waiting = people.meta(_UNSETTLED)
    if waiting is not None and waiting.isdecimal():
        settle_names(people, int(waiting))


def erase_overdue(people: People, now: datetime) -> tuple[Due, str]:
    """Remove overdue data; returns what was removed, and words for the table. Raises `RecordError`."""
    with Record(people.path, read_only=True) as record:
        games = record.games()
    over = find_overdue(games, people.keeping, now)
    if over.refused:
        return over, over.refused
    named = {
        (info.id, seat): name
        for info in games if info.id in over.names
        for seat, name in enumerate(info.seats, start=1) if name != seat_name(seat)
    }  # fmt: skip
    with_names = tuple(sorted({game for game, _ in named}))
    pictures, amiss = 0, ""
    try:
        pictures = _erase_pictures(people.path, (*over.pictures, *over.games), {info.id for info in games})
    except RecordError as error:
        # A damaged file of pictures must not keep games from being recorded.
        amiss = f"pictures could not be removed: {error}"
    _take_names(people, named)
    if over.games:
        _erase_games(people, over.games, now.isoformat(timespec="seconds"), "its time was over")
    if with_names or over.games or people.meta(SCRUB_WAITS) is not None:
        scrub(people)
    told_of = [
        words for many, words in (
            (pictures, _counted(pictures, "picture")),
            (len(with_names), f"the names of {_counted(len(with_names), 'game')}"),
            (len(over.games), _counted(len(over.games), "game")),
        ) if many
    ]  # fmt: skip
    words = f"removed, for their time was over: {', '.join(told_of)}" if told_of else ""
    return Due(over.pictures, with_names, over.games), "; ".join(filter(None, (words, amiss)))


def _counted(many: int, noun: str) -> str:
    return f"{many} {noun}" if many == 1 else f"{many} {noun}s"


def scrub(people: People) -> bool:
    """Remove deleted data from the file and its log; return whether that was possible now."""
    try:
        with closing(connect(people.path, "rw")) as db:
            db.execute("PRAGMA secure_delete=ON")
            db.execute("VACUUM")
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if not getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL")):
            raise
        return False
    if not busy:
        with people.writing() as db:
            db.execute("DELETE FROM people_meta WHERE key=?", (SCRUB_WAITS,))
    return not busy


def _will_scrub(db: sqlite3.Connection) -> None:
    """Note it within the deletion's transaction, so that a power cut in between does not lose it."""
    db.execute("INSERT OR REPLACE INTO people_meta VALUES (?, 'waits')", (SCRUB_WAITS,))


def scrub_noted(people: People) -> bool:
    """Scrub now if that has waited, as at the start of the program; return whether nothing waits any more."""
    return people.meta(SCRUB_WAITS) is None or scrub(people)


def _seats_of(people: People, person: Person) -> dict[tuple[int, int], str]:
    """Return every seat that bears one of the person's names, tied or not."""
    keys, tied = set(people.spellings(person)), set(people.games_of(person))
    with Record(people.path, read_only=True) as record:
        games = record.games()
    return {
        (info.id, seat): name
        for info in games
        for seat, name in enumerate(info.seats, start=1)
        if (info.id, seat) in tied or name_key(name) in keys
    }


def _take_names(people: People, seats: dict[tuple[int, int], str], instead: str | None = None) -> list[int]:
    """Rewrite lines without these names, each game in one transaction; return the games whose rules mention one."""
    left = []
    if seats:
        # Upgrade an older program's record first.
        Record(people.path).close()
    for game in sorted({game for game, _ in seats}):
        names = {seat: name for (number, seat), name in seats.items() if number == game}
        with people.writing() as db:
            _will_scrub(db)
            if _rewrite(db, game, names, instead):
                left.append(game)
            if instead is None:
                marks = ",".join("?" * len(names))
                db.execute(f"DELETE FROM played WHERE game=? AND seat IN ({marks})", (game, *names))
    return left


def _rewrite(db: sqlite3.Connection, game: int, names: dict[int, str], instead: str | None) -> bool:
    new = {seat: instead or seat_name(seat) for seat in names}
    rows = db.execute("SELECT number, text, seal FROM line WHERE game=? ORDER BY number", (game,)).fetchall()
    written = []
    for place, (number, text, seal) in enumerate(rows):
        changed, seats = rename_seats(text, new, nameless=instead is None) if place == 0 else (text, ())
        if place == 0:
            db.execute("UPDATE game SET seats=? WHERE id=?", (json.dumps(list(seats)), game))
        for seat, name in names.items():
            changed = take_out_name(changed, name, new[seat]) if name not in new.values() else changed
        if changed != text:
            # The record forbids updating a line; this is the only place where one is replaced.
            db.execute("DELETE FROM line WHERE game=? AND number=?", (game, number))
            db.execute("INSERT INTO line (game, number, text) VALUES (?, ?, ?)", (game, number, changed))
        written.append((text, changed, seal))
    _reseal(db, game, [number for number, _, _ in rows], written)
    rules = db.execute("SELECT rules FROM game WHERE id=?", (game,)).fetchone()[0]
    return any(has_name(print_line({"rules": rules}), name) for name in names.values())


def _reseal(
    db: sqlite3.Connection, game: int, numbers: Sequence[int], written: Sequence[tuple[str, str, str | None]]
) -> None:
    """Renew the seals of rewritten lines: the old ones no longer hold, and would let a name be guessed."""
    if all(was == text for was, text, _ in written):
        return
    seals = list(renew_seals(written))
    rows = [(seal, game, number) for number, seal in zip(numbers, seals, strict=True)]
    db.executemany("UPDATE line SET seal=? WHERE game=? AND number=?", rows)
    last = (seals[-1], game, written[-1][2])
    db.execute("UPDATE game SET end_seal=? WHERE id=? AND end_seal=?", last)
    db.execute("UPDATE game SET resealed=1 WHERE id=?", (game,))


def _erase_games(people: People, games: tuple[int, ...], at: str, why: str) -> None:
    with people.writing() as db:
        _will_scrub(db)
        for game in games:
            found = db.execute("SELECT began FROM game WHERE id=?", (game,)).fetchone()
            if found is None:
                raise PeopleError(f"there is no game {game}; `referee games` lists them")
            db.execute("INSERT INTO removed VALUES (?, ?, ?, ?)", (at, game, found[0], why))
            db.execute("DELETE FROM game WHERE id=?", (game,))


def _erase_pictures(record: Path, games: tuple[int, ...], there: set[int] | None = None) -> int:
    """Overwrite the pictures of these games and, given the games that are ``there``, of all games that no longer exist.

    Returns their number. A picture's pages hold nothing else, so no rebuild is needed.
    """
    path = record.with_name(FRAMES_FILE)
    if not path.exists():
        return 0
    with record_errors(path), closing(connect(path, "rw")) as db:
        gone = set(games)
        if there is not None:
            gone |= {number for (number,) in db.execute("SELECT DISTINCT game FROM frame")} - there
        db.execute("PRAGMA secure_delete=ON")
        many = sum(db.execute("DELETE FROM frame WHERE game=?", (game,)).rowcount for game in sorted(gone))
        if gone:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return many
