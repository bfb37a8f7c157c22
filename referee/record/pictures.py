"""Pictures around slaps, kept beside the games: small JPEGs under a cap, the oldest dropped first.

They are in a separate file, since a picture must never delay a verdict: their commits do not wait for the disk, and a
power cut may cost the last second of them, never the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.record.database import Database, RecordError
from referee.record.schema import PICTURE_SCHEMA, PICTURE_TABLES
from referee.units import MS

PICTURES_CAP: Final = 512 * 1024 * 1024
"""Most bytes of pictures, unless the settings say otherwise."""

BEFORE: Final = 600 * MS
"""Time before a slap for which pictures are kept, ns: people slap some 200 to 500 ms after the card, so the
pictures begin with that card being turned up."""
AFTER: Final = 400 * MS
"""Time after a slap for which pictures are kept, ns: by then every late hand is down."""

FRAMES_FILE: Final = "frames.db"
"""Name of the file, which is beside the record."""
NOT_KEPT: Final = "pictures are not kept, and the game goes on"
"""The consequence of a file that cannot be written."""
PICTURE_PAGE: Final = 4096
"""Page size of the file, bytes: a picture takes whole pages."""
_HELD: Final = (
    f"SELECT coalesce(sum((length(jpeg) + {PICTURE_PAGE - 1}) / {PICTURE_PAGE}), 0) * {PICTURE_PAGE} FROM frame"
)


@dataclass(frozen=True, slots=True)
class Picture:
    """One kept frame."""

    t: int
    """Start of its exposure on the game's timeline, ns."""
    exposure: int
    """ns."""
    jpeg: bytes


class PictureStore(Database):
    """The pictures of every game."""

    def __init__(self, path: Path, *, cap: int = PICTURES_CAP, read_only: bool = False) -> None:
        """Open the file, and create it if missing. ``cap`` in bytes. Raises `RecordError`."""
        super().__init__(path, "ro" if read_only else "rwc", PICTURE_SCHEMA, NOT_KEPT)
        self._cap, self._read_only = cap, read_only
        with self._errors():
            if not read_only:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(PICTURE_TABLES)
            # Measuring scans all of a large file: a reader, which opens it for each picture, goes without.
            self._held = 0 if read_only else self._measured()

    def _measured(self) -> int:
        return int(self._db.execute(_HELD).fetchone()[0])

    @property
    def held(self) -> int:
        """Bytes of pictures, in whole pages."""
        return self._measured() if self._read_only else self._held

    def count(self) -> int:
        """Return the number of pictures; raises `RecordError`."""
        with self._errors():
            return int(self._db.execute("SELECT count(*) FROM frame").fetchone()[0])

    def add(self, game: int, pictures: list[Picture]) -> int:
        """Keep pictures of a game; a frame that is kept already stays unchanged.

        Returns:
            How many old pictures were dropped for them.

        Raises:
            RecordError: they cannot be written; games continue to be recorded.
        """
        held, gone = self._held, 0
        with self.writing() as db:
            for picture in pictures:
                row = (game, picture.t, picture.exposure, picture.jpeg)
                made = db.execute("INSERT OR IGNORE INTO frame VALUES (?, ?, ?, ?)", row)
                held += _pages(len(picture.jpeg)) * made.rowcount
            while held > self._cap:
                oldest = db.execute("SELECT rowid, length(jpeg) FROM frame ORDER BY game, t LIMIT 32").fetchall()
                for rowid, length in oldest:
                    if held <= self._cap:
                        break
                    db.execute("DELETE FROM frame WHERE rowid=?", (rowid,))
                    held -= _pages(length)
                    gone += 1
        self._held = held
        return gone

    def near(self, game: int, start: int, stop: int) -> Iterator[Picture]:
        """Yield the pictures of a game that began between two instants (ns), in order; raises `RecordError`."""
        with self._errors():
            for row in self._db.execute(
                "SELECT t, exposure, jpeg FROM frame WHERE game=? AND t BETWEEN ? AND ? ORDER BY t", (game, start, stop)
            ):
                yield Picture(*row)

    def instants(self, game: int, start: int, stop: int) -> list[int]:
        """Return the instants (ns) of the pictures that `near` would yield; raises `RecordError`."""
        with self._errors():
            rows = self._db.execute(
                "SELECT t FROM frame WHERE game=? AND t BETWEEN ? AND ? ORDER BY t", (game, start, stop)
            )
            return [t for (t,) in rows]


def _pages(length: int) -> int:
    return -(-length // PICTURE_PAGE) * PICTURE_PAGE


__all__ = ["PICTURES_CAP", "BEFORE", "AFTER", "FRAMES_FILE", "PictureStore", "Picture", "RecordError"]
