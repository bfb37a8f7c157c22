"""The latest frames of a stream, and the instant up to which everything in it has been told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from models.eye.geometry import Quad, centre_of, distance, holds
from models.watch.measure import FEW
from models.watch.motion import Bytes, Glance
from models.watch.pace import LAID_NS, PATIENCE_NS, QUICKEST_LAY_NS, SWEEP_NS
from referee.units import MS

MARGIN_NS: Final = 10 * MS
"""A face that came up so lately is still too steep to be told from an edge: added to the doubt at each end."""
BLIND_NS: Final = 2 * PATIENCE_NS - LAID_NS
"""Longest that a blind camera holds the watermark back: no instant may be less sure than a second either way."""
LONG_AGO: Final = -(2**62)
"""An instant, ns, before every frame's."""


@dataclass(slots=True, eq=False)
class Suspect:
    """White paper that no reading explains: perhaps a face."""

    place: Quad
    """Its upright box, px."""
    sure: bool
    """It is so large that it is a face."""


@dataclass(slots=True, eq=False)
class SeenFrame:
    """What is kept of a frame."""

    index: int
    t: int
    """The start of its exposure, ns ..."""
    end: int
    """... and its end."""
    half: Bytes | None
    """The picture at half size, while it may still be compared with another."""
    image: Bytes | None
    """The picture, while it may still be looked at."""
    glance: Glance
    """What it shows at a glance."""
    looked: bool = False
    """The eye has read it."""
    plain: bool = False
    """It shows nothing new that a look could tell."""
    bare: bool = False
    """It surely shows no face beside those that were known."""
    suspects: list[Suspect] = field(default_factory=list)
    still: list[Suspect] = field(default_factory=list)
    """White paper that did not move."""
    blind: bool = False
    """Nothing of the table could be seen."""


