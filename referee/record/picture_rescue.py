"""Damaged pictures are moved aside like a damaged record; those that can be read go on, and nobody misses the others.

A picture has no seal: no ruling rests on one. One that is cut off or that SQLite cannot read is left out.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from referee.record.database import RecordError, connect
from referee.record.pictures import Picture, PictureStore

_STEPS: Final = 10_000
"""Of SQLite's machine, between two looks at the clock."""
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")
_TOGETHER: Final = 50
"""Pictures that are written at once."""


def check_pages(db: sqlite3.Connection, patience: float | None) -> str:
    """What SQLite finds amiss with a file's pages; nothing after so many seconds. Raises `sqlite3.Error`."""
    until = None if patience is None else time.monotonic() + patience
    db.text_factory = bytes
    db.set_progress_handler(lambda: int(until is not None and time.monotonic() > until), _STEPS)
    try:
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as bad:
        if getattr(bad, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            return ""
        raise
    finally:
        db.set_progress_handler(None, 0)
    return "" if found == b"ok" else found.decode(errors="replace").replace("\n", ", ")


def mend_pictures(path: Path, stamp: str, patience: float) -> str:
    """Move damaged pictures aside, and go on with those that can be read; words for the table, empty for whole ones."""
    if not path.exists():
        return ""
    try:
        with closing(connect(path, "ro")) as db:
            why = check_pages(db, patience)
    except sqlite3.Error as bad:
        if not getattr(bad, "sqlite_errorname", "").startswith(_DAMAGED):
            return ""
        why = str(bad)
    if not why:
        return ""
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    try:
        for end in ("-shm", "-wal", ""):
            old = path.with_name(f"{path.name}{end}")
            if old.exists():
                old.replace(kept.with_name(f"{kept.name}{end}"))
        many = _copy(kept, path)
    except (OSError, RecordError) as bad:
        return f"the pictures are damaged ({why}), and cannot be rescued: {bad}"
    return f"the pictures were damaged ({why}) and are kept as {kept.name}; {many} of them were rescued"


def _copy(kept: Path, path: Path) -> int:
    """Put every picture that can be read into a new file; returns how many."""
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
    """Pictures from the first on until one cannot be read, then from the last on."""
    for way in ("ASC", "DESC"):
        try:
            for row in db.execute(f"SELECT game, t, exposure, jpeg FROM frame ORDER BY rowid {way}"):
                if _is_whole(row):
                    yield row[0], Picture(*row[1:])
        except sqlite3.Error:
            continue


def _is_whole(row: tuple[Any, ...]) -> bool:
    *numbers, jpeg = row
    if any(type(one) is not int for one in numbers) or not isinstance(jpeg, bytes):
        return False
    return jpeg.startswith(b"\xff\xd8") and jpeg.endswith(b"\xff\xd9")
