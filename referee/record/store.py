"""The record: every game of one table in one SQLite file, and nothing announced that is not in it.

A game is its lines, in the order in which they were written, exactly as a log file holds them (`docs/log.md`'s
kinds); nothing of a line is ever changed. The file is in WAL mode with ``synchronous=FULL``: what `GameWriter.commit`
returned from is there after a pulled plug.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from referee.engine.log import ruling_of
from referee.engine.rulings import GAME_ENDS, Ruling, end_of
from referee.errors import UserError

RECORD_VERSION: Final = 1
_WRITER_PATIENCE: Final = 2.0
"""How long a writer waits for another one, s."""
_NOT_RECORDED: Final = "games are not recorded"
FEW_LINES: Final = 50
"""Lines that a disk which took nothing is tried with: who waits for the loop must not wait for all that waits here."""

_SCHEMA: Final = """
CREATE TABLE game (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    began TEXT NOT NULL,
    ended TEXT,
    seats TEXT NOT NULL,
    rules TEXT NOT NULL,
    keep INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE line (
    game INTEGER NOT NULL REFERENCES game(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (game, number)
) WITHOUT ROWID;
CREATE TRIGGER line_stays BEFORE UPDATE ON line BEGIN SELECT RAISE(ABORT, 'lines are only ever added'); END;
CREATE TABLE removed (
    at TEXT NOT NULL,
    game INTEGER NOT NULL,
    began TEXT NOT NULL,
    why TEXT NOT NULL
);
"""


class RecordError(OSError, UserError):
    """The record cannot be read or written; says what to do."""


@contextmanager
def record_errors(path: Path, what: str = _NOT_RECORDED) -> Iterator[None]:
    """Raise what SQLite complains of as `RecordError`; ``what`` comes of it where the file cannot be written."""
    try:
        yield
    except RecordError:
        raise
    except (sqlite3.Error, OSError) as bad:
        raise RecordError(_words(path, bad, what)) from bad


def connect(path: Path, mode: Literal["ro", "rw", "rwc"]) -> sqlite3.Connection:
    """Open a file for reading, for writing, or made where it is not; raises `sqlite3.Error`."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_WRITER_PATIENCE, isolation_level=None,
        check_same_thread=False,
    )  # fmt: skip


class Database:
    """One file, for as long as it is open."""

    def __init__(self, path: Path, mode: Literal["ro", "rw", "rwc"], what: str = _NOT_RECORDED) -> None:
        """Open it; ``what`` comes of it where the file cannot be written. Raises `RecordError`."""
        self.path, self._what = path, what
        with self._errors():
            self._db = connect(path, mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _errors(self) -> AbstractContextManager[None]:
        return record_errors(self.path, self._what)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing, and on the disk at its end. Raises `RecordError`."""
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            finally:
                # Something went wrong, or a commit failed for want of room.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")


@dataclass(frozen=True, slots=True)
class GameInfo:
    """What the list of games shows of one."""

    id: int
    began: str
    """Wall time, ISO 8601: a label, for the machine may not know the time."""
    ended: str | None
    """None while it is played, and after a power cut."""
    seats: tuple[str, ...]
    rules: Any
    """As the ``table`` line has them."""
    keep: bool
    """Whether it is never removed to make room."""


class Record(Database):
    """One file of games. Opened for writing by one process; any number may read."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the file, and make it where there is none.

        Raises:
            RecordError: it cannot be opened or made, is damaged, or was made by a newer program.
        """
        with record_errors(path):
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, "ro" if read_only else "rwc")
        with self._errors():
            run = self._db.execute
            run("PRAGMA foreign_keys=ON")
            if not read_only:
                run("PRAGMA journal_mode=WAL")
                run("PRAGMA synchronous=FULL")
                # What is removed is overwritten where that costs nothing; `referee.record.erasure` sees to the rest.
                run("PRAGMA secure_delete=FAST")
            found = int(run("PRAGMA user_version").fetchone()[0])
            if found > RECORD_VERSION:
                raise RecordError(f"{path} was made by a newer program (version {found}); update this one")
            if found == 0 and not read_only:
                self._db.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version={RECORD_VERSION};COMMIT;")

    def begin(self, began: str) -> GameWriter:
        """A new game, there from its first commit on; ``began`` is wall time, ISO 8601."""
        return GameWriter(self, began=began)

    def again(self, game: int) -> GameWriter:
        """Go on writing a game that was begun.

        Raises:
            RecordError: there is no such game, it has ended, or the file cannot be read.
        """
        info = self.game(game)
        if info.ended is not None:
            raise RecordError(f"game {game} has ended; a game that has ended is only read")
        with self._errors():
            last = self._db.execute("SELECT max(number) FROM line WHERE game=?", (game,)).fetchone()[0]
        return GameWriter(self, game=game, written=last or 0)

    def games(self) -> list[GameInfo]:
        """Every game, the latest first."""
        with self._errors():
            rows = self._db.execute(f"{_GAME} ORDER BY id DESC").fetchall()
        return [_info(row) for row in rows]

    def latest(self) -> GameInfo | None:
        """The game that began last; None where there is none."""
        with self._errors():
            row = self._db.execute(f"{_GAME} ORDER BY id DESC LIMIT 1").fetchone()
        return None if row is None else _info(row)

    def game(self, game: int) -> GameInfo:
        """One game; raises `RecordError` where there is none of that number."""
        with self._errors():
            row = self._db.execute(f"{_GAME} WHERE id=?", (game,)).fetchone()
        if row is None:
            raise RecordError(f"there is no game {game} in {self.path}; `referee games` lists them")
        return _info(row)

    def unfinished(self) -> GameInfo | None:
        """The latest game, if it has not ended: the power failed while it was played."""
        latest = self.latest()
        return latest if latest is not None and latest.ended is None else None

    def lines(self, game: int, after: int = 0) -> Iterator[tuple[int, str]]:
        """Number and text of a game's lines after the first ``after``, in order; raises `RecordError`."""
        with self._errors():
            yield from self._db.execute(
                "SELECT number, text FROM line WHERE game=? AND number>? ORDER BY number", (game, after)
            )

    def end_ruling(self, game: int) -> Ruling | None:
        """The ruling by which a game ended, as its log has it; None where it did not end. Raises `RecordError`."""
        with self._errors():
            rows = self._db.execute(_ENDINGS, (game,)).fetchall()
        made = []
        for (text,) in rows:
            # A log that was imported may hold anything under a ruling's name.
            with suppress(KeyError, TypeError, ValueError):
                made.append(ruling_of(json.loads(text)))
        return end_of(made)

    def end(self, game: int, ended: str) -> None:
        """The game is over; raises `RecordError`."""
        with self._errors():
            self._db.execute("UPDATE game SET ended=? WHERE id=? AND ended IS NULL", (ended, game))

    def reopen(self, game: int) -> None:
        """The game is not over after all; raises `RecordError`."""
        with self._errors():
            self._db.execute("UPDATE game SET ended=NULL WHERE id=?", (game,))

    def keep(self, game: int, keep: bool = True) -> None:
        """Never remove this game to make room, or (``keep`` false) no longer so; raises `RecordError`."""
        with self._errors():
            self._db.execute("UPDATE game SET keep=? WHERE id=?", (int(keep), game))

    def remove(self, game: int, at: str, why: str) -> None:
        """Remove a game and note that it was there; raises `RecordError`."""
        began = self.game(game).began
        with self.writing():
            self._db.execute("INSERT INTO removed VALUES (?, ?, ?, ?)", (at, game, began, why))
            self._db.execute("DELETE FROM game WHERE id=?", (game,))

    def removed(self) -> list[tuple[str, int, str, str]]:
        """When, which game, when it began, and why, of every game that was removed."""
        with self._errors():
            return self._db.execute("SELECT at, game, began, why FROM removed ORDER BY rowid").fetchall()

    def sizes(self) -> dict[int, int]:
        """What each game's lines take, bytes; raises `RecordError`."""
        with self._errors():
            return dict(self._db.execute("SELECT game, sum(length(text) + 16) FROM line GROUP BY game"))

    def add(self, game: int, rows: list[tuple[int, str]]) -> None:
        """Numbered lines, all or none, on the disk when this returns; raises `RecordError`."""
        with self.writing():
            self._insert(game, rows)

    def add_game(self, began: str, rows: list[tuple[int, str]]) -> int:
        """A game with its first lines, the table first, as `add`; returns its number."""
        fields = json.loads(rows[0][1])
        with self.writing():
            game = self._db.execute(
                "INSERT INTO game (began, seats, rules) VALUES (?, ?, ?)",
                (began, json.dumps(fields["seats"]), json.dumps(fields.get("rules", "classic"))),
            ).lastrowid
            assert game is not None
            self._insert(game, rows)
        return game

    def _insert(self, game: int, rows: list[tuple[int, str]]) -> None:
        self._db.executemany("INSERT INTO line VALUES (?, ?, ?)", [(game, *row) for row in rows])


class GameWriter:
    """Writes one game; implements `referee.record.journal.Journal`.

    Lines wait until `commit`; a commit that fails keeps them for the next.
    """

    def __init__(self, record: Record, *, began: str = "", game: int | None = None, written: int = 0) -> None:
        """Made by `Record.begin` and `Record.again`."""
        self._record = record
        self._began = began
        self._game = game
        self._written = written
        self._waiting: list[str] = []
        self._ticks: dict[str, str] = {}
        self._failing = False

    @property
    def game(self) -> int | None:
        """The game's number; None before its first commit."""
        return self._game

    @property
    def written(self) -> int:
        """How many lines of the game are on the disk."""
        return self._written

    @property
    def waiting(self) -> int:
        """How many lines are not yet on the disk."""
        return len(self._waiting)

    def write(self, line: str) -> None:
        """One line of the log; on the disk with the next `commit`."""
        self._waiting.extend(self._ticks.values())
        self._ticks.clear()
        self._waiting.append(line)

    def tick(self, sensor: str, line: str) -> None:
        """A sensor's promise: kept only until the same sensor promises more, if nothing happens between."""
        self._ticks.pop(sensor, None)
        self._ticks[sensor] = line

    def commit(self) -> None:
        """Have everything on the disk.

        Raises:
            RecordError: the disk is full or read-only; the lines are kept, and the next commit tries again.
        """
        if self._failing and len(self._waiting) > FEW_LINES:
            self._add(self._waiting[:FEW_LINES])
        self._add([*self._waiting, *self._ticks.values()])
        self._ticks.clear()

    def _add(self, lines: list[str]) -> None:
        """Have these, which are the next, on the disk."""
        if not lines:
            return
        rows = list(enumerate(lines, start=self._written + 1))
        self._failing = True
        if self._game is None:
            self._game = self._record.add_game(self._began, rows)
        else:
            self._record.add(self._game, rows)
        self._failing = False
        self._written += len(rows)
        del self._waiting[: len(rows)]

    def end(self, ended: str) -> None:
        """The game is over; ``ended`` is wall time, ISO 8601. Raises `RecordError`."""
        self.commit()
        if self._game is not None:
            self._record.end(self._game, ended)

    def reopen(self) -> None:
        """The game is not over after all: something was corrected. Raises `RecordError`."""
        if self._game is not None:
            self._record.reopen(self._game)


_ENDINGS: Final = (
    """SELECT text FROM line WHERE game=? AND text LIKE '{"ruling":"%' AND (text LIKE '%"supersedes":%'"""
    + "".join(f""" OR text LIKE '{{"ruling":"{kind}"%'""" for kind in sorted(GAME_ENDS))
    + ") ORDER BY number"
)
"""A game's rulings that end it, and those that replace others."""
_GAME: Final = "SELECT id, began, ended, seats, rules, keep FROM game"


def _info(row: tuple[int, str, str | None, str, str, int]) -> GameInfo:
    number, began, ended, seats, rules, keep = row
    return GameInfo(number, began, ended, tuple(json.loads(seats)), json.loads(rules), bool(keep))


def _words(path: Path, bad: Exception, what: str) -> str:
    """What is wrong with the file, and what to do."""
    said = str(bad)
    code = getattr(bad, "sqlite_errorname", "") or ""
    if code.startswith("SQLITE_FULL") or "full" in said:
        return f"the disk is full, so {what}: make room beside {path}, or let old games be removed"
    if code.startswith(("SQLITE_READONLY", "SQLITE_IOERR")) or "readonly" in said:
        return f"{path} cannot be written ({said}), so {what}: look at the card, it may be worn out"
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"{path} is damaged ({said}): move it away; `referee games --rescue` reads what it can"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is being written by another program: stop the other referee first"
    return f"{path} cannot be opened ({said}): see that its folder is there and may be written"
