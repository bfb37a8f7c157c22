"""Assign each reading to a card (known, under way or new), and find how that card lies relative to the pile.

A *scrap* is a piece of an old card that shows from under others, and was read as a card of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.classes import SURE_READING, UNREAD, look_alike
from models.eye.eye import CardSeen
from models.eye.geometry import Quad, area, centre_of, distance, grown, holds, iou, shared_area
from models.watch.faces import (
    INDEX_RIM,
    WhitePatches,
    first_unexplained,
    index_places,
    looked_alike,
    looks_as_known,
    reveal,
    shown_before,
    unread_reveal,
)
from models.watch.gaze import Found
from models.watch.measure import HALF, INDEX, LITTLE, NEARLY_ALL, OVER, PART, SLIGHT, STRIDE
from models.watch.motion import PAPER_STEP, Bytes, Motion
from models.watch.pace import HAND_NS, LAID_NS, SWEEP_NS
from models.watch.reasons import Reason, first_that_holds
from models.watch.stream import SeenFrame, Stream
from models.watch.tracks import PLAIN_CONFIDENCE, Pile, Sighting, Track, double, plain

# Least overlap of two outlines, as a share of what both cover, for a reading to show ..., chosen by hand:
_SAME: Final = 0.88
"""... the known card that lies there, by another name ..."""
_UNREAD_SAME: Final = 0.75
"""... or unread and on top ..."""
_UNREAD_BENEATH: Final = 0.4
"""... or unread and partly covered;"""
_MOVED: Final = 0.6
"""a card under way, by another name ..."""
_UNREAD_MOVED: Final = 0.3
"""... or if either was not read."""

_TOUCHED: Final = 0.02
"""Share of a card above which another overlaps it at all; chosen by hand."""
_ON_TOP: Final = 0.8
"""Least confidence of a reading on top of everything that shows another card to lie below; chosen by hand."""


@dataclass(slots=True, eq=False)
class _Round:
    """The readings of one frame while they are assigned to cards."""

    now: SeenFrame
    names: set[str]
    """The names read in this frame."""
    given: dict[int, tuple[Track, CardSeen, Quad]] = field(default_factory=dict)
    """The open cards that have a reading in this frame, by identity."""


class Attribution:
    """Assigns readings to cards, and opens a card for each reading that shows a new one."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile, paper: WhitePatches) -> None:
        self._motion, self._stream, self._pile, self._paper = motion, stream, pile, paper
        self._settled: Bytes | None = None
        """The half picture of the last frame without a hand in it."""
        self._before = -1
        """Index of the last frame looked at."""
        self._unmoved: dict[str, NDArray[np.float64]] = {}
        """Index positions of each name read where nothing had moved: the card slid there unseen, or is a misreading."""

    def attribute(self, found: Sequence[Found], now: SeenFrame) -> None:
        """Assign each reading of a frame to its card; frames come in order of time."""
        frame = _Round(now, {s.card for s, _ in found})
        for s, quad in found:
            for track in self._pile.open:
                if track.last.name == s.card != UNREAD:
                    self._paper.doubt_way(quad, track.last.t + 1, now.t)
        for s, quad in found:
            self._give(s, quad, frame)
        for track, s, quad in frame.given.values():
            covered = self._other_end_covered(s, quad, now)
            track.add(_sighting(s, quad, track, now, self._pile, self._at_rest(quad, now), covered))
        for track in self._pile.open:
            if id(track) not in frame.given:
                track.note_missed()
        self._explain_white(found, frame)
        self._before = now.index

    def _explain_white(self, found: Sequence[Found], frame: _Round) -> None:
        """Attribute the white paper seen so far to the cards seen now."""
        for track, _, _ in frame.given.values():
            # A reading under the pile may be a misreading of a card on its way to the top.
            if not (track.came_under() and track.may_be_scrap()):
                until = frame.now.t if track.rested is None else track.rested
                self._paper.explain_way(track.quad, track.low, until)
        sure = [(s, quad) for s, quad in found if s.confidence >= SURE_READING]
        if self._pile.laid and any(s.top and s.card == self._pile.laid[-1].name for s, _ in sure):
            for _, quad in sure:
                self._paper.explain_place(quad, frame.now)

    def _other_end_covered(self, s: CardSeen, quad: Quad, now: SeenFrame) -> bool:
        """Return whether another card shows where this card's second index would be: this card is then not on top."""
        ends = [end for end in index_places(quad) if not any(holds(end, index) for index in s.indices)]
        if s.top or len(ends) != 1 or now.half is None:
            return False
        place = grown(ends[0], -INDEX_RIM)
        if not any(holds(rest, centre_of(place)) for rest in self._pile.rests):
            return False
        paper = self._motion.paper_in(now.half, now.glance.foreign)
        inside = np.zeros(paper.shape, np.uint8)
        cv2.fillConvexPoly(inside, np.rint(place / PAPER_STEP).astype(np.int32), 255)
        blank = cv2.countNonZero(cv2.bitwise_and(paper, inside)) > NEARLY_ALL * cv2.countNonZero(inside)
        return blank or looked_alike(self._stream.known_half, now.half, place, NEARLY_ALL)

    def _at_rest(self, quad: Quad, now: SeenFrame) -> bool:
        """Return whether nothing has moved at a card's place since the previous frame."""
        moving = now.glance.moving
        return not moving[self._motion.mask([quad], moving.shape) > 0].any()

    def settle(self, now: SeenFrame) -> None:
        """Remember how the pile looks while no hand is over it and no card is being laid."""
        if now.glance.calm and not any(t.seen_on_pile() for t in self._pile.open):
            self._settled = now.half

    def _give(self, s: CardSeen, quad: Quad, frame: _Round) -> None:
        """Assign one reading to its card."""
        known = first_that_holds(self._known(s, quad, frame.now))
        if known is not None:
            self._update_known(known, s, quad, frame.now)
        elif s.card in self._pile.burned:
            self._pile.note_burned(s.card, quad)
        else:
            dropped: list[Track] = []
            held = self._named_or_unread(s, frame.now)
            track = self._open_track(held, quad, frame, dropped)
            if track is not None:
                self._revise(track, held, quad, frame.now)
            else:
                old = first_that_holds(self._why_not_new(held, quad, frame.now))
                if old is not None:
                    self._pile.reasons.note_once(old, s.card, confidence=s.confidence)
                    return
                track = self._opened(held, quad, frame, dropped)
            frame.given[id(track)] = (track, s, quad)

    def _named_or_unread(self, s: CardSeen, now: SeenFrame) -> CardSeen:
        """Return the reading, as unread if it is in full view but too doubtful to begin a card."""
        begun = any(track.may_still_be(s.card, now.t) for track in self._pile.open)
        if s.confidence >= HALF or begun or not now.glance.calm:
            return s
        return replace(s, card=UNREAD)

    # Known cards

    def _known(self, s: CardSeen, quad: Quad, now: SeenFrame) -> Iterator[tuple[Track | None, object]]:
        """Yield the rules by which this reading shows a reported card again; None: none of them."""
        another = self._shows_another(s, quad, now)
        # Its name is too uncertain to use.
        yield None, another and s.confidence < HALF
        for track in reversed(self._pile.laid):
            if track.name == s.card != UNREAD:
                yield track, self._pile.packs == 1 or self._may_be_nudged(track, quad)
        # A card under way came to rest just where another lies.
        yield None, s.card != UNREAD and self._is_under_way(s)
        # A known card there is never misread so confidently.
        yield None, another or s.confidence >= PLAIN_CONFIDENCE
        whole = s.top and len(s.indices) > 1 and s.confidence >= HALF
        least = _SAME if s.card != UNREAD else _UNREAD_SAME if s.top else _UNREAD_BENEATH
        for track in reversed(self._pile.laid):
            # If it lies under another and this one lies on top, a card was laid almost exactly over it.
            yield track, not (whole and self._is_covered(track)) and iou(track.quad, quad) > least

    def _may_be_nudged(self, track: Track, quad: Quad) -> bool:
        """Return whether a known card may have been nudged here since it was last seen.

        Between two frames a known card may have been pushed.
        """
        near = distance(track.quad, quad) < INDEX * self._pile.card_height
        return iou(track.quad, quad) > HALF or (near and track.last.index >= self._before)

    def _is_under_way(self, s: CardSeen) -> bool:
        """Return whether a card under way was read by this name."""
        # If this reading is beyond doubt, an earlier look, dismissed as a scrap, belonged to a card under way.
        clear = double(s) and s.top and s.confidence >= SURE_READING
        return any(s.card in track.weights() or (clear and track.reads(s.card)) for track in self._pile.open)

    def _shows_another(self, s: CardSeen, quad: Quad, now: SeenFrame) -> bool:
        """Return whether the top card, with no hand on it, differs from what lay there when all was known.

        That happens when a card is laid squarely on the last one: the place shows another face, or white paper came
        that no other card explains.
        """
        whole = len(s.indices) > 1 and s.bare >= HALF
        if not s.top or not (whole or now.glance.calm) or self._stream.known_half is None:
            return False
        came = whole and first_unexplained(self._stream, self._pile) is not None
        return came or not looks_as_known(quad, now, self._stream, NEARLY_ALL)

    def _is_covered(self, track: Track) -> bool:
        """Return whether a known card lies under one laid after it."""
        later = self._pile.laid[self._pile.laid.index(track) + 1 :]
        return any(shared_area(track.quad, other.quad) >= OVER * area(track.quad) for other in later)

    def _update_known(self, track: Track, s: CardSeen, quad: Quad, now: SeenFrame) -> None:
        if s.card != track.name or s.confidence < HALF:
            return
        before = track.rest
        seen = Sighting(
            now.index, now.t, s.card, s.confidence, quad, s.top, on_pile=False, under=False, plain=plain(s),
            bare=s.bare, at_rest=self._at_rest(quad, now), indices=s.indices,
        )  # fmt: skip
        track.add_again(seen)
        if track.rest is not before:
            self._pile.shifted()

    # Cards under way

    def _open_track(self, s: CardSeen, quad: Quad, frame: _Round, dropped: list[Track]) -> Track | None:
        """Return the card under way that this reading shows, if any; add each card it proves a scrap to ``dropped``."""
        free = [track for track in self._pile.open if id(track) not in frame.given and track.sightings]
        # A card under way before a gap in the frames may be anywhere by now: only its name identifies it.
        since = self._stream.gap_since
        if frame.now.t > since:
            free = [t for t in free if t.last.t > since or (s.card != UNREAD and t.reads(s.card))]
        for track in free:
            again = track.reads(s.card) > 0 and iou(track.quad, quad) > HALF
            if s.card == UNREAD or not (again or track.may_still_be(s.card, frame.now.t)):
                continue
            if not self._is_another(track, s, quad, frame.now):
                return track
            self._pile.drop(track, Reason.MISREAD, s.card)
            dropped.append(track)
        free = [track for track in free if track not in dropped]
        return first_that_holds(self._by_another_name(s, quad, frame, free))

    def _by_another_name(
        self, s: CardSeen, quad: Quad, frame: _Round, free: Sequence[Track]
    ) -> Iterator[tuple[Track | None, object]]:
        """Yield the rules by which a reading shows one of the ``free`` cards under way, under another name so far."""
        now = frame.now
        sure = s.card != UNREAD and s.confidence >= SURE_READING
        here = [track for track in free if track.last.name not in frame.names and self._close(track, quad)]
        for track in here:
            # A card seen only once, just now and in motion, may have been misread: two cards never come only one frame
            # apart. A bare card that was read beyond doubt was not misread either.
            once = len(track.sightings) == 1 and track.first >= now.index - 1
            clear = not track.may_be_scrap() or (track.last.confidence >= PLAIN_CONFIDENCE and track.last.bare >= HALF)
            misread = _was_blurred(track, s.card, now) or (once and not (sure and clear))
            # But a scrap under the pile, where a known index shows, is no card being laid.
            yield track, misread and not (track.last.under and track.last.scrap)
        # A scrap that shows from under the pile is no card on its way, whatever is laid over it later.
        lasting = [track for track in free if not track.fleeting(now.index) and not track.scrap()]
        for track in lasting:
            # Each of its readings may be a misreading.
            lately = track in here and track.last.t >= now.t - LAID_NS
            yield track, lately and track.may_be_scrap() and track.likely(s.card)
        # Otherwise it is the card that overlaps this reading most, if it overlaps enough.
        if s.card != UNREAD:
            lasting = [track for track in lasting if track.earliest.t >= now.t - LAID_NS]
            if sure or len(s.indices) > 1:
                # A card read from two indices is no other card; nor is one that lay still before white paper came.
                lasting = [o for o in lasting if o.may_be_scrap() and not (o.still and self._white_since(o.last.t))]
        best = max(lasting, key=lambda track: iou(track.quad, quad), default=None)
        if best is not None:
            least = _UNREAD_MOVED if UNREAD in (s.card, best.belief()[0]) else _MOVED
            yield best, iou(best.quad, quad) > least

    def _white_since(self, t: int) -> bool:
        """Return whether white paper that no card explains has come up since an instant, ns."""
        k = first_unexplained(self._stream, self._pile)
        return k is not None and self._stream.moments[k].t > t

    def _is_another(self, track: Track, s: CardSeen, quad: Quad, now: SeenFrame) -> bool:
        """Return whether a reading of an open card's name shows another card, and the open one was a misread scrap."""
        late = now.t - track.last.t > HAND_NS
        if track.fleeting(now.index) and (late or track.last.on_pile or track.last.under or track.last.scrap):
            # A reading on its way just now was this card; on the pile a scrap may be misread as anything.
            return True
        if not track.scrap() or track.travelled():
            return False
        if not track.is_sure():
            # One index under the pile, and two on a card in full view, belong to two cards.
            return self._apart(track, quad) or (double(s) and track.came_under() and track.may_be_scrap())
        return track.first < now.index - 2 and s.confidence >= SURE_READING and (s.top or self._apart(track, quad))

    def _apart(self, track: Track, quad: Quad) -> bool:
        """Return whether a reading lies farther from a scrap's place than that place is uncertain."""
        # A card that was revealed together with a card on top of it moves with it.
        beneath = any(
            other is not track and other.first == track.first and shared_area(other.quad, track.quad) > 0
            for other in self._pile.open
        )
        return not beneath and distance(track.quad, quad) > INDEX * self._pile.card_height

    def _close(self, track: Track, quad: Quad) -> bool:
        """Return whether a card under way may have moved between the two places within a frame or two."""
        return distance(track.quad, quad) < STRIDE * self._pile.card_height

    def _revise(self, track: Track, s: CardSeen, quad: Quad, now: SeenFrame) -> None:
        """Postpone the latest possible reveal of a card under way, if this reading allows a later one."""
        early_scrap = track.came_under() and len(track.sightings) <= 2
        # The earlier reading may have been a scrap; then this card was revealed only now.
        came_now = early_scrap and (plain(s) or self._apart(track, quad))
        # The first look may be a misreading, or another card that was revealed only now. Both are possible. A reading
        # too doubtful to begin a card is no evidence of another one.
        another = s.card not in (UNREAD, *track.weights()) and s.confidence >= HALF
        if came_now or (track.may_be_scrap() and another):
            track.widen_span(track.low, reveal(quad, now, self._stream, self._pile)[1])

    # New cards

    def _opened(self, s: CardSeen, quad: Quad, frame: _Round, dropped: Sequence[Track]) -> Track:
        """Return a new card under way, or one so far misread as another, if white paper leads back to it."""
        now = frame.now
        if s.card == UNREAD:
            track = Track(quad, now.index, *unread_reveal(now, self._stream, self._pile))
        else:
            track = Track(quad, now.index, *reveal(quad, now, self._stream, self._pile))
        before = self._seen_before(track, s.card, frame)
        if before is not None:
            return before
        for other in [*self._pile.open, *dropped]:
            # A card of another name that was just seen coming up there may have been a misreading of this one.
            lately = other.first >= track.first - 2 or (other in dropped and other.reads(s.card) > 0)
            if lately and (other in dropped or not other.scrap()) and self._close(other, quad):
                track.widen_span(other.low, track.high)
        self._pile.follow(track)
        return track

    def _seen_before(self, track: Track, name: str, frame: _Round) -> Track | None:
        """Return the card under way whose white paper moved on to a new card's place: it was misread so far."""
        if not track.way:
            return None
        begin, reach = min(track.way), STRIDE * self._pile.card_height
        unsure = (o for o in self._pile.open if id(o) not in frame.given and o.may_be_scrap() and not o.scrap())
        return next(
            (
                other
                for other in unsure
                if 0 < begin - other.last.index <= 2
                and other.likely(name)
                and distance(other.quad, track.way[begin]) < reach
            ),
            None,
        )

    def _why_not_new(self, s: CardSeen, quad: Quad, now: SeenFrame) -> Iterator[tuple[Reason | None, object]]:
        """Yield the rules by which a reading begins no card; None: it begins one.

        Something must have moved there recently enough to have brought it. A card in full view where another one was
        known to lie counts as new, too: it came unseen.
        """
        yield Reason.DOUBTFUL, s.card != UNREAD and s.confidence < HALF
        yield None, now.index == 0
        another = self._shows_another(s, quad, now)
        came = another or first_unexplained(self._stream, self._pile) is not None
        yield Reason.NOTHING_CAME, s.card == UNREAD and not came
        whole = another and len(s.indices) > 1
        # A face that showed there while no hand was over the pile is an old card, misread.
        may_be_old = s.card != UNREAD and not whole
        before = self._settled, now.half, self._pile.rests
        yield Reason.SHOWED_BEFORE, may_be_old and shown_before(quad, s.indices, *before)
        if not self._pile.laid:
            self._unmoved.clear()
        unmoved = self._unmoved.get(s.card)
        again = unmoved is not None and _in_places(s.indices, unmoved, SLIGHT * self._pile.card_height)
        yield Reason.NOTHING_MOVED, again
        place = self._motion.mask([quad], now.glance.small.shape)
        moved = whole or self._motion.stirred(place, now.t - SWEEP_NS) > PART
        if not moved:
            self._unmoved[s.card] = s.indices
        yield Reason.NOTHING_MOVED, not moved


