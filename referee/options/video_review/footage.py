"""Footage of a dispute: read once for the observations in it, and again for the pictures that people look at.

`dispute` finds the moments; pictures show the pile only, in the file's resolution.
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
"""Half the width of a picture round the pile's middle, in card heights: the pile, and the hands that come to it."""
_LARGEST: Final = 720
"""Maximum size of a picture, px: a page cannot show more."""
_TOLD_EVERY: Final = SECOND


@dataclass(frozen=True, slots=True)
class Footage:
    """The observations in a file."""

    seen: tuple[Observation, ...]
    frames: tuple[FrameSpan, ...]
    """All its frames, in the order of time."""
    place: PixelBox | None
    """The area of the pile; None: no card was seen."""


class PlacedEye:
    """An eye that remembers where it has seen cards; implements `models.watch.gaze.CardEye`."""

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
        self._quads.extend(card.corners for card in seen)
        return seen

    def find_place(self, columns: int, rows: int) -> PixelBox | None:
        """Return the area of the pile in a picture of that size, with room for hands; `None`: no card was seen.

        It uses the median of all cards seen: a card in a hand, or a misread print, hardly moves it.
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
        eye: reads cards.
        watcher_of: makes a watcher with an eye.
        tell: called once for each second of the file with the time read so far, ns, and the number of observations.

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


def length_of(source: Path) -> int:
    """Return how long a video plays, ns; 0: unknown."""
    import cv2

    video = cv2.VideoCapture(str(source)) if source.is_file() else None
    if video is None or not video.isOpened():
        return 0
    rate, frames = video.get(cv2.CAP_PROP_FPS), video.get(cv2.CAP_PROP_FRAME_COUNT)
    return round(frames / rate * SECOND) if rate > 0 and frames > 0 else 0


def cut_pictures(source: Path, wanted: Collection[int], place: PixelBox | None, folder: Path) -> None:
    """Read a file again, and write the given frames' pictures of an area into a folder (`picture_path`).

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
            except OSError as error:
                raise UserError(
                    "pictures of {source} cannot be kept in {folder}: {why}",
                    source=source,
                    folder=folder,
                    why=error.strerror,
                ) from None


def picture_path(folder: Path, frame: int) -> Path:
    """Return the path of a frame's picture."""
    return folder / f"{frame}.jpg"
