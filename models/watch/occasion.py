"""Decides when a look is worthwhile: every frame is checked at a glance, but the eye reads only a few.

A look is due soon after white paper appears that no card explains, when a card on its way has had time to settle, when
a changed place has come to rest, and when the pile's place is bare. Frames that show nothing new are distinguished from
uncertain ones (`SeenFrame.plain`, `SeenFrame.bare`): looks back leave out the former, and the watermark waits for the
latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import cv2
import numpy as np

from models.eye.geometry import PixelBox, grown
from models.watch.decision import is_laid, named_at_once
from models.watch.faces import first_unexplained, looks_as_known, white_at_pile
from models.watch.masks import Mask, both, difference, without
from models.watch.measure import CHANGED, FEW, NEARLY_ALL, SLIGHT, SPECK
from models.watch.motion import Bytes, Motion
from models.watch.pace import HAND_NS, LAID_NS, LET_GO_NS, LONG_AGO, TURNED_NS
from models.watch.reasons import Occasion, first_that_holds
from models.watch.stream import SeenFrame, Stream
from models.watch.tracks import Pile, Track


class Occasions:
    """Decides which frames are worth a look."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile) -> None:
        self._motion, self._stream, self._pile = motion, stream, pile
        self._last: Bytes | None = None
        """The reduced picture of the last frame read ..."""
        self._last_t = LONG_AGO
        """... and its instant, ns."""
        self._clear: Bytes | None = None
        """The reduced picture of the last frame read without movement or arms."""
        self._clear_t = LONG_AGO
        self._last_moved = False
        """Whether anything moved in the last frame read."""
        self._still_looks = 0
        self._hindered = False
        """Whether a hand may have obstructed the last look ..."""
        self._unread_top = False
        """... and whether that look could not read the top card."""

    def note_look(self, now: SeenFrame, unread_top: bool) -> None:
        """Note that the newest frame was read, without its top card if ``unread_top``."""
        self._hindered, self._unread_top = not now.glance.calm, unread_top
        self._last, self._last_t = now.glance.small, now.t
        self._last_moved = now.glance.changed
        if self._clear is None or now.glance.calm:
            self._clear, self._clear_t = self._last, now.t

    def arises(self, now: SeenFrame, region: PixelBox, leaving: int | None) -> Occasion | None:
        """Return why the newest frame is worth a look in a region; None if it is not.

        ``leaving``: the instant (ns) since which the pile's place is bare, or None.
        """
        now.bare = self._shows_no_face(now)
        return first_that_holds(self._rules(now, region, leaving))

    def _rules(self, now: SeenFrame, region: PixelBox, leaving: int | None) -> Iterator[tuple[Occasion, object]]:
        if self._last is None or self._clear is None:
            yield Occasion.FIRST, True
            return
        # A card that came may be readable now that the hand is gone.
        gone = self._hindered and now.glance.calm
        yield Occasion.HAND_LEFT, gone and (self._unread_top or first_unexplained(self._stream, self._pile) is not None)
        f = self._motion.factor
        spot = np.s_[region[1] // f : region[3] // f + 1, region[0] // f : region[2] // f + 1]
        moves = cv2.countNonZero(now.glance.moving[spot]) > SPECK
        # A card read on its way may have come to rest there, so the pile may not be gone.
        yield Occasion.CAME_TO_REST, leaving is not None and self._last_moved and not moves
        other = difference(now.glance.small[spot], self._last[spot], CHANGED)
        if cv2.countNonZero(other) <= SPECK:
            now.plain = True
            self._still_looks += bool(self._pile.open)
            yield Occasion.AGAIN, self._pile.open and self._still_looks <= FEW
            return
        self._still_looks = 0
        yield Occasion.PLACE_BARE, leaving is not None and self._last_t < leaving
        yield Occasion.WHITE, self._white_shows(now)
        tracks = [track for track in self._pile.open if self._is_unsettled(track, now)]
        if tracks:
            yield Occasion.MAY_REST, self._may_settle(tracks, now, other, spot)
        elif moves:
            now.plain = now.bare
            since = next((m.t for m in reversed(self._stream.moments) if m.looked or m.plain), LONG_AGO)
            yield Occasion.MOVEMENT, now.t - since >= LAID_NS
        else:
            now.plain = not (self._has_vanished(now) or self._differs(now, other, spot))
            yield Occasion.CHANGED, not now.plain

    def _shows_no_face(self, now: SeenFrame) -> bool:
        """Whether a frame certainly shows no face beside the known ones: nothing white now, nor a frame ago if a hand
        moves, and all of those unchanged.
        """
        if now.suspects or now.still or not self._pile.card_height:
            return False
        before = self._stream.before
        if before is not None and before.suspects and not now.glance.calm:
            # That white may lie in the shadow of its hand now.
            return False
        known = self._stream.known_quads
        if not (self._pile.laid or self._pile.open):
            return True
        # Without a frame that showed all the known cards, their appearance is unknown.
        return bool(known) and all(looks_as_known(quad, now, self._stream, NEARLY_ALL) for quad in known)

    def _white_shows(self, now: SeenFrame) -> bool:
        """Whether white paper has shown long enough for a first or another look."""
        k = first_unexplained(self._stream, self._pile)
        if k is None:
            return False
        shown = [m for m in islice(self._stream.moments, k, None) if m.t <= now.t - TURNED_NS]
        wait = LET_GO_NS if any(moment.looked for moment in shown) else TURNED_NS
        due = now.t - self._last_t >= wait
        return due and any(white_at_pile(moment, self._stream, self._pile) for moment in shown)

    def _is_unsettled(self, track: Track, now: SeenFrame) -> bool:
        """Whether another look at a card under way may add information."""
        if track.missed or (len(track.sightings) > 1 and track.came_under()):
            return False
        return not (named_at_once(track) and is_laid(track, self._pile, now, over=False))

    def _has_vanished(self, now: SeenFrame) -> bool:
        """Whether a card under way has disappeared, and the hand that laid it or slid it under the pile has gone."""
        return now.glance.calm and any(
            track.missed and track.last.t > self._clear_t and track.is_sure() for track in self._pile.open
        )

    def _may_settle(self, tracks: Sequence[Track], now: SeenFrame, other: Mask, spot: tuple[slice, slice]) -> bool:
        """Whether cards under way have come to rest, or have had the time to."""
        since = now.t - self._last_t
        early = any(track.may_be_scrap() and track.age(now.t) < HAND_NS for track in tracks)
        if since >= (TURNED_NS if early else LET_GO_NS):
            return True
        # Movement so near a card may be its own edge.
        quads = [grown(track.quad, SLIGHT * self._pile.card_height) for track in tracks]
        near = self._motion.mask(quads, now.glance.small.shape)[spot] > 0
        return bool(other[near].any()) and not now.glance.moving[spot][near].any()

    def _differs(self, now: SeenFrame, other: Mask, spot: tuple[slice, slice]) -> bool:
        """Whether a frame at rest shows something new that is neither table nor a card just reported."""
        assert self._clear is not None
        other = both(other, difference(now.glance.small[spot], self._clear[spot], CHANGED))
        other = both(other, now.glance.foreign[spot])
        fresh = [track.quad for track in self._pile.laid if track.earliest.t > self._clear_t]
        fresh = [quad for quad in fresh if looks_as_known(quad, now, self._stream)]
        told = self._motion.mask(fresh, now.glance.small.shape, widen=1)[spot]
        return cv2.countNonZero(without(other, told)) > SPECK
