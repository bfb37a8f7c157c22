"""Where the table log is written: behind a port, so that the referee does not know whether it is a file."""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from hardware.clock import Clock, monotonic
from referee.sentence import Sentence
from referee.units import SECOND

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MOST_KEPT: Final = 64 << 20
"""Bytes that wait for room on a full disk; a game is a few million."""
FEW_LINES: Final = 50
"""Lines that a disk which took nothing is tried with: who waits for the loop must not wait for all that waits here."""
LATEST_COMMIT: Final = 300_000_000
"""How long lines that nobody was told anything about may wait for their commit, ns. A commit to a memory card takes
tens of milliseconds, and hands that come one after the other would each wait for the one before."""


class Journal(Protocol):
    """Takes the log's lines, in their order. Each method may raise `OSError`; what it was given is then not lost as
    long as the machine runs, and is written as soon as that can be done."""

    def write(self, line: str) -> None:
        """One line, without its line break."""
        ...

    def tick(self, sensor: str, line: str) -> None:
        """A line that says no more than how far a sensor has told; a later one of the same sensor may replace it."""
        ...

    def commit(self) -> None:
        """What was written so far is about to be told to people, and must outlast a power cut if the journal can."""
        ...


class FileJournal:
    """Lines in a file; implements `Journal`.

    A line that finds no room waits in memory, and all that waits is written, in order and without a torn line between,
    as soon as the disk takes it again.
    """

    def __init__(self, path: Path) -> None:
        """Create the file; raises `OSError` where that cannot be done."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self._waiting = bytearray()
        self.lost = 0
        """Bytes that were given up since the disk had no room for too long."""

    def write(self, line: str) -> None:
        """Write the line, after all that waits."""
        data = (line + "\n").encode()
        if len(self._waiting) + len(data) > _MOST_KEPT:
            self.lost += len(data)
        else:
            self._waiting += data
        self._pour()

    def tick(self, sensor: str, line: str) -> None:
        """Write the line."""
        self.write(line)

    def commit(self) -> None:
        """Write what waits."""
        self._pour()

    def close(self) -> None:
        """Write what can still be written, and let go of the file."""
        try:
            self._pour()
        finally:
            os.close(self._file)

    def _pour(self) -> None:
        while self._waiting:
            # A disk that is nearly full takes a part of a line: the rest of it goes first the next time.
            done = os.write(self._file, self._waiting)
            del self._waiting[:done]


class GameStore(Protocol):
    """Keeps games; each method raises `RecordError`, and has done nothing then."""

    def add_game(self, began: str, rows: list[tuple[int, str]]) -> int:
        """Keep a game with its first lines; returns its number."""
        ...

    def add(self, game: int, rows: list[tuple[int, str]]) -> None:
        """Keep numbered lines of a game."""
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
        """Made by `Record.begin` and `Record.again`."""
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
        """How many lines of the game are on the disk."""
        return self._written

    @property
    def waiting(self) -> int:
        """How many lines are not yet on the disk."""
        return len(self._waiting)

    def write(self, line: str) -> None:
        """One line of the log; on the disk with the next `commit`."""
        self._waiting.extend(self._ticks.values())
        self._ticks.clear()
        self._waiting.append(line)

    def tick(self, sensor: str, line: str) -> None:
        """A sensor's promise: kept only until the same sensor promises more, if nothing happens between."""
        self._ticks.pop(sensor, None)
        self._ticks[sensor] = line

    def commit(self) -> None:
        """Have everything on the disk.

        Raises:
            RecordError: the disk is full or read-only; the lines are kept, and the next commit tries again.
        """
        if self._failing and len(self._waiting) > FEW_LINES:
            self._add(self._waiting[:FEW_LINES])
        self._add([*self._waiting, *self._ticks.values()])
        self._ticks.clear()

    def _add(self, lines: list[str]) -> None:
        """Have these, which are the next, on the disk."""
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
        """The game is over; ``ended`` is wall time, ISO 8601. Raises `RecordError`."""
        self.commit()
        if self._game is not None:
            self._record.end(self._game, ended)

    def reopen(self) -> None:
        """The game is not over after all: something was corrected. Raises `RecordError`."""
        if self._game is not None:
            self._record.reopen(self._game)


_CLOSING: Final = 2.0
"""Seconds that a disk which hangs is waited for at the end."""


DISK: Final = "disk"
LONGEST_COMMIT: Final = 2 * SECOND
"""A disk that takes longer over a line is told of, ns: verdicts wait for it."""
_QUICK_AGAIN: Final = 60 * SECOND
_SLOW_WORDS: Final = Sentence(
    "it took more than two seconds over a line of the log, and what was ruled was told that late; "
    "if it happens again, use another card or disk"
)


