"""Writes one game into the record: lines wait for their commit, and a commit that fails loses none of them."""

from __future__ import annotations

from typing import Final, Protocol

FEW_LINES: Final = 50
"""Lines that a disk which took nothing is tried with: who waits for the loop must not wait for all that waits here."""


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
    """Writes one game; implements `referee.record.journal.Journal`.

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
