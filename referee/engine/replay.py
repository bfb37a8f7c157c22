"""Replay of a stored log, for `referee replay` and `explain`, the page's process and the record's statistics.

A log without ticks has no watermark, but the end of a file is known in advance: a first pass (`outline_log`) checks
every line and stores the least ``t`` of all lines after it (8 bytes a line). The second pass (`judge_log`) gives that
to the adjudicator as a promise with every line, so a long game is ruled as it is read and never held in memory as a
whole. The first lines are kept from the first pass: most logs are no longer, and need not be read twice.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import BinaryIO, Final

from referee.engine.adjudicator import Adjudicator, view_of
from referee.engine.event_queue import Witness
from referee.engine.explanation import Explanation, WitnessedLog
from referee.engine.log import find_replacements, read_observations
from referee.engine.observations import (
    MAX_SEATS,
    Answer,
    Card,
    Correct,
    Foul,
    Join,
    Leave,
    Lift,
    LogError,
    Observation,
    Slap,
    Table,
    Tick,
)
from referee.engine.rulings import SLAP_KINDS, Ruling, cause_of
from referee.engine.view import View
from referee.sentence import Sentence

_BATCH: Final = 64
"""Lines judged per batch."""
_KEPT: Final = 100_000
"""Observations kept between the passes; some 35 MB."""
_SEATING: Final = frozenset((Table, Join))
_AMENDING: Final = frozenset((Answer, Correct))
_REPLACING: Final = frozenset((*_AMENDING, Leave, Foul))
"""Lines that may replace earlier rulings."""
_ANY_PAD: Final = (Slap, Lift, Tick)
"""Observations that may come from a pad without a player, or from no seat."""
_LAST: Final = 2**63 - 1
"""The greatest possible instant."""


@dataclass(frozen=True)
class Outline:
    """The result of the first pass."""

    least_after: array[int]
    """For each observation, the least ``t`` of those after it; for the last, the greatest possible instant."""
    settled: bool
    """No line comes after a tick that covers it and none amends another, so no ruling is ever replaced."""
    amended: bool
    """There are answers or corrections, so the history of judging must be kept."""
    first: tuple[tuple[int, Observation], ...]
    """The first lines, already parsed."""
    found: int | None = None
    """The instant of the requested line, ns."""

    @property
    def table(self) -> Table:
        """The first line."""
        table = self.first[0][1]
        assert isinstance(table, Table)
        return table


def outline_log(lines: Iterable[tuple[int, Observation]], find: str = "") -> Outline:
    """Check every line and find how far the log may be ruled after it.

    Args:
        lines: line number and observation of every line.
        find: the id of a line whose instant is to be stored.

    Raises:
        LogError: a line cannot be read, the first is not ``table``, there is none, a card is older than its table, or a
            line is of a seat that is not at the table and never joins.
    """
    times = array("q")
    first: list[tuple[int, Observation]] = []
    ids, seats = _Ids(), _Seats()
    settled, amended = True, False
    told = -_LAST
    found: int | None = None
    opened, sits = -_LAST, 0
    for line in lines:
        number, seen = line
        kind, t = type(seen), seen.t
        if not times:
            if not isinstance(seen, Table):
                raise LogError(number, Sentence('the first line of a log must be its "table" (seats, dealer, rules)'))
            opened, sits = t, len(seen.seats)
        ids.add(number, seen.id)
        if t < opened or kind in _SEATING or (getattr(seen, "seat", None) or 0) > sits:
            seats.add(number, seen)
        if kind is Tick:
            told = max(told, t)
        elif t <= told:
            settled = False
        if kind in _REPLACING:
            if kind in _AMENDING:
                amended = True
            elif not isinstance(seen, Foul) or seen.foul in ("double_draw", "out_of_turn"):
                # The rulings that it undoes are replaced (E8, F7, F9).
                settled = False
        if len(first) < _KEPT:
            first.append(line)
        if seen.id == find:
            found = t
        times.append(t)
    ids.check_numbers()
    seats.check_joined()
    if not times:
        raise LogError(1, Sentence('the log is empty; its first line must be a "table"'))
    # The least of those after each, from the last one back.
    least_after = array("q", islice(accumulate(reversed(times), min, initial=_LAST), len(times)))
    least_after.reverse()
    return Outline(least_after, settled and not amended, amended, tuple(first), found)


class _Seats:
    """The seats that lines name: the table's, and those that join, before their first line or after it."""

    def __init__(self) -> None:
        self._table: tuple[int, Table] | None = None
        self._count = MAX_SEATS
        self._joined: set[int] = set()
        self._beyond: dict[int, int] = {}
        """For each seat beyond the table's, the first line that names it."""

    def add(self, number: int, seen: Observation) -> None:
        if isinstance(seen, Table):
            if self._table is None:
                self._table, self._count = (number, seen), len(seen.seats)
        elif isinstance(seen, Join):
            self._joined.add(seen.seat)
        elif self._table is not None and not isinstance(seen, _ANY_PAD):
            line, table = self._table
            if seen.t < table.t and isinstance(seen, Card):
                words = f'this "table" ("t" {table.t}) is later than the card of line {number} ("t" {seen.t})'
                raise LogError(line, words)
            seat = getattr(seen, "seat", None)
            if seat is not None and seat > self._count:
                self._beyond.setdefault(seat, number)

    def check_joined(self) -> None:
        # Pads between the table and a pad that joined may be vacant.
        strangers = [line for seat, line in self._beyond.items() if seat > max(self._joined, default=0)]
        if strangers:
            raise LogError(
                min(strangers), Sentence('"seat" must be 1 to {count}: this table has {count} seats', count=self._count)
            )


