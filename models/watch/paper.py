"""White paper that no reading explains: perhaps a face that comes up, before the eye can read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import PixelBox, Quad, grown, iou
from models.watch.known_cards import Pile
from models.watch.motion import PAPER_STEP, Glance, Motion
from models.watch.pixels import Mask
from models.watch.stream import Moment, Stream, Suspect

FACE_MAYBE: Final = 0.012
"""White paper of this share of a card's area may be a face ..."""
FACE_SURE: Final = 0.04
"""... and of this share is one."""
STAYED: Final = 0.6
"""White paper that overlaps so much with that of the frame before has not moved."""


class Paper:
    """Looks for faces round the pile, and remembers what was white there before a hand came."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile) -> None:
        self._motion = motion
        self._stream = stream
        self._pile = pile
        self._old: tuple[Mask, int] | None = None
        """What was white while all was quiet, at half size, and when that was (ns)."""

    def look(self, now: Moment, glance: Glance, read: Sequence[Quad]) -> None:
        """Note the suspects of the newest frame; ``read`` is where the eye saw cards last."""
        if not self._pile.card_height:
            return
        box = self._surroundings()
        if not glance.reaches:
            self._note_old(box, now, glance)
            return
        before = self._stream.before
        if not (glance.changed or (before is not None and before.suspects)):
            return
        left = self._unexplained(box, now, glance, read)
        least = FACE_MAYBE * 0.7 * (self._pile.card_height / PAPER_STEP) ** 2
        if cv2.countNonZero(left) < least:
            return
        now.suspects += _patches(left, box, least)
        self._drop_still(now)

    def forget(self) -> None:
        """The pile was taken: what was white there is no more."""
        self._old = None

    def _unexplained(self, box: PixelBox, now: Moment, glance: Glance, read: Sequence[Quad]) -> Mask:
        """White paper in a box that came lately and is no card that is known, at half size."""
        left = self._motion.paper_at(box, self._motion.lately(glance, now.t - 5 * self._stream.spacing // 2))
        if self._old is not None:
            left = np.asarray(cv2.bitwise_and(left, cv2.bitwise_not(self._old[0][_halved(box)])), np.uint8)
        known = self._pile.rests + [track.quad for track in self._pile.open]
        for quad in [*known, *self._pile.burned.values(), *read]:
            points = np.rint((grown(quad, 0.05 * self._pile.card_height) - box[:2]) / PAPER_STEP).astype(np.int32)
            cv2.fillConvexPoly(left, points, 0)
        # What is left along a quad that lies a little off is a thin rim; a face is not.
        return np.asarray(cv2.morphologyEx(left, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)), np.uint8)

    def _drop_still(self, now: Moment) -> None:
        """A face that comes up moves; white that stays where it was is a card that lies a little off its reading."""
        before = self._stream.before
        if before is None:
            return
        earlier = [*before.suspects, *before.still]
        now.still = [b for b in now.suspects if any(_stayed(a, b) for a in earlier)]
        now.suspects = [b for b in now.suspects if not any(b is one for one in now.still)]
        before.suspects = [a for a in before.suspects if not any(_stayed(a, b) for b in now.still)]

    def _surroundings(self) -> PixelBox:
        """Where a face may come up."""
        (cx, cy), reach = self._pile.middle(self._stream.shape), 1.75 * self._pile.card_height
        rows, columns = self._stream.shape
        x0, y0 = (max(0, int(c - reach) // PAPER_STEP * PAPER_STEP) for c in (cx, cy))
        x1, y1 = min(columns, int(cx + reach)), min(rows, int(cy + reach))
        return x0, y0, x1 // PAPER_STEP * PAPER_STEP, y1 // PAPER_STEP * PAPER_STEP

    def _note_old(self, box: PixelBox, now: Moment, glance: Glance) -> None:
        """While all is quiet: what is white now is no face that comes up later."""
        if self._pile.open or now.t - self._stream.busy_t < 2 * self._stream.spacing:
            return
        if self._old is not None and self._old[1] >= self._stream.busy_t:
            return
        rows, columns = self._stream.shape
        mask = np.zeros((rows // PAPER_STEP, columns // PAPER_STEP), np.uint8)
        mask[_halved(box)] = cv2.dilate(self._motion.paper_at(box, glance.foreign), np.ones((3, 3), np.uint8))
        self._old = (mask, now.t)


def _patches(left: Mask, box: PixelBox, least: float) -> list[Suspect]:
    """The patches of a mask at half size of the box that have ``least`` pixels or more."""
    found = []
    count, _, stats, _ = cv2.connectedComponentsWithStats(cv2.dilate(left, np.ones((5, 5), np.uint8)))
    for k in range(1, count):
        x, y, w, h, _ = (int(v) for v in stats[k])
        size = cv2.countNonZero(left[y : y + h, x : x + w])
        if size < least:
            continue
        place = np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], np.float32) * PAPER_STEP + box[:2]
        found.append(Suspect(place.astype(np.float32), size >= FACE_SURE / FACE_MAYBE * least))
    return found


def _stayed(before: Suspect, now: Suspect) -> bool:
    """Whether white paper is where it was."""
    return iou(before.place, now.place) > STAYED


def _halved(box: PixelBox) -> tuple[slice, slice]:
    """A box's rows and columns at `PAPER_STEP`."""
    x0, y0, x1, y1 = (side // PAPER_STEP for side in box)
    return slice(y0, y1), slice(x0, x1)
