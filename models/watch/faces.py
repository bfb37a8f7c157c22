"""Faces that come up: white paper that no reading explains, and the span in which a card came up.

The camera sees only frames, so a face that is missing in one frame and shown by the next came up between the two.
Frames in between that show something white the eye could not read widen the span. Whether a place in the picture looks
as it did in another frame is judged by correlation: what is printed on them is all that tells one white card from
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import PixelBox, Quad, centre_of, convex_quad, distance, grown, iou
from models.watch.motion import PAPER_STEP, Bytes, Glance, Mask, Motion
from models.watch.stream import LOOK_BACK, SeenFrame, Stream, Suspect
from models.watch.tracks import Pile

_CARD_ALIKE: Final = 0.75
"""Correlation of two looks at the same card at rest, a finger or two over it; other cards correlate less."""
_INDEX_WIDE: Final = 0.22
_INDEX_TALL: Final = 0.3
"""Part of a card's width and height that its index takes up in the corner."""
_INDEX_ALIKE: Final = 0.85
"""Correlation of an index with itself in another frame; other prints correlate less."""
_FACE_MAYBE: Final = 0.012
"""White paper of this share of a card's area may be a face ..."""
_FACE_SURE: Final = 0.04
"""... and of this share is one."""
_STAYED: Final = 0.6
"""White paper that overlaps so much with that of the frame before has not moved."""


# The span in which a face came up


def reveal(quad: Quad, now: SeenFrame, stream: Stream, pile: Pile) -> tuple[int, int]:
    """The span, ns, in which a face, first read in the newest frame, must have come up."""
    moments = stream.moments
    if now.index == 0:
        return now.t, now.t
    place, first, perhaps, gaps = quad, len(moments) - 1, len(moments) - 1, 0
    for back in range(len(moments) - 2, max(-1, len(moments) - 2 - LOOK_BACK), -1):
        if moments[back].blind:
            break
        reach = (1.1 + 0.6 * gaps) * pile.card_height
        near = [s for s in moments[back].suspects if distance(s.place, place) < reach]
        if near:
            place, perhaps = min(near, key=lambda s: distance(s.place, place)).place, back
            if any(s.sure for s in near):
                first = back
        elif _looked_alike(moments[back].half, now.half, grown(quad, -5.0), _CARD_ALIKE):
            first = perhaps = back
        else:
            gaps += 1
            if gaps > 1:
                break
    low = max(stream.came_after(perhaps), stream.soonest)
    return low, max(low, moments[first].end)


def unread_reveal(now: SeenFrame, stream: Stream, pile: Pile) -> tuple[int, int]:
    """The span, ns, for a card that nobody could read until the hand was gone: when white was seen to come."""
    if now.index == 0:
        return now.t, now.t
    low, high = stream.soonest, now.end
    k = first_unexplained(stream, pile)
    if k is not None:
        low, high = max(low, stream.came_after(k)), stream.moments[k].end
    return low, max(low, high)


def first_unexplained(stream: Stream, pile: Pile) -> int | None:
    """The place among the moments of the first white paper that may yet turn out to be a card."""
    moments, latest = stream.moments, pile.latest
    for k in range(max(1, len(moments) - 2 * LOOK_BACK), len(moments)):
        if moments[k].t > latest and any(s.sure for s in moments[k].suspects):
            return k
    return None


def shown_before(quad: Quad, then: Bytes | None, now: Bytes | None, known: Sequence[Quad]) -> bool:
    """Whether an index of this card showed in the same place then, on one of the cards known to lie there.

    A hand on the pile hides parts of cards, and what is left of one may pass for another: what showed before the hand
    came is an old card, misread.
    """
    if then is None or now is None:
        return False
    right, down = (quad[1] - quad[0]) * _INDEX_WIDE, (quad[3] - quad[0]) * _INDEX_TALL
    corners = [quad[0] + np.stack([0 * right, right, right + down, down])]
    corners.append(quad[2] - np.stack([0 * right, right, right + down, down]))
    # Bare cloth looks like itself, too: only where a card lay may an index have shown.
    corners = [c for c in corners if any(cv2.pointPolygonTest(k, centre_of(c), False) >= 0 for k in known)]
    return any(_looked_alike(then, now, grown(convex_quad(c), -3.0), _INDEX_ALIKE) for c in corners)


