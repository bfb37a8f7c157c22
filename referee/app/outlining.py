"""The first pass through a log: every line checked, and how far each may be ruled before the next is read."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from referee.adjudication.observations import LogError, Observation, Table, Tick

KEPT: Final = 100_000
"""Observations kept between the passes; some 35 MB."""
LAST: Final = 2**63 - 1
"""The greatest instant there is."""


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
    told = -LAST
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
    return Outline(_least_after(times), settled and not amended, amended, tuple(first), found)


def _least_after(times: array[int]) -> array[int]:
    """In place, for it may be long: for each instant, the least of those after it."""
    least = LAST
    for index in range(len(times) - 1, -1, -1):
        t = times[index]
        times[index] = least
        if t < least:
            least = t
    return times


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
