"""Pictures on their way to the disk, on a thread of their own: a card that is slow or full never holds up a game.

What finds no room in the queue, or on the disk, is given up, and that is told once, until it works again.
"""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.app.picturing import Album, PictureSource
from referee.app.record_frames import CAP, FRAMES, NOT_KEPT, FrameStore, Picture

if TYPE_CHECKING:
    from referee.app.settings import Settings

WAITING: Final = 128
"""Batches that may wait: with two pictures each some 3 MB, and about ten slaps."""
WAIT: Final = 2.0
"""Seconds that the last pictures are given when the table is switched off."""
LEAST_ROOM: Final = 64 << 20
"""Bytes that pictures leave free on the disk: the games themselves must never lack them."""
FULL: Final = f"the disk is nearly full, so {NOT_KEPT}: make room, or set record.pictures_cap_mb lower"
SLOW: Final = f"the disk does not keep up, so {NOT_KEPT}: it may be worn out, or busy with something else"

Batch = tuple[int, Sequence[Picture]]


class PictureStoring:
    """Keeps pictures in a file, some time later."""

    def __init__(
        self, open_store: Callable[[], FrameStore], say: Callable[[str], None],
        room: Callable[[], int] = lambda: LEAST_ROOM,
    ) -> None:  # fmt: skip
        """Begin.

        Args:
            open_store: opens the file, in the thread that writes; raises `RecordError`. Tried again with each batch.
            say: is told what is wrong, from any thread, and nothing (``""``) once it works again.
            room: answers how many bytes are free on the disk; raises `OSError`.
        """
        self._open, self._say, self._room = open_store, say, room
        self._store: FrameStore | None = None
        self._words = ""
        self._lock = threading.Lock()
        self._waiting: queue.Queue[Batch | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="pictures", daemon=True)
        self._thread.start()

    def keep(self, game: int, pictures: Sequence[Picture]) -> None:
        """Have pictures of a game kept; never waits."""
        try:
            self._waiting.put_nowait((game, pictures))
        except queue.Full:
            self._tell(SLOW)

    def close(self) -> None:
        """Keep what waits, if the disk takes it in time."""
        try:
            self._waiting.put(None, timeout=WAIT)
        except queue.Full:
            # A disk that hangs: the thread ends with the program.
            return
        self._thread.join(WAIT)

    def _work(self) -> None:
        # The file is there from the beginning, so that whoever shows pictures knows that they are switched on.
        self._try(None)
        while (batch := self._waiting.get()) is not None:
            self._try(batch)
        if self._store is not None:
            self._store.close()

    def _try(self, batch: Batch | None) -> None:
        try:
            if self._store is None:
                self._store = self._open()
            if batch is not None and self._room() < LEAST_ROOM:
                self._tell(FULL)
                return
            if batch is not None:
                self._store.add(batch[0], list(batch[1]))
        except OSError as bad:
            # A `RecordError` says what is wrong and what to do.
            self._tell(str(bad))
        else:
            # A disk that takes one batch in a while does not keep up yet.
            if self._waiting.empty():
                self._tell("")

    def _tell(self, words: str) -> None:
        with self._lock:
            if words == self._words:
                return
            self._words = words
        self._say(words)


def open_album(
    source: PictureSource | None, record: Path, settings: Settings, say: Callable[[str], None], stack: ExitStack
) -> Album | None:
    """An album beside a record; None where pictures are switched off.

    Args:
        source: whom to ask for pictures; None: nobody remembers any.
        record: the file of games.
        settings: the table's.
        say: as in `PictureStoring`.
        stack: keeps the last pictures, and closes the file.
    """
    if source is None or not settings.record.pictures:
        return None
    return album_in(record.with_name(FRAMES), source, say, stack, cap=settings.record.pictures_cap_mb << 20)


def album_in(
    path: Path, source: PictureSource, say: Callable[[str], None], stack: ExitStack, *, cap: int = CAP
) -> Album:
    """An album whose pictures are kept in the file at ``path``, at most ``cap`` bytes of them; see `open_album`."""
    store = PictureStoring(lambda: FrameStore(path, cap=cap), say, lambda: shutil.disk_usage(path.parent).free)
    stack.callback(store.close)
    album = Album(source, store.keep)
    stack.callback(album.flush)
    return album
