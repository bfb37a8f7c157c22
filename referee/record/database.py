"""An open SQLite file, and its errors in words.

Games and people share a file (`referee.record.store`, `people`); pictures have their own (`pictures`).
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from referee.errors import UserError
from referee.record.schema import LENIENT_TEXT, Schema

WRITER_PATIENCE: Final = 2.0
"""Time that a writer waits for another one, s."""
_NOT_RECORDED: Final = "games are not recorded"


class RecordError(UserError, OSError):
    """The record cannot be read or written; the message says what to do."""


@contextmanager
def record_errors(path: Path, what: str = _NOT_RECORDED) -> Iterator[None]:
    """Raise SQLite's errors as `RecordError`; ``what``: the consequence if the file cannot be written."""
    try:
        yield
    except RecordError:
        raise
    except (sqlite3.Error, OSError) as error:
        if "no such table" in str(error):
            refuse_empty(path)
        raise RecordError(_words(path, error, what)) from error


def connect(
    path: Path, mode: Literal["ro", "rw", "rwc"], *, frozen: bool = False, patience: float = WRITER_PATIENCE
) -> sqlite3.Connection:
    """Open a file for reading, for writing, or to create it if missing; raises `sqlite3.Error`.

    Functions in a schema are not trusted, and pages with misplaced cells are rejected. Where Python can ask for it
    (from 3.12 on), SQLite itself refuses views and changes to the schema's own table.

    Args:
        path: the file.
        mode: as in SQLite's own URIs.
        frozen: no process writes it as long as it is open.
        patience: time to wait for another writer, s.
    """
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * frozen}", uri=True, timeout=patience,
        isolation_level=None, check_same_thread=False,
    )  # fmt: skip
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")
    if sys.version_info >= (3, 12):
        db.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        db.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
    return db


def is_empty(path: Path) -> bool:
    """Return whether a file exists and is empty, its write-ahead log included."""
    return path.exists() and not any(file.exists() and file.stat().st_size for file in (path, _log_of(path)))


def refuse_empty(path: Path) -> None:
    """Raise `RecordError` for a file that `is_empty`; the message says what to do."""
    if is_empty(path):
        raise RecordError(
            "{path} is empty (0 bytes): bring a backup back with `referee restore FILE`, or begin a new record in it "
            "with `referee run`",
            path=path,
        )


def refuse_strangers(path: Path, db: sqlite3.Connection, schema: Schema) -> None:
    """Raise `RecordError` if an open file holds a foreign object; `sqlite3.Error` if it cannot be read."""
    if stranger := schema.find_stranger(db):
        raise RecordError(
            "{path} holds something that no Table Referee made ({what}); nothing was read or changed: "
            "`referee games --rescue` moves the file aside and saves its games in a new record",
            path=path,
            what=stranger,
        )


def _log_of(path: Path) -> Path:
    """Return the write-ahead log of a file, which exists while a process writes it."""
    return path.with_name(f"{path.name}-wal")


class Database:
    """An open SQLite file."""

    def __init__(self, path: Path, mode: Literal["ro", "rw", "rwc"], schema: Schema, what: str = _NOT_RECORDED) -> None:
        """Open it.

        Args:
            path: the file.
            mode: as for `connect`.
            schema: all that it may hold.
            what: the consequence if the file cannot be written.

        Raises:
            RecordError: it cannot be opened, is damaged, was made by a newer program, or holds a foreign object.
        """
        self.path, self._what = path, what
        self._frozen = False
        with self._errors():
            self._db = connect(path, mode)
            if mode == "ro":
                self._open_frozen()
            # Damage may leave bytes that are no text; the seals reveal any change.
            self._db.text_factory = LENIENT_TEXT
            try:
                self._check_schema(schema)
            except BaseException:
                self._db.close()
                raise

    def _check_schema(self, schema: Schema) -> None:
        found = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if found > schema.version:
            raise RecordError(
                "{path} was made by a newer program (version {found}); update this one", path=self.path, found=found
            )
        refuse_strangers(self.path, self._db, schema)

    def _open_frozen(self) -> None:
        """Reopen an unwritten file as immutable if SQLite cannot create its lock files beside it."""
        try:
            self._db.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError as error:
            if not str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_CANTOPEN"):
                return
            if not self.path.exists() or _log_of(self.path).exists():
                return
            self._db.close()
            self._db, self._frozen = connect(self.path, "ro", frozen=True), True

    @property
    def is_outdated(self) -> bool:
        """Whether it was opened as immutable, but is written now: it must be reopened."""
        return self._frozen and _log_of(self.path).exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _errors(self) -> AbstractContextManager[None]:
        return record_errors(self.path, self._what)

    def copy(self, to: Path) -> None:
        """Copy it into a new file, as it is at one instant; raises `RecordError`."""
        with self._errors(), closing(connect(to, "rwc")) as new:
            # All pages in one step: a write in between would restart the backup.
            self._db.backup(new, pages=-1)
            new.execute("PRAGMA journal_mode=DELETE")

    @contextmanager
    def attached(self, path: Path, name: str) -> Iterator[None]:
        """Let statements read another file under a name; raises `RecordError`."""
        with self._errors():
            self._db.execute(f"ATTACH ? AS {name}", (f"{path.absolute().as_uri()}?mode=ro",))
        try:
            yield
        finally:
            self._db.execute(f"DETACH {name}")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run one transaction: all of it or nothing, and on the disk at its end. Raises `RecordError`."""
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            finally:
                # An exception was raised, or a commit failed for lack of room.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")


def _words(path: Path, error: Exception, what: str) -> str:
    """Return what is wrong with the file, and what to do."""
    said = str(error)
    code = getattr(error, "sqlite_errorname", "") or ""
    if code.startswith("SQLITE_FULL") or "full" in said:
        return f"the disk is full, so {what}: make room beside {path}, or let old games be removed"
    if code.startswith(("SQLITE_READONLY", "SQLITE_IOERR")) or "readonly" in said:
        return f"{path} cannot be written ({said}), so {what}: look at the card, it may be worn out"
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"{path} is damaged ({said}): `referee games --rescue` moves it aside and reads what it can"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is being written by another program: stop the other referee first"
    return f"{path} cannot be opened ({said}): see that its folder is there and may be written"