class _Ids:
    """The ids of a log, each of which may be used once; stored as 64 bits each.

    A line without an id is named by its number, so only ids that look like a number can clash with it.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._numbers: dict[int, int] = {}
        self._unnamed = bytearray()

    def add(self, number: int, name: str) -> None:
        if name == str(number):
            # Skipped lines that are not observations, or have ids, count as named.
            if len(self._unnamed) < number:
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
    return LogError(number, Sentence('the id "{name}" was used before; every id must be unique in its log', name=name))


def adjudicator_for(outlined: Outline, witness: Witness | None = None) -> Adjudicator:
    """Make the adjudicator for a log of this outline; ``witness`` receives the state that each line meets."""
    # If rulings may be replaced, new ones are sorted in among the old, so all come at the end.
    return Adjudicator(history=outlined.amended, stream=outlined.settled, early=False, all_join=True, witness=witness)


def judge_log(
    adjudicator: Adjudicator,
    lines: Iterable[tuple[int, Observation]],
    outlined: Outline,
    leave_out: Callable[[int, LogError], None] | None = None,
) -> Iterator[Ruling]:
    """Yield every ruling, superseded ones too, as it becomes final: ultimately ordered by ``t``.

    Args:
        adjudicator: from `adjudicator_for`.
        lines: line number and observation of every line.
        outlined: what `outline_log` found in them.
        leave_out: called with each line that does not fit the log, which is then skipped.

    Raises:
        LogError: a line does not fit the log; names it. Always raised for the table.
    """
    paired = zip(outlined.least_after, lines, strict=False)
    for place, (least, (number, seen)) in enumerate(paired, start=1):
        now = outlined.amended or place % _BATCH == 0
        promised = least - 1 if now and least != _LAST else None
        try:
            made = adjudicator.observe(seen, promised, judge=now)
        except LogError as error:
            told = LogError(number if error.line is None else error.line, error.problem)
            if leave_out is None or seen is outlined.table:
                raise told from None
            leave_out(number, told)
            continue
        if made:
            yield from made
    yield from adjudicator.finish()


class StoredLog:
    """A log file whose lines have been checked."""

    def __init__(self, stream: BinaryIO, find: str = "") -> None:
        """Check every line.

        Args:
            stream: the log from here on; must be seekable, and may be read twice.
            find: the id of a line whose instant is to be stored (`Outline.found`).

        Raises:
            LogError: the log cannot be read; names the line.
        """
        self._stream, self._start = stream, stream.tell()
        self.outline = outline_log(read_observations(stream), find)

    def rulings(self, *, everything: bool = False, witness: Witness | None = None) -> Iterator[Ruling]:
        """Yield the log's rulings by ``t``, as they become final; superseded ones only if ``everything``.

        Raises:
            LogError: the log cannot be judged; names the line.
        """
        self._stream.seek(self._start)
        first = self.outline.first
        rest = read_observations(self._stream, first[-1][0]) if len(self.outline.least_after) > len(first) else ()
        made = judge_log(adjudicator_for(self.outline, witness), chain(first, rest), self.outline)
        if everything or self.outline.settled:
            yield from made
            return
        all_ = list(made)
        gone = find_replacements(all_)
        yield from (ruling for ruling in all_ if ruling.id not in gone)


def replay_log(stream: BinaryIO, *, everything: bool = False) -> Iterator[Ruling]:
    """Yield the rulings of a log, by ``t``; superseded ones only if ``everything``.

    Raises:
        LogError: the log cannot be read; names the line.
    """
    yield from StoredLog(stream).rulings(everything=everything)


LONGEST_GAME: Final = 12_000
"""Maximum number of observations of a game kept in memory state by state."""


class TooLong(Exception):  # noqa: N818 - no error of anybody's
    """The game is too long to keep state by state."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One line of the game as it was judged, and the rulings that it caused."""

    observation: Observation
    rulings: tuple[str, ...]
    """Ids of the rulings."""


