"""The record as the page reads it: games, lines, and the last few games ruled again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar, cast

from referee.engine.replay import ReplayedGame
from referee.engine.rulings import Ruling
from referee.record.pictures import Picture, PictureStore
from referee.record.store import GameInfo, Record, RecordError

T = TypeVar("T")
REMEMBERED: Final = 40
"""Figures of games that are kept; some ten kilobytes each."""
KEPT: Final = 6_000
"""Steps of games that are kept as they were ruled again; a thousand take some 4 MB."""


class Folded(ReplayedGame):
    """A game of the record, ruled again."""

    def __init__(self, info: GameInfo, rows: Sequence[tuple[int, str]]) -> None:
        super().__init__(rows)
        self.info = info


class Shelf:
    """Reads the record. May be asked from several threads."""

    def __init__(self, record: Path, pictures: Path | None = None) -> None:
        """``pictures`` is the file of frames, which is there once pictures are switched on."""
        self.path = record
        self._pictures = pictures
        self._lock = threading.Lock()
        self._folded: OrderedDict[tuple[int, int], Folded] = OrderedDict()
        self._made: OrderedDict[tuple[int, int, str], object] = OrderedDict()
        self._record: Record | None = None

    def _open(self) -> Record:
        """The record, opened when it is first there; a file that a newer game replaced is opened anew."""
        if self._record is None:
            self._record = Record(self.path, read_only=True)
        return self._record

    def games(self) -> list[GameInfo]:
        """Every game, the latest first; none where there is no record yet. Raises `RecordError`."""
        with self._lock:
            if not self.path.exists():
                return []
            return self._open().games()

    def latest(self) -> GameInfo | None:
        """The game that began last; None where there is none, or no record yet. Raises `RecordError`."""
        with self._lock:
            return self._open().latest() if self.path.exists() else None

    def game(self, game: int) -> GameInfo:
        """One game; raises `RecordError`."""
        with self._lock:
            return self._open().game(game)

    def lines(self, game: int, after: int = 0) -> list[tuple[int, str]]:
        """A game's lines after a number; raises `RecordError`."""
        with self._lock:
            return list(self._open().lines(game, after))

    def end_ruling(self, game: int) -> Ruling | None:
        """The ruling by which a game ended, None where it did not; raises `RecordError`."""
        with self._lock:
            return self._open().end_ruling(game)

    def folded(self, game: int) -> Folded:
        """A game ruled again.

        Raises:
            RecordError: there is no such game.
            LogError: its log cannot be read.
        """
        info = self.game(game)
        rows = self.lines(game)
        key = (game, rows[-1][0] if rows else 0)
        with self._lock:
            if key in self._folded:
                self._folded.move_to_end(key)
                return self._folded[key]
        made = Folded(info, rows)
        with self._lock:
            for old in [old for old in self._folded if old[0] == game]:
                del self._folded[old]
            self._folded[key] = made
            while len(self._folded) > 1 and self._held() > KEPT:
                self._folded.popitem(last=False)
        return made

    def _held(self) -> int:
        return sum(len(folded.steps) for folded in self._folded.values())

    def remembered(self, game: int, make: Callable[[Folded], T]) -> T:
        """What is made of a game, kept as long as the game has no more lines; raises what `folded` raises."""
        last = self._last(game)
        key = (game, last, make.__qualname__)
        with self._lock:
            if key in self._made:
                return cast(T, self._made[key])
        made = make(self.folded(game))
        with self._lock:
            for old in [old for old in self._made if old[0] == game and old[2] == key[2]]:
                del self._made[old]
            self._made[key] = made
            while len(self._made) > REMEMBERED:
                self._made.popitem(last=False)
        return made

    def _last(self, game: int) -> int:
        info = self.game(game)
        if info.ended is not None:
            return -1
        rows = self.lines(game)
        return rows[-1][0] if rows else 0

    @property
    def has_pictures(self) -> bool:
        """Whether pictures are switched on, or were: then there is a file of them."""
        return self._pictures is not None and self._pictures.exists()

    def pictures(self, game: int, start: int, stop: int) -> list[Picture]:
        """Pictures of a game that began between two instants (ns); none where they are switched off or not there."""
        if self._pictures is None or not self.has_pictures:
            return []
        try:
            store = PictureStore(self._pictures, read_only=True)
        except RecordError:
            return []
        try:
            return list(store.near(game, start, stop))
        finally:
            store.close()

    def close(self) -> None:
        """Let go of the record."""
        if self._record is not None:
            self._record.close()
