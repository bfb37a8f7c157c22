"""Where a table's games are kept: the record is opened, and a game that was broken off is found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hardware.clock import wall_now
from referee.engine.observations import LogError, Table
from referee.record.journal import Journal
from referee.record.retention import GAMES_CAP, make_room
from referee.record.store import GameWriter, Record, RecordError
from referee.table.seats import Sitting
from referee.table.timeline import Past, Timeline, past_of

FILE: Final = "record.db"


@dataclass(slots=True)
class Opened:
    """A game that can be written."""

    keeper: GameWriter
    past: Past | None
    """What was recorded of it before; None for a new one."""
    timeline: Timeline
    words: str = ""
    """For the table: that a game goes on, or that old ones were removed; empty where there is nothing to say."""


class Archive:
    """One table's record, for as long as the program runs."""

    def __init__(self, path: Path) -> None:
        """Open the record; raises `RecordError`."""
        self.path = path
        self._record = Record(path)

    @property
    def record(self) -> Record:
        """The open record."""
        return self._record

    def game(self, table: Table, now: int, *, new: bool = False, pads: int = 0) -> Opened:
        """The game that was broken off, or a new one.

        Args:
            table: who sits where and by which rules now. A game of another table does not go on, unless its people
                were chosen at this one (`referee.table.seats`).
            now: the machine's present instant, ns.
            new: begin a new game whatever was broken off.
            pads: how many people can sit there; 0: as many as at ``table``.

        Raises:
            RecordError: the record cannot be read.
        """
        room = make_room(self._record, wall_now(), GAMES_CAP)
        left = self._record.unfinished()
        past = self._past(left.id) if left is not None else None
        goes_on = past is not None and not new and _same(past.table, table, pads or len(table.seats))
        if left is not None and not goes_on:
            self._record.end(left.id, wall_now())
        if left is None or past is None or not goes_on:
            return Opened(self._record.begin(wall_now()), None, Timeline(), room.words)
        words = f"the game of {left.began[:16].replace('T', ' ')} goes on where it stood"
        words = "; ".join(filter(None, (words, room.words)))
        return Opened(self._record.again(left.id), past, Timeline.after(past.last, now), words)

    def _past(self, game: int) -> Past | None:
        try:
            return past_of(text for _, text in self._record.lines(game))
        except LogError:
            # It stays in the record as it is, to be looked at; nobody can go on with it.
            return None

    def close(self) -> None:
        """Let go of the record."""
        self._record.close()


def _same(one: Table, other: Table, pads: int) -> bool:
    if (one.seats, one.rules) == (other.seats, other.rules):
        return True
    chosen = Sitting.at(one)
    return chosen is not None and len(chosen.names) <= pads


class Both:
    """Two journals that are given the same; implements `referee.record.journal.Journal`."""

    def __init__(self, first: Journal, second: Journal) -> None:
        self._each = (first, second)

    def write(self, line: str) -> None:
        """Write the line to each."""
        self._all(lambda journal: journal.write(line))

    def tick(self, sensor: str, line: str) -> None:
        """Write the line to each."""
        self._all(lambda journal: journal.tick(sensor, line))

    def commit(self) -> None:
        """Have each keep what was written; one that fails does not keep the other from it."""
        self._all(lambda journal: journal.commit())

    def _all(self, do: Callable[[Journal], None]) -> None:
        failed: OSError | None = None
        for journal in self._each:
            try:
                do(journal)
            except OSError as bad:
                failed = bad
        if failed is not None:
            raise failed


__all__ = ["FILE", "Archive", "Both", "Opened", "RecordError"]
