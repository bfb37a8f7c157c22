"""Pictures around slaps: which rulings ask for them, to which game they belong, and their way to the disk.

The eye never keeps a picture on its own. When a slap has been ruled, it is asked for the frames around that instant
(`PictureSource`), and only those are kept, with the game that asked. A separate thread in the referee's process writes
them: a slow or full memory card never holds up a game. Pictures that find no room in the queue or on the disk are
dropped; that is reported once, until it works again.
"""

from __future__ import annotations

import queue
import shutil
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from referee.engine.rulings import Ruling
from referee.record.pictures import AFTER, BEFORE, PICTURES_CAP, Picture, PictureStore
from referee.sentence import Sentence, words_of
from referee.table.services import GameContext, TableService
from referee.table.timeline import Timeline
from referee.vision.picture_buffer import MOST_ASKED, Span

_ASKING: Final = frozenset({"slap_won", "slap_false", "dead_heat"})
"""Rulings about one instant that people may want to see for themselves."""
_DISPUTED: Final = frozenset({"late", "covered", "held", "too_soon"})
"""Reasons of a void slap for which that holds, too. No picture is needed to show that a player is locked out, does not
play or slaps at no pile; nor for a contest, whose slap was pictured when it was ruled."""
WAITING: Final = 128
"""Most pictures that wait for their game's number, which a game has once its first lines are recorded."""

Take = Callable[[Sequence[Picture]], None]
Number = Callable[[], int | None]


class PictureSource(Protocol):
    """The process that remembers the last frames: `referee.vision.eye_client.SightProcess`."""

    def want(self, span: Span) -> None:
        """Ask for pictures of a span of the machine's time; never waits."""
        ...

    def hand_to(self, take: Take) -> None:
        """Hand pictures to ``take`` as they come, from now on."""
        ...


def asks(ruling: Ruling) -> bool:
    """Return whether pictures are kept around the instant of a ruling; a slap announced again has them already."""
    if ruling.window == "closed":
        return False
    if ruling.kind == "slap_void":
        return ruling.get("reason") in _DISPUTED
    return ruling.kind in _ASKING or (ruling.kind == "question" and ruling.get("ask") == "who_was_first")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request: the span in the machine's time, and its game."""

    span: Span
    game: Number
    timeline: Timeline


class Album(TableService):
    """Asks for pictures of one table's games, and hands them on to be kept."""

    name = "pictures"

    def __init__(self, source: PictureSource, keep: Callable[[int, Sequence[Picture]], None]) -> None:
        """``keep`` is given a game's number and its pictures, on the game's timeline; it must not wait."""
        self._source, self._keep = source, keep
        self._game: Number = lambda: None
        self._timeline = Timeline()
        self._asked: deque[_Asked] = deque(maxlen=2 * MOST_ASKED)
        self._waiting: deque[tuple[_Asked, Picture]] = deque(maxlen=WAITING)
        source.hand_to(self.take)

    def follow(self, game: Number, timeline: Timeline) -> None:
        """Follow this game from now on; pictures of the last one that are still to come stay the last one's.

        Args:
            game: returns its number, None as long as it has none.
            timeline: maps the machine's instants to its own.
        """
        self._game, self._timeline = game, timeline

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self.follow(game.number, game.timeline)

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Ask for pictures of these rulings."""
        for t in dict.fromkeys(ruling.t for ruling in rulings if asks(ruling)):
            at = self._timeline.machine(t)
            span = Span(at - BEFORE, at + AFTER)
            self._asked.append(_Asked(span, self._game, self._timeline))
            self._source.want(span)

    def take(self, pictures: Sequence[Picture]) -> None:
        """Take pictures; those that this table did not ask for are dropped."""
        for picture in pictures:
            asked = next((wish for wish in reversed(self._asked) if picture.t in wish.span), None)
            if asked is not None:
                self._waiting.append((asked, asked.timeline.picture(picture)))
        self.flush()

    def flush(self) -> None:
        """Hand on the waiting pictures whose game has a number."""
        ready: defaultdict[int, list[Picture]] = defaultdict(list)
        for _ in range(len(self._waiting)):
            asked, picture = self._waiting.popleft()
            if (game := asked.game()) is None:
                self._waiting.append((asked, picture))
            else:
                ready[game].append(picture)
        for game, some in ready.items():
            self._keep(game, some)


_WAIT: Final = 2.0
"""Seconds that the last pictures are given when the table is switched off."""
LEAST_ROOM: Final = 64 << 20
"""Bytes that pictures leave free on the disk: the games themselves must never lack them."""
_FULL: Final = Sentence("the disk is nearly full, so pictures are not kept, and the game goes on: make room")
_SLOW: Final = Sentence(
    "the disk does not keep up, so pictures are not kept, and the game goes on: it may be worn out, or busy with "
    "something else"
)

_Batch = tuple[int, Sequence[Picture]]


class PictureKeeper:
    """Writes pictures to a file, in a separate thread."""

    def __init__(
        self, open_store: Callable[[], PictureStore], say: Callable[[str], None],
        room: Callable[[], int] = lambda: LEAST_ROOM,
    ) -> None:  # fmt: skip
        """Start the thread.

        Args:
            open_store: opens the file, in the thread that writes; raises `RecordError`. Tried again with each batch.
            say: receives messages about trouble, from any thread, and ``""`` once it works again.
            room: returns the number of free bytes on the disk; raises `OSError`.
        """
        self._open, self._say, self._room = open_store, say, room
        self._store: PictureStore | None = None
        self._words = ""
        self._lock = threading.Lock()
        self._waiting: queue.Queue[_Batch | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="pictures", daemon=True)
        self._thread.start()

    def keep(self, game: int, pictures: Sequence[Picture]) -> None:
        """Have pictures of a game kept; never waits."""
        try:
            self._waiting.put_nowait((game, pictures))
        except queue.Full:
            self._tell(_SLOW)

    def close(self) -> None:
        """Write what waits, if the disk takes it in time."""
        try:
            self._waiting.put(None, timeout=_WAIT)
        except queue.Full:
            # A hung disk: the thread ends with the program.
            return
        self._thread.join(_WAIT)

    def _work(self) -> None:
        # Create the file at once: its existence shows that pictures are switched on.
        self._try(None)
        while (batch := self._waiting.get()) is not None:
            self._try(batch)
        if self._store is not None:
            self._store.close()

    def _try(self, batch: _Batch | None) -> None:
        try:
            if self._store is None:
                self._store = self._open()
            if batch is not None and self._room() < LEAST_ROOM:
                self._tell(_FULL)
                return
            if batch is not None:
                self._store.add(batch[0], list(batch[1]))
        except OSError as error:
            # A `RecordError` says what is wrong and what to do.
            self._tell(words_of(error))
        else:
            # A disk that takes one batch now and then does not keep up yet.
            if self._waiting.empty():
                self._tell("")

    def _tell(self, words: str) -> None:
        with self._lock:
            if words == self._words:
                return
            self._words = words
        self._say(words)


def open_album(
    source: PictureSource, path: Path, say: Callable[[str], None], stack: ExitStack, *, cap: int = PICTURES_CAP
) -> Album:
    """Return an album whose pictures are kept in a file.

    Args:
        source: provides the pictures.
        path: the file.
        say: as in `PictureKeeper`.
        stack: writes the last pictures, and closes the file.
        cap: bytes that they may take.
    """
    store = PictureKeeper(lambda: PictureStore(path, cap=cap), say, lambda: shutil.disk_usage(path.parent).free)
    stack.callback(store.close)
    album = Album(source, store.keep)
    stack.callback(album.flush)
    return album
