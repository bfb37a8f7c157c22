"""The record as the page reads it: games, lines, and a cache of the last games ruled again and their results.

A record may be far larger than the page's memory, and a game too long to be ruled again while a visitor waits. So a
game that is too long is shown by the rulings in its log (`LoggedGame`), and when counting games for their figures takes
long, a separate process counts them one after the other (`GameCache.count`).
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar, cast

from referee.engine.log import find_replacements
from referee.engine.observations import LogError
from referee.engine.replay import ReplayedGame, TooLong
from referee.engine.rulings import SHOWN_BY_POSITION, Ruling, before_the_pickup
from referee.engine.shadow_marks import is_shadowed
from referee.record.database import RecordError
from referee.record.export import export_game
from referee.record.pictures import Picture, PictureStore
from referee.record.seals import BrokenSeal, SealedLine
from referee.record.statistics import GameResult, make_result
from referee.record.store import GameInfo, Record
from referee.record.stored_lines import LineReader, read_ruling
from referee.sentence import Sentence

T = TypeVar("T")
GAMES_REMEMBERED: Final = 40
"""Number of games whose derived results are kept; some ten kilobytes each."""
COUNTED_AT_ONCE: Final = 2_000
"""Lines of games that are counted while a visitor waits: less than a second of the processor."""
_COUNTS_KEPT: Final = 2 * GAMES_REMEMBERED
"""Number of games whose counts are kept."""
_COUNT: Final = (
    "import sys; from referee.record.statistics import print_results; print_results(sys.argv[1], sys.argv[2:])"
)
_RULING: Final = re.compile(r'\{"ruling": ?"(\w+)"')
_LOG: Final = logging.getLogger(__name__)
_OPENING: Final = 20
"""Number of first lines that tell who plays, and whether the game is shadowed."""
_ENDING: Final = 2_000
"""Number of last lines of a long game that the scoreboard shows."""
_STEPS_KEPT: Final = 6_000
"""Steps of replayed games that are kept; a thousand take some 4 MB."""
_DRAWN_KEPT: Final = 4 << 20
"""Characters of drawings that are kept; one has some 30,000."""


@dataclass(frozen=True, slots=True)
class GameSeals:
    """The seals of a game's lines, as its page shows them."""

    last: str = ""
    """Seal of the last line written; empty if the lines have none."""
    broken: tuple[BrokenSeal, ...] = ()
    resealed: bool = False
    """Whether the game was resealed because names in it were changed."""
    by_ruling: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Line and seal of each ruling, by its id."""


def _seals_of(rows: Sequence[SealedLine], broken: Sequence[BrokenSeal], resealed: bool) -> GameSeals:
    found = {}
    for number, text, seal in rows:
        if seal is not None and text.startswith('{"ruling":'):
            found[text.partition('"id":"')[2].partition('"')[0]] = number, seal
    return GameSeals((rows[-1][2] or "") if rows else "", tuple(broken), resealed, found)


class LoadedGame(ReplayedGame):
    """A game of the record, ruled again."""

    def __init__(self, info: GameInfo, rows: Sequence[tuple[int, str]], seals: GameSeals | None = None) -> None:
        reader = LineReader()
        lines, logged = reader.read(rows)
        super().__init__(lines, logged, leave_out=reader.leave_out)
        self.info, self.seals, self.odd = info, seals or GameSeals(), reader.odd
        if info.ended is None:
            # Ruling a game again ends its log, but hands may still come down on the pile that lies there.
            final = {ruling.id for ruling in logged}
            self.rulings = [ruling if ruling.id in final else before_the_pickup(ruling) for ruling in self.rulings]
            self.by_id = {ruling.id: ruling for ruling in self.rulings}
        self.numbered = lines
        """Its observations as they were read, with their line numbers."""


class LoggedGame:
    """A game that is too long to be ruled again here: the places of the rulings in its log, and their replacements."""

    def __init__(self, info: GameInfo, record: Record) -> None:
        """Read it once, line by line. Raises `LogError` if it has no table, and `RecordError`."""
        reader = LineReader()
        first, _ = reader.read(islice(record.lines(info.id), _OPENING))
        if reader.table is None:
            raise LogError(1, Sentence('the first line of a log must be its "table" (seats, dealer, rules)'))
        self.info, self.table, self.odd = info, reader.table, reader.odd
        self.is_shadowed = is_shadowed(line for _, line in first)
        self.every, self.listed = array("q"), array("q")
        """Numbers of the lines that hold rulings: of all, and of those worth a line."""
        self.replaced_by: dict[str, str] = {}
        self._last = ""
        broken = record.broken_seals(info.id, self._passing(record.sealed_lines(info.id)))
        # A hundred thousand lines may be broken: keep only their numbers.
        places = [seal._replace(words="") for seal in broken]
        self.seals = GameSeals(self._last, tuple(places), record.is_resealed(info.id))

    def _passing(self, rows: Iterable[SealedLine]) -> Iterator[SealedLine]:
        """Pass the lines through, and note what is needed of each."""
        for row in rows:
            number, text, seal = row
            self._last = seal or ""
            if found := _RULING.match(text):
                self.every.append(number)
                if found[1] not in SHOWN_BY_POSITION:
                    self.listed.append(number)
                if '"supersedes"' in text:
                    with suppress(LogError):
                        self.replaced_by.update(find_replacements((read_ruling(text, number),)))
            yield row


class GameCache:
    """Reads the record. May be used from several threads; every method raises `RecordError`."""

    def __init__(self, record: Path, pictures: Path | None = None) -> None:
        """``pictures``: the file of frames, which exists once pictures are switched on."""
        self.path = record
        self._pictures = pictures
        self._lock = threading.Lock()
        self._opened: tuple[int, Record] | None = None
        """The record, with its file's inode number."""
        self._folded: OrderedDict[int, tuple[int, LoadedGame]] = OrderedDict()
        """By game, with the number of its last line."""
        self._made: OrderedDict[tuple[int, str], tuple[int, object]] = OrderedDict()
        self._counts: OrderedDict[int, tuple[int, GameResult]] = OrderedDict()
        """By game, with the number of its last line then."""
        self._counter: subprocess.Popen[bytes] | None = None
        self._counting: threading.Thread | None = None
        self._drawn: OrderedDict[tuple[object, ...], str] = OrderedDict()

    @property
    def _record(self) -> Record:
        """The record, opened when its file first exists, and reopened when another file has taken its place."""
        there = self.path.stat().st_ino if self.path.exists() else 0
        if self._opened is None or self._opened[0] != there or self._opened[1].is_outdated:
            self._close()
            self._folded.clear()
            self._made.clear()
            self._counts.clear()
            self._drawn.clear()
            self._opened = there, Record(self.path, read_only=True)
        return self._opened[1]

    def _close(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def games(self) -> list[GameInfo]:
        """Return every game, latest first; none if there is no record yet."""
        with self._lock:
            return self._record.games() if self.path.exists() else []

    def latest(self) -> GameInfo | None:
        """Return the game that began last; None if there is none, or no record yet."""
        with self._lock:
            return self._record.latest() if self.path.exists() else None

    def shadowed(self) -> int | None:
        """Return the game that is being shadowed now; it must not be shown before it is over."""
        with self._lock:
            try:
                latest = self._record.latest() if self.path.exists() else None
                if latest is None or latest.ended is not None:
                    return None
                first = LineReader().read(islice(self._record.lines(latest.id), _OPENING))[0]
            except RecordError:
                # No game is recorded in an unreadable record; each page reports the problem itself.
                return None
        return latest.id if is_shadowed(line for _, line in first) else None

    def game(self, game: int) -> GameInfo:
        """Return one game."""
        with self._lock:
            return self._record.game(game)

    def lines(self, game: int, after: int = 0, most: int | None = None) -> list[tuple[int, str]]:
        """Return a game's lines after a number, at most ``most`` of them."""
        with self._lock:
            return list(islice(self._record.lines(game, after), most))

    def last_lines(self, game: int) -> list[tuple[int, str]] | None:
        """Return the first and last lines of a game that is too long to be ruled again; None for any other."""
        with self._lock:
            if not self._record.is_too_long(game):
                return None
            start = max(_OPENING, self._record.last_line(game) - _ENDING)
            return [*islice(self._record.lines(game), _OPENING), *self._record.lines(game, start)]

    def exported(self, game: int) -> list[str]:
        """Return a game as the lines of a log file, with their seals."""
        with self._lock:
            return list(export_game(self._record, game))

    def end_ruling(self, game: int) -> Ruling | None:
        """Return the ruling that ended a game; None if it has not ended."""
        with self._lock:
            return self._record.end_ruling(game)

    def folded(self, game: int) -> LoadedGame:
        """Return a game ruled again; raises `LogError` if its log cannot be read, and `TooLong`."""
        info = self.game(game)
        with self._lock:
            if self._record.is_too_long(game):
                raise TooLong
            rows, resealed = list(self._record.sealed_lines(game)), self._record.is_resealed(game)
        last = rows[-1][0] if rows else 0
        with self._lock:
            known = self._folded.get(game)
            if known is not None and known[0] == last:
                self._folded.move_to_end(game)
                return known[1]
        with self._lock:
            broken = self._record.broken_seals(game)
        # Without the lock: ruling a long game again must not hold up other requests.
        made = LoadedGame(info, [(number, text) for number, text, _ in rows], _seals_of(rows, broken, resealed))
        with self._lock:
            self._folded[game] = last, made
            self._folded.move_to_end(game)
            while len(self._folded) > 1 and sum(len(loaded.steps) for _, loaded in self._folded.values()) > _STEPS_KEPT:
                self._folded.popitem(last=False)
        return made

    def remembered(self, game: int, make: Callable[[LoadedGame], T]) -> T:
        """Return the result of ``make`` for a game, cached until it has more lines; raises what `folded` raises."""
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

    def logged(self, game: int) -> LoggedGame:
        """Return a game that is too long to be ruled again; raises `LogError` if its log cannot be read."""
        info, key = self.game(game), (game, LoggedGame.__qualname__)
        with self._lock:
            last = self._record.last_line(game)
            known = self._made.get(key)
            if known is not None and known[0] == last:
                return cast(LoggedGame, known[1])
        # Use a separate connection: the scoreboard's reads must not wait.
        with Record(self.path, read_only=True) as record:
            made = LoggedGame(info, record)
        with self._lock:
            self._made[key] = last, made
        return made

    def rulings(self, game: int, numbers: Sequence[int]) -> list[Ruling]:
        """Return the rulings in these lines of a game, in order; other lines are left out."""
        if not numbers:
            return []
        wanted, found = set(numbers), []
        with self._lock:
            for number, text in self._record.lines(game, numbers[0] - 1):
                if number > numbers[-1]:
                    break
                if number in wanted:
                    with suppress(LogError):
                        found.append(read_ruling(text, number))
        return found

    def count(self, games: Sequence[int]) -> tuple[list[GameResult], int]:
        """Return the results of the games counted so far, and the number of the others; a later call may know more.

        Short games are counted at once. The result of a game that is on may be a little old.
        """
        with self._lock:
            lasts = {game: self._record.last_line(game) for game in games}
            due = [game for game in games if self._counts.get(game, (-1,))[0] != lasts[game]]
        if sum(lasts[game] for game in due) <= COUNTED_AT_ONCE:
            for game in due:
                self._note_count(game, lasts[game], self._counted(game))
        elif self._counting is None or not self._counting.is_alive():
            self._counting = threading.Thread(target=self._count_aside, args=(due,), name="counting", daemon=True)
            self._counting.start()
        with self._lock:
            known = [self._counts[game][1] for game in games if game in self._counts]
        return known, len(games) - len(known)

    def _counted(self, game: int) -> GameResult:
        """Count one game here."""
        try:
            folded = self.folded(game)
        except (LogError, TooLong):
            return make_result(self.game(game), None)
        return make_result(folded.info, folded)

    def _count_aside(self, games: Sequence[int]) -> None:
        """Have games counted by a process of low priority."""
        left = list(games)
        command = [sys.executable, "-P", "-c", _COUNT, str(self.path), *map(str, games)]
        try:
            with subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            ) as counter:  # fmt: skip
                self._counter = counter
                assert counter.stdout is not None
                with suppress(EOFError, pickle.UnpicklingError):
                    while True:
                        game, last, result = pickle.load(counter.stdout)
                        left.remove(game)
                        self._note_count(game, last, result)
        except OSError as error:
            _LOG.warning("games cannot be counted: %s", error)
        if left and self._counter is not None and self._counter.returncode != -signal.SIGTERM:
            # It died over the first of them, for lack of memory perhaps: leave that one out, so that the others get
            # their turn.
            _LOG.warning("game %d cannot be counted (exit status %s)", left[0], self._counter.returncode)
            with suppress(RecordError):
                self._note_count(left[0], self.last_line(left[0]), make_result(self.game(left[0]), None))

    def last_line(self, game: int) -> int:
        """Return the number of a game's last line."""
        with self._lock:
            return self._record.last_line(game)

    def _note_count(self, game: int, last: int, result: GameResult) -> None:
        with self._lock:
            self._counts[game] = last, result
            self._counts.move_to_end(game)
            while len(self._counts) > _COUNTS_KEPT:
                self._counts.popitem(last=False)

    def drawn(self, folded: LoadedGame, what: tuple[object, ...], draw: Callable[[], str | None]) -> str | None:
        """Return a drawing of a game's present state, cached under everything else that it depends on (``what``)."""
        if not folded.seals.last:
            # Without a seal, nothing shows whether the lines have changed.
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
        """Whether pictures are or were switched on: then their file exists."""
        return self._pictures is not None and self._pictures.exists()

    def pictures(self, game: int, start: int, stop: int) -> list[Picture]:
        """Return pictures of a game that began between two instants (ns); none if they are off or unreadable."""
        return self._asked_pictures(lambda store: list(store.near(game, start, stop)))

    def picture_instants(self, game: int, start: int, stop: int) -> list[int]:
        """Return the instants at which those pictures began, ns."""
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
        """Close the record, and stop counting."""
        if self._counter is not None:
            self._counter.terminate()
        self._close()
