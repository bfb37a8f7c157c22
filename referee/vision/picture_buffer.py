"""The last seconds of frames, made small, of which those round a slap are given out as JPEGs when they are asked for.

A slap is ruled a moment after it happened, and frames that show what followed are still to come: so what is asked for
is a stretch of time, and its frames are given out as they are there, each of them once. A frame that is not asked for
is forgotten after `REACH` and was never more than pixels in memory. Pure, but for OpenCV's arithmetic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from referee.record.pictures import Picture
from referee.units import MS, SECOND

REACH: Final = 3 * SECOND
"""How far back frames are kept, ns: a slap is ruled within about a second, and then its pictures have to be made."""
APART: Final = 25 * MS
"""Frames nearer than that to the last one kept are left out, ns: so a fast camera takes no more memory than 40 frames
a second (some 120 frames of 230 KB)."""
WIDTH: Final = 320
"""Of a picture, px at most."""
_QUALITY: Final = 80
"""Of the JPEG: a picture takes some 10 KB."""
MOST_ASKED: Final = 32
"""Stretches that may be open at once; of more the oldest are given up."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time of which pictures are wanted, ns, both ends with it."""

    start: int
    stop: int

    def __contains__(self, t: int) -> bool:
        return self.start <= t <= self.stop


@dataclass(slots=True)
class _Frame:
    t: int
    exposure: int
    image: Any
    """None: it has been given out."""


class PictureRing:
    """Keeps frames, and gives out pictures of those that are asked for."""

    def __init__(self, encode: Callable[[Any], bytes | None] | None = None) -> None:
        """``encode`` makes a JPEG of a small image, or None where that fails; None takes `jpeg`."""
        self._encode = encode or jpeg
        self._frames: deque[_Frame] = deque()
        self._asked: deque[Span] = deque(maxlen=MOST_ASKED)
        self._newest = -1

    def add(self, image: Any, t: int, exposure: int) -> None:
        """A frame (BGR), exposed from ``t`` on for ``exposure``, ns; frames come in the order of ``t``."""
        self._newest = t
        while self._frames and self._frames[0].t < t - REACH:
            self._frames.popleft()
        if not self._frames or t - self._frames[-1].t >= APART:
            self._frames.append(_Frame(t, exposure, shrunk(image)))

    def want(self, span: Span) -> None:
        """Pictures of this stretch are wanted: of frames that are there and of those to come."""
        self._asked.append(span)

    def take(self, most: int) -> list[Picture]:
        """The next pictures that are wanted, at most so many, the oldest first; each frame is given out once."""
        out: list[Picture] = []
        if not self._asked:
            return out
        for frame in self._frames:
            if len(out) >= most:
                return out
            if frame.image is not None and any(frame.t in span for span in self._asked):
                data, frame.image = self._encode(frame.image), None
                if data is not None:
                    out.append(Picture(frame.t, frame.exposure, data))
        still = [span for span in self._asked if span.stop > self._newest]
        self._asked = deque(still, maxlen=MOST_ASKED)
        return out


def shrunk(image: Any, widest: int = WIDTH) -> Any:
    """A frame at most so many px wide, as an array of its own.

    In two steps: averaging all pixels of a large frame at once takes ten times as long as this, and picking single
    pixels breaks the print of the cards.
    """
    import cv2

    height, width = image.shape[:2]
    if width <= widest:
        return image.copy()
    size = (widest, max(1, round(height * widest / width)))
    if width > 2 * widest:
        image = cv2.resize(image, (2 * size[0], 2 * size[1]), interpolation=cv2.INTER_LINEAR)
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)


def jpeg(image: Any) -> bytes | None:
    """A JPEG of a small image; None where it cannot be made."""
    import cv2

    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(data) if done else None