def _in_places(indices: NDArray[np.float64], places: NDArray[np.float64], reach: float) -> bool:
    """Return whether each index (px) lies within reach of one of the places."""
    far = np.linalg.norm(indices[:, None] - places[None], axis=2)
    return min(far.shape) > 0 and bool((far.min(axis=1) < reach).all())


def _was_blurred(track: Track, name: str, now: SeenFrame) -> bool:
    """Return whether a card under way is the one read now, with its suit mistaken: blur confuses suits of one colour.

    The card must not have come to rest, and its reveal must be so recent that no other card can have come there.
    """
    return track.rest is None and now.t - track.low < LAID_NS and look_alike(track.belief()[0], name)


# A card's position relative to the pile


class _Where(Enum):
    ON = auto()
    UNDER = auto()
    BESIDE = auto()


def _sighting(
    s: CardSeen, quad: Quad, track: Track, now: SeenFrame, pile: Pile, at_rest: bool, covered: bool
) -> Sighting:
    """Return a reading in the newest frame as a sighting; ``covered``: another card covers its other end."""
    doubled = _in_one_place(s, quad, now, pile)
    where = first_that_holds(_lies(s, quad, track, now, pile, whole=plain(s) and not doubled))
    return Sighting(
        now.index, now.t, s.card, s.confidence, quad, s.top,
        on_pile=where is _Where.ON and not covered, under=where is _Where.UNDER, scrap=_is_old_index(s, pile),
        plain=plain(s) and not doubled, double=double(s) and not doubled, bare=s.bare,
        candidates=s.candidates, at_rest=at_rest, indices=s.indices, grey=s.grey,
    )  # fmt: skip


