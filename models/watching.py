"""From frames with timestamps to observations: cards laid, piles taken, cards slid under.

The watcher looks at every frame at a glance (`models.motion`), has the eye read what changed, and follows each card
from the first frame that shows its face until it is named. It reports a card once it lies on the pile and its name is
sure; a card that cannot be read is reported as ``??``, never as a guess.

Instants: the camera sees only frames, so a face that is missing in one frame (exposed from ``a``) and shown by the
next (exposed until ``b``) came up between ``a`` and ``b``. `Card.t` is the middle of that span and `Card.t_error`
half its length. Where frames in between show something white that the eye could not read, the span is widened over
them. A card that lies there at the first frame is reported at that frame's own instant.

The law of the watermark: once `Watcher.watermark` says w, no observation reported later has t - t_error <= w.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import cv2
import numpy as np

from models.motion import GRAIN, PAPER_STEP, Bytes, Glance, Mask, Motion, Reach, apart, bearing, covered, peak
from models.quads import Box, Quad, area, as_quad, bounds, centre, height, overlap, shared
from models.tracks import LATELY, SURE, UNREAD, Seen, Sighting, Track, plain
from referee.adjudication.observations import Card, Observation, Placed, Taken

MS: Final = 1_000_000
LOOK_BACK: Final = 3
"""How many frames before its first reading a face may have shown unread."""
MEMORY_NS: Final = 1_500_000_000
"""How long glances are kept."""
MARGIN_NS: Final = 10 * MS
"""A face that came up so lately is still too steep to be told from an edge: added to the doubt at each end."""
PATIENCE_NS: Final = 1_000_000_000
"""Longest that an undecided thing may hold the watermark back."""
LOST_NS: Final = 350 * MS
"""A card not seen for so long has been covered or carried off."""
LONE_NS: Final = 250 * MS
"""A card seen on the pile only once has, after this, not slipped under it."""
HOLD_NS: Final = 450 * MS
"""How long something not yet seen on the pile may hold the watermark back."""
QUIET_NS: Final = 400 * MS
"""A card at rest that is still unread after this is not going to be."""
ONE_CARD_NS: Final = 250 * MS
"""Two hands do not lay two cards on one place within so short a time."""
GONE: Final = 0.6
"""Share of the pile's place that must show bare table."""
TAKEN_ERROR_NS: Final = 150 * MS
"""When a pile has "left" is no sharper than the sweep of a hand."""
FULL_ARM: Final = 0.5
"""Share of the line from the picture's edge to a card that an arm must cover."""
FACE_MAYBE: Final = 0.012
"""White paper of this share of a card's area may be a face ..."""
FACE_SURE: Final = 0.04
"""... and of this share is one."""
ALIKE: Final = 0.75
"""Correlation of two looks at the same card at rest, a finger or two over it; other cards correlate less."""
AGREED: Final = 0.6
"""Share of the looks at arms that must agree on a bearing."""
INDEX_WIDE: Final = 0.22
INDEX_TALL: Final = 0.3
"""Part of a card's width and height that its index takes up in the corner."""
INDEX_ALIKE: Final = 0.85
"""Correlation of an index with itself in another frame; other prints correlate less."""
INDEX_NEAR: Final = 0.09
"""Share of a card's height within which two indices are in one place."""
PROOF: Final = 4.4
"""Weight of votes that names a card at once."""


class Reader(Protocol):
    """An eye: finds and reads cards in one picture."""

    def recognise(self, image: Bytes) -> Sequence[Seen]: ...

    def read_at(self, image: Bytes, region: Box, card_height: float | None = None) -> Sequence[Seen]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Suspect:
    """White paper that no reading explains: perhaps a face."""

    place: Quad
    """Its upright box, px."""
    sure: bool
    """It is so large that it is a face."""


@dataclass(slots=True, eq=False)
class _Moment:
    """What is kept of a frame."""

    index: int
    t: int
    end: int
    half: Bytes | None
    suspects: list[Suspect] = field(default_factory=list)
    still: list[Suspect] = field(default_factory=list)
    """White paper that did not move."""
    reaches: list[Reach] = field(default_factory=list)
    foreign: Mask | None = None


