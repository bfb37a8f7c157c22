"""The latest frames of a stream, and the instant up to which all observations have been reported."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Final

from models.eye.geometry import Quad
from models.watch.measure import FEW
from models.watch.motion import Bytes, Glance
from models.watch.pace import LAID_NS, LONG_AGO, PATIENCE_NS, QUICKEST_LAY_NS, SWEEP_NS
from models.watch.reasons import Occasion, Shown, SpanFrame, first_that_holds
from referee.units import MS

MARGIN_NS: Final = 10 * MS
"""Time in which a rising face is too steep to be distinguished from an edge: so much earlier may it have come up."""
BLIND_NS: Final = 2 * PATIENCE_NS - LAID_NS
"""Longest time that a blind camera holds back the watermark, so that no instant is uncertain by more than a second."""


@dataclass(slots=True, eq=False)
class Patch:
    """White paper that no reading explains: perhaps a face."""

    place: Quad
    """Its upright box, px."""
    sure: bool
    """Whether it is large enough to be a face for sure."""


@dataclass(slots=True, eq=False)
class SeenFrame:
    """The record of one frame."""

    index: int
    t: int
    """The start of its exposure, ns ..."""
    end: int
    """... and its end."""
    half: Bytes | None
    """The picture at half size, as long as it may be compared with another."""
    image: Bytes | None
    """The picture, as long as the eye may read it."""
    glance: Glance
    """The frame's quick analysis."""
    looked: bool = False
    """Whether the eye has read it ..."""
    occasion: Occasion | None = None
    """... and why."""
    plain: bool = False
    """Whether it shows nothing new to look at."""
    bare: bool = False
    """Whether it certainly shows no face beside the known ones."""
    suspects: list[Patch] = field(default_factory=list)
    still: list[Patch] = field(default_factory=list)
    """White paper that did not move."""
    blind: bool = False
    """Whether the table could not be seen."""


