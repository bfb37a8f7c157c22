"""The record as the page reads it: games, lines, the last few games ruled again, and what was made of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar, cast

from referee.engine.replay import ReplayedGame
from referee.engine.rulings import Ruling
from referee.record.database import RecordError
from referee.record.export import export_game
from referee.record.pictures import Picture, PictureStore
from referee.record.seals import BrokenSeal, SealedLine
from referee.record.store import GameInfo, Record
from referee.record.stored_lines import LineReader
from referee.shadow import is_shadowed

T = TypeVar("T")
GAMES_REMEMBERED: Final = 40
"""Games of which is kept what was made of them; some ten kilobytes each."""
_OPENING: Final = 20
"""Among so many lines a shadowed game says that it is one."""
_STEPS_KEPT: Final = 6_000
"""Steps of games that are kept as they were ruled again; a thousand take some 4 MB."""
_DRAWN_KEPT: Final = 4 << 20
"""Characters of drawings that are kept; one has some 30,000."""


@dataclass(frozen=True, slots=True)
class GameSeals:
    """The seals of a game's lines, as its page shows them."""

    last: str = ""
    """Of the game as far as it is written; empty where its lines have none."""
    broken: tuple[BrokenSeal, ...] = ()
    resealed: bool = False
    """Whether it was sealed anew since names in it were changed."""
    by_ruling: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Line and seal of each ruling, by its id."""


def _seals_of(rows: Sequence[SealedLine], broken: Sequence[BrokenSeal], resealed: bool) -> GameSeals:
    found = {}
    for number, text, seal in rows:
        if seal is not None and text.startswith('{"ruling":'):
            found[text.partition('"id":"')[2].partition('"')[0]] = number, seal
    return GameSeals((rows[-1][2] or "") if rows else "", tuple(broken), resealed, found)


class Folded(ReplayedGame):
    """A game of the record, ruled again."""

    def __init__(self, info: GameInfo, rows: Sequence[tuple[int, str]], seals: GameSeals | None = None) -> None:
        reader = LineReader()
        lines, logged = reader.read(rows)
        super().__init__(lines, logged, leave_out=reader.leave_out)
        self.info, self.seals, self.odd = info, seals or GameSeals(), reader.odd
        self.numbered = lines
        """Its observations as they were read, with the numbers of their lines."""


class Shelf:
    """Reads the record. May be asked from several threads; whatever it is asked for raises `RecordError`."""

    def __init__(self, record: Path, pictures: Path | None = None) -> None:
        """``pictures`` is the file of frames, which is there once pictures are switched on."""
        self.path = record
        self._pictures = pictures
        self._lock = threading.Lock()
        self._opened: tuple[int, Record] | None = None
        """The record, with its file's number."""
        self._folded: OrderedDict[int, tuple[int, Folded]] = OrderedDict()
        """By game, with the number of its last line."""
        self._made: OrderedDict[tuple[int, str], tuple[int, object]] = OrderedDict()
        self._drawn: OrderedDict[tuple[object, ...], str] = OrderedDict()

    @property
    def _record(self) -> Record:
        """The record, opened when it is first there, and again where another file has taken its place."""
        there = self.path.stat().st_ino if self.path.exists() else 0
        if self._opened is None or self._opened[0] != there or self._opened[1].is_outdated:
            self._close()
            self._folded.clear()
            self._made.clear()
            self._drawn.clear()
            self._opened = there, Record(self.path, read_only=True)
        return self._opened[1]

    def _close(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def games(self) -> list[GameInfo]:
        """Every game, the latest first; none where there is no record yet."""
        with self._lock:
            return self._record.games() if self.path.exists() else []

    def latest(self) -> GameInfo | None:
        """The game that began last; None where there is none, or no record yet."""
        with self._lock:
            return self._record.latest() if self.path.exists() else None

    def shadowed(self) -> int | None:
        """The game that is being shadowed just now, of which nothing is to be seen before it is over."""
        with self._lock:
            try:
                latest = self._record.latest() if self.path.exists() else None
                if latest is None or latest.ended is not None:
                    return None
                first = LineReader().read(islice(self._record.lines(latest.id), _OPENING))[0]
            except RecordError:
                # Nobody plays into a record that cannot be read; each page says in its own words what is amiss.
                return None
        return latest.id if is_shadowed(line for _, line in first) else None

    def game(self, game: int) -> GameInfo:
        """One game."""
        with self._lock:
            return self._record.game(game)

    def lines(self, game: int, after: int = 0) -> list[tuple[int, str]]:
        """A game's lines after a number."""
        with self._lock:
            return list(self._record.lines(game, after))

    def exported(self, game: int) -> list[str]:
        """A game as the lines of a log file, with their seals."""
        with self._lock:
            return list(export_game(self._record, game))

    def end_ruling(self, game: int) -> Ruling | None:
        """The ruling by which a game ended, None where it did not."""
        with self._lock:
            return self._record.end_ruling(game)

    def folded(self, game: int) -> Folded:
        """A game ruled again; raises `LogError` where its log cannot be read, and `TooLong`."""
        info = self.game(game)
        with self._lock:
            rows, resealed = list(self._record.sealed_lines(game)), self._record.is_resealed(game)
        last = rows[-1][0] if rows else 0
        with self._lock:
            known = self._folded.get(game)
            if known is not None and known[0] == last:
                self._folded.move_to_end(game)
                return known[1]
        with self._lock:
            broken = self._record.broken_seals(game)
        made = Folded(info, [(number, text) for number, text, _ in rows], _seals_of(rows, broken, resealed))
        with self._lock:
            self._folded[game] = last, made
            self._folded.move_to_end(game)
            while len(self._folded) > 1 and sum(len(one.steps) for _, one in self._folded.values()) > _STEPS_KEPT:
                self._folded.popitem(last=False)
        return made

    def remembered(self, game: int, make: Callable[[Folded], T]) -> T:
        """What is made of a game, kept as long as the game has no more lines; raises what `folded` raises."""
        last, key = -1, (game, make.__qualname__)
        if self.game(game).ended is None:
            rows = self.lines(game)
            last = rows[-1][0] if rows else 0
        with self._lock:
            known = self._made.get(key)
            if known is not None and known[0] == last:
                return cast(T, known[1])
        made = make(self.folded(game))
        with self._lock:
            self._made[key] = last, made
            self._made.move_to_end(key)
            while len(self._made) > GAMES_REMEMBERED:
                self._made.popitem(last=False)
        return made

    def drawn(self, folded: Folded, what: tuple[object, ...], draw: Callable[[], str | None]) -> str | None:
        """What is drawn of a game as it stands, and kept: ``what`` says everything else that it hangs on."""
        if not folded.seals.last:
            # Nothing says that its lines are those of another time.
            return draw()
        key = (folded.info.id, folded.seals.last, folded.info.ended, *what)
        with self._lock:
            known = self._drawn.get(key)
            if known is not None:
                self._drawn.move_to_end(key)
                return known
        made = draw()
        if made is not None:
            with self._lock:
                self._drawn[key] = made
                while sum(map(len, self._drawn.values())) > _DRAWN_KEPT:
                    self._drawn.popitem(last=False)
        return made

    @property
    def has_pictures(self) -> bool:
        """Whether pictures are switched on, or were: then there is a file of them."""
        return self._pictures is not None and self._pictures.exists()

    def pictures(self, game: int, start: int, stop: int) -> list[Picture]:
        """Pictures of a game that began between two instants (ns); none where they are off or cannot be read."""
        return self._asked_pictures(lambda store: list(store.near(game, start, stop)))

    def picture_instants(self, game: int, start: int, stop: int) -> list[int]:
        """When those pictures began, ns."""
        return self._asked_pictures(lambda store: store.instants(game, start, stop))

    def _asked_pictures(self, ask: Callable[[PictureStore], list[T]]) -> list[T]:
        if self._pictures is None or not self.has_pictures:
            return []
        try:
            with closing(PictureStore(self._pictures, read_only=True)) as store:
                return ask(store)
        except RecordError:
            return []

    def close(self) -> None:
        """Let go of the record."""
        self._close()
