"""Detects a card that shows nothing to read: a joker of unfamiliar design, face up on top of the pile.

The eye cannot read such a card. But the newest card of the pile lay there in sight and was not carried off; now its
place is still, no hand is over it, and it shows neither that card nor the table. So an unreadable card lies there, and
players are asked which it is. A card's back does not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.classes import UNREAD
from models.eye.geometry import Quad, area, convex_quad, grown
from models.watch.faces import face_looked_alike
from models.watch.gaze import Found
from models.watch.masks import both, closed, difference, opened
from models.watch.measure import CHANGED, HALF, LITTLE, MOST, NEARLY_ALL, OVER, PART, SLIGHT, SPECK
from models.watch.motion import Bytes, Glance, Motion
from models.watch.pace import LAID_NS, LONG_AGO, PATIENCE_NS, TURNED_NS
from models.watch.stream import SeenFrame, Stream
from models.watch.surfaces import Surface
from models.watch.tracks import Pile, Sighting, Track

_CARDS = (Surface.FACE, Surface.BACK, Surface.OTHER)
"""Surfaces that a hand may bring."""


class Covered:
    """Watches the place of the pile's newest card for an unreadable card laid on it."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile) -> None:
        self._motion, self._stream, self._pile = motion, stream, pile
        self._top: Track | None = None
        """The newest card of the pile, ..."""
        self._half: Bytes | None = None
        """... its appearance at half size when the eye first saw it on top ..."""
        self._indices: NDArray[np.float64] | None = None
        """... its index positions there, px ..."""
        self._shown = 0
        """... and the instant at which it was last seen unchanged, ns."""
        self._begin: SeenFrame | None = None
        """The first frame of those that show a still object in its place."""
        self._brought = LONG_AGO
        """The instant at which a hand last brought something, ns."""

    @property
    def open_since(self) -> int | None:
        """The instant (ns) since which an unreadable card may lie there; None if none was brought."""
        lately = self._brought > self._shown - LAID_NS and self._stream.moments[-1].t - self._shown < PATIENCE_NS
        return self._came_after if self._top is not None and lately else None

    @property
    def _came_after(self) -> int:
        """The earliest possible reveal, ns: a face comes up beside the pile at most this long before it lies on it."""
        return self._shown - LAID_NS

    @property
    def look_due(self) -> bool:
        """Whether only the eye can tell what lies there."""
        return self._begin is not None

    def look(self, now: SeenFrame, found: Sequence[Found] | None) -> Track | None:
        """Return the unreadable card once one certainly lies there; ``found`` holds the eye's readings, if any."""
        top = self._pile.laid[-1] if self._pile.laid else None
        if top is not self._top:
            self._top, self._begin, self._half = top, None, None
            self._shown = now.t if top is None else top.last.t
        if self._is_brought(now.glance):
            self._brought = now.t
        if top is None:
            return None
        quad = top.quad if top.rest is None else top.rest
        if top.name == UNREAD and self._half is None and self._is_covered(quad, now.glance):
            self._half = now.half
        if self._shows(top, quad, now, found):
            self._shown, self._begin = now.t, None
            return None
        # A card never seen without a hand on it may still be hidden by that hand.
        if self._half is None or not self._is_covered(quad, now.glance) or self._is_read(found):
            self._begin = None
        elif self._begin is None:
            # A newly laid card changes the place; a card that slid off or was nudged did so before it was seen again.
            place = self._motion.mask([quad], now.glance.small.shape, widen=1)
            self._begin = now if self._motion.stirred(place, self._shown + 1) >= PART else None
        elif found is not None and now.t - self._begin.t >= TURNED_NS:
            return self._unread(quad, self._begin, now)
        return None

    def _shows(self, top: Track, quad: Quad, now: SeenFrame, found: Sequence[Found] | None) -> bool:
        """Return whether the newest card shows as it lay."""
        for s, _ in found or ():
            if s.card == top.name != UNREAD and (s.top or (len(s.indices) > 1 and s.bare >= HALF)):
                # A card laid across leaves both ends in sight, and may be mistaken for the lower card's own print.
                moved = self._half is None or self._indices is None or not self._in_place(s.indices, self._indices)
                if moved or face_looked_alike(self._half, now.half, quad, HALF if s.top else MOST):
                    self._half, self._indices = now.half, s.indices
                    return True
                return False
        return self._half is not None and face_looked_alike(self._half, now.half, quad, NEARLY_ALL)

    def _is_brought(self, glance: Glance) -> bool:
        """Return whether a moving object is a card on its way, rather than a hand or something a hand uncovers."""
        cards, before = self._pile.mask(self._motion), self._stream.before
        things = np.isin(glance.kinds, _CARDS) & (glance.moving > 0)
        if cards is not None:
            # Over the pile one card follows another in the picture, with no hand between.
            things &= (cards == 0) | (before is not None and np.isin(before.glance.kinds, _CARDS))
        tall = self._pile.card_height / self._motion.factor
        return bool(np.count_nonzero(things) > OVER * MOST * tall * tall)

    def _is_covered(self, quad: Quad, glance: Glance) -> bool:
        """Return whether a still object that is neither hand, table nor back lies in the card's place."""
        place = self._motion.mask([quad], glance.small.shape, widen=1) > 0
        # A face that cannot be read near a hand can often be read when the hand is gone.
        if glance.state != "clear" or glance.reaches or np.count_nonzero(glance.moving[place]) > SPECK:
            return False
        size = max(1, int(np.count_nonzero(place)))
        shares = np.bincount(glance.kinds[place], minlength=len(Surface)) / size
        bare = shares[Surface.TABLE] + shares[Surface.SHADOW]
        # The network takes fingers over cards for cards: an arm that ends beside the card may reach over it.
        beside = self._motion.mask([grown(quad, PART * self._pile.card_height)], glance.small.shape) > 0
        hand = np.count_nonzero(glance.kinds[beside] == Surface.ARM) / size
        return bool(hand <= LITTLE and shares[Surface.BACK] < MOST and bare < HALF)

    def _is_read(self, found: Sequence[Found] | None) -> bool:
        """Return whether a card under way can be read, or at least shows an index."""
        if any(track.belief()[1] >= HALF for track in self._pile.open):
            return True
        known = {track.name for track in self._pile.laid}
        foreign = [s.indices for s, _ in found or () if s.card == UNREAD or s.card not in known]
        # A known card's index may peep out at its old place, whatever it is read as.
        old = [track.indices for track in self._pile.laid if track.indices is not None]
        return any(not any(self._near(index, those, SLIGHT) for those in old) for new in foreign for index in new)

    def _in_place(self, indices: NDArray[np.float64], before: NDArray[np.float64]) -> bool:
        """Return whether all the indices show where they did, so that their card has not moved."""
        return all(self._near(index, before, LITTLE) for index in indices)

    def _near(self, index: NDArray[np.float64], those: NDArray[np.float64], share: float) -> bool:
        """Return whether an index lies within ``share`` of a card's height of one of ``those``."""
        return bool((np.linalg.norm(those - index, axis=1) < share * self._pile.card_height).any())

    def _unread(self, quad: Quad, begin: SeenFrame, now: SeenFrame) -> Track:
        """Return the unreadable card as a card under way."""
        place = self._outline(quad, now)
        low = max(self._came_after, self._stream.soonest)
        way = {m.index: place for m in self._stream.moments if self._came_after < m.t <= begin.t}
        looks = [
            Sighting(m.index, m.t, UNREAD, 0.0, place, top=True, on_pile=True, under=False, bare=1.0, at_rest=True)
            for m in (begin, now)
        ]
        self._begin = None
        return Track(place, begin.index, low, max(low, begin.end), way, looks, rest=place, rested=begin.t, still=1)

    def _outline(self, quad: Quad, now: SeenFrame) -> Quad:
        """Return its outline: around all that changed there, if about card-sized; otherwise that of the card below."""
        known, small = self._stream.known_half, now.glance.small
        if known is None:
            return quad
        before = np.asarray(cv2.resize(known, small.shape[1::-1], interpolation=cv2.INTER_AREA), np.uint8)
        changed = opened(both(difference(small, before, CHANGED), now.glance.foreign), 2)
        _, parts = cv2.connectedComponents(closed(changed, SPECK + 1))
        there: NDArray[np.int32] = parts[self._motion.mask([quad], small.shape) > 0]
        there = there[there > 0]
        if not len(there):
            return quad
        ys, xs = np.nonzero(parts == np.bincount(there).argmax())
        box = cv2.boxPoints(cv2.minAreaRect(np.column_stack([xs, ys]).astype(np.float32))) * self._motion.factor
        found = convex_quad(np.asarray(box, np.float32))
        return found if MOST * area(quad) < area(found) < area(quad) / MOST else quad
