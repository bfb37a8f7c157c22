"""A game in the record: the one that was broken off is found again, or a new one begun."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from hardware.clock import wall_now
from referee.announce.sinks import Notice
from referee.engine.observations import LogError, Table
from referee.record.journal import Journal
from referee.record.retention import GAMES_CAP, make_room
from referee.record.store import GameWriter, Record, RecordError
from referee.table.seats import Sitting
from referee.table.services import ServedGame, TableService
from referee.table.timeline import Past, Timeline, past_of


@dataclass(slots=True)
class RecordedGame(TableService):
    """A game that is written into the record: the first of its services."""

    name = "record"
    record: Record
    keeper: GameWriter
    past: Past | None = None
    """What was recorded of it before; None for a new one."""
    timeline: Timeline = field(default_factory=Timeline)
    began: str = ""
    """The wall's time at which it first began; empty for a new one."""
    words: str = ""
    """For the table: that old games were removed; empty where there is nothing to say."""
    is_over: bool = False

    def journal(self, log: Journal | None) -> Journal:
        """The record, and a log beside it where there is one."""
        return self.keeper if log is None else Both(self.keeper, log)

    def begin_game(self, game: ServedGame) -> None:
        """See `TableService`."""
        if self.words:
            game.conductor.tell(Notice("", game.now(), self.words))

    def note_over(self) -> None:
        """The game is not gone on with after a power cut."""
        self.is_over = True
        with suppress(RecordError):
            self.keeper.end(wall_now())

    def note_reopened(self) -> None:
        """See `TableService`."""
        self.is_over = False
        with suppress(RecordError):
            self.keeper.reopen()

    end_game = note_over


def open_game(record: Record, table: Table, now: int, *, new: bool = False, pads: int = 0) -> RecordedGame:
    """The game that was broken off, or a new one.

    Args:
        record: the table's games.
        table: who sits where and by which rules now. A game of another table does not go on, unless its people
            were chosen at this one (`referee.table.seats`).
        now: the machine's present instant, ns.
        new: begin a new game whatever was broken off.
        pads: how many people can sit there; 0: as many as at ``table``.

    Raises:
        RecordError: the record cannot be read.
    """
    room = make_room(record, wall_now(), GAMES_CAP)
    left = record.unfinished()
    past = None
    if left is not None:
        # A game that cannot be read stays in the record to be looked at; nobody can go on with it.
        with suppress(LogError):
            past = past_of(text for _, text in record.lines(left.id))
        chosen = Sitting.at(past.table) if past is not None else None
        fits = chosen is not None and len(chosen.names) <= (pads or len(table.seats))
        if (
            past is not None
            and not new
            and (fits or (past.table.seats, past.table.rules) == (table.seats, table.rules))
        ):
            timeline = Timeline.after(past.last, now)
            return RecordedGame(record, record.again(left.id), past, timeline, left.began, room.words)
        record.end(left.id, wall_now())
    return RecordedGame(record, record.begin(wall_now()), words=room.words)


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
        # The stack calls the second whatever the first throws, and throws it then.
        with ExitStack() as stack:
            for journal in reversed(self._each):
                stack.callback(do, journal)
