"""A table log's file, or standard input, read line by line; what is wrong with it is said in words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from referee.adjudication.codec import from_fields, parse_object
from referee.adjudication.observations import LogError, Observation
from referee.app.problems import UserError

LONGEST_LINE: Final = 1 << 20
"""Bytes; a longer line is no observation, and must not fill the memory."""


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """A log to read, ``-`` for standard input; what is wrong with it becomes one line for people.

    Raises:
        UserError: it cannot be read; names the log's line.
    """
    with _open(name) as stream:
        try:
            yield stream
        except LogError as bad:
            where = "standard input" if name == "-" else name
            raise UserError(f"{where}, {bad}") from None


def _open(name: str) -> BinaryIO:
    if name == "-":
        return BytesIO(sys.stdin.buffer.read())
    path = Path(name)
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise UserError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise UserError(f"{name} is a folder; replay reads one log file") from None
    except OSError as bad:
        raise UserError(f"{name} cannot be read: {bad.strerror}") from None
    if stream.seekable():
        return stream
    with stream:
        return BytesIO(stream.read())


def observations(stream: BinaryIO, skip: int = 0) -> Iterator[tuple[int, Observation]]:
    """Line number and observation of every line that is not a ruling, of those after the first ``skip`` lines.

    Raises:
        LogError: names the line and what to mend.
    """
    for number, text in _lines(stream):
        if number <= skip:
            continue
        raw = parse_object(text, number)
        if "ruling" in raw and "kind" not in raw:
            continue
        yield number, from_fields(raw, number)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of every line that is not blank.

    Raises:
        LogError: a line is too long, or not UTF-8.
    """
    number = 0
    while raw := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            raise LogError(number, f"longer than {LONGEST_LINE} bytes: not a table log")
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as bad:
            raise LogError(number, f"not UTF-8 (byte {bad.start + 1} of the line); save the log as UTF-8") from None
        if text.strip():
            yield number, text