@dataclass(slots=True, eq=False)
class Stream:
    """The frames of one camera, in the order of time."""

    moments: deque[SeenFrame] = field(default_factory=deque)
    """The latest, oldest first."""
    index: int = -1
    """The newest frame's place in the stream."""
    shape: tuple[int, int] = (0, 0)
    """Rows and columns of the picture, px."""
    spacing: int = 0
    """From the frame before to the newest, ns."""
    pace: deque[int] = field(default_factory=lambda: deque(maxlen=FEW))
    """The latest distances from frame to frame, ns."""
    gap_since: int = LONG_AGO
    """When the last frame before the latest gap in the frames began, ns ..."""
    gap_until: int = LONG_AGO
    """... and the first after it."""
    gap_open: bool = False
    """Whether it is not known yet what became of the pile in that gap."""
    busy_t: int = 0
    """When something moved last, ns."""
    blind: bool = False
    """Whether the newest frame shows nothing of the table."""
    blind_since: int = LONG_AGO
    """When the last frame began that showed the table before the camera was blind the last time, ns ..."""
    blind_until: int = LONG_AGO
    """... and the first that showed it again."""
    known_half: Bytes | None = None
    """The last picture, at half size, that showed the newest of the cards known ..."""
    known_quads: list[Quad] = field(default_factory=list)
    """... and where cards showed in it."""
    watermark: int = LONG_AGO
    """Everything with t - t_error up to this instant, ns, has been reported."""

    @property
    def before(self) -> SeenFrame | None:
        """The frame before the newest."""
        return self.moments[-2] if len(self.moments) > 1 else None

    @property
    def soonest(self) -> int:
        """The earliest instant, ns, from which a card that is still to be reported may have come up."""
        return self.watermark + 2 + MARGIN_NS

    def advance(self, t: int, shape: tuple[int, int]) -> None:
        """Go on to the frame of an instant.

        Raises:
            ValueError: it is not later than the one before.
        """
        if self.moments and t <= self.moments[-1].t:
            before = self.moments[-1].t
            raise ValueError(f"frame at {t} ns does not come after the one at {before} ns: feed them in order")
        self.index += 1
        self.shape = shape
        if self.moments:
            self.spacing = t - self.moments[-1].t
            if self.spacing > max(QUICKEST_LAY_NS, FEW * self.usual_spacing):
                # Of two gaps in a row nothing in between has told what the first one left.
                self.gap_since = self.gap_since if self.gap_open else self.moments[-1].t
                self.gap_until, self.gap_open = t, True
            self.pace.append(self.spacing)

    @property
    def usual_spacing(self) -> int:
        """From frame to frame where none was skipped lately, ns; 0 before the second."""
        return min(self.pace, default=0)

    @property
    def slow(self) -> bool:
        """Whether the camera is so slow that cards may pass between any two frames."""
        return len(self.pace) == FEW and self.usual_spacing > QUICKEST_LAY_NS

    @property
    def unveiled(self) -> bool:
        """Whether the camera was blind until just now: what lies there now may have come at any instant since."""
        return not self.blind and self.moments[-1].t - self.blind_until < LAID_NS

    def note_sight(self, clear: bool) -> None:
        """Note whether the newest frame shows the table."""
        now, before = self.moments[-1], self.before
        now.blind = not clear
        if now.blind:
            now.half = None
            # A glimpse in between is too short to tell what had come by then.
            if not self.blind and not (before is not None and before.t - self.blind_until < LAID_NS):
                self.blind_since = before.t if before is not None else now.t
        elif self.blind:
            self.blind_until = now.t
        self.blind = now.blind

    def spans_gap(self, low: int, first: int) -> bool:
        """Whether what came up after ``low`` and was first seen at ``first`` (ns) may have come in the latest gap."""
        return low < self.gap_until <= first

    def came_after(self, k: int) -> int:
        """The instant, ns, after which came what the moment at place ``k`` shows and no earlier one does."""
        if k == 0:
            return self.moments[0].t
        return self.blind_since if self.moments[k - 1].blind else self.moments[k - 1].t

    def keep(self, image: Bytes, t: int, t_error: int, half: Bytes, glance: Glance) -> SeenFrame:
        """Remember the frame that `advance` went on to, and forget what is too old to matter."""
        now = SeenFrame(self.index, t, t + min(t_error, self.spacing or t_error), half, image, glance)
        self.moments.append(now)
        for old in self.moments:
            if old.t >= t - SWEEP_NS:
                break
            old.half = old.image = None
        oldest = min(t - BLIND_NS, self.gap_since - LAID_NS) if self.gap_open else t - BLIND_NS
        while self.moments[0].t < oldest:
            self.moments.popleft()
        return now

    def place_of(self, moment: SeenFrame) -> int:
        """Where a remembered frame stands among the moments."""
        return moment.index - self.moments[0].index

    def explain_way(self, quad: Quad, since: int, until: int, reach: float) -> None:
        """A card was read: the white paper on its way was that card's.

        It is sought between two instants (ns), and never farther than a reach (px) from one frame to the next.
        """
        for moment, near in self._way(quad, since, until, reach):
            moment.suspects = [s for s in moment.suspects if not any(s is one for one in near)]

    def doubt_way(self, quad: Quad, since: int, until: int, reach: float) -> None:
        """A card was read again: the white paper on its way (`explain_way`) may have been that card's."""
        for _, near in self._way(quad, since, until, reach):
            for suspect in near:
                suspect.sure = False

    def _way(self, quad: Quad, since: int, until: int, reach: float) -> Iterator[tuple[SeenFrame, list[Suspect]]]:
        """The white paper on a card's way back from where it was read, frame by frame."""
        place = quad
        for moment in reversed(self.moments):
            if since <= moment.t <= until:
                near = [s for s in moment.suspects if distance(s.place, place) < reach]
                place = min((s.place for s in near), key=lambda one: distance(one, place), default=place)
                # A finger may part the paper in two.
                near += [s for s in moment.suspects if s not in near and distance(s.place, place) < reach / 2]
                yield moment, near

    def explain_place(self, quad: Quad, now: SeenFrame) -> None:
        """A card lies open: the white paper that showed within it so far was its own."""
        for moment in self.moments:
            if moment.t <= now.t:
                moment.suspects = [s for s in moment.suspects if not holds(quad, centre_of(s.place))]

    def unread(self) -> list[SeenFrame]:
        """The frames since the last that was looked at, oldest first, that can still be looked at."""
        out: list[SeenFrame] = []
        for moment in reversed(self.moments):
            if moment.looked or moment.blind or moment.image is None:
                break
            out.append(moment)
        return out[::-1]