@dataclass(slots=True, eq=False)
class Stream:
    """The frames of one camera, in order of time."""

    moments: deque[SeenFrame] = field(default_factory=deque)
    """The latest frames, oldest first."""
    index: int = -1
    """Index of the newest frame in the stream."""
    shape: tuple[int, int] = (0, 0)
    """Rows and columns of the picture, px."""
    spacing: int = 0
    """Time between the newest frame and the one before, ns."""
    pace: deque[int] = field(default_factory=lambda: deque(maxlen=FEW))
    """The latest times between frames, ns."""
    gap_since: int = LONG_AGO
    """The start of the last frame before the latest gap in the frames, ns ..."""
    gap_until: int = LONG_AGO
    """... and of the first frame after it."""
    gap_open: bool = False
    """Whether the fate of the pile in that gap is still unknown."""
    busy_t: int = 0
    """The instant of the last movement, ns."""
    blind: bool = False
    """Whether the newest frame does not show the table."""
    blind_since: int = LONG_AGO
    """The start of the last frame that showed the table before the latest blindness, ns ..."""
    blind_until: int = LONG_AGO
    """... and of the first frame that showed it again."""
    known_half: Bytes | None = None
    """The last picture, at half size, that showed the newest known card ..."""
    known_quads: list[Quad] = field(default_factory=list)
    """... and the cards' places in it."""
    watermark: int = LONG_AGO
    """Everything with t - t_error up to this instant, ns, has been reported."""

    @property
    def before(self) -> SeenFrame | None:
        """The frame before the newest."""
        return self.moments[-2] if len(self.moments) > 1 else None

    @property
    def soonest(self) -> int:
        """The earliest instant, ns, at which a card not yet reported may have come up."""
        return self.watermark + 2 + MARGIN_NS

    def advance(self, t: int, shape: tuple[int, int]) -> bool:
        """Advance to the frame at an instant; return whether a gap in the frames ends with it.

        Raises:
            ValueError: the frame is not later than the previous one.
        """
        if self.moments and t <= self.moments[-1].t:
            before = self.moments[-1].t
            raise ValueError(f"frame at {t} ns does not come after the one at {before} ns: feed them in order")
        self.index += 1
        self.shape = shape
        if self.moments:
            self.spacing = t - self.moments[-1].t
            if self.spacing > max(QUICKEST_LAY_NS, FEW * self.usual_spacing):
                # If two gaps follow each other, no frame in between has settled the first one.
                self.gap_since = self.gap_since if self.gap_open else self.moments[-1].t
                self.gap_until, self.gap_open = t, True
            self.pace.append(self.spacing)
        return self.gap_until == t

    @property
    def usual_spacing(self) -> int:
        """Time between frames where none was skipped lately, ns; 0 before the second frame."""
        return min(self.pace, default=0)

    @property
    def slow(self) -> bool:
        """Whether the camera is so slow that cards may pass between any two frames."""
        return len(self.pace) == FEW and self.usual_spacing > QUICKEST_LAY_NS

    @property
    def unveiled(self) -> bool:
        """Whether the camera was blind until just now: a card there now may have come at any instant since."""
        return not self.blind and self.moments[-1].t - self.blind_until < LAID_NS

    def close_gap(self) -> None:
        """Note that the fate of the pile in the gap is known."""
        self.gap_open = False

    def know_cards(self, half: Bytes | None, quads: list[Quad]) -> None:
        """Remember the picture, at half size, that shows all known cards, and their places in it."""
        self.known_half, self.known_quads = half, quads

    def raise_watermark(self, t: int) -> None:
        """Note that everything with t - t_error up to an instant, ns, has been reported."""
        self.watermark = max(self.watermark, t)

    def spans_gap(self, low: int, first: int) -> bool:
        """Whether a card that came after ``low`` and was first seen at ``first`` (ns) may have come in the gap."""
        return low < self.gap_until <= first

    def came_after(self, k: int) -> int:
        """Return the instant, ns, after which something came that the moment at ``k`` is the first to show."""
        if k == 0:
            return self.moments[0].t
        return self.blind_since if self.moments[k - 1].blind else self.moments[k - 1].t

    def keep(self, image: Bytes, t: int, t_error: int, half: Bytes, glance: Glance) -> SeenFrame:
        """Store the frame that `advance` moved to, and whether it shows the table; drop frames too old to matter."""
        blind = glance.state != "clear"
        end = t + min(t_error, self.spacing or t_error)
        now = SeenFrame(self.index, t, end, None if blind else half, image, glance, blind=blind)
        self.moments.append(now)
        for old in self.moments:
            if old.t >= t - SWEEP_NS:
                break
            old.half = old.image = None
        oldest = min(t - BLIND_NS, self.gap_since - LAID_NS) if self.gap_open else t - BLIND_NS
        while self.moments[0].t < oldest:
            self.moments.popleft()
        self._note_sight(now)
        return now

    def _note_sight(self, now: SeenFrame) -> None:
        before = self.before
        if now.blind and not self.blind:
            # A glimpse in between is too short to show what had come by then.
            if before is None or before.t - self.blind_until >= LAID_NS:
                self.blind_since = now.t if before is None else before.t
        elif self.blind and not now.blind:
            self.blind_until = now.t
        self.blind = now.blind
        if not now.blind and now.glance.changed:
            self.busy_t = now.t

    def span_frames(self, low: int, high: int, way: Container[int], read: Container[int]) -> Iterator[SpanFrame]:
        """Yield the frames of a span, ns, from the last that surely shows no face to the first that surely does.

        ``way`` and ``read`` are the indices of the frames that show the card's white paper, and its name.
        """
        last = max((m.t for m in self.moments if m.t <= low), default=low)
        first = min((m.end for m in self.moments if m.end >= high), default=high)
        for moment in self.moments:
            if last <= moment.t and moment.end <= first:
                shown = first_that_holds(_shown(moment, low, high, way, read)) or Shown.UNCERTAIN
                yield SpanFrame(moment.t, moment.end, shown)

    def place_of(self, moment: SeenFrame) -> int:
        """Return the index of a stored frame among the moments."""
        return moment.index - self.moments[0].index

    def unread(self) -> list[SeenFrame]:
        """Return the readable frames since the last look, oldest first."""
        out: list[SeenFrame] = []
        for moment in reversed(self.moments):
            if moment.looked or moment.blind or moment.image is None:
                break
            out.append(moment)
        return out[::-1]


def _shown(
    moment: SeenFrame, low: int, high: int, way: Container[int], read: Container[int]
) -> Iterator[tuple[Shown, object]]:
    yield Shown.NONE, moment.t <= low < high
    yield Shown.NOTHING_SEEN, moment.blind
    yield Shown.READ, moment.index in read
    yield Shown.PAPER, moment.index in way or moment.suspects
    yield Shown.ALIKE, moment.end >= high
    yield Shown.HAND, moment.glance.reaches
