"""The first pass through a log: every line checked, and how far each may be ruled before the next is read.

A recorded game ruled again: the state after each line, every ruling, and why (K5).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from referee.engine.adjudicator import Adjudicator, view_of
from referee.engine.event_queue import Scene
from referee.engine.explanation import Explanation
from referee.engine.explanation import Record as Witnessed
from referee.engine.log import replaced, split
from referee.engine.observations import LogError, Observation, Table, Tick
from referee.engine.rulings import Ruling, cause_of
from referee.engine.state import State
from referee.engine.view import View
from referee.record.store import GameInfo

AT_ONCE: Final = 64
"""Lines that are judged together."""
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


LONGEST: Final = 12_000
"""Observations of a game that is kept in memory state by state."""
_FAR: Final = 2**63 - 2


class TooLong(Exception):  # noqa: N818 - no error of anybody's
    """A game that is not kept state by state."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the game as it was judged, and the rulings that followed from it."""

    observation: Observation
    rulings: tuple[str, ...]
    """Their ids."""


class _Watcher:
    """Keeps each scene for explanations, and the state that each line met for stepping through."""

    def __init__(self, table: Table) -> None:
        self.witnessed = Witnessed(table)
        # The table itself is no scene, but the first step.
        self.seen: dict[str, int] = {table.id: 0}
        self.lines: list[Observation] = [table]
        self.before: list[State | None] = [None]

    def __call__(self, scene: Scene) -> None:
        self.witnessed(scene)
        name = scene.observation.id
        if name in self.seen:
            # Judged again after an amendment: the step stays where it was, with the line as it stands now.
            self.lines[self.seen[name]] = scene.observation
            return
        self.seen[name] = len(self.lines)
        self.lines.append(scene.observation)
        self.before.append(scene.state)


class Folded:
    """A game from its lines."""

    def __init__(self, info: GameInfo, rows: Sequence[tuple[int, str]]) -> None:
        """Rule the game.

        Raises:
            LogError: the log cannot be read.
            TooLong: it is too long to be kept.
        """
        self.info = info
        self.last = rows[-1][0] if rows else 0
        observations, self.logged = split(rows, ticks=True)
        if not observations or not isinstance(observations[0][1], Table):
            raise LogError(1, "the first line is no table")
        if sum(seen.kind != "tick" for _, seen in observations) > LONGEST:
            raise TooLong
        self.table = observations[0][1]
        self._watcher = _Watcher(self.table)
        self.rulings, self._final = self._judge(observations)
        self.replaced_by = replaced(self.rulings)
        self.by_id = {ruling.id: ruling for ruling in self.rulings}
        self.steps = self._steps()

    def _judge(self, observations: Sequence[tuple[int, Observation]]) -> tuple[list[Ruling], View]:
        """Every ruling, superseded ones too, in the order of print; the view at the end."""
        amended = any(seen.kind in ("answer", "correct") for _, seen in observations)
        least = [_FAR] * len(observations)
        for place in range(len(observations) - 2, -1, -1):
            least[place] = min(least[place + 1], observations[place + 1][1].t)
        adjudicator = Adjudicator(history=amended, stream=False, early=False, witness=self._watcher)
        for place, ((number, seen), after) in enumerate(zip(observations, least, strict=True)):
            judge = amended or place % AT_ONCE == AT_ONCE - 1
            try:
                adjudicator.observe(seen, None if not judge or after == _FAR else after - 1, judge=judge)
            except LogError as bad:
                raise LogError(number if bad.line is None else bad.line, bad.problem) from None
        return adjudicator.finish(), adjudicator.view

    def _steps(self) -> tuple[Step, ...]:
        causes: dict[str, list[str]] = {}
        for ruling in self.rulings:
            # What an amendment changed was ruled when the amendment came.
            _, _, amendment = ruling.id.partition("~")
            cause = amendment.rpartition("~")[2] or cause_of(ruling.id)
            causes.setdefault(cause, []).append(ruling.id)
        return tuple(Step(line, tuple(causes.get(line.id, ()))) for line in self._watcher.lines)

    def view(self, step: int) -> View:
        """The position after a step, counted from 0."""
        after = step + 1
        if after >= len(self._watcher.before):
            return self._final
        state = self._watcher.before[after]
        return View() if state is None else view_of(state)

    def line(self, name: str) -> Observation | None:
        """A line as it stands now; None where there is none of that id."""
        at = self._watcher.seen.get(name)
        return None if at is None else self._watcher.lines[at]

    def lines(self) -> Sequence[Observation]:
        """Every line as it stands now, in the order of judging."""
        return self._watcher.lines

    def explain(self, ruling: Ruling) -> Explanation:
        """Why a ruling came out as it did."""
        return self._watcher.witnessed.explain(ruling)

    @property
    def agrees(self) -> tuple[int, int]:
        """How many rulings of the log were made again just so, and how many were not."""
        made = {ruling.id: ruling for ruling in self.rulings}
        same = sum(made.get(ruling.id) == ruling for ruling in self.logged)
        return same, len(self.logged) - same

    def slaps(self) -> list[Ruling]:
        """The rulings on hands that are in force, by time."""
        kinds = ("slap_won", "slap_false", "slap_void")
        found = [ruling for ruling in self.rulings if ruling.kind in kinds and ruling.id not in self.replaced_by]
        return sorted(found, key=lambda ruling: ruling.t)
