"""The record: every game of one table in one SQLite file; nothing is announced that is not in it.

A game is its lines, in the order in which they were written, exactly as in a log file (`docs/log.md`'s kinds); a line
is never changed, and each has its seal (`referee.record.seals`), so that any change is found. The file is in WAL mode
with ``synchronous=FULL``: once `GameWriter.commit` has returned, the lines survive a pulled plug.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.engine import replay
from referee.engine.observations import LogError
from referee.engine.rulings import GAME_ENDS, Ruling, end_of
from referee.record.database import WRITER_PATIENCE, Database, RecordError, record_errors
from referee.record.journal import GameWriter
from referee.record.schema import RECORD_SCHEMA, RECORD_TABLES, SEALS
from referee.record.seals import FIRST_SEAL, BrokenSeal, SealedLine, find_broken_seals, seal_line, seal_lines
from referee.record.stored_lines import LineReader, read_ruling


@dataclass(frozen=True, slots=True)
class GameInfo:
    """A game's entry in the list of games."""

    id: int
    began: str
    """Wall-clock time, ISO 8601: only a label, since the machine may not know the time."""
    ended: str | None
    """None while it is played, and after a power cut."""
    seats: tuple[str, ...]
    rules: Any
    """As in the ``table`` line."""
    keep: bool
    """Whether it is never removed to make room."""


