"""One writer: a program that changes a record holds a lock beside it, and writes its name there.

The lock is the kernel's (``flock``) on a separate file: it ends with its holder, however that one ends, and survives
the record's replacement. Readers need none, and neither does a backup.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from referee.errors import UserError

_LONGEST: Final = 400
"""Most bytes of the holder's words that are read."""


class RecordInUseError(UserError):
    """Another program writes this record; the message names it."""


def _lock_file(record: Path) -> Path:
    """Return the lock file of a record: the same one under whichever path the record is opened."""
    record = record.resolve()
    return record.with_name(f"{record.name}.lock")


@contextmanager
def hold_record(record: Path, program: str, since: str) -> Iterator[str]:
    """Hold the record as its only writer until the end of the block.

    Args:
        record: the file, which need not exist yet.
        program: the holder, as people know it, such as ``referee run``.
        since: wall-clock time, ISO 8601.

    Yields:
        Why the record could not be locked; empty if it is. Without a lock nothing keeps two programs apart.

    Raises:
        RecordInUseError: another program has it; nothing was touched.
    """
    path = _lock_file(record)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        yield _unlocked(record, str(error.strerror))
        return
    try:
        words = _take(file, record)
        if words:
            yield words
            return
        _write_holder(file, f"{program}, process {os.getpid()}, since {since[:19].replace('T', ' ')}")
        try:
            yield ""
        finally:
            _write_holder(file, "")
    finally:
        os.close(file)


def _take(file: int, record: Path) -> str:
    """Lock it; returns why that is impossible on this system or disk."""
    try:
        import fcntl
    except ImportError:
        return _unlocked(record, "this system has no flock")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno != errno.EWOULDBLOCK:
            return _unlocked(record, str(error.strerror))
        holder = os.pread(file, _LONGEST, 0).decode(errors="replace").strip() or "another program"
        raise RecordInUseError(f"{record} is in use by {holder}: stop that first; nothing was changed") from None
    return ""


def _write_holder(file: int, words: str) -> None:
    """Write the holder's name; a full disk has no room for it, but the lock holds all the same."""
    with suppress(OSError):
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, words.encode())


def _unlocked(record: Path, why: str) -> str:
    return f"{record} cannot be locked ({why}): see to it that no other program writes it meanwhile"
