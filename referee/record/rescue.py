"""Moves a damaged record aside under a dated name, and continues with its readable data in a new one.

A power cut damages nothing: SQLite rolls back what was never synced. So the file is opened first, and only what SQLite
then reports counts as damage, or a change to its log after it was written (`referee.record.sqlite_wal`). If the power
fails in the middle of a rescue, the next start finishes it.

A picture has no seal: no ruling rests on one. A picture that is cut off or that SQLite cannot read is left out.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.errors import UserError
from referee.record.backup import sync_folder
from referee.record.database import RecordError, connect, is_empty, refuse_empty
from referee.record.people import People
from referee.record.pictures import FRAMES_FILE, Picture, PictureStore
from referee.record.salvage import Line, Salvage, count_proven, salvage_rows
from referee.record.schema import PICTURE_SCHEMA, RECORD_SCHEMA
from referee.record.sqlite_wal import read_wal
from referee.record.store import Record
from referee.record.stored_lines import LineReader
from referee.sentence import Sentence

_PATIENCE: Final = 3.0
"""Seconds that checking a large file may take at the start of a game."""
_TOLD: Final = 3
"""Number of places in a game that are listed one by one."""
_COLUMNS: Final = {"game": 8, "line": 4}
"""Number of columns of the present version's tables; the version before had fewer."""
_CODES: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH")
"""SQLite's codes for a file that differs from what was written; a missing table is an ordinary error to it."""

_STEPS: Final = 10_000
"""Steps of SQLite's virtual machine between two looks at the clock."""
_DAMAGED_PICTURES: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")
_TOGETHER: Final = 50
"""Pictures that are written at once."""


class NothingToRescueError(UserError):
    """Nothing in a file can be read as a record; it was left unchanged."""


@dataclass(frozen=True, slots=True)
class Rescue:
    """The result of a rescue."""

    why: str
    kept: Path
    """The damaged file, unchanged."""
    games: int
    lines: int
    missing: tuple[str, ...]
    """Differences from the original lines, for each game."""

    @property
    def words(self) -> str:
        """For the table."""
        lost = "; ".join(self.missing) if self.missing else "nothing of it is known to be missing"
        return (
            f"the record was damaged ({self.why}) and is kept as {self.kept.name}; {self.lines} lines of "
            f"{self.games} games were rescued into a new one: {lost}"
        )


def find_damage(path: Path, *, patience: float | None = None) -> str:
    """Return what is wrong with a record's file; empty if nothing is.

    Args:
        path: the record.
        patience: seconds after which a large file without a fault so far counts as sound; None: check all of it.

    Raises:
        RecordError: another program writes it, it was made by a newer program, or it is empty.
    """
    if not path.exists():
        return ""
    refuse_empty(path)
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and (many := read_wal(log.read_bytes()).damaged):
        return f"{many} parts of its write-ahead log were changed"
    try:
        try:
            with closing(connect(path, "ro")) as db:
                return _look_through(db, patience)
        except sqlite3.OperationalError as error:
            # The power was cut while the file was created: a connection that may write rolls back what is half written.
            if error.sqlite_errorname != "SQLITE_READONLY_ROLLBACK":
                raise
            with closing(connect(path, "rw")) as db:
                return _look_through(db, patience)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "SQLITE_ERROR").startswith(_CODES):
            return str(error)
        raise RecordError("{path} cannot be looked through ({why})", path=path, why=error) from error
    except OSError as error:
        raise RecordError("{path} cannot be read: {why}", path=path, why=error.strerror) from error


def _look_through(db: sqlite3.Connection, patience: float | None) -> str:
    db.text_factory = bytes
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    columns = {name: len(db.execute(f"PRAGMA table_info({name})").fetchall()) for name in _COLUMNS}
    if not any(columns.values()) and version == 0:
        # An empty file is a record that was not begun; SQLite finds nothing wrong with another program's file.
        return "" if not db.execute("SELECT 1 FROM sqlite_schema").fetchone() else "it holds no games"
    if (version == RECORD_SCHEMA.version and columns != _COLUMNS) or version == 0 or not all(columns.values()):
        return "its tables are not those of a record"
    if version == 1 and columns == _COLUMNS:
        return "its version is not that of its tables"
    if stranger := RECORD_SCHEMA.find_stranger(db):
        return f"it holds something that no Table Referee made: {stranger}"
    return _check_pages(db, patience)


def find_broken_games(path: Path, *, patience: float | None = None) -> str:
    """Return what in a readable record differs from what was written, newest game first; empty for nothing.

    Args:
        path: the record.
        patience: seconds after which older games are not checked any more; None: all are.

    Raises:
        RecordError: it cannot be read.
    """
    until = None if patience is None else time.monotonic() + patience
    words: list[str] = []
    if not path.exists():
        return ""
    with Record(path, read_only=True) as record:
        if not record.is_begun:
            return ""
        for info in record.games():
            words += _broken_words(record, info.id)
            if until is not None and time.monotonic() > until:
                break
    return "; ".join(words)


