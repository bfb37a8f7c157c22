"""Keeps a game running when standard output or standard error is closed, full or gone: its output is dropped."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NAMES: Final = ("stdin", "stdout", "stderr")
"""Names of the standard streams by file descriptor, from 0."""


def open_standard_files() -> None:
    """Open the null device in place of closed standard files.

    Otherwise the next opened file would get such a descriptor, and output of a C library would go into it: into a
    game's log, for example. To be called before any other file is opened.
    """
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            # `open` returns the lowest free descriptor, which is this one.
            file = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(file, True)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - a number


class _Lasting(io.RawIOBase):
    """A file that accepts everything; data that the device refuses is dropped, and the next write is tried again."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file

    def isatty(self) -> bool:
        return os.isatty(self._file)

    def write(self, data: ReadableBuffer, /) -> int:
        view = memoryview(data).cast("B")
        try:
            return os.write(self._file, view)
        except OSError:
            return len(view)


@contextmanager
def lasting_output() -> Iterator[None]:
    """Inside the block, printing never raises."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_lasting, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def _lasting(stream: TextIO) -> TextIO:
    """Return a stream that never raises, or the stream itself if it is not one of the system's."""
    try:
        file = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return stream
    with suppress(OSError):
        stream.flush()
    # A journal or another program reads along, too: the words of the roll-call are of no use after it.
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(file)), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )
