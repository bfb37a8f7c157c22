"""`referee replay`: a log in, its rulings out.

A log without ticks says nothing of how far it has been told, yet the end of a file is known in advance: a first pass
checks every line and keeps, for each, the least ``t`` of all lines after it (8 bytes a line). The second pass hands
that to the adjudicator as a promise with every line, so a long game is ruled as it is read and never held as a whole.
The first lines are kept as they were read: most logs hold no more, and need not be read twice.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.codec import from_fields, parse_object
from referee.adjudication.loop import Witness
from referee.adjudication.observations import LogError, Observation, Table, Tick
from referee.adjudication.rulings import Ruling, encode_ruling
from referee.app.problems import UserError
from referee.app.wording import Wording

LONGEST_LINE: Final = 1 << 20
"""Bytes; a longer line is no observation, and must not fill the memory."""
KEPT: Final = 100_000
"""Observations kept between the passes; some 35 MB."""
AT_ONCE: Final = 64
"""Lines that are judged together."""
_LAST: Final = 2**63 - 1
_INSTANT: Final = re.compile(r"(-?\d{1,18}(?:\.\d{1,18})?)(s|ms)?", re.ASCII)
_UNITS: Final = {"s": 1e9, "ms": 1e6}


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


@dataclass(frozen=True)
class Outline:
    """What the first pass learned."""

    least_after: array[int]
    """For each observation, the least ``t`` of those after it; the last has the greatest instant there is."""
    settled: bool
    """No line comes after a tick that covers it and none amends another, so no ruling is ever replaced."""
    amended: bool
    """There are answers or corrections, so what was judged must be kept."""
    first: tuple[tuple[int, Observation], ...]
    """The first lines as they were read."""
    found: int | None = None
    """The instant of the line that was asked for, ns."""

    @property
    def table(self) -> Table:
        """The first line."""
        table = self.first[0][1]
        assert isinstance(table, Table)
        return table


def outline(lines: Iterable[tuple[int, Observation]], find: str = "") -> Outline:
    """Check every line and find how far each may be ruled.

    Args:
        lines: line number and observation of every line.
        find: the id of a line whose instant is to be remembered.

    Raises:
        LogError: a line cannot be read, the first is not ``table``, or there is none.
    """
    times = array("q")
    first: list[tuple[int, Observation]] = []
    ids = _Ids()
    settled, amended = True, False
    told = -_LAST
    found: int | None = None
    for number, seen in lines:
        if not times and not isinstance(seen, Table):
            raise LogError(number, 'the first line of a log must be its "table" (seats, dealer, rules)')
        ids.add(number, seen.id)
        if isinstance(seen, Tick):
            told = max(told, seen.t)
        elif seen.t <= told:
            settled = False
        amended = amended or seen.kind in ("answer", "correct")
        if len(first) < KEPT:
            first.append((number, seen))
        if seen.id == find:
            found = seen.t
        times.append(seen.t)
    ids.check_numbers()
    if not times:
        raise LogError(1, 'the log is empty; its first line must be a "table"')
    least = _LAST
    for index in range(len(times) - 1, -1, -1):
        t = times[index]
        times[index] = least
        if t < least:
            least = t
    return Outline(times, settled and not amended, amended, tuple(first), found)


class _Ids:
    """The ids of a log, each of which may be used once; 64 bits of each are kept.

    A line without an id is called by its number, so only ids that look like one can clash with it.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._numbers: dict[int, int] = {}
        self._unnamed = bytearray()

    def add(self, number: int, name: str) -> None:
        if name == str(number):
            # Lines between that are no observations, or have ids, count as named.
            self._unnamed.extend(bytes(number - len(self._unnamed)))
            self._unnamed.append(1)
            return
        mark = hash(name)
        if mark in self._seen:
            raise _used_before(number, name)
        self._seen.add(mark)
        if name.isdecimal() and len(name) < 19 and name == str(int(name)):
            self._numbers[int(name)] = number

    def check_numbers(self) -> None:
        for line, number in self._numbers.items():
            if line < len(self._unnamed) and self._unnamed[line]:
                raise _used_before(max(line, number), str(line))


def _used_before(number: int, name: str) -> LogError:
    return LogError(number, f'the id "{name}" was used before; every id must be unique in its log')