def is_rescue_better(path: Path) -> bool:
    """Return whether a record's bytes hold more lines with valid seals than SQLite reads from it."""
    found = _salvaged(path)
    with Record(path, read_only=True) as record:
        present = {info.id: record.sealed_lines(info.id) for info in record.games()}
        now = sum(count_proven({at: (text, seal) for at, text, seal in lines}) for lines in present.values())
    return sum(map(count_proven, found.lines.values())) > now


def rescue_record(path: Path, why: str, stamp: str) -> Rescue:
    """Move a damaged record aside, and continue with its readable data.

    Args:
        path: the record; no process writes it meanwhile.
        why: what is wrong with it.
        stamp: the date, for the name of the damaged file.

    Raises:
        NothingToRescueError: nothing in it can be read as a record.
        RecordError: the new record cannot be written; the old one is unchanged.
    """
    found = _salvaged(path)
    if not found.count and "game" not in found.tables:
        raise NothingToRescueError(
            f"{path} is damaged ({why}), and nothing in it can be read as a record: it was left as it is; "
            "move it away to begin a new one, or bring a backup back with `referee restore`"
        )
    part = path.with_name(f"{path.name}.rescue-part")
    _remove(part)
    missing = _write_anew(part, found, stamp)
    part.replace(_rescued(path, stamp))
    sync_folder(path.parent)
    kept = finish_rescue(path)
    assert kept is not None
    games = sum(bool(lines) for lines in found.lines.values())
    return Rescue(why, kept, games, found.count, tuple(missing))


def _salvaged(path: Path) -> Salvage:
    log = path.with_name(f"{path.name}-wal")
    try:
        return salvage_rows(path.read_bytes(), log.read_bytes() if log.exists() else b"")
    except OSError as error:
        raise RecordError("{path} cannot be read: {why}", path=path, why=error.strerror) from error


def finish_rescue(path: Path) -> Path | None:
    """Put a rescued record in the damaged one's place; returns the damaged file's path, None if no rescue waits.

    The new file is complete before it has this name, so after a power cut the remaining steps are simply repeated.
    """
    waiting = sorted(path.parent.glob(f"{path.name}.rescued-*"))
    if not waiting:
        return None
    kept = path.with_name(f"{path.name}.damaged-{waiting[-1].name.rpartition('-')[2]}")
    log, kept_log = path.with_name(f"{path.name}-wal"), kept.with_name(f"{kept.name}-wal")
    if path.exists() and not kept.exists():
        path.replace(kept)
    if log.exists() and not kept_log.exists():
        log.replace(kept_log)
    for left in (log, path.with_name(f"{path.name}-shm")):
        left.unlink(missing_ok=True)
    sync_folder(path.parent)
    waiting[-1].replace(path)
    sync_folder(path.parent)
    return kept


def mend_record(path: Path, stamp: str) -> str:
    """Check a record and its pictures before they are used, and rescue their readable data if they are damaged.

    Returns words for the table; empty if all is well.
    """
    said = [_mend(path, stamp), _mend_pictures(path.with_name(FRAMES_FILE), stamp, _PATIENCE)]
    said = [words for words in said if words]
    return said[0] if len(said) == 1 else "; ".join(said)


def _mend(path: Path, stamp: str) -> str:
    try:
        finish_rescue(path)
        if is_empty(path):
            return Sentence(
                "{path} was empty (0 bytes), and a new record begins in it: if it held games, bring a backup back with "
                "`referee restore FILE`",
                path=path,
            )
        why = find_damage(path, patience=_PATIENCE)
        if not why:
            why = find_broken_games(path, patience=_PATIENCE)
            if not why or not is_rescue_better(path):
                return f"the record is not what was written: {why}" if why else ""
        return rescue_record(path, why, stamp).words
    except (UserError, OSError) as error:
        return str(error)


def _rescued(path: Path, stamp: str) -> Path:
    return path.with_name(f"{path.name}.rescued-{stamp}")


def _remove(file: Path) -> None:
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm", f"{file.name}-journal"):
        file.with_name(name).unlink(missing_ok=True)


def _write_anew(part: Path, found: Salvage, stamp: str) -> list[str]:
    """Write a new record of these rows; returns what is missing of each game, in words."""
    Record(part).close()
    People(part).close()
    games = {row[0]: row for row in found.tables.get("game", ())}
    for game, lines in found.lines.items():
        games.setdefault(game, _game_of(game, lines, stamp, is_latest=game == max(found.lines)))
    with Record(part) as record:
        with record.writing() as db:
            db.execute("PRAGMA defer_foreign_keys=ON")
            for table in ("people_meta", "person", "spelling", "forgotten", "removed"):
                _insert(db, table, found.tables.get(table, ()))
            _insert(db, "game", list(games.values()))
            _insert(db, "played", [row for row in found.tables.get("played", ()) if row[0] in games])
            _insert(db, "line", [(game, at, *line) for game in games for at, line in found.lines.get(game, {}).items()])
            numbers = [row[1] for row in found.tables.get("sqlite_sequence", ())]
            db.execute("DELETE FROM sqlite_sequence WHERE name='game'")
            db.execute("INSERT INTO sqlite_sequence VALUES ('game', ?)", (max([0, *games, *numbers]),))
            db.execute("DELETE FROM played WHERE person NOT IN (SELECT id FROM person)")
            db.execute("DELETE FROM spelling WHERE person NOT IN (SELECT id FROM person)")
        missing = [words for info in reversed(record.games()) for words in _broken_words(record, info.id)]
    with closing(connect(part, "rw")) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    return missing


