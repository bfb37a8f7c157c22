"""People's own footage of a dispute: read once for what was seen in it, and again for the pictures that people look at.

`dispute` makes moments of what was seen; pictures show the pile alone, as large as the file has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from referee.engine.observations import Observation
from referee.errors import UserError
from referee.options.video_review.footage_log import FrameSpan
from referee.units import SECOND
from referee.vision.picture_buffer import jpeg, shrunk
from referee.vision.videos import read_frames

if TYPE_CHECKING:
    from models.eye.eye import CardSeen
    from models.eye.geometry import PixelBox
    from models.watch.gaze import CardEye
    from models.watch.watcher import Watcher

_ROUND_PILE: Final = 1.5
"""How far round the pile's middle a picture shows, in card heights: the pile, and the hands that come to it."""
_LARGEST: Final = 720
"""Of a picture, px at most: what a page can show of it."""
_TOLD_EVERY: Final = SECOND


@dataclass(frozen=True, slots=True)
class Footage:
    """What was seen in a file."""

    seen: tuple[Observation, ...]
    frames: tuple[FrameSpan, ...]
    """All its frames, in the order of time."""
    place: PixelBox | None
    """Round the pile; None where no card was seen."""


class PlacedEye:
    """An eye that keeps in mind where it has seen cards; implements `models.watch.gaze.CardEye`."""

    def __init__(self, eye: CardEye) -> None:
        self._eye = eye
        self._quads: list[Any] = []

    def recognise(self, image: Any) -> Sequence[CardSeen]:
        """See `models.eye.eye.Eye.recognise`."""
        return self._noted(self._eye.recognise(image))

    def read_at(self, image: Any, region: PixelBox, card_height: float | None = None) -> Sequence[CardSeen]:
        """See `models.eye.eye.Eye.read_at`."""
        return self._noted(self._eye.read_at(image, region, card_height))

    def _noted(self, seen: Sequence[CardSeen]) -> Sequence[CardSeen]:
        self._quads.extend(one.corners for one in seen)
        return seen

    def find_place(self, columns: int, rows: int) -> PixelBox | None:
        """Where in a picture of that size the pile lies, with room for hands; None where no card was seen.

        The usual middle of all that was seen: a card in a hand, or a print that was taken for one, moves it little.
        """
        import numpy as np

        from models.eye.geometry import centre_of, height_of

        if not self._quads:
            return None
        x, y = np.median([centre_of(quad) for quad in self._quads], axis=0)
        far = _ROUND_PILE * float(np.median([height_of(quad) for quad in self._quads]))
        left, top = max(0, round(x - far)), max(0, round(y - far))
        return left, top, min(columns, round(x + far)), min(rows, round(y + far))


def watch_footage(
    source: Path, eye: CardEye, watcher_of: Callable[[CardEye], Watcher], tell: Callable[[int, int], None]
) -> Footage:
    """Look at every frame of a video, or of a folder of frames.

    Args:
        source: the file or folder.
        eye: what reads cards.
        watcher_of: makes the watcher that looks with an eye.
        tell: is told how much of the file has been read, ns, and how many observations there are; once for each second
            of it.

    Raises:
        UserError: it cannot be read.
    """
    placed = PlacedEye(eye)
    watcher = watcher_of(placed)
    seen: list[Observation] = []
    spans: list[FrameSpan] = []
    size, told = (0, 0), 0
    for frame in read_frames(source):
        seen += watcher.feed(frame.image, frame.t, frame.exposure)
        spans.append(FrameSpan(frame.t, frame.exposure, frame.t_error))
        size = frame.image.shape[1], frame.image.shape[0]
        if frame.t - told >= _TOLD_EVERY:
            told = frame.t
            tell(told, len(seen))
    seen += watcher.finish()
    return Footage(tuple(seen), tuple(spans), placed.find_place(*size))


def cut_pictures(source: Path, wanted: Collection[int], place: PixelBox | None, folder: Path) -> None:
    """Read a file again, and write what some of its frames show of a place into a folder (`picture_path`).

    Raises:
        UserError: it cannot be read, or the pictures cannot be written.
    """
    for index, frame in enumerate(read_frames(source)):
        if index in wanted:
            left, top, right, bottom = place or (0, 0, frame.image.shape[1], frame.image.shape[0])
            data = jpeg(shrunk(frame.image[top:bottom, left:right], _LARGEST))
            if data is None:
                continue
            try:
                picture_path(folder, index).write_bytes(data)
            except OSError as bad:
                raise UserError(
                    "pictures of {source} cannot be kept in {folder}: {why}",
                    source=source,
                    folder=folder,
                    why=bad.strerror,
                ) from None


def picture_path(folder: Path, frame: int) -> Path:
    """Where the picture of a frame is."""
    return folder / f"{frame}.jpg"