class Watcher:
    """Watches one table through one camera; feed it every frame in the order of time.

    Args:
        eye: what reads cards.
        seat_bearings: from seat to its bearing (degrees counter-clockwise from the picture's right), if calibrated.
        packs: packs in play; with one, no card can lie in a pile twice, which tells a nudged card from a new one.
    """

    def __init__(self, eye: Reader, *, seat_bearings: Mapping[int, float] | None = None, packs: int = 1) -> None:
        self._eye = eye
        self._bearings = dict(seat_bearings or {})
        self._packs = packs
        self._motion = Motion()
        self._moments: deque[_Moment] = deque()
        self._index = -1
        self._last_read: Bytes | None = None
        self._read_clear = False
        self._seen_now: list[Quad] = []
        self._names_now: set[str] = set()
        self._dropped: list[Track] = []
        """Scraps whose name turned out to be another card's, in this reading."""
        self._still_reads = 0
        self._pile: list[Track] = []
        self._burned: dict[str, Quad] = {}
        self._open: list[Track] = []
        self._counts = {"c": 0, "t": 0, "p": 0}
        self._card_height = 0.0
        self._watermark = -(2**62)
        self._spacing = 0
        self._leaving: _Moment | None = None
        self._leaving_low = 0
        self._sweeps: deque[tuple[int, float, float]] = deque()
        self._settled: Bytes | None = None
        """The half picture of the last frame without a hand in it."""
        self._glance: Glance | None = None
        self._hand = False
        self._shape = (0, 0)
        self._busy_t = 0
        self._pile_cache: tuple[int, Mask] | None = None
        self._pile_version = 0
        self._old_paper: tuple[Mask, int] | None = None

    # What stands before the camera

    @property
    def watermark(self) -> int:
        """Everything with t - t_error up to this instant, ns, has been reported."""
        return self._watermark

    @property
    def hand_present(self) -> bool:
        """Whether an arm reaches into the picture."""
        return self._hand

    @property
    def pile_present(self) -> bool:
        """Whether cards are known to lie on the table."""
        return bool(self._pile)

    @property
    def pile(self) -> tuple[str, ...]:
        """The names of the cards laid, oldest first."""
        return tuple(track.name or UNREAD for track in self._pile)

    @property
    def state(self) -> str:
        """``dark``, ``blocked``, ``hand``, ``moving`` or ``quiet``."""
        if self._glance is None:
            return "quiet"
        if self._glance.state != "clear":
            return self._glance.state
        if self._hand:
            return "hand"
        return "moving" if self._glance.changed else "quiet"

    # The stream

    def feed(self, image: Bytes, t: int, t_error: int = 0) -> list[Observation]:
        """Take in the next frame and tell what has become known.

        Args:
            image: H x W x 3, uint8, blue first.
            t: the start of its exposure, ns.
            t_error: the exposure's length (or what else makes the instant uncertain), ns.

        Raises:
            ValueError: the frame is not later than the one before.
        """
        if self._moments and t <= self._moments[-1].t:
            before = self._moments[-1].t
            raise ValueError(f"frame at {t} ns does not come after the one at {before} ns: feed them in order")
        self._index += 1
        self._shape = image.shape[:2]
        if self._moments:
            self._spacing = t - self._moments[-1].t
        self._glance = glance = self._motion.look(image, t, self._cards_mask())
        end = t + min(t_error, self._spacing or t_error)
        now = _Moment(self._index, t, end, self._motion.half, reaches=glance.reaches)
        if len(self._moments) > LOOK_BACK + 1:
            self._moments[-1 - LOOK_BACK - 1].half = None
        self._moments.append(now)
        while self._moments[0].t < t - MEMORY_NS:
            self._moments.popleft()
        self._hand = bool(glance.reaches)
        if glance.state != "clear":
            return self._close(now, [])
        if glance.changed:
            self._busy_t = t
        if now.reaches:
            now.foreign = glance.foreign
        self._read(image, now, glance)
        if not glance.reaches and not glance.changed and not any(track.seen_on_pile() for track in self._open):
            self._settled = now.half
        self._suspect(now, glance)
        return self._close(now, self._decide(now, glance))

    def finish(self) -> list[Observation]:
        """Report what is still open; the stream is at its end."""
        out: list[Observation] = []
        if self._moments:
            now = self._moments[-1]
            for track in list(self._open):
                out += self._settle_open(track, now, final=True)
            if self._leaving is not None:
                out += self._take(now)
            self._watermark = max(self._watermark, now.t)
        return sorted(out, key=lambda seen: seen.t)

    # Reading

    def _cards_mask(self) -> Mask | None:
        if not self._pile or self._motion.table is None:
            return None
        if self._pile_cache is None or self._pile_cache[0] != self._pile_version:
            quads = [track.rest if track.rest is not None else track.quad for track in self._pile]
            self._pile_cache = (self._pile_version, self._motion.mask(quads, self._motion.table.shape, widen=2))
        return self._pile_cache[1]

    def _region(self, now: _Moment, glance: Glance) -> Box:
        """The part of the picture worth reading."""
        rows, columns = self._shape
        quads = [track.quad for track in self._pile[-6:]] + [track.quad for track in self._open]
        if not self._card_height or not quads:
            return 0, 0, columns, rows
        if len(self._moments) > 1:
            quads += [suspect.place for suspect in self._moments[-2].suspects]
        return bounds(quads, 0.75 * self._card_height, columns, rows)

    def _worth_reading(self, now: _Moment, glance: Glance, region: Box) -> bool:
        if self._last_read is None:
            return True
        f = self._motion.factor
        spot = np.s_[region[1] // f : region[3] // f + 1, region[0] // f : region[2] // f + 1]
        fresh = cv2.countNonZero(peak(glance.small[spot], self._last_read[spot], 14)) > GRAIN
        if fresh:
            self._still_reads = 0
            return True
        clear = not glance.reaches and not glance.changed
        if (self._open and self._still_reads < 3) or (clear and not self._read_clear):
            self._still_reads += 1
            return True
        return False

    def _read(self, image: Bytes, now: _Moment, glance: Glance) -> None:
        region = self._region(now, glance)
        if not self._worth_reading(now, glance, region):
            return
        whole = region == (0, 0, self._shape[1], self._shape[0])
        # Once a few cards have told their size, looking for that size alone is enough.
        known = self._card_height if self._counts["c"] >= 3 else None
        seen = self._eye.recognise(image) if whole and not known else self._eye.read_at(image, region, known)
        self._last_read = glance.small
        self._read_clear = not glance.reaches and not glance.changed
        found = self._sifted(seen, glance)
        if not self._card_height and found:
            self._card_height = float(np.median([height(quad) for _, quad in found]))
        self._seen_now = [quad for _, quad in found]
        fresh: dict[int, tuple[Track, Seen, Quad]] = {}
        self._names_now = {s.card for s, _ in found}
        for s, quad in found:
            self._attribute(s, quad, now, fresh)
        for track, s, quad in fresh.values():
            on_pile, under = self._lie(s, quad, track)
            scrap = self._old_index(s)
            sighting = Sighting(now.index, now.t, s.card, s.confidence, quad, s.top, on_pile, under, scrap, plain(s))
            track.add(sighting)
            track.note_indices(s)
            self._note_hand(track, now)
        if now.index == 0 and found:
            cards = self._motion.mask([quad for _, quad in found], glance.small.shape, widen=2)
            self._motion.forget_cards(cards, glance.small)

    def _sifted(self, seen: Sequence[Seen], glance: Glance) -> list[tuple[Seen, Quad]]:
        """The readings worth a thought, surest first.

        Between fingers an eye finds scraps of cards; a card that it cannot name counts only where nothing hides it.
        Of one pack's card seen twice, the weaker is another corner of the same.
        """
        clear = not glance.reaches and not glance.changed
        found = [(s, as_quad(s.corners)) for s in seen if s.card != UNREAD or clear]
        found = [(s, quad) for s, quad in found if area(quad) > 100]
        found.sort(key=lambda item: (item[0].card == UNREAD, not plain(item[0]), -item[0].confidence))
        if self._packs > 1:
            return found
        names: set[str] = set()
        once = []
        for s, quad in found:
            if s.card == UNREAD or s.card not in names:
                once.append((s, quad))
            names.add(s.card)
        return once

    def _attribute(self, s: Seen, quad: Quad, now: _Moment, fresh: dict[int, tuple[Track, Seen, Quad]]) -> None:
        """Give one reading to the card it belongs to."""
        known = self._known(s, quad)
        if known is not None:
            self._update_known(known, s, quad, now)
            return
        if s.card in self._burned:
            self._burned[s.card] = quad
            return
        self._dropped.clear()
        track = self._open_track(s, quad, fresh)
        if track is None:
            if not self._may_be_new(s, quad, now):
                return
            track = Track(quad, now.index)
            track.low, track.high = self._unread_reveal(now) if s.card == UNREAD else self._reveal(quad, now)
            track.low = min([track.low, *self._first_looks(track)])
            self._open.append(track)
        elif track.came_under() and len(track.sightings) <= 2 and (plain(s) or self._apart(track, quad)):
            # What was read so before may have been a scrap; then this came up only now.
            track.high = max(track.high, self._reveal(quad, now)[1])
        elif s.card not in (UNREAD, *track.weights()):
            # Perhaps a first look, misread; perhaps another card: then it came up only now. Both are possible.
            track.high = max(track.high, self._reveal(quad, now)[1])
        fresh[id(track)] = (track, s, quad)

    def _first_looks(self, track: Track) -> list[int]:
        """Since when a card of another name was seen coming up just there: it may have been this one, misread."""
        return [
            other.low
            for other in [*self._open, *self._dropped]
            if other.first >= track.first - 2
            and (other in self._dropped or not other.scrap())
            and _between(other.quad, track.quad) < 0.8 * self._card_height
        ]

    def _known(self, s: Seen, quad: Quad) -> Track | None:
        """The reported card that this reading shows again, if it is one."""
        if s.card != UNREAD:
            for track in reversed(self._pile):
                if track.name == s.card and (self._packs == 1 or self._same_place(track, quad)):
                    return track
        if s.card != UNREAD and any(s.card in track.weights() for track in self._open):
            return None  # seen on its way here: it has come to lie just where another lies
        for track in reversed(self._pile):
            alike = overlap(track.quad, quad)
            if alike > 0.88 or (s.card == UNREAD and alike > (0.75 if s.top else 0.4)):
                return track
        return None

    def _same_place(self, track: Track, quad: Quad) -> bool:
        """Whether a card may have been nudged from its place to this one since it was seen last."""
        near = _between(track.quad, quad) < 0.15 * self._card_height
        return overlap(track.quad, quad) > 0.5 or (near and track.last.index >= self._index - 2)

    def _update_known(self, track: Track, s: Seen, quad: Quad, now: _Moment) -> None:
        if s.card != track.name or s.confidence < 0.5:
            return
        before = track.rest
        track.add(Sighting(now.index, now.t, s.card, s.confidence, quad, s.top, on_pile=False, under=False))
        track.note_indices(s)
        del track.sightings[:-4]
        if track.rest is not before:
            self._pile_version += 1

    def _open_track(self, s: Seen, quad: Quad, taken: Mapping[int, object]) -> Track | None:
        """The card under way that this reading shows, if any."""
        free = [track for track in self._open if id(track) not in taken and track.sightings]
        if s.card != UNREAD:
            for track in free:
                if not track.may_still_be(s.card, self._index):
                    continue
                if not self._is_another(track, s, quad):
                    return track
                self._open.remove(track)
                self._dropped.append(track)
        for track in free:
            # A first look, in motion, may have been misread: two cards never follow each other by one frame.
            first_look = len(track.sightings) == 1 and track.first >= self._index - 1
            first_look = first_look and track.belief()[0] not in self._names_now
            if first_look and _between(track.quad, quad) < 0.8 * self._card_height:
                return track
        # A scrap that shows from under the pile is no card on its way, whatever is laid over it later.
        lasting = [track for track in free if not track.fleeting(self._index) and not track.scrap()]
        if s.card != UNREAD:
            lasting = [track for track in lasting if track.first >= self._index - LATELY]
        best = max(lasting, key=lambda track: overlap(track.quad, quad), default=None)
        if best is None:
            return None
        named = best.belief()[0]
        return best if overlap(best.quad, quad) > (0.3 if UNREAD in (s.card, named) else 0.6) else None

    def _is_another(self, track: Track, s: Seen, quad: Quad) -> bool:
        """Whether a reading of an open card's name shows another card, and what was open was a scrap misread so."""
        if track.fleeting(self._index) and track.first < self._index - 2:
            return True
        if not track.scrap() or track.travelled():
            return False
        if track.belief()[1] < SURE:
            return self._apart(track, quad)
        return track.first < self._index - 2 and s.confidence >= SURE and (s.top or self._apart(track, quad))

    def _apart(self, track: Track, quad: Quad) -> bool:
        """Whether a reading lies farther from a scrap's place than that place is unsure."""
        return _between(track.quad, quad) > 0.2 * self._card_height

    def _may_be_new(self, s: Seen, quad: Quad, now: _Moment) -> bool:
        """Whether something has moved where this reading lies, lately enough to have brought a card."""
        if s.card != UNREAD and s.confidence < 0.5:
            return False
        if now.index == 0:
            return True
        if s.card == UNREAD and self._first_unexplained(list(self._moments)) is None:
            return False
        if s.card != UNREAD and self._shown_before(quad, now):
            return False
        inside = self._motion.mask([quad], self._motion.moved_at.shape) > 0
        if not inside.any():
            return False
        moved_at = self._motion.moved_at[inside]
        return bool((moved_at >= now.t - 600 * MS).mean() > 0.3)

    def _shown_before(self, quad: Quad, now: _Moment) -> bool:
        """Whether an index of this card showed in the same place before the hand came: then it is an old one, misread.

        A hand on the pile hides parts of cards, and what is left of one may pass for another.
        """
        if self._settled is None or now.half is None:
            return False
        right, down = (quad[1] - quad[0]) * INDEX_WIDE, (quad[3] - quad[0]) * INDEX_TALL
        corners = [quad[0] + np.stack([0 * right, right, right + down, down])]
        corners.append(quad[2] - np.stack([0 * right, right, right + down, down]))
        known = [track.rest for track in self._pile if track.rest is not None]
        # Bare cloth looks like itself, too: only where a card lay may an index have shown.
        corners = [c for c in corners if any(cv2.pointPolygonTest(k, centre(c), False) >= 0 for k in known)]
        return any(_alike(self._settled, now.half, _grown(as_quad(c), -3.0), INDEX_ALIKE) for c in corners)

    def _old_index(self, s: Seen) -> bool:
        """Whether the only index of this reading shows where one of a known card does: likely that one, misread."""
        if s.card == UNREAD or len(s.indices) != 1:
            return False
        return any(
            other.indices is not None
            and other.name != s.card
            and _alike_print(s.card, other.name or UNREAD)
            and bool((np.linalg.norm(other.indices - s.indices[0], axis=1) < INDEX_NEAR * self._card_height).any())
            for other in self._pile
        )

    def _lie(self, s: Seen, quad: Quad, track: Track) -> tuple[bool, bool]:
        """Whether a card lies on the pile, or under it; neither where only newer cards lie on it."""
        if s.top and not self._pile:
            return True, False
        newer = [other for other in [*self._pile, *self._open] if other is not track and other.high > track.high]
        older = [other for other in self._pile if other.high <= track.high]
        least = 0.12 * area(quad)
        if not any(shared(quad, other.quad) >= least for other in older[-3:]):
            return False, False
        if s.top or plain(s):
            return True, False
        if any(shared(quad, other.quad) > 0.02 * area(quad) for other in newer):
            return False, False
        if any(self._tops(other, quad) for other in [*self._pile, *self._open] if other.high <= track.high):
            return False, True
        return s.confidence >= SURE, False

    def _tops(self, other: Track, quad: Quad) -> bool:
        """Whether a card of the pile was just seen to lie over this place, on top of all."""
        if not other.sightings:
            return False
        seen = other.last
        sure = seen.index == self._index and seen.top and seen.confidence >= 0.8
        return sure and shared(quad, other.quad) >= 0.12 * area(quad)

    # The first frame that shows a face

    def _reveal(self, quad: Quad, now: _Moment) -> tuple[int, int]:
        """The span in which a face, first read in the newest frame, must have come up."""
        moments = list(self._moments)
        if now.index == 0:
            return now.t, now.t
        place, first, perhaps, gaps = quad, len(moments) - 1, len(moments) - 1, 0
        for back in range(len(moments) - 2, max(-1, len(moments) - 2 - LOOK_BACK), -1):
            reach = (1.1 + 0.6 * gaps) * self._card_height
            near = [s for s in moments[back].suspects if _between(s.place, place) < reach]
            if not near and self._lay_alike(quad, moments[back], now):
                first = perhaps = back
            elif near:
                place, perhaps = min(near, key=lambda s: _between(s.place, place)).place, back
                if any(s.sure for s in near):
                    first = back
            else:
                gaps += 1
                if gaps > 1:
                    break
        before = moments[perhaps - 1].t if perhaps > 0 else moments[perhaps].t
        low = max(before, self._watermark + 2 + MARGIN_NS)
        return low, max(low, moments[first].end)

    def _unread_reveal(self, now: _Moment) -> tuple[int, int]:
        """The span for a card that nobody could read until the hand was gone: when white was seen to come."""
        if now.index == 0:
            return now.t, now.t
        moments = list(self._moments)
        low, high = self._watermark + 2 + MARGIN_NS, now.end
        k = self._first_unexplained(moments)
        if k is not None:
            low, high = max(low, moments[k - 1].t), moments[k].end
        return low, max(low, high)

    def _lay_alike(self, quad: Quad, then: _Moment, now: _Moment) -> bool:
        """Whether a card's place looked then as it does now: it lay there already.

        Judged by correlation, for what is printed on them is all that tells one white card from another.
        """
        if then.half is None or now.half is None:
            return False
        return _alike(then.half, now.half, _grown(quad, -5.0), ALIKE)

    def _suspect(self, now: _Moment, glance: Glance) -> None:
        """Note white paper that no reading explains: perhaps a face that comes up."""
        if not self._card_height:
            return
        box = self._surroundings()
        if not glance.reaches:
            self._note_old_paper(box, now, glance)
            return
        if not (glance.changed or self._suspects_before()):
            return
        left = self._motion.paper_at(box, self._motion.lately(glance, now.t - 5 * self._spacing // 2))
        if self._old_paper is not None:
            left = cv2.bitwise_and(left, cv2.bitwise_not(self._old_paper[0][_halved(box)]))
        known = [track.rest for track in self._pile if track.rest is not None] + [track.quad for track in self._open]
        for quad in [*known, *self._burned.values(), *self._seen_now]:
            points = np.rint((_grown(quad, 0.05 * self._card_height) - box[:2]) / PAPER_STEP).astype(np.int32)
            cv2.fillConvexPoly(left, points, 0)
        # What is left along a quad that lies a little off is a thin rim; a face is not.
        left = cv2.morphologyEx(left, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
        least = FACE_MAYBE * 0.7 * (self._card_height / PAPER_STEP) ** 2
        if cv2.countNonZero(left) < least:
            return
        count, _, stats, _ = cv2.connectedComponentsWithStats(cv2.dilate(left, np.ones((5, 5), np.uint8)))
        for k in range(1, count):
            x, y, w, h, _ = (int(v) for v in stats[k])
            size = cv2.countNonZero(left[y : y + h, x : x + w])
            if size < least:
                continue
            place = np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], np.float32) * PAPER_STEP + box[:2]
            now.suspects.append(Suspect(place.astype(np.float32), size >= FACE_SURE / FACE_MAYBE * least))
        self._drop_still(now)

    def _drop_still(self, now: _Moment) -> None:
        """A face that comes up moves; white that stays where it was is a card that lies a little off its reading."""
        if len(self._moments) < 2:
            return
        before = self._moments[-2]
        earlier = [*before.suspects, *before.still]
        now.still = [b for b in now.suspects if any(overlap(a.place, b.place) > 0.6 for a in earlier)]
        now.suspects = [b for b in now.suspects if not any(b is one for one in now.still)]
        before.suspects = [a for a in before.suspects if not any(overlap(a.place, b.place) > 0.6 for b in now.still)]

    def _surroundings(self) -> Box:
        """Where a face may come up."""
        (cx, cy), reach = self._middle(), 1.75 * self._card_height
        rows, columns = self._shape
        x0, y0 = (max(0, int(c - reach) // PAPER_STEP * PAPER_STEP) for c in (cx, cy))
        x1, y1 = min(columns, int(cx + reach)), min(rows, int(cy + reach))
        return x0, y0, x1 // PAPER_STEP * PAPER_STEP, y1 // PAPER_STEP * PAPER_STEP

    def _note_old_paper(self, box: Box, now: _Moment, glance: Glance) -> None:
        """While all is quiet: what is white now is no face that comes up later."""
        if self._open or now.t - self._busy_t < 2 * self._spacing:
            return
        if self._old_paper is not None and self._old_paper[1] >= self._busy_t:
            return
        mask = np.zeros((self._shape[0] // PAPER_STEP, self._shape[1] // PAPER_STEP), np.uint8)
        mask[_halved(box)] = cv2.dilate(self._motion.paper_at(box, glance.foreign), np.ones((3, 3), np.uint8))
        self._old_paper = (mask, now.t)

    def _suspects_before(self) -> bool:
        return len(self._moments) > 1 and bool(self._moments[-2].suspects)

    def _middle(self) -> tuple[float, float]:
        """The pile's middle, or the picture's."""
        if self._pile:
            x, y = np.mean([centre(track.quad) for track in self._pile[-5:]], axis=0)
            return float(x), float(y)
        return self._shape[1] / 2, self._shape[0] / 2

    # Hands

    def _note_hand(self, track: Track, now: _Moment) -> None:
        """Which arm reaches to this card now."""
        if now.foreign is None or len(track.bearings) > 12:
            return
        f = self._motion.factor
        x, y = centre(track.quad)
        skip = self._motion.mask([track.quad] + [t.quad for t in self._pile], now.foreign.shape, widen=2)
        rows, columns = now.foreign.shape
        for reach in now.reaches:
            share = covered(now.foreign, reach, (x / f, y / f), skip)
            if share >= FULL_ARM:
                track.bearings.append((bearing(reach.x, reach.y, (columns / 2, rows / 2)), share**4))

    def _note_sweep(self, now: _Moment) -> None:
        """Remember which arms reach to the pile's middle, for whoever takes it."""
        if now.foreign is None or not self._pile:
            return
        f = self._motion.factor
        x, y = self._middle()
        rows, columns = now.foreign.shape
        skip = self._cards_mask()
        for reach in now.reaches:
            share = covered(now.foreign, reach, (x / f, y / f), skip)
            if share >= FULL_ARM:
                self._sweeps.append((now.t, bearing(reach.x, reach.y, (columns / 2, rows / 2)), share**4))
        while self._sweeps and self._sweeps[0][0] < now.t - 900 * MS:
            self._sweeps.popleft()

    def _seat(self, angle: float | None) -> int | None:
        """The seat whose bearing is nearest, if it is near enough to be nobody else's."""
        if angle is None or not self._bearings:
            return None
        limit = max(25.0, min(60.0, 216.0 / len(self._bearings)))
        seat = min(self._bearings, key=lambda s: apart(self._bearings[s], angle))
        return seat if apart(self._bearings[seat], angle) <= limit else None

    # Decisions

    def _decide(self, now: _Moment, glance: Glance) -> list[Observation]:
        self._note_sweep(now)
        out: list[Observation] = []
        for track in sorted(self._open, key=lambda tr: (tr.high, not self._below(tr))):
            out += self._settle_open(track, now)
        out += self._watch_leaving(now, glance)
        return out

    def _below(self, track: Track) -> bool:
        """Whether another open card lies on this one (only the first frame shows several at once)."""
        return not track.last.top

    def _settle_open(self, track: Track, now: _Moment, final: bool = False) -> list[Observation]:
        """Report, drop or keep a card under way."""
        name, sure = track.belief()
        lost = now.t - track.last.t > LOST_NS
        aged = now.t - track.sightings[0].t
        if self._packs == 1 and name in self.pile and name != UNREAD:
            if lost or final:
                self._open.remove(track)
            return []
        if self._laid(track, now, lost or final):
            weight = track.weights().get(name, 0.0)
            # In motion a suit is soon mistaken, twice in the same way: at rest two looks will do, on the way three.
            quick = weight >= PROOF and track.reads(name) >= (2 if track.still else 3)
            if sure >= 0.985 and quick:
                return self._report(track, name, sure, now)
            if lost or final or aged > PATIENCE_NS or (track.still >= 3 and aged > QUIET_NS):
                if sure >= SURE and track.more_than_a_glimpse(name):
                    return self._report(track, name, sure, now)
                if self._surely_there(track) and not self._another_look(track):
                    return self._report(track, UNREAD, sure, now)
        if lost or final:
            self._open.remove(track)
            return self._vanished(track, name, sure, now)
        if aged > 2 * PATIENCE_NS:
            self._open.remove(track)
        return []

    def _laid(self, track: Track, now: _Moment, over: bool) -> bool:
        """Whether a card has been laid on the pile, and not slid under it or only carried past."""
        on, under = track.seen_on_pile(), track.seen_under()
        if track.sightings[0].index == 0:
            return True
        if not self._pile:
            return track.still >= 1 or len(track.sightings) >= 3
        if track.plainly_laid():
            return True
        if track.came_under():
            return False
        if track.still and track.last.on_pile and on > under:
            return True
        if on >= 3 and (on > 2 * under or all(s.on_pile for s in track.sightings[-3:])):
            return True
        if over or now.t - track.sightings[0].t > LONE_NS:
            if self._bared(track):
                return False
            if any(s.plain and s.on_pile for s in track.sightings):
                return True
            covered_since = any(other.high > track.high for other in [*self._open, *self._pile])
            # What was seen over the pile's edge and then under it has been slid there, unless a card hides it now.
            stays = all(s.on_pile for s in track.sightings[-2:])
            return on > 0 and (on > under or stays or (covered_since and track.came_over()))
        if on > 0 and under == 0 and any(other.high > track.high for other in [*self._open, *self._pile]):
            return True
        return under == 0 and track.still >= 3 and track.last.top

    def _vanished(self, track: Track, name: str, sure: float, now: _Moment) -> list[Observation]:
        """A card that was not seen to lie on the pile is seen no more: slid under it, or carried off."""
        came = max(_between(track.sightings[0].quad, s.quad) for s in track.sightings)
        if sure < SURE or track.reads(name) < 2 or not self._pile or came < 0.25 * self._card_height:
            return []
        if track.seen_under() > max(1, track.seen_on_pile()):
            return self._placed(track, now)
        (x, y), (u, v) = centre(track.quad), self._middle()
        if np.hypot(x - u, y - v) > 1.7 * self._card_height:
            return []
        return self._placed(track, now) if self._bared(track) else []

    def _bared(self, track: Track) -> bool:
        """Whether the pile's top card has since been read on top of all: then nothing was laid on it."""
        top = self._pile[-1]
        return bool(top.sightings) and top.high < track.high and top.last.top and top.last.t > track.last.t

    def _surely_there(self, track: Track) -> bool:
        """Whether an unread card was seen well enough to be a card at all."""
        tops = sum(s.top for s in track.sightings)
        return track.rest is not None and tops >= 3 and track.seen_on_pile() > max(1, track.seen_under())

    def _another_look(self, track: Track) -> bool:
        """Whether what could not be read came up just when and where a card was laid: it is that one."""
        return any(
            other.high >= track.low - ONE_CARD_NS and overlap(other.rest, track.quad) > 0.4
            for other in self._pile[-3:]
            if other.rest is not None
        )

    def _same_again(self, track: Track, name: str) -> bool:
        """Whether a better-seen card came up at the same place within a frame or two: one card, read two ways."""
        close = 2 * max(1, self._spacing) + MARGIN_NS
        return any(
            other is not track
            and not other.came_under()
            and abs(other.high - track.high) < close
            and overlap(other.quad, track.quad) > 0.5
            and len(other.sightings) > track.reads(name) < 3
            for other in [*self._pile[-3:], *self._open]
        )

    def _report(self, track: Track, name: str, sure: float, now: _Moment) -> list[Observation]:
        self._open.remove(track)
        if self._same_again(track, name):
            return []
        track.name = name
        if track.rest is None:
            track.rest = track.quad
        place = next((k for k, other in enumerate(self._pile) if other.high > track.high), len(self._pile))
        self._pile.insert(place, track)
        self._pile_version += 1
        self._card_height = 0.8 * self._card_height + 0.2 * height(track.quad)
        if self._glance is not None and track.still and not self._hand:
            self._motion.learn_paper(self._glance.small, track.quad)
        self._counts["c"] += 1
        low, high = track.low, track.high
        if low != high:
            low = max(low, self._watermark + 2 + MARGIN_NS)
            high = max(low, high)
        t = (low + high) // 2
        error = 0 if track.low == track.high else (high - low + 1) // 2 + MARGIN_NS
        angle = _usual(track.bearings)
        return [
            Card(
                t=t, id=f"c{self._counts['c']}", card=name, seat=self._seat(angle), t_error=error,
                confidence=round(sure, 3), known_at=now.t, bearing=None if angle is None else float(round(angle) % 360),
            )
        ]  # fmt: skip

    def _placed(self, track: Track, now: _Moment) -> list[Observation]:
        name, sure = track.belief()
        if sure < SURE:
            return []
        self._burned[name] = track.quad
        self._counts["p"] += 1
        t = max(track.last.t, self._watermark + 1)
        return [Placed(t=t, id=f"p{self._counts['p']}", seat=self._seat(_usual(track.bearings)), cards=(name,))]

    # The pile taken

    def _watch_leaving(self, now: _Moment, glance: Glance) -> list[Observation]:
        cards = self._cards_mask()
        if cards is None:
            self._leaving = None
            return []
        place = cards > 0
        bare = 1.0 - float(np.count_nonzero(glance.foreign[place])) / max(1, int(np.count_nonzero(place)))
        if bare < GONE:
            self._leaving = None
            return []
        if self._leaving is None:
            self._leaving = now
            return []
        still_there = any(track.last.index >= now.index - 1 for track in self._pile if track.sightings)
        if still_there and now.t - self._leaving.t < PATIENCE_NS:
            return []
        return self._take(now)

    def _take(self, now: _Moment) -> list[Observation]:
        assert self._leaving is not None
        gone = self._leaving
        sweeps = [(angle, weight) for t, angle, weight in self._sweeps if t >= gone.t - 700 * MS]
        t = max(gone.t, self._watermark + 1 + TAKEN_ERROR_NS)
        self._counts["t"] += 1
        self._pile.clear()
        self._burned.clear()
        self._old_paper = None
        self._sweeps.clear()
        self._pile_version += 1
        self._leaving = None
        self._open = [track for track in self._open if track.sightings[0].t > gone.t]
        return [Taken(t=t, id=f"t{self._counts['t']}", seat=self._seat(_usual(sweeps)), t_error=TAKEN_ERROR_NS)]

    # The watermark

    def _close(self, now: _Moment, out: list[Observation]) -> list[Observation]:
        """Raise the watermark as far as nothing undecided stands in its way."""
        moments = list(self._moments)
        busy = now.t - self._busy_t < 2 * max(1, self._spacing)
        back = LOOK_BACK if busy else 1
        mark = moments[max(0, len(moments) - 1 - back)].t if len(moments) > 1 else now.t - 1
        mark -= MARGIN_NS + 1
        holds = [track.low - MARGIN_NS - 2 for track in self._open if self._holds(track, now)]
        k = self._first_unexplained(moments)
        if k is not None:
            holds.append(moments[k - 1].t - MARGIN_NS - 2)
        if self._leaving is not None:
            holds.append(self._leaving.t - TAKEN_ERROR_NS - 1)
        elif self._pile and self._hand:
            holds.append(now.t - TAKEN_ERROR_NS - self._spacing)
        self._watermark = max(self._watermark, min([mark, *holds]))
        return sorted(out, key=lambda seen: seen.t)

    def _holds(self, track: Track, now: _Moment) -> bool:
        """Whether a card under way may still be reported soon; scraps seen under the pile hold nothing up for long."""
        age = now.t - track.sightings[0].t
        return age < HOLD_NS or (track.seen_on_pile() > 0 and age < PATIENCE_NS)

    def _first_unexplained(self, moments: list[_Moment]) -> int | None:
        """The place among moments of the first white paper that may yet turn out to be a card."""
        latest = max((track.high for track in [*self._open, *self._pile]), default=-(2**62))
        for k in range(max(1, len(moments) - 2 * LOOK_BACK), len(moments)):
            if moments[k].t > latest and any(s.sure for s in moments[k].suspects):
                return k
        return None


def _halved(box: Box) -> tuple[slice, slice]:
    """A box's rows and columns at `PAPER_STEP`."""
    x0, y0, x1, y1 = (side // PAPER_STEP for side in box)
    return slice(y0, y1), slice(x0, x1)


def _alike(then: Bytes, now: Bytes, quad: Quad, least: float) -> bool:
    """Whether two half pictures look alike within a quad (px of the whole picture): their greens correlate."""
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


def _alike_print(one: str, other: str) -> bool:
    """Whether a scrap of one card may pass for the other: of the same rank or the same suit."""
    return one[:1] == other[:1] or one[1:] == other[1:]


def _grown(quad: Quad, margin: float) -> Quad:
    """A quad with its corners pushed out from the middle by about ``margin`` px."""
    out = quad - quad.mean(0)
    length = np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-6)
    return np.asarray(quad + out / length * margin * 1.4, np.float32)


def _between(one: Quad, other: Quad) -> float:
    (x0, y0), (x1, y1) = centre(one), centre(other)
    return float(np.hypot(x0 - x1, y0 - y1))


def _usual(angles: Sequence[tuple[float, float]]) -> float | None:
    """The bearing that most weight gathers round; None where two hands have as good a claim."""
    if not angles:
        return None
    best = max(angles, key=lambda one: sum(w for a, w in angles if apart(a, one[0]) < 20))
    near = [(a, w) for a, w in angles if apart(a, best[0]) < 20]
    if sum(w for _, w in near) < AGREED * sum(w for _, w in angles):
        return None
    radians = np.radians([a for a, _ in near])
    weights = np.array([w for _, w in near])
    return float(np.degrees(np.arctan2((np.sin(radians) * weights).sum(), (np.cos(radians) * weights).sum())) % 360)