class ReplayedGame:
    """A recorded game, replayed and kept state by state for stepping through and explaining."""

    def __init__(
        self,
        lines: Sequence[tuple[int, Observation]],
        logged: Sequence[Ruling] = (),
        *,
        leave_out: Callable[[int, LogError], None] | None = None,
    ) -> None:
        """Rule the game.

        Args:
            lines: its observations, with their line numbers.
            logged: the rulings in its log.
            leave_out: as for `judge_log`.

        Raises:
            LogError: a line does not fit the log.
            TooLong: the game is too long to keep.
        """
        self.logged = list(logged)
        outlined = outline_log(lines)
        if sum(seen.kind != "tick" for _, seen in lines) > LONGEST_GAME:
            raise TooLong
        self._log = WitnessedLog(outlined.table)
        adjudicator = adjudicator_for(outlined, self._log)
        self.rulings = list(judge_log(adjudicator, lines, outlined, leave_out))
        """Every ruling, superseded ones too, in printing order."""
        self._final = adjudicator.view
        self.table = self._log.table
        self.replaced_by = find_replacements(self.rulings)
        self.by_id = {ruling.id: ruling for ruling in self.rulings}
        causes: dict[str, list[str]] = {}
        for ruling in self.rulings:
            # Rulings changed by an amendment belong to the amendment's step.
            causes.setdefault(ruling.amended_by or cause_of(ruling), []).append(ruling.id)
        self.steps = tuple(ReplayStep(line, tuple(causes.get(line.id, ()))) for line in self._log.lines())

    def view(self, step: int) -> View:
        """Return the position after a step, counted from 0."""
        if step + 1 >= len(self.steps):
            return self._final
        return view_of(self._log.state_before(self.steps[step + 1].observation.id))

    def line(self, name: str) -> Observation | None:
        """Return a line as it now stands; None if there is no line with that id."""
        return self._log.line(name)

    def lines(self) -> list[Observation]:
        """Return every valid line as it now stands, in the order of judging."""
        return self._log.standing()

    def explain(self, ruling: Ruling) -> Explanation:
        """Explain a ruling."""
        return self._log.explain(ruling)

    @property
    def agrees(self) -> tuple[int, int]:
        """Number of the log's rulings that the replay reproduced, and number that it did not."""
        same = sum(self.by_id.get(ruling.id) == ruling for ruling in self.logged)
        return same, len(self.logged) - same

    def slaps(self) -> list[Ruling]:
        """Return the rulings on hands in force, by time."""
        found = [ruling for ruling in self.rulings if ruling.kind in SLAP_KINDS and ruling.id not in self.replaced_by]
        return sorted(found, key=lambda ruling: ruling.t)
