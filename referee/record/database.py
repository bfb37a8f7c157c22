"""One file of SQLite, for as long as it is open, and what is wrong with it in words.

The record, its people and its pictures are each one (`referee.record.store`, `people`, `pictures`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from referee.errors import UserError

WRITER_PATIENCE: Final = 2.0
"""How long a writer waits for another one, s."""
_NOT_RECORDED: Final = "games are not recorded"


class RecordError(UserError, OSError):
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


def connect(path: Path, mode: Literal["ro", "rw", "rwc"], *, frozen: bool = False) -> sqlite3.Connection:
    """Open a file for reading, for writing, or made where it is not; raises `sqlite3.Error`.

    ``frozen``: nobody writes it as long as it is open.
    """
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * frozen}", uri=True, timeout=WRITER_PATIENCE,
        isolation_level=None, check_same_thread=False,
    )  # fmt: skip


def _log_of(path: Path) -> Path:
    """The write-ahead log of a file, which is there while anybody writes it."""
    return path.with_name(f"{path.name}-wal")


class Database:
    """One file, for as long as it is open."""

    def __init__(self, path: Path, mode: Literal["ro", "rw", "rwc"], what: str = _NOT_RECORDED) -> None:
        """Open it; ``what`` comes of it where the file cannot be written. Raises `RecordError`."""
        self.path, self._what = path, what
        self._frozen = False
        with self._errors():
            self._db = connect(path, mode)
            if mode == "ro":
                self._open_frozen()
            # Damage may leave bytes that are no text; what they are not is told by the seals.
            self._db.text_factory = _decode

    def _open_frozen(self) -> None:
        """Where no marks can be put beside a file that nobody writes, read it as one that stays as it is."""
        try:
            self._db.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError as bad:
            if not str(getattr(bad, "sqlite_errorname", "")).startswith("SQLITE_CANTOPEN"):
                return
            if not self.path.exists() or _log_of(self.path).exists():
                return
            self._db.close()
            self._db, self._frozen = connect(self.path, "ro", frozen=True), True

    @property
    def is_outdated(self) -> bool:
        """Whether it was read as a file that nobody writes, and somebody does: it is to be opened again."""
        return self._frozen and _log_of(self.path).exists()

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


def _decode(text: bytes) -> str:
    return text.decode(errors="replace")


def _words(path: Path, bad: Exception, what: str) -> str:
    """What is wrong with the file, and what to do."""
    said = str(bad)
    code = getattr(bad, "sqlite_errorname", "") or ""
    if code.startswith("SQLITE_FULL") or "full" in said:
        return f"the disk is full, so {what}: make room beside {path}, or let old games be removed"
    if code.startswith(("SQLITE_READONLY", "SQLITE_IOERR")) or "readonly" in said:
        return f"{path} cannot be written ({said}), so {what}: look at the card, it may be worn out"
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"{path} is damaged ({said}): `referee games --rescue` moves it aside and reads what it can"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is being written by another program: stop the other referee first"
    return f"{path} cannot be opened ({said}): see that its folder is there and may be written"
