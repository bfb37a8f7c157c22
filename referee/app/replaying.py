"""`referee replay`: a log in, its rulings out.

A log without ticks says nothing of how far it has been told, yet the end of a file is known in advance: a first pass
checks every line and keeps, for each, the least ``t`` of all lines after it (8 bytes a line). The second pass hands
that to the adjudicator as a promise after every line, so a long game is ruled as it is read and never held as a whole.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.observations import LogError, Observation, Table, Tick, from_fields, parse_object
from referee.adjudication.rulings import Ruling, encode_ruling
from referee.app.problems import UserError

LONGEST_LINE: Final = 1 << 20
"""Bytes; a longer line is no observation, and must not fill the memory."""
_LAST: Final = 2**63 - 1


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


def observations(stream: BinaryIO) -> Iterator[tuple[int, Observation]]:
    """Line number and observation of every line that is not a ruling.

    Raises:
        LogError: names the line and what to mend.
    """
    for number, text in _lines(stream):
        raw = parse_object(text, number)
        if "ruling" in raw and "kind" not in raw:
            continue
        yield number, from_fields(raw, number)


@dataclass(frozen=True)
class Outline:
    """What the first pass learned."""

    least_after: array[int]
    """For each observation, the least ``t`` of those after it; the last has the greatest instant there is."""
    settled: bool
    """No line comes after a tick that covers it and none amends another, so no ruling is ever replaced."""
    amended: bool
    """There are answers or corrections, so what was judged must be kept."""


def outline(lines: Iterable[tuple[int, Observation]]) -> Outline:
    """Check every line and find how far each may be ruled.

    Raises:
        LogError: a line cannot be read, the first is not ``table``, or there is none.
    """
    times = array("q")
    ids: set[str] = set()
    settled, amended = True, False
    told = -_LAST
    for number, seen in lines:
        if not times and not isinstance(seen, Table):
            raise LogError(number, 'the first line of a log must be its "table" (seats, dealer, rules)')
        if seen.id in ids:
            raise LogError(number, f'the id "{seen.id}" was used before; every id must be unique in its log')
        ids.add(seen.id)
        if isinstance(seen, Tick):
            told = max(told, seen.t)
        elif seen.t <= told:
            settled = False
        amended = amended or seen.kind in ("answer", "correct")
        times.append(seen.t)
    if not times:
        raise LogError(1, 'the log is empty; its first line must be a "table"')
    least = _LAST
    for index in range(len(times) - 1, -1, -1):
        times[index], least = least, min(least, times[index])
    return Outline(times, settled and not amended, amended)


def _ruled(stream: BinaryIO, outlined: Outline) -> Iterator[Ruling]:
    """Every ruling, in the order in which the adjudicator is sure of it."""
    adjudicator = Adjudicator(history=outlined.amended)
    for (number, seen), least in zip(observations(stream), outlined.least_after, strict=False):
        try:
            yield from adjudicator.observe(seen)
            if least != _LAST:
                yield from adjudicator.promise(least - 1)
        except LogError as bad:
            raise LogError(number if bad.line is None else bad.line, bad.problem) from None
    yield from adjudicator.finish()


def rulings(stream: BinaryIO, *, everything: bool = False) -> Iterator[Ruling]:
    """The rulings of a log, by ``t``; superseded ones only if ``everything``.

    Args:
        stream: the log; must be seekable, and is read twice.
        everything: keep rulings that later ones replace.

    Raises:
        LogError: the log cannot be read; names the line.
    """
    start = stream.tell()
    outlined = outline(observations(stream))
    stream.seek(start)
    if outlined.settled:
        yield from _ruled(stream, outlined)
        return
    made = list(_ruled(stream, outlined))
    if not everything:
        replaced = {old for ruling in made for old in ruling.supersedes}
        made = [ruling for ruling in made if ruling.id not in replaced]
    yield from sorted(made, key=lambda ruling: ruling.t)


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


def replay(name: str, *, everything: bool = False) -> int:
    """Print a log's rulings as JSON Lines; returns the exit status.

    Raises:
        UserError: the log cannot be read; one line that names the log's line.
    """
    with _open(name) as stream:
        try:
            for ruling in rulings(stream, everything=everything):
                sys.stdout.write(encode_ruling(ruling) + "\n")
        except LogError as bad:
            where = "standard input" if name == "-" else name
            raise UserError(f"{where}, {bad}") from None
    return 0
