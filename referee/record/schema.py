"""The tables of a record and of its pictures, and the check that an SQLite file holds nothing else.

A database may carry code: a trigger that rewrites what is written, a view in a table's place, a check or a default that
calls a function. A backup or a friend's file may bring one. So everything in a file's schema must be the work of some
version of the Table Referee; only then is anything else read from it, or written to it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

_GAMES: Final = """
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
CREATE TABLE removed (
    at TEXT NOT NULL,
    game INTEGER NOT NULL,
    began TEXT NOT NULL,
    why TEXT NOT NULL
);
"""
_VERSION_1: Final = (
    f"{_GAMES}CREATE TRIGGER line_stays BEFORE UPDATE ON line "
    "BEGIN SELECT RAISE(ABORT, 'lines are only ever added'); END;"
)
SEALS: Final = """
ALTER TABLE line ADD COLUMN seal TEXT;
ALTER TABLE game ADD COLUMN end_seal TEXT;
ALTER TABLE game ADD COLUMN resealed INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER IF EXISTS line_stays;
CREATE TRIGGER line_stays BEFORE UPDATE OF game, number, text ON line
    BEGIN SELECT RAISE(ABORT, 'lines are only ever added'); END;
"""
"""Changes of version 2 against version 1, whose lines stay without seals: they were not vouched for when written."""
RECORD_TABLES: Final = _GAMES + SEALS
PEOPLE_TABLES: Final = """
CREATE TABLE IF NOT EXISTS people_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    agreed INTEGER NOT NULL,
    asked TEXT NOT NULL,
    consent INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS spelling (
    key TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person(id) ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS played (
    game INTEGER NOT NULL REFERENCES game(id) ON DELETE CASCADE,
    seat INTEGER NOT NULL,
    person TEXT NOT NULL REFERENCES person(id) ON DELETE CASCADE,
    PRIMARY KEY (game, seat),
    UNIQUE (game, person)
);
CREATE TABLE IF NOT EXISTS forgotten (person TEXT PRIMARY KEY, at TEXT NOT NULL);
"""
PICTURE_TABLES: Final = """
CREATE TABLE IF NOT EXISTS frame (
    game INTEGER NOT NULL,
    t INTEGER NOT NULL,
    exposure INTEGER NOT NULL,
    jpeg BLOB NOT NULL,
    PRIMARY KEY (game, t)
);
"""
_BY_SQLITE: Final = {"sqlite_stat1": "(tbl,idx,stat)", "sqlite_stat4": "(tbl,idx,neq,nlt,ndlt,sample)"}
"""Tables that ``ANALYZE`` leaves in a file."""
LENIENT_TEXT: Final = partial(str, encoding="utf-8", errors="replace")
"""Decodes a text of a file, in which damage may have left invalid bytes."""
_OBJECTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
_Object = tuple[str, str, str, str]


@dataclass(frozen=True)
class Schema:
    """The allowed contents of one kind of file."""

    version: int
    """Newest version of its tables that is known here (``user_version``)."""
    scripts: tuple[str, ...]
    """Scripts that make its tables: one for each version, run in a separate file."""

    @cached_property
    def _own(self) -> frozenset[_Object]:
        found = {("table", name, name, f"CREATE TABLE {name}{columns}") for name, columns in _BY_SQLITE.items()}
        for script in self.scripts:
            with closing(sqlite3.connect(":memory:")) as db:
                db.executescript(script)
                found.update(_objects(db))
        return frozenset(found)

    def find_stranger(self, db: sqlite3.Connection) -> str:
        """Return the first foreign object in a file, as ``trigger "name"``; empty if there is none.

        A missing table is not foreign: a power cut may come before it. Nor is anything in a file of a newer program,
        which is refused for that reason.

        Raises:
            sqlite3.Error: the file cannot be read.
        """
        if int(db.execute("PRAGMA user_version").fetchone()[0]) > self.version:
            return ""
        kind, name = next(((found[0], found[1]) for found in _objects(db) if found not in self._own), ("", ""))
        return f'{kind} "{name}"' if kind else ""


RECORD_SCHEMA: Final = Schema(2, (_VERSION_1, RECORD_TABLES, PEOPLE_TABLES))
"""Version 1: lines without seals."""
PICTURE_SCHEMA: Final = Schema(0, (PICTURE_TABLES,))


def _objects(db: sqlite3.Connection) -> list[_Object]:
    """Return a schema's objects, with runs of spaces collapsed."""
    usual, db.text_factory = db.text_factory, LENIENT_TEXT
    try:
        rows = db.execute(_OBJECTS).fetchall()
    finally:
        db.text_factory = usual
    return [(str(kind), str(name), str(of), " ".join(str(sql or "").split())) for kind, name, of, sql in rows]
