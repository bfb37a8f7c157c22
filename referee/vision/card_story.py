"""How cards came to be reported, over time, as data: `referee watch --explain --draw` draws it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from models.eye.classes import UNREAD
from models.watch.reasons import Evidence, Look
from referee.engine.observations import Card
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from hardware.ports import Frame
    from models.watch.motion import Bytes
    from models.watch.watcher import Watcher

BEFORE: Final = 130 * MS
"""A story begins so long before the card's span ..."""
AFTER: Final = 200 * MS
"""... and ends so long after the report."""
_RIVALS_NS: Final = SECOND
"""Candidates that are dropped within this time of the report are in the story."""
_KEPT_NS: Final = 4 * SECOND
_ROWS: Final = 720
"""Most rows of a kept frame; a larger one is reduced."""
_PHOTOS: Final = 5
"""Most pictures of a story."""
_SIDE: Final = 240
"""Side of a picture, px."""


@dataclass(frozen=True, slots=True)
class CardPhoto:
    """The card's place in one frame, as a square picture."""

    t: int
    webp: bytes
    outlines: tuple[tuple[Look, tuple[tuple[float, float], ...]], ...]
    """Each card that the eye read there, with its corners as shares of the square's side."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, ns, in which the table was in one state (`Watcher.state`)."""

    start: int
    end: int
    state: str


@dataclass(frozen=True, slots=True)
class CardStory:
    """One reported card: its evidence, and what else happened while it was open."""

    evidence: Evidence
    card: Card
    rivals: tuple[Evidence, ...]
    """Candidates seen in the meantime that were dropped, oldest first."""
    start: int
    """The story's first instant, ns ..."""
    end: int
    """... and its last."""
    states: tuple[Span, ...]
    promised: int
    """Before the report, everything up to this instant had been reported, ns."""
    photos: tuple[CardPhoto, ...]
    truth: int | None = None
    """The instant of the reveal at a simulated table, ns."""


@dataclass(frozen=True, slots=True)
class _Kept:
    t: int
    image: Bytes
    rows: int
    """Of the frame as the watcher saw it."""
    state: str
    watermark: int


class StoryTeller:
    """Follows a watcher that explains itself, and tells the story of each card that it reported.

    ``truth``: the instants, ns, and names of the cards laid, where they are known.
    """

    def __init__(self, truth: Sequence[tuple[int, str]] = ()) -> None:
        self._truth = truth
        self._kept: deque[_Kept] = deque()
        self._open: list[Evidence] = []
        self._dropped: list[Evidence] = []

    def note(self, frame: Frame, watcher: Watcher) -> Iterator[CardStory]:
        """Take in the newest frame, which the watcher has just seen, and yield the stories that end with it."""
        self._kept.append(_Kept(frame.t, _reduced(frame.image), frame.image.shape[0], watcher.state, watcher.watermark))
        while self._kept[0].t < frame.t - _KEPT_NS:
            self._kept.popleft()
        yield from self._told(watcher, frame.t - _RIVALS_NS)

    def finish(self, watcher: Watcher) -> Iterator[CardStory]:
        """Yield the rest of the stories, at the end of the stream."""
        yield from self._told(watcher, None)

    def _told(self, watcher: Watcher, until: int | None) -> Iterator[CardStory]:
        self._open += [evidence for evidence in watcher.evidence if isinstance(evidence.observation, Card)]
        self._dropped += [evidence for evidence in watcher.evidence if evidence.observation is None and evidence.name]
        while self._open and (until is None or self._open[0].t <= until):
            yield self._story(self._open.pop(0))

    def _story(self, evidence: Evidence) -> CardStory:
        card = evidence.observation
        assert isinstance(card, Card)
        start = min([card.t - card.t_error, *(look.t for look in evidence.looks)]) - BEFORE
        end = evidence.t + AFTER
        rivals = [rival for rival in self._dropped if start < first_seen(rival) < end]
        frames = [kept for kept in self._kept if start <= kept.t <= end]
        before = [kept.watermark for kept in self._kept if kept.t < evidence.t]
        return CardStory(
            evidence, card, tuple(sorted(rivals, key=first_seen)), start, end, tuple(_states(frames, end)),
            before[-1] if before else start, tuple(_photos(evidence, rivals, frames)),
            next((t for t, name in self._truth if name == card.card and abs(t - card.t) < SECOND), None),
        )  # fmt: skip


def first_seen(evidence: Evidence) -> int:
    """Return the instant at which a candidate was first read, ns."""
    return evidence.looks[0].t if evidence.looks else evidence.t


def read_as(evidence: Evidence) -> str:
    """Return a candidate's name, or that of its best look if it stayed unread."""
    best = max(evidence.looks, key=lambda look: look.confidence, default=None)
    return best.name if evidence.name == UNREAD and best is not None else evidence.name


def _states(frames: Sequence[_Kept], end: int) -> Iterator[Span]:
    """Yield the table's states, each from the first frame that shows it to the first that shows another."""
    if not frames:
        return
    since = frames[0]
    for before, after in pairwise(frames):
        if after.state != before.state:
            yield Span(since.t, after.t, since.state)
            since = after
    yield Span(since.t, end, since.state)


def _key_instants(evidence: Evidence) -> list[int]:
    """Return the instants that tell most: no face, the first face, the looks, the report; at most `_PHOTOS`."""
    span, looks = [frame.t for frame in evidence.frames], [look.t for look in evidence.looks]
    wanted = [*span[:1], *span[-1:], *looks[:1], *looks[-1:], *span[1:-1], *looks[1:-1], evidence.t]
    return sorted(list(dict.fromkeys(wanted))[:_PHOTOS])


def _reduced(image: Bytes) -> Bytes:
    import cv2
    import numpy as np

    scale = _ROWS / image.shape[0]
    if scale >= 1:
        return image
    return np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


def _photos(evidence: Evidence, rivals: Sequence[Evidence], frames: Sequence[_Kept]) -> Iterator[CardPhoto]:
    """Yield the card's place in the frames that tell most."""
    import cv2
    import numpy as np

    places = [look.corners for look in evidence.looks if look.corners]
    if not places:
        return
    last = np.array(places[-1])
    side = 1.35 * float(np.linalg.norm(np.ptp(last, axis=0)))
    left, top = last.mean(axis=0) - side / 2
    kept = {frame.t: frame for frame in frames}
    for t in _key_instants(evidence):
        if t not in kept:
            continue
        image = kept[t].image
        # From the kept frame, which may be a reduced one, to the square.
        scale = _SIDE / side * kept[t].rows / image.shape[0]
        shift = np.array([[scale, 0, -left * _SIDE / side], [0, scale, -top * _SIDE / side]])
        crop = cv2.warpAffine(image, shift, (_SIDE, _SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        webp = cv2.imencode(".webp", crop, [cv2.IMWRITE_WEBP_QUALITY, 80])[1].tobytes()
        seen = [look for one in (evidence, *rivals) for look in one.looks if look.t == t and look.corners]
        corners = [tuple(((x - left) / side, (y - top) / side) for x, y in look.corners) for look in seen]
        yield CardPhoto(t, webp, tuple(zip(seen, corners, strict=True)))
