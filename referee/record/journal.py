"""Destinations of the table log, behind a protocol, so that the referee does not know whether it is a file."""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from hardware.clock import Clock, monotonic
from referee.sentence import Sentence
from referee.units import SECOND

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MOST_KEPT: Final = 64 << 20
"""Bytes that may wait for room on a full disk; a game is a few million."""
FEW_LINES: Final = 50
"""Lines with which a failing disk is tried first: the loop must not wait for all that waits here."""
LATEST_COMMIT: Final = 300_000_000
"""Longest wait of unannounced lines for their commit, ns. A commit to a memory card takes tens of milliseconds, and
hands in quick succession would each wait for the commit of the one before."""


class Journal(Protocol):
    """Takes the log's lines, in order. Each method may raise `OSError`; the lines are then kept in memory, and written
    as soon as possible."""

    def write(self, line: str, sensor: str | None = None) -> None:
        """Write one line, without its line break.

        ``sensor``: whose watermark it is, if it is one; a later one of the same sensor may replace it.
        """
        ...

    def commit(self) -> None:
        """Make all lines durable, if the journal can: they are about to be announced."""
        ...


class FileJournal:
    """Lines in a file; implements `Journal`.

    A line that finds no room waits in memory; all waiting lines are written, in order and untorn, as soon as the disk
    takes them again.
    """

    def __init__(self, path: Path) -> None:
        """Create the file; raises `OSError` if that fails."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self._waiting = bytearray()
        self.lost = 0
        """Bytes that were dropped because the disk was full for too long."""

    def write(self, line: str, sensor: str | None = None) -> None:
        """Write the line, after all that waits."""
        data = (line + "\n").encode()
        if len(self._waiting) + len(data) > _MOST_KEPT:
            self.lost += len(data)
        else:
            self._waiting += data
        self._pour()

    def commit(self) -> None:
        """Write what waits."""
        self._pour()

    def close(self) -> None:
        """Write what can still be written, and close the file."""
        try:
            self._pour()
        finally:
            os.close(self._file)

    def _pour(self) -> None:
        while self._waiting:
            # A nearly full disk takes a part of a line: the rest of it goes first the next time.
            done = os.write(self._file, self._waiting)
            del self._waiting[:done]


class GameStore(Protocol):
    """Stores games; each method raises `RecordError`, and has changed nothing then."""

    def add_game(self, began: str, rows: list[tuple[int, str]]) -> int:
        """Store a game with its first lines; returns its number."""
        ...

    def add(self, game: int, rows: list[tuple[int, str]]) -> None:
        """Store numbered lines of a game."""
        ...

    def end(self, game: int, ended: str) -> None:
        """Note that a game is over."""
        ...

    def reopen(self, game: int) -> None:
        """Note that a game is not over."""
        ...


class GameWriter:
    """Writes one game; implements `Journal`.

    Lines wait until `commit`; a commit that fails keeps them for the next.
    """

    def __init__(self, record: GameStore, *, began: str = "", game: int | None = None, written: int = 0) -> None:
        """Called by `Record.begin` and `Record.again`."""
        self._record = record
        self._began = began
        self._game = game
        self._written = written
        self._waiting: list[str] = []
        self._ticks: dict[str, str] = {}
        self._failing = False

    @property
    def game(self) -> int | None:
        """The game's number; None before its first commit."""
        return self._game

    @property
    def written(self) -> int:
        """Number of the game's lines on the disk."""
        return self._written

    @property
    def waiting(self) -> int:
        """Number of lines that are not on the disk yet."""
        return len(self._waiting)

    def write(self, line: str, sensor: str | None = None) -> None:
        """Take one line of the log; on the disk with the next `commit`.

        A sensor's watermark is kept only until the same sensor's next one, if no other line comes between.
        """
        if sensor is not None:
            self._ticks.pop(sensor, None)
            self._ticks[sensor] = line
            return
        self._waiting.extend(self._ticks.values())
        self._ticks.clear()
        self._waiting.append(line)

    def commit(self) -> None:
        """Write everything to the disk.

        Raises:
            RecordError: the disk is full or read-only; the lines are kept, and the next commit tries again.
        """
        if self._failing and len(self._waiting) > FEW_LINES:
            self._add(self._waiting[:FEW_LINES])
        self._add([*self._waiting, *self._ticks.values()])
        self._ticks.clear()

    def _add(self, lines: list[str]) -> None:
        """Write these lines, the next ones, to the disk."""
        if not lines:
            return
        rows = list(enumerate(lines, start=self._written + 1))
        self._failing = True
        if self._game is None:
            self._game = self._record.add_game(self._began, rows)
        else:
            self._record.add(self._game, rows)
        self._failing = False
        self._written += len(rows)
        del self._waiting[: len(rows)]

    def end(self, ended: str) -> None:
        """End the game; ``ended`` is wall-clock time, ISO 8601. Raises `RecordError`."""
        self.commit()
        if self._game is not None:
            self._record.end(self._game, ended)

    def reopen(self) -> None:
        """Note that the game is not over after all: something was corrected. Raises `RecordError`."""
        if self._game is not None:
            self._record.reopen(self._game)


_CLOSING: Final = 2.0
"""Seconds to wait for a hung disk at the end."""


