"""Opens a game in the record: resumes the one that was broken off, or begins a new one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import date

from hardware.clock import wall_now
from referee.announce.sinks import Notice
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import LogError, Table
from referee.engine.shadow_marks import is_shadowed
from referee.record.database import RecordError
from referee.record.journal import GameWriter, Journal
from referee.record.retention import GAMES_CAP, make_room
from referee.record.store import GameInfo, Record
from referee.record.stored_lines import tell_odd_lines
from referee.setup.left_game import LeftGame, name_day
from referee.table.seats import GameSetup
from referee.table.services import GameContext, TableService
from referee.table.timeline import ResumedGame, Timeline, past_of


@dataclass(slots=True)
class RecordedGame(TableService):
    """A game that is written into the record: the first of its services."""

    name = "record"
    record: Record
    keeper: GameWriter
    past: ResumedGame | None = None
    """Its earlier recording; None for a new game."""
    timeline: Timeline = field(default_factory=Timeline)
    began: str = ""
    """Wall-clock time at which it first began; empty for a new game."""
    words: str = ""
    """For the table: that old games were removed; empty if there is nothing to say."""
    left_behind: str = ""
    """For the table: that a broken-off game cannot be resumed, and why; empty if there is none."""
    is_over: bool = False

    def journal(self, log: Journal | None) -> Journal:
        """Return the record's journal, joined with a log if there is one."""
        return self.keeper if log is None else Both(self.keeper, log)

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        if self.words:
            game.conductor.tell(Notice("", game.now(), self.words))
        if odd := tell_odd_lines(game.conductor.left_out):
            game.conductor.tell(Notice("", game.now(), odd))
        if self.left_behind:
            game.conductor.tell(Notice("left_behind", game.now(), self.left_behind))

    def note_over(self) -> None:
        """End the game in the record: it is not resumed after a power cut."""
        self.is_over = True
        with suppress(RecordError):
            self.keeper.end(wall_now())

    def note_reopened(self) -> None:
        """See `TableService`."""
        self.is_over = False
        with suppress(RecordError):
            self.keeper.reopen()

    end_game = note_over


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """The latest game, which has not ended."""

    info: GameInfo
    past: ResumedGame | None
    """Its recording; None if it cannot be resumed."""
    why: str = ""
    """Why it cannot be resumed."""

    @property
    def words(self) -> str:
        """For the table, if it cannot be resumed; empty if it can."""
        if not self.why:
            return ""
        when = self.info.began[:16].replace("T", " ")
        return (
            f"the game of {when} was broken off and cannot go on: {self.why}; it stays as it is, "
            f"and `referee games --export {self.info.id}` shows it"
        )


def find_broken_off(record: Record, table: Table, *, pads: int = 0) -> BrokenOff | None:
    """Return the game that was broken off, and whether it can be resumed here; changes nothing.

    Args:
        record: the table's games.
        table: the present seats and rules. A game of another table is not resumed, unless its people were chosen at
            this one (`referee.table.seats`).
        pads: how many people can sit there; 0: as many as at ``table``.

    Raises:
        RecordError: the record cannot be read.
    """
    left = record.unfinished()
    if left is None:
        return None
    try:
        past = past_of(text for _, text in record.lines(left.id))
    except LogError as error:
        return BrokenOff(left, None, f"it cannot be read ({error})")
    if is_shadowed(past.told):
        return BrokenOff(left, None, "it was only shadowed")
    chosen = GameSetup.at(past.table)
    if chosen is not None:
        many, seats = len(chosen.names), pads or len(table.seats)
        if many > seats:
            return BrokenOff(left, None, f"{many} people played it, and there are {seats} pads")
        return BrokenOff(left, past)
    if past.table.seats != table.seats:
        return BrokenOff(left, None, "other people played it")
    if past.table.rules != table.rules:
        return BrokenOff(left, None, "it was played by other rules")
    return BrokenOff(left, past)


def show_left_game(info: GameInfo, past: ResumedGame, today: date) -> LeftGame:
    """Return a broken-off game as it stood at its last recorded instant."""
    adjudicator = Adjudicator()
    for seen in (past.table, *past.told):
        with suppress(LogError):
            adjudicator.observe(seen)
    adjudicator.finish()
    view = adjudicator.view
    present = [seat for seat in range(1, len(view.names) + 1) if seat not in view.absent]
    players = [(view.names[seat - 1], view.counts[seat - 1]) for seat in present]
    return LeftGame(name_day(date.fromisoformat(info.began[:10]), today), players, view.pile)


def open_game(record: Record, left: BrokenOff | None, now: int, *, new: bool = False) -> RecordedGame:
    """Resume the game that was broken off, or begin a new one; only people end a broken-off game.

    Args:
        record: the table's games.
        left: the result of `find_broken_off`.
        now: the machine's present instant, ns.
        new: people say that the broken-off game is over.

    Raises:
        RecordError: the record cannot be read or written.
    """
    room = make_room(record, wall_now(), GAMES_CAP)
    if left is not None and left.past is not None and not new:
        timeline = Timeline.after(left.past.last, now)
        return RecordedGame(record, record.again(left.info.id), left.past, timeline, left.info.began, room.words)
    if left is not None and new:
        record.end(left.info.id, wall_now())
    behind = left.words if left is not None and not new else ""
    return RecordedGame(record, record.begin(wall_now()), words=room.words, left_behind=behind)


class Both:
    """Writes each line to two journals; implements `referee.record.journal.Journal`."""

    def __init__(self, first: Journal, second: Journal) -> None:
        self._each = (first, second)

    def write(self, line: str, sensor: str | None = None) -> None:
        """Write the line to both."""
        self._all(lambda journal: journal.write(line, sensor))

    def commit(self) -> None:
        """Commit both, even if one fails."""
        self._all(lambda journal: journal.commit())

    def _all(self, do: Callable[[Journal], None]) -> None:
        # The stack calls the second even if the first raises, and re-raises then.
        with ExitStack() as stack:
            for journal in reversed(self._each):
                stack.callback(do, journal)