class JournalThread:
    """A journal whose disk has a thread of its own; implements `Journal`.

    `commit` returns when the disk has what was written, not before: what is announced then is on it. But whoever
    commits need not stand still meanwhile (`attend`), and no other method touches the disk at all.
    """

    def __init__(self, journal: Journal, clock: Clock = monotonic) -> None:
        """``journal`` is used by the thread alone until `close`; ``clock``: the present instant, ns."""
        self._journal, self._clock = journal, clock
        self._slow: int | None = None
        """When the disk was last too slow, ns; None while it is not."""
        self._lines: list[tuple[str | None, str]] = []
        """Each line, and the sensor whose promise it is."""
        self._asked: queue.SimpleQueue[list[tuple[str | None, str]] | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._bad: Exception | None = None
        self._ring: Callable[[], None] = lambda: None
        self._wait: Callable[[], object] = self._done.wait
        self._post: Callable[[str, str], None] = lambda _part, _words: None
        self._thread = threading.Thread(target=self._work, name="log", daemon=True)
        self._thread.start()

    def attend(self, ring: Callable[[], None], wait: Callable[[], object], post: Callable[[str, str], None]) -> None:
        """From now on a commit calls ``wait`` again and again until it is done, and ``ring`` is to end such a wait.

        ``post`` is told, with the part's name and words, of a disk that keeps people waiting, and (no words) that it is
        quick again; on the thread.
        """
        self._ring, self._wait, self._post = ring, wait, post

    def write(self, line: str) -> None:
        """One line; it goes to the disk with the next `commit`."""
        self._lines.append((None, line))

    def tick(self, sensor: str, line: str) -> None:
        """A sensor's promise; likewise."""
        self._lines.append((sensor, line))

    def commit(self) -> None:
        """Have everything on the disk; raises what the journal raises."""
        self._done.clear()
        self._asked.put(self._lines)
        self._lines = []
        while not self._done.is_set():
            self._wait()
        # A ring of somebody else may have been heard here.
        self._ring()
        if self._bad is not None:
            raise self._bad

    def close(self) -> None:
        """Hand over what was written since the last commit, and end the thread; a disk that hangs is not waited for."""
        self._asked.put(self._lines)
        self._asked.put(None)
        self._lines = []
        self._thread.join(_CLOSING)

    def _work(self) -> None:
        while (lines := self._asked.get()) is not None:
            self._bad, began = None, self._clock()
            try:
                for sensor, line in lines:
                    with suppress(OSError):  # the commit will say so
                        if sensor is None:
                            self._journal.write(line)
                        else:
                            self._journal.tick(sensor, line)
                self._journal.commit()
            except Exception as bad:  # whoever waits must hear of it, whatever it is
                self._bad = bad
            self._judge(began, self._clock())
            self._done.set()
            self._ring()

    def _judge(self, began: int, now: int) -> None:
        """Post that the disk took too long, or that it has been quick for a while."""
        if now - began >= LONGEST_COMMIT:
            self._slow = now
            self._post(DISK, _SLOW_WORDS)
        elif self._slow is not None and now - self._slow >= _QUICK_AGAIN:
            self._slow = None
            self._post(DISK, "")


class LogWriter:
    """A journal whose failures are words: what it is given is written now, or as soon as that can be done."""

    def __init__(self, journal: Journal | None) -> None:
        """``journal``: None where no log is kept."""
        self._journal = journal
        self._uncommitted = self._promised = False
        self._begun = False
        self._since: int | None = None

    def write(self, line: str) -> None:
        """Write a line."""
        if self._journal is not None:
            self._uncommitted = True
            with suppress(OSError):  # `save` will say so
                self._journal.write(line)

    def tick(self, sensor: str, line: str) -> None:
        """Write a tick."""
        if self._journal is not None:
            self._promised = True
            with suppress(OSError):
                self._journal.tick(sensor, line)

    def save(self, *, announcing: bool = False, now: int | None = None) -> str | None:
        """Have the journal keep what was written; returns what is wrong, nothing (``""``) if it is kept, None if there
        was nothing to keep yet.

        Args:
            announcing: people are about to hear of it. Then how far each sensor had told is kept too, for the decision
                rests on that; else a promise alone is not worth a commit.
            now: the present instant, ns: what nobody is told of may wait for up to `LATEST_COMMIT`, but for a game's
                first lines. None: nothing waits.
        """
        if self._journal is None or not (self._uncommitted or (announcing and self._promised)):
            return None
        if self._begun and now is not None and not announcing:
            self._since = now if self._since is None else self._since
            if now - self._since < LATEST_COMMIT:
                return None
        try:
            self._journal.commit()
        except OSError as bad:
            return _words(bad)
        self._uncommitted = self._promised = False
        self._begun, self._since = True, None
        return ""


def _words(bad: OSError) -> str:
    """What is wrong, and what to do; an error without a number has said so itself."""
    if bad.errno is None:
        return Sentence("the log cannot be written: {why}", why=bad)
    said = "the log cannot be written: {why}; look at its disk, which may be worn out or locked"
    if bad.errno in _NO_ROOM:
        said = "the log cannot be written: {why}; make room on its disk"
    return Sentence(said, why=bad.strerror)