def _insert(db: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows as far as the table takes them; those of an older version have fewer columns."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    for row in rows:
        marks = ",".join("?" * len(row))
        db.execute(f"INSERT OR IGNORE INTO {table} ({','.join(names[: len(row)])}) VALUES ({marks})", row)


def _game_of(game: int, lines: Mapping[int, Line], stamp: str, *, is_latest: bool) -> tuple[Any, ...]:
    """Return the row of a game of which only lines are left; only the latest one may be unfinished."""
    reader = LineReader()
    reader.read((number, lines[number][0]) for number in sorted(lines))
    seats, rules = (reader.table.seats, reader.table.rules) if reader.table is not None else ((), "classic")
    return (game, stamp, None if is_latest else stamp, json.dumps(seats), json.dumps(rules), 0)


def _broken_words(record: Record, game: int) -> list[str]:
    """Return what in a game differs from what was written; empty for a sound one."""
    broken = record.broken_seals(game)
    if not broken:
        return []
    more = f" and {len(broken) - _TOLD} places more" if len(broken) > _TOLD else ""
    told = ", ".join(f"line {number} {what}" for number, what in broken[:_TOLD])
    return [f"game {game}, {told}{more}"]


def _check_pages(db: sqlite3.Connection, patience: float | None) -> str:
    """Return what SQLite finds wrong with a file's pages; empty after too many seconds. Raises `sqlite3.Error`."""
    until = None if patience is None else time.monotonic() + patience
    db.text_factory = bytes
    db.set_progress_handler(lambda: int(until is not None and time.monotonic() > until), _STEPS)
    try:
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            return ""
        raise
    finally:
        db.set_progress_handler(None, 0)
    return "" if found == b"ok" else found.decode(errors="replace").replace("\n", ", ")


def _mend_pictures(path: Path, stamp: str, patience: float) -> str:
    """Move damaged pictures aside, and continue with the readable ones; returns words for the table, if any."""
    if not path.exists():
        return ""
    try:
        with closing(connect(path, "ro")) as db:
            why, stranger = _check_pages(db, patience), PICTURE_SCHEMA.find_stranger(db)
            why = why or (f"they hold something that no Table Referee made: {stranger}" if stranger else "")
    except sqlite3.Error as error:
        if not getattr(error, "sqlite_errorname", "").startswith(_DAMAGED_PICTURES):
            return ""
        why = str(error)
    if not why:
        return ""
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    try:
        for end in ("-shm", "-wal", ""):
            old = path.with_name(f"{path.name}{end}")
            if old.exists():
                old.replace(kept.with_name(f"{kept.name}{end}"))
        many = _copy(kept, path)
    except (OSError, RecordError) as error:
        return f"the pictures are damaged ({why}), and cannot be rescued: {error}"
    return f"the pictures were damaged ({why}) and are kept as {kept.name}; {many} of them were rescued"


def _copy(kept: Path, path: Path) -> int:
    """Copy every readable picture into a new file; returns their number."""
    some = dict[int, list[Picture]]()
    with closing(connect(kept, "ro")) as db, closing(PictureStore(path)) as new:
        for game, picture in _readable(db):
            some.setdefault(game, []).append(picture)
            if len(some[game]) == _TOGETHER:
                new.add(game, some.pop(game))
        for game, rest in some.items():
            new.add(game, rest)
        return new.count()


def _readable(db: sqlite3.Connection) -> Iterator[tuple[int, Picture]]:
    """Yield pictures from the first on until one cannot be read, then from the last on."""
    for way in ("ASC", "DESC"):
        try:
            # Skip a view or another program's kind of table, which have no pages: their query may never end.
            if not db.execute("SELECT 1 FROM sqlite_schema WHERE name='frame' AND rootpage>0").fetchone():
                return
            for row in db.execute(f"SELECT game, t, exposure, jpeg FROM frame ORDER BY rowid {way}"):
                if _is_whole(row):
                    yield row[0], Picture(*row[1:])
        except sqlite3.Error:
            continue


def _is_whole(row: tuple[Any, ...]) -> bool:
    *numbers, jpeg = row
    if any(type(number) is not int for number in numbers) or not isinstance(jpeg, bytes):
        return False
    return jpeg.startswith(b"\xff\xd8") and jpeg.endswith(b"\xff\xd9")