DISK: Final = "disk"
LONGEST_COMMIT: Final = 2 * SECOND
"""A commit that takes longer is reported, ns: verdicts wait for it."""
_QUICK_AGAIN: Final = 60 * SECOND
_SLOW_WORDS: Final = Sentence(
    "writing a line of the log took more than two seconds, so the ruling came late; if it "
    "happens again, use another card or disk"
)


@dataclass(frozen=True, slots=True)
class Committed:
    """The disk is done with a commit."""

    error: Exception | None = None
    """Why the lines are not on the disk; None if they are."""
    trouble: str | None = None
    """For the table: that the disk kept people waiting; empty when it is quick again, None if nothing has changed."""


class JournalThread:
    """Commits a journal's lines in a separate thread, so that a slow disk delays nothing but announcements.

    Only the thread touches the disk. Each `begin_commit` is followed by one `Committed`.
    """

    def __init__(self, journal: Journal, put: Callable[[Committed], None], clock: Clock = monotonic) -> None:
        """Begin with no line.

        Args:
            journal: used by the thread alone until `close`.
            put: called on the thread after each commit: puts the event into the loop's queue, and wakes the loop.
            clock: returns the present instant, ns.
        """
        self._journal, self._put, self._clock = journal, put, clock
        self._slow: int | None = None
        """Instant at which the disk was last too slow, ns; None while it is quick."""
        self._lines: list[tuple[str, str | None]] = []
        """Each line, and the sensor whose watermark it is."""
        self._asked: queue.SimpleQueue[list[tuple[str, str | None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="log", daemon=True)
        self._thread.start()

    def write(self, line: str, sensor: str | None = None) -> None:
        """Take one line; it goes to the disk with the next commit."""
        self._lines.append((line, sensor))

    def begin_commit(self) -> None:
        """Have everything written to the disk; returns at once."""
        self._asked.put(self._lines)
        self._lines = []

    def close(self) -> None:
        """Pass on what was written since the last commit, and end the thread; does not wait for a hung disk."""
        self.begin_commit()
        self._asked.put(None)
        self._thread.join(_CLOSING)

    def _work(self) -> None:
        while (lines := self._asked.get()) is not None:
            bad, began = None, self._clock()
            try:
                for line, sensor in lines:
                    with suppress(OSError):  # the commit will say so
                        self._journal.write(line, sensor)
                self._journal.commit()
            except Exception as error:  # the loop must learn of it, whatever it is
                bad = error
            self._put(Committed(bad, self._judge(began, self._clock())))

    def _judge(self, began: int, now: int) -> str | None:
        """Return the trouble of a disk that took too long, or that has been quick for a while."""
        if now - began >= LONGEST_COMMIT:
            self._slow = now
            return _SLOW_WORDS
        if self._slow is not None and now - self._slow >= _QUICK_AGAIN:
            self._slow = None
            return ""
        return None


class LogWriter:
    """A journal whose failures are returned as words: lines are written now, or as soon as possible."""

    def __init__(self, journal: Journal | JournalThread | None) -> None:
        """``journal``: None if no log is kept."""
        self._journal = journal
        self._uncommitted = self._promised = False
        self._begun = False
        self._since: int | None = None
        self.is_saving = False
        """Whether a commit is under way in its thread: `note_committed` must be called at its end."""

    def write(self, line: str, sensor: str | None = None) -> None:
        """Write a line; ``sensor``: whose watermark it is, if it is one."""
        if self._journal is None:
            return
        if sensor is None:
            self._uncommitted = True
        else:
            self._promised = True
        with suppress(OSError):  # `save` will say so
            self._journal.write(line, sensor)

    def save(self, *, announcing: bool = False, now: int | None = None) -> str | None:
        """Commit the journal; returns what is wrong, ``""`` if all is kept, None if there was nothing to commit yet or
        the commit `is_saving`. Must not be called while it is.

        Args:
            announcing: rulings are about to be announced. Then the sensors' watermarks are committed too, since the
                decision rests on them; otherwise a watermark alone is not worth a commit.
            now: the present instant, ns: unannounced lines may wait for up to `LATEST_COMMIT`, except a game's first
                lines.
                None: nothing waits.
        """
        if self._journal is None or not (self._uncommitted or (announcing and self._promised)):
            return None
        if self._begun and now is not None and not announcing:
            self._since = now if self._since is None else self._since
            if now - self._since < LATEST_COMMIT:
                return None
        if isinstance(self._journal, JournalThread):
            # Lines that come from here on belong to the next commit.
            self._uncommitted = self._promised = False
            self.is_saving = True
            self._journal.begin_commit()
            return None
        try:
            self._journal.commit()
        except OSError as error:
            return _words(error)
        self._uncommitted = self._promised = False
        self._begun, self._since = True, None
        return ""

    def note_committed(self, event: Committed) -> str:
        """Note the end of the commit; returns what `save` would have. Raises an error that is not the disk's."""
        self.is_saving = False
        if event.error is None:
            self._begun, self._since = True, None
            return ""
        self._uncommitted = True
        if isinstance(event.error, OSError):
            return _words(event.error)
        raise event.error


def _words(bad: OSError) -> str:
    """Return what is wrong, and what to do; an error without a number carries its own message."""
    if bad.errno is None:
        return Sentence("the log cannot be written: {why}", why=bad)
    said = "the log cannot be written: {why}; look at its disk, which may be worn out or locked"
    if bad.errno in _NO_ROOM:
        said = "the log cannot be written: {why}; make room on its disk"
    return Sentence(said, why=bad.strerror)