def _looked_alike(then: Bytes | None, now: Bytes | None, quad: Quad, least: float) -> bool:
    """Whether two half pictures look alike within a quad (px of the whole picture): their greens correlate."""
    if then is None or now is None:
        return False
    inner = quad / PAPER_STEP
    x0, y0 = np.maximum(inner.min(0).astype(int), 0)
    x1, y1 = inner.max(0).astype(int) + 1
    views = [half[y0:y1, x0:x1, 1] for half in (then, now)]
    if views[0].shape != views[1].shape or min(views[0].shape) < 3:
        return False
    mask = np.zeros(views[0].shape, np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner - (x0, y0)).astype(np.int32), 1)
    inside = mask > 0
    one, two = (view[inside].astype(np.float32) for view in views)
    if len(one) < 50:
        return False
    one -= one.mean()
    two -= two.mean()
    return float((one * two).sum()) > least * float(np.linalg.norm(one) * np.linalg.norm(two)) + 1e-6


# White paper


class Paper:
    """Looks for faces round the pile, and remembers what was white there before a hand came."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile) -> None:
        self._motion, self._stream, self._pile = motion, stream, pile
        self._old: tuple[Mask, int] | None = None
        """What was white while all was quiet, at half size, and when that was (ns)."""

    def look(self, now: SeenFrame, glance: Glance, read: Sequence[Quad]) -> None:
        """Note the suspects of the newest frame; ``read`` is where the eye saw cards last."""
        if not self._pile.card_height:
            return
        # Where a face may come up.
        (cx, cy), reach = self._pile.middle(self._stream.shape), 1.75 * self._pile.card_height
        rows, columns = self._stream.shape
        x0, y0 = (max(0, int(c - reach) // PAPER_STEP * PAPER_STEP) for c in (cx, cy))
        x1, y1 = min(columns, int(cx + reach)), min(rows, int(cy + reach))
        box = x0, y0, x1 // PAPER_STEP * PAPER_STEP, y1 // PAPER_STEP * PAPER_STEP
        if not glance.reaches:
            self._note_old(box, now, glance)
            return
        before = self._stream.before
        if not (glance.changed or (before is not None and before.suspects)):
            return
        left = self._unexplained(box, now, glance, read)
        least = _FACE_MAYBE * 0.7 * (self._pile.card_height / PAPER_STEP) ** 2
        if cv2.countNonZero(left) < least:
            return
        now.suspects += _patches(left, box, least)
        if before is not None:
            # A face that comes up moves; white that stays where it was is a card that lies a little off its reading.
            earlier = [*before.suspects, *before.still]
            now.still = [b for b in now.suspects if any(_stayed(a, b) for a in earlier)]
            now.suspects = [b for b in now.suspects if not any(b is one for one in now.still)]
            before.suspects = [a for a in before.suspects if not any(_stayed(a, b) for b in now.still)]

    def forget(self) -> None:
        """The pile was taken: what was white there is no more."""
        self._old = None

    def _unexplained(self, box: PixelBox, now: SeenFrame, glance: Glance, read: Sequence[Quad]) -> Mask:
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

    def _note_old(self, box: PixelBox, now: SeenFrame, glance: Glance) -> None:
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
        found.append(Suspect(place.astype(np.float32), size >= _FACE_SURE / _FACE_MAYBE * least))
    return found


def _stayed(before: Suspect, now: Suspect) -> bool:
    """Whether white paper is where it was."""
    return iou(before.place, now.place) > _STAYED


def _halved(box: PixelBox) -> tuple[slice, slice]:
    """A box's rows and columns at `PAPER_STEP`."""
    x0, y0, x1, y1 = (side // PAPER_STEP for side in box)
    return slice(y0, y1), slice(x0, x1)
