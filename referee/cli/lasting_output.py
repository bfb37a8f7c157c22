"""Standard output and standard error that are closed, full or gone end no game: it goes on without them."""

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
"""By file descriptor, from 0."""


def open_standard_files() -> None:
    """Point standard files that are closed at nowhere.

    The next file that is opened would take such a number, and a library in C that prints would write into it: into a
    game's log, say. To be called before any other file is opened.
    """
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            file = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(file, True)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - a number


class _Lasting(io.RawIOBase):
    """A file that takes everything; what its device refuses is dropped, and the next is tried again."""

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
    """While this lasts, what is printed raises nothing, wherever it goes."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_lasting, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def _lasting(stream: TextIO) -> TextIO:
    """The same stream, if it is one of the system's."""
    try:
        file = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return stream
    with suppress(OSError):
        stream.flush()
    is_read_at_once = stream.isatty() or file == 2
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(file)), encoding="utf-8", errors="backslashreplace", line_buffering=is_read_at_once
    )