def _ruled(stream: BinaryIO, outlined: Outline, witness: Witness | None = None) -> Iterator[Ruling]:
    """Every ruling, in the order in which the adjudicator is sure of it."""
    # Where rulings may be replaced, the new ones are sorted in among the old: all come at the end.
    adjudicator = Adjudicator(history=outlined.amended, stream=outlined.settled, early=False, witness=witness)
    first = outlined.first
    rest = observations(stream, first[-1][0]) if len(outlined.least_after) > len(first) else ()
    for place, (number, seen) in zip(range(len(outlined.least_after)), chain(first, rest), strict=False):
        judge = outlined.amended or place % AT_ONCE == AT_ONCE - 1
        least = outlined.least_after[place] if judge else _LAST
        try:
            yield from adjudicator.observe(seen, None if least == _LAST else least - 1, judge=judge)
        except LogError as bad:
            raise LogError(number if bad.line is None else bad.line, bad.problem) from None
    yield from adjudicator.finish()


def rulings(stream: BinaryIO, *, everything: bool = False) -> Iterator[Ruling]:
    """The rulings of a log, by ``t``; superseded ones only if ``everything``.

    Args:
        stream: the log; must be seekable, and may be read twice.
        everything: keep rulings that later ones replace.

    Raises:
        LogError: the log cannot be read; names the line.
    """
    start = stream.tell()
    outlined = outline(observations(stream))
    stream.seek(start)
    yield from ruled(stream, outlined, everything=everything)


def ruled(
    stream: BinaryIO, outlined: Outline, *, everything: bool = False, witness: Witness | None = None
) -> Iterator[Ruling]:
    """The rulings of a log whose outline is known, by ``t``; see `rulings`."""
    if outlined.settled:
        yield from _ruled(stream, outlined, witness)
        return
    made = list(_ruled(stream, outlined, witness))
    if not everything:
        replaced = {old for ruling in made for old in ruling.supersedes}
        made = [ruling for ruling in made if ruling.id not in replaced]
    yield from made


def _until(rulings_: Iterable[Ruling], last: str, outlined: Outline) -> Iterator[Ruling]:
    """Rulings up to an instant, to that of a line, or to a ruling.

    Raises:
        UserError: there is no such instant, line or ruling.
    """
    instant = _instant(last, outlined)
    if instant is None and "@" not in last:
        raise UserError(
            f'--until: "{last}" is no instant (ns, or 2.5s, 250ms from the first line) and no id of this log'
        )
    for ruling in rulings_:
        if instant is not None and ruling.t > instant:
            return
        yield ruling
        if ruling.id == last:
            return
    if instant is None:
        raise UserError(f'--until: this log leads to no ruling "{last}"')


def _instant(text: str, outlined: Outline) -> int | None:
    if outlined.found is not None:
        return outlined.found
    said = _INSTANT.fullmatch(text)
    if said is None:
        return None
    if said.group(2) is None:
        return int(said.group(1)) if said.group(1).lstrip("-").isdigit() else None
    return outlined.table.t + round(float(said.group(1)) * _UNITS[said.group(2)])


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


def replay(name: str, *, everything: bool = False, until: str = "", as_text: bool = False) -> int:
    """Print a log's rulings, as JSON Lines or in words; returns the exit status.

    Args:
        name: the log's file, or ``-``.
        everything: superseded rulings too.
        until: stop after this instant, line or ruling.
        as_text: a line a ruling for people to read.

    Raises:
        UserError: the log cannot be read; one line that names the log's line.
    """
    with opened(name) as stream:
        start = stream.tell()
        outlined = outline(observations(stream), until)
        stream.seek(start)
        made = ruled(stream, outlined, everything=everything)
        write = in_words(outlined.table) if as_text else encode_ruling
        for ruling in _until(made, until, outlined) if until else made:
            sys.stdout.write(write(ruling) + "\n")
    return 0


def in_words(table: Table) -> Callable[[Ruling], str]:
    """One line of writing for a ruling: seconds since the log's first line, what was ruled, and the rows."""
    say = Wording(table.seats)

    def line(ruling: Ruling) -> str:
        return f"{(ruling.t - table.t) / 1e9:9.3f} s  {say(ruling)}  [{' '.join(ruling.rule)}]  {ruling.id}"

    return line
