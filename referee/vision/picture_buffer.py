"""A ring of the last seconds of frames, scaled down; those around a slap are returned as JPEGs on request.

A slap is ruled a moment after it happened, and the frames that show its aftermath are still to come. So a request names
a span of time, and each of its frames is returned once, as soon as it exists. A frame that is not requested is dropped
after `REACH` and never leaves memory. Pure, except for OpenCV's arithmetic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from referee.record.pictures import Picture
from referee.units import MS, SECOND

REACH: Final = 3 * SECOND
"""Time for which frames are kept, ns: a slap is ruled within about a second, and then its pictures must be encoded."""
APART: Final = 25 * MS
"""Frames closer than this to the last one kept are skipped, ns, so that a fast camera takes no more memory than 40
frames a second (some 120 frames of 230 KB).
"""
WIDTH: Final = 320
"""Maximum width of a picture, px."""
_QUALITY: Final = 80
"""JPEG quality: a picture takes some 10 KB."""
MOST_ASKED: Final = 32
"""Maximum number of open spans; beyond it the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Span:
    """A requested span of time, ns, both ends included."""

    start: int
    stop: int

    def __contains__(self, t: int) -> bool:
        return self.start <= t <= self.stop


@dataclass(slots=True)
class _Frame:
    t: int
    exposure: int
    image: Any
    """`None`: already returned."""


class PictureRing:
    """Keeps frames, and returns pictures of those that are requested."""

    def __init__(self, encode: Callable[[Any], bytes | None] | None = None) -> None:
        """``encode`` makes a JPEG of a small image, or returns None on failure; None: `jpeg`."""
        self._encode = encode or jpeg
        self._frames: deque[_Frame] = deque()
        self._asked: deque[Span] = deque(maxlen=MOST_ASKED)
        self._newest = -1

    def add(self, image: Any, t: int, exposure: int) -> None:
        """Add a frame (BGR), exposed from ``t`` for ``exposure``, ns; frames come in order of ``t``."""
        self._newest = t
        while self._frames and self._frames[0].t < t - REACH:
            self._frames.popleft()
        if not self._frames or t - self._frames[-1].t >= APART:
            self._frames.append(_Frame(t, exposure, shrunk(image)))

    def want(self, span: Span) -> None:
        """Request pictures of this span, from frames already here and those to come."""
        self._asked.append(span)

    def take(self, most: int) -> list[Picture]:
        """Return the next requested pictures, at most ``most``, oldest first; each frame is returned once."""
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
        # A span stays open until a frame from after its end has come.
        still = [span for span in self._asked if span.stop > self._newest]
        self._asked = deque(still, maxlen=MOST_ASKED)
        return out


def shrunk(image: Any, widest: int = WIDTH) -> Any:
    """Return a copy of a frame at most ``widest`` px wide.

    In two steps: averaging all pixels of a large frame at once takes ten times as long, and picking single pixels
    breaks the print of the cards.
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
    """Encode a small image as JPEG; `None`: it cannot be encoded."""
    import cv2

    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(data) if done else None