def _lies(
    s: CardSeen, quad: Quad, track: Track, now: SeenFrame, pile: Pile, whole: bool
) -> Iterator[tuple[_Where, object]]:
    """Yield the rules by which a card lies on the pile, under it, or beside it: there only newer cards lie on it."""
    yield _Where.ON, s.top and not pile.laid
    # A card seen on the pile is about to be reported: the next one soon lies on it.
    sure = (o for o in pile.open if o is not track and o.seen_on_pile() and o.is_sure())
    older = sorted((o for o in (*pile.laid, *sure) if o.high <= track.high), key=lambda o: o.high)
    least = OVER * area(quad)
    yield _Where.BESIDE, not any(shared_area(quad, other.quad) >= least for other in older[-3:])
    yield _Where.ON, s.top or whole
    # A scrap mistaken for a card under way hides nothing.
    newer = [o for o in pile.cards if o is not track and o.high > track.high and (o.name is not None or not o.scrap())]
    yield _Where.BESIDE, any(shared_area(quad, other.quad) > _TOUCHED * area(quad) for other in newer)
    # A card of the pile may just have been seen on top of everything at this place.
    seen = [o for o in pile.cards if o.high <= track.high and o.sightings and o.last.index == now.index]
    there = [o.last for o in seen if shared_area(quad, o.quad) >= least]
    # A hand makes a card look less bare, but another card does so even more.
    barer = [upper for upper in there if upper.bare > s.bare + SLIGHT]
    yield _Where.UNDER, any(upper.plain or (upper.top and upper.confidence >= _ON_TOP) for upper in there)
    yield _Where.UNDER, barer and s.bare < LITTLE
    yield _Where.ON, s.confidence >= SURE_READING and not barer


def _in_one_place(s: CardSeen, quad: Quad, now: SeenFrame, pile: Pile) -> bool:
    """Return whether another card shows whole and on top at this lower reading's place: both cannot be whole."""
    if s.top:
        return False
    seen = (other for other in pile.cards if other.sightings and other.last.index == now.index)
    return any(
        other.last.plain and other.last.top and other.last.name != s.card and iou(other.quad, quad) > HALF
        for other in seen
    )


def _is_old_index(s: CardSeen, pile: Pile) -> bool:
    """Return whether the reading's only index coincides with a known card's index: probably that card, misread.

    A scrap of one card may pass for another of the same rank or the same suit.
    """
    if s.card == UNREAD or len(s.indices) != 1 or s.confidence >= PLAIN_CONFIDENCE:
        return False
    return any(
        other.indices is not None
        and other.name != s.card
        and (s.card[:1] == (other.name or UNREAD)[:1] or s.card[1:] == (other.name or UNREAD)[1:])
        and bool((np.linalg.norm(other.indices - s.indices[0], axis=1) < SLIGHT * pile.card_height).any())
        for other in pile.laid
    )