class Record(Database):
    """One file of games. Opened for writing by one process; any number may read."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the file, and create it if missing.

        Raises:
            RecordError: it cannot be opened or created, is damaged, or was made by a newer program.
        """
        with record_errors(path):
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, "ro" if read_only else "rwc", RECORD_SCHEMA)
        with self._errors():
            run = self._db.execute
            run("PRAGMA foreign_keys=ON")
            if not read_only:
                run("PRAGMA journal_mode=WAL")
                run("PRAGMA synchronous=FULL")
                # Deleted data is overwritten where that costs nothing; `referee.record.erasure` does the rest.
                run("PRAGMA secure_delete=FAST")
            found = int(run("PRAGMA user_version").fetchone()[0])
            newest = RECORD_SCHEMA.version
            if found < newest and not read_only:
                steps = SEALS if found else RECORD_TABLES
                self._db.executescript(f"BEGIN IMMEDIATE;{steps}PRAGMA user_version={newest};COMMIT;")
            self._has_seals = found >= newest or not read_only

    @property
    def is_begun(self) -> bool:
        """Whether its tables exist: a power cut may come before them. Raises `RecordError`."""
        with self._errors():
            return self._db.execute("SELECT 1 FROM sqlite_schema WHERE name='game'").fetchone() is not None

    def begin(self, began: str) -> GameWriter:
        """Begin a new game, which exists from its first commit on; ``began`` is wall-clock time, ISO 8601."""
        return GameWriter(self, began=began)

    def again(self, game: int) -> GameWriter:
        """Continue writing a game that was begun.

        Raises:
            RecordError: there is no such game, it has ended, or the file cannot be read.
        """
        info = self.game(game)
        if info.ended is not None:
            raise RecordError("game {game} has ended; a game that has ended is only read", game=game)
        with self._errors():
            last = self._db.execute("SELECT max(number) FROM line WHERE game=?", (game,)).fetchone()[0]
        return GameWriter(self, game=game, written=last or 0)

    def games(self) -> list[GameInfo]:
        """Return every game, latest first."""
        with self._errors():
            rows = self._db.execute(f"{_GAME} ORDER BY id DESC").fetchall()
        return [_info(row) for row in rows]

    def latest(self) -> GameInfo | None:
        """Return the game that began last; None if there is none."""
        with self._errors():
            row = self._db.execute(f"{_GAME} ORDER BY id DESC LIMIT 1").fetchone()
        return None if row is None else _info(row)

    def game(self, game: int) -> GameInfo:
        """Return one game; raises `RecordError` if there is none of that number."""
        with self._errors():
            row = self._db.execute(f"{_GAME} WHERE id=?", (game,)).fetchone()
        if row is None:
            raise RecordError(
                "there is no game {game} in {path}; `referee games` lists them", game=game, path=self.path
            )
        return _info(row)

    def unfinished(self) -> GameInfo | None:
        """Return the latest game if it has not ended: the power failed while it was played."""
        latest = self.latest()
        return latest if latest is not None and latest.ended is None else None

    def lines(self, game: int, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield number and text of a game's lines after number ``after``, in order; raises `RecordError`."""
        with self._errors():
            for number, text in self._db.execute(
                "SELECT number, text FROM line WHERE game=? AND number>? ORDER BY number", (game, after)
            ):
                yield _number(number), _text(text)

    def last_line(self, game: int) -> int:
        """Return the number of a game's last line, 0 if it has none; raises `RecordError`."""
        with self._errors():
            found = self._db.execute("SELECT max(number) FROM line WHERE game=?", (game,)).fetchone()[0]
        return _number(found)

    def is_too_long(self, game: int) -> bool:
        """Return whether a game has more observations than can be kept state by state (`TooLong`).

        Decided before its lines are read: they may need many times the page's memory. Raises `RecordError`.
        """
        if self.last_line(game) <= replay.LONGEST_GAME:
            return False
        with self._errors():
            query = f"SELECT count(*) FROM ({_OBSERVED} LIMIT {replay.LONGEST_GAME + 1})"
            return bool(self._db.execute(query, (game,)).fetchone()[0] > replay.LONGEST_GAME)

    def sealed_lines(self, game: int) -> Iterator[SealedLine]:
        """Yield number, text and seal of a game's lines, in order; raises `RecordError`."""
        seal = "seal" if self._has_seals else "NULL"
        with self._errors():
            rows = self._db.execute(f"SELECT number, text, {seal} FROM line WHERE game=? ORDER BY number", (game,))
            for number, text, seal in rows:
                yield _number(number), _text(text), None if seal is None else _text(seal)

    def seal(self, game: int, number: int | None = None) -> str:
        """Return the seal of a game's line of this number, by default of the last one so far.

        Empty if there is no such line. Raises `RecordError`.
        """
        with self._errors():
            return self._seal_at(game, number)

    def check_file(self) -> list[str]:
        """Return what SQLite finds wrong with the file; raises `RecordError`."""
        with self._errors():
            found = [str(words) for (words,) in self._db.execute("PRAGMA quick_check(20)")]
        return [] if found == ["ok"] else found

    def is_resealed(self, game: int) -> bool:
        """Return whether a game was resealed because names in it were changed; raises `RecordError`."""
        with self._errors():
            return self._has_seals and bool(self._of_game("resealed", game))

    def broken_seals(self, game: int, rows: Iterable[SealedLine] | None = None) -> list[BrokenSeal]:
        """Return where a game differs from what was written; raises `RecordError`.

        ``rows``: its sealed lines, if the caller reads them for another purpose as well.
        """
        with self._errors():
            end = self._of_game("end_seal", game) if self._has_seals else None
        return list(find_broken_seals(self.sealed_lines(game) if rows is None else rows, end=end))

    def _of_game(self, column: str, game: int) -> Any:
        found = self._db.execute(f"SELECT {column} FROM game WHERE id=?", (game,)).fetchone()
        return None if found is None else found[0]

    def _seal_at(self, game: int, last: int | None = None) -> str:
        """Return the seal of a line, the last one by default, which a program without seals may have written."""
        up_to = sys.maxsize if last is None else last
        if self._has_seals:
            query = "SELECT seal FROM line WHERE game=? AND number<=? ORDER BY number DESC LIMIT 1"
            seal = self._db.execute(query, (game, up_to)).fetchone()
            if seal is None or seal[0] is not None:
                return FIRST_SEAL if seal is None else str(seal[0])
        return seal_lines(text for number, text in self.lines(game) if number <= up_to)

    def end_ruling(self, game: int) -> Ruling | None:
        """Return the ruling that ended a game, from its log; None if it did not end. Raises `RecordError`."""
        with self._errors():
            rows = self._db.execute(_ENDINGS, (game,)).fetchall()
        made = []
        for (text,) in rows:
            # An imported log may hold anything under a ruling's name.
            with suppress(LogError):
                made.append(read_ruling(text))
        return end_of(made)

    def end(self, game: int, ended: str) -> None:
        """End the game, and write all of it into the file itself; raises `RecordError`."""
        with self._errors():
            self._db.execute(
                "UPDATE game SET ended=?, end_seal=? WHERE id=? AND ended IS NULL", (ended, self._seal_at(game), game)
            )
        self._write_back()

    def _write_back(self) -> None:
        """Empty the write-ahead log into the file; it may stay if there is a reader at the moment, or no room."""
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA busy_timeout=0")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        with self._errors():
            self._db.execute(f"PRAGMA busy_timeout={round(WRITER_PATIENCE * 1000)}")

    def reopen(self, game: int) -> None:
        """Note that the game is not over after all; raises `RecordError`."""
        with self._errors():
            self._db.execute("UPDATE game SET ended=NULL, end_seal=NULL WHERE id=?", (game,))

    def keep(self, game: int, keep: bool = True) -> None:
        """Set whether this game may never be removed to make room; raises `RecordError`."""
        with self._errors():
            self._db.execute("UPDATE game SET keep=? WHERE id=?", (int(keep), game))

    def remove(self, game: int, at: str, why: str) -> None:
        """Remove a game, and note that it existed; raises `RecordError`."""
        began = self.game(game).began
        with self.writing():
            self._db.execute("INSERT INTO removed VALUES (?, ?, ?, ?)", (at, game, began, why))
            self._db.execute("DELETE FROM game WHERE id=?", (game,))

    def removed(self) -> list[tuple[str, int, str, str]]:
        """Return the time of removal, number, beginning and reason of every removed game."""
        with self._errors():
            return self._db.execute("SELECT at, game, began, why FROM removed ORDER BY rowid").fetchall()

    def sizes(self) -> dict[int, int]:
        """Return the size of each game's lines, bytes; raises `RecordError`."""
        with self._errors():
            return dict(self._db.execute("SELECT game, sum(length(text) + 32) FROM line GROUP BY game"))

    def add(self, game: int, rows: list[tuple[int, str]]) -> None:
        """Add numbered lines, all or none, on the disk when this returns; raises `RecordError`."""
        with self.writing():
            self._insert(game, rows)

    def add_game(self, began: str, rows: list[tuple[int, str]]) -> int:
        """Add a game with its first lines, the table first, like `add`; returns its number."""
        reader = LineReader()
        reader.read(rows)
        table = reader.table
        if table is None:
            raise RecordError("a game cannot be recorded without its table")
        with self.writing():
            game = self._db.execute(
                "INSERT INTO game (began, seats, rules) VALUES (?, ?, ?)",
                (began, json.dumps(table.seats), json.dumps(table.rules)),
            ).lastrowid
            assert game is not None
            self._insert(game, rows)
        return game

    def _insert(self, game: int, rows: list[tuple[int, str]]) -> None:
        seal, sealed = self._seal_at(game), []
        for number, text in rows:
            seal = seal_line(seal, text)
            sealed.append((game, number, text, seal))
        self._db.executemany("INSERT INTO line (game, number, text, seal) VALUES (?, ?, ?, ?)", sealed)


_ENDINGS: Final = (
    """SELECT text FROM line WHERE game=? AND text LIKE '{"ruling":"%' AND (text LIKE '%"supersedes":%'"""
    + "".join(f""" OR text LIKE '{{"ruling":"{kind}"%'""" for kind in sorted(GAME_ENDS))
    + ") ORDER BY number"
)
"""A game's rulings that end it, and those that replace others."""
_OBSERVED: Final = "SELECT 1 FROM line WHERE game=?" + "".join(
    f""" AND text NOT LIKE '{start}%'""" for start in ('{"kind":"tick"', '{"kind": "tick"', '{"ruling":', '{"ruling": ')
)
"""A game's lines that are neither ticks nor rulings, in the notations that programs write."""
_GAME: Final = "SELECT id, began, ended, seats, rules, keep FROM game"


def _info(row: tuple[Any, ...]) -> GameInfo:
    number, began, ended, seats, rules, keep = row
    return GameInfo(
        number, _text(began), None if ended is None else _text(ended), tuple(map(_text, _json(seats, []))),
        _json(rules, "classic"), bool(keep),
    )  # fmt: skip


def _json(text: Any, otherwise: Any) -> Any:
    """Return a column's JSON if it is of the expected kind; damage may have left anything there."""
    with suppress(TypeError, ValueError, RecursionError):
        found = json.loads(text)
        if isinstance(found, (list,) if isinstance(otherwise, list) else (str, dict)):
            return found
    return otherwise


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _number(value: Any) -> int:
    return value if type(value) is int else 0
