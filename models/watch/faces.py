"""Reveals: white paper that no reading explains, and the time span in which a face came up.

The camera sees only frames, so a face that one frame lacks and the next one shows came up between the two. A frame
certainly shows no face, certainly shows one, or is uncertain: something grey may be a steep or blurred face, and a hand
hides what it covers. Uncertain frames widen the span. Whether a place looks as it did in another frame is judged by
correlation: only the print distinguishes one white card from another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.eye import CardSeen
from models.eye.geometry import Quad, area, centre_of, convex_quad, distance, grown, holds, iou, shared_area
from models.watch.masks import Mask, box_of, opened, widened, without
from models.watch.measure import FEW, HALF, INDEX, LITTLE, MOST, NEARLY_ALL, OVER, SLIGHT, STRIDE
from models.watch.motion import PAPER_STEP, Bytes, Glance, Motion
from models.watch.pace import LAID_NS, LONG_AGO, PATIENCE_NS
from models.watch.stream import Patch, SeenFrame, Stream
from models.watch.tracks import Pile, plain

# Pixels of the picture, chosen by hand:
_FACE_RIM: Final = 5.0
"""A face's edge that comparisons leave out: a card read twice lies that far off its place."""
INDEX_RIM: Final = 3.0
"""The same of an index's place."""
_LEAST_VIEW: Final = 3
"""Least side of a place that can be compared, half pixels ..."""
_LEAST_PIXELS: Final = 50
"""... and least number of its half pixels."""

# The span in which a face came up


@dataclass(frozen=True, slots=True)
class FaceSigns:
    """The first frames that show a card's reveal, as frame indices."""

    sure: int
    """The first frame that certainly shows its face ..."""
    likely: int
    """... and the first that shows it unless a hand uncovered a known card there."""
    maybe: int
    """The first frame that may: all known frames before it certainly show none."""
    way: dict[int, Quad]
    """Places of the card's white paper on its way, px, by frame index."""

    @property
    def white(self) -> bool:
        """White paper in other places was evidence of the reveal."""
        return bool(self.way)


def reveal(quad: Quad, now: SeenFrame, stream: Stream, pile: Pile) -> tuple[int, int, dict[int, Quad]]:
    """Return the span, ns, in which a face read in a frame must have come up, and its place since then by frame."""
    if now.index == 0:
        return now.t, now.t, {}
    signs, begin = first_signs(quad, now, stream, pile), stream.moments[0].index
    low = max(stream.came_after(signs.maybe - begin), stream.soonest)
    return low, max(low, stream.moments[signs.sure - begin].end), signs.way


def first_signs(quad: Quad, now: SeenFrame, stream: Stream, pile: Pile) -> FaceSigns:
    """Follow a card that is read at ``quad`` (px) in a frame back to where it came up."""
    place, gaps, read = quad, 0, True
    sure = likely = maybe = now.index
    way: dict[int, Quad] = {}
    elsewhere = [s for s in now.still if not holds(quad, centre_of(s.place))]
    last, with_nbsp, seen = now.t, True, True
    for moment in islice(reversed(stream.moments), stream.moments[-1].index - now.index + 1, None):
        if moment.blind:
            break
        if seen and moment.t <= stream.gap_since < now.t:
            # This card may have shown before the gap, but not certainly: no more is known.
            seen, last = False, moment.t
        if moment.bare or gaps >= 2 * FEW:
            # Any reveal between here and the first sign would have gone unseen.
            maybe -= gaps
            break
        reach = (STRIDE + STRIDE / 2 * gaps) * pile.card_height
        lately = last - moment.t <= LAID_NS  # no hand hides the card it lays for longer
        near = [s for s in moment.suspects if lately and distance(s.place, place) < reach]
        if near:
            last = moment.t
            with_nbsp = with_nbsp and not gaps
            gaps, maybe = 0, moment.index
            if not seen:
                continue
            place = min(near, key=lambda s: distance(s.place, place)).place
            if not with_nbsp:
                continue  # white that disappeared in between may have been something else, such as a pale hand
            way[moment.index] = place
            # White that may be the previous card on its way is no certain sign of this one. Nor is white that then lay
            # still elsewhere: it may be a card that a hand has just uncovered.
            moved = [s for s in near if s.sure and not any(_stayed(s, other) for other in elsewhere)]
            if moved and not _another_came(moment, pile):
                likely = moment.index
                # No look may have shown it uncovered yet, so the place proves nothing.
                if not all(_lies_on_known(s, moment, pile) for s in moved):
                    sure = moment.index
            elsewhere = moment.still
        elif _lay_there(quad, moment, now, stream):
            # If the eye looked and did not find it, another card that looks like it may lie there.
            read = read and not moment.looked and seen
            gaps, maybe = 0, moment.index
            if read:
                sure = likely = moment.index
            last, elsewhere = moment.t, []
        else:
            gaps += 1
            elsewhere = moment.still
    return FaceSigns(sure, likely, maybe, way)


def _lies_on_known(suspect: Patch, moment: SeenFrame, pile: Pile) -> bool:
    """Whether white paper lies on a card known before: it may be that card, which a hand has just uncovered."""
    known = (o.quad for o in pile.cards if (o.name or o.is_sure()) and o.sightings and o.earliest.t < moment.t)
    return any(shared_area(suspect.place, quad) >= MOST * area(suspect.place) for quad in known)


def _lay_there(quad: Quad, moment: SeenFrame, now: SeenFrame, stream: Stream) -> bool:
    """Whether a card read now already lay there: the place resembles it, and the known cards less so."""
    alike = face_looked_alike(moment.half, now.half, quad, MOST)
    return alike and not looks_as_known(quad, moment, stream)


def looks_as_known(quad: Quad, moment: SeenFrame, stream: Stream, least: float = MOST) -> bool:
    """Whether a place looks as it did when all known cards showed."""
    return face_looked_alike(stream.known_half, moment.half, quad, least)


def unread_reveal(now: SeenFrame, stream: Stream, pile: Pile) -> tuple[int, int]:
    """Return the reveal span, ns, of a card that could not be read until the hand was gone: when white came."""
    if now.index == 0:
        return now.t, now.t
    low, high = stream.soonest, now.end
    k = first_unexplained(stream, pile)
    if k is not None:
        low, high = max(low, stream.came_after(first_perhaps(k, stream))), stream.moments[k].end
    return low, max(low, high)


def first_perhaps(k: int, stream: Stream) -> int:
    """Return the index of the first moment that may show the white certain at ``k``: all in between show paper."""
    oldest = stream.moments[-1].t - PATIENCE_NS
    while k > 0 and stream.moments[k - 1].suspects and stream.moments[k - 1].t >= oldest:
        k -= 1
    return k


def first_unexplained(stream: Stream, pile: Pile) -> int | None:
    """Return the index, among the moments, of the first white paper that may yet turn out to be a card."""
    found, latest = None, pile.latest
    for k in range(len(stream.moments) - 1, 0, -1):
        moment = stream.moments[k]
        if moment.bare or moment.t <= latest or moment.t < stream.moments[-1].t - PATIENCE_NS:
            break
        if any(s.sure for s in moment.suspects):
            found = k
    return found


def first_suspected(stream: Stream, pile: Pile) -> SeenFrame | None:
    """Return the first frame with white paper that may yet prove to be a card once the hand has gone."""
    found, latest = None, pile.latest
    for moment in reversed(stream.moments):
        settled = moment.glance.calm and (moment.looked or moment.plain)
        if moment.bare or settled or moment.t <= latest or moment.t < stream.moments[-1].t - PATIENCE_NS:
            break
        found = moment if moment.suspects else found
    return found


def is_near(suspect: Patch, stream: Stream, pile: Pile) -> bool:
    """Whether white paper is near enough to the pile to deserve a look."""
    off = np.subtract(centre_of(suspect.place), pile.middle(stream.shape))
    return bool(np.abs(off).max() < 2 * STRIDE * pile.card_height)


def white_at_pile(moment: SeenFrame, stream: Stream, pile: Pile) -> bool:
    """Whether white paper that no look has explained shows near the pile and is not a card on its way."""
    return any(s.sure and is_near(s, stream, pile) and not _on_its_way(s, moment, pile) for s in moment.suspects)


def _on_its_way(suspect: Patch, moment: SeenFrame, pile: Pile) -> bool:
    """Whether white paper is probably a card that was read just before and has not come to rest."""
    reach = STRIDE * pile.card_height
    lately = (track for track in pile.open if not track.still and moment.t < track.high + LAID_NS)
    return any(track.is_sure() and distance(track.quad, suspect.place) < reach for track in lately)


def _another_came(moment: SeenFrame, pile: Pile) -> bool:
    """Whether one of the known cards came up in a frame: white paper on its way may have been that card."""
    return any(
        track.low <= moment.end and moment.t < track.high and track.is_sure() for track in (*pile.laid[-2:], *pile.open)
    )


def shown_before(
    quad: Quad, indices: NDArray[np.float64], then: Bytes | None, now: Bytes | None, known: Sequence[Quad]
) -> bool:
    """Whether an index of this card showed in the same place at ``then``, on a card known to lie there.

    A hand on the pile hides parts of cards, and the rest of one may pass for another: an index that showed before the
    hand came belongs to an old card, misread. ``indices`` are the places of the indices that were read.
    """
    if then is None or now is None:
        return False
    corners = [c for c in index_places(quad) if any(holds(c, index) for index in indices)]
    # Bare cloth resembles itself, too: an index can have shown only where a card lay.
    corners = [c for c in corners if any(holds(k, centre_of(c)) for k in known)]
    return any(looked_alike(then, now, grown(c, -INDEX_RIM), NEARLY_ALL) for c in corners)


def index_places(quad: Quad) -> list[Quad]:
    """Return the places of a card's two indices, px."""
    right, down = (quad[1] - quad[0]) * INDEX, (quad[3] - quad[0]) * INDEX
    corner = np.stack([0 * right, right, right + down, down])
    return [convex_quad(quad[0] + corner), convex_quad(quad[2] - corner)]


def face_looked_alike(then: Bytes | None, now: Bytes | None, quad: Quad, least: float) -> bool:
    """Whether two half pictures look alike (`looked_alike`) within a card's edge."""
    return looked_alike(then, now, grown(quad, -_FACE_RIM), least)


def looked_alike(then: Bytes | None, now: Bytes | None, quad: Quad, least: float) -> bool:
    """Whether two half pictures look alike within a quad (px of the full picture): their green channels correlate."""
    if then is None or now is None:
        return False
    inner = quad / PAPER_STEP
    x0, y0 = np.maximum(inner.min(0).astype(int), 0)
    x1, y1 = inner.max(0).astype(int) + 1
    views = [half[y0:y1, x0:x1, 1] for half in (then, now)]
    if views[0].shape != views[1].shape or min(views[0].shape) < _LEAST_VIEW:
        return False
    mask = np.zeros(views[0].shape, np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner - (x0, y0)).astype(np.int32), 1)
    inside = mask > 0
    one, two = (view[inside].astype(np.float32) for view in views)
    if len(one) < _LEAST_PIXELS:
        return False
    one -= one.mean()
    two -= two.mean()
    # The tiny constant keeps two flat patches from counting as alike.
    return float((one * two).sum()) > least * float(np.linalg.norm(one) * np.linalg.norm(two)) + 1e-6


# White paper


class WhitePatches:
    """Looks for faces that come up, and remembers which places were white before.

    It alone writes the suspects of frames.
    """

    def __init__(self, motion: Motion, stream: Stream, pile: Pile) -> None:
        self._motion, self._stream, self._pile = motion, stream, pile
        self._white: Mask | None = None
        """Mask of the known white, at half size ..."""
        self._white_t = LONG_AGO
        """... and when the whole picture was last checked for it, ns."""

    def look(self, moment: SeenFrame) -> None:
        """Note the suspects of a frame."""
        glance = moment.glance
        if not self._pile.card_height or moment.half is None:
            return
        if glance.calm:
            self._note_quiet(moment)
            return
        place = self._stream.place_of(moment)
        before = self._stream.moments[place - 1] if place else None
        if not (glance.changed or (before is not None and before.suspects)):
            return
        lately = self._motion.lately(glance, moment.t - 5 * self._stream.spacing // 2)
        # Half of LITTLE, as a share of a card's area: its width is 0.7 of its height.
        least = LITTLE / 2 * 0.7 * (self._pile.card_height / PAPER_STEP) ** 2
        maybe = self._fresh(self._motion.paper_in(moment.half, lately, MOST))
        if cv2.countNonZero(maybe) < least:
            return
        bright = self._fresh(self._motion.paper_in(moment.half, lately, 1 - SLIGHT))
        # A face is broader than the border of a card back.
        thick = max(3, round(OVER * self._pile.card_height / PAPER_STEP))
        moment.suspects += _patches(maybe, bright, least, thick)
        if before is not None and (self._pile.laid or self._pile.open):
            # A rising face moves; white that stays in place is a card that lies a little off its reading.
            earlier = [*before.suspects, *before.still]
            moment.still = [b for b in moment.suspects if any(_stayed(a, b) for a in earlier)]
            moment.suspects = [b for b in moment.suspects if not any(b is suspect for suspect in moment.still)]

    def _fresh(self, paper: Mask) -> Mask:
        """Return the white paper that is not known yet."""
        if self._white is not None:
            paper = without(paper, self._white)
        # A card that lies a little off leaves a thin rim, which a face does not.
        rim = int(np.clip(round(SLIGHT * self._pile.card_height / PAPER_STEP), 3, 5))
        return opened(paper, rim)

    def note_cards(self, found: Sequence[tuple[CardSeen, Quad]], now: SeenFrame) -> None:
        """Assign the white paper at the cards read in the newest frame to those cards, not at doubtful readings."""
        if now.half is None:
            return
        if self._white is None:
            self._white = np.zeros(now.half.shape[:2], np.uint8)
        paper = self._known_white(now.half, now.glance)
        for s, quad in found:
            if s.confidence < HALF:
                continue
            inside = np.zeros(self._white.shape, np.uint8)
            cv2.fillConvexPoly(inside, np.rint(grown(quad, 2.0 * PAPER_STEP) / PAPER_STEP).astype(np.int32), 255)
            if s.top and plain(s):
                # Print now shows on the top card; white there later would be another card's.
                self._white[inside > 0] = 0
            self._white |= paper & inside

    def explain_way(self, quad: Quad, since: int, until: int) -> None:
        """Attribute the white paper on a card's way to that card, now that the card was read.

        The paper is sought between two instants (ns), within a `STRIDE` from one frame to the next.
        """
        for moment, near in self._way(quad, since, until):
            moment.suspects = [s for s in moment.suspects if not any(s is suspect for suspect in near)]

    def doubt_way(self, quad: Quad, since: int, until: int) -> None:
        """Mark the white paper on a card's way (`explain_way`) as uncertain: it may be that card, now read again."""
        for _, near in self._way(quad, since, until):
            for suspect in near:
                suspect.sure = False

    def _way(self, quad: Quad, since: int, until: int) -> Iterator[tuple[SeenFrame, list[Patch]]]:
        """Yield each frame with the white paper on a card's way, back from where the card was read."""
        place, reach = quad, STRIDE * self._pile.card_height
        for moment in reversed(self._stream.moments):
            if since <= moment.t <= until:
                near = [s for s in moment.suspects if distance(s.place, place) < reach]
                place = min((s.place for s in near), key=lambda known: distance(known, place), default=place)
                # A finger may split the paper in two.
                near += [s for s in moment.suspects if s not in near and distance(s.place, place) < reach / 2]
                yield moment, near

    def explain_place(self, quad: Quad, now: SeenFrame) -> None:
        """Attribute the white paper seen so far within an open card's place to that card."""
        for moment in self._stream.moments:
            if moment.t <= now.t:
                moment.suspects = [s for s in moment.suspects if not holds(quad, centre_of(s.place))]

    def forget(self) -> None:
        """Forget the known white, since the pile was taken."""
        self._white = None

    def _note_quiet(self, moment: SeenFrame) -> None:
        """While all is quiet, remember the white paper: it is no face that comes up later."""
        assert moment.half is not None
        if self._pile.open or moment.t - self._stream.busy_t < 2 * self._stream.spacing:
            return
        if self._white_t < self._stream.busy_t:
            self._white, self._white_t = self._known_white(moment.half, moment.glance), moment.t

    def _known_white(self, half: Bytes, glance: Glance) -> Mask:
        return widened(self._motion.paper_in(half, glance.foreign, MOST), 1)


def _patches(left: Mask, bright: Mask, least: float, side: int) -> list[Patch]:
    """Return the patches of at least ``least`` pixels in a half-size mask; ``side``: least width of a sure face."""
    found: list[Patch] = []
    box = box_of(left, side)
    if box is None:
        return found
    left, bright, corner = left[box], bright[box], (box[1].start, box[0].start)
    # Outside the picture nothing is white: a strip along its edge is no broader than it looks.
    thick = cv2.erode(bright, np.ones((side, side), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0)
    count, _, stats, _ = cv2.connectedComponentsWithStats(widened(left, 2))
    for k in range(1, count):
        x, y, w, h, _ = (int(v) for v in stats[k])
        size = cv2.countNonZero(left[y : y + h, x : x + w])
        if size < least:
            continue
        place = (np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], np.float32) + corner) * PAPER_STEP
        broad = cv2.countNonZero(thick[y : y + h, x : x + w]) > 0
        found.append(Patch(place.astype(np.float32), broad))
    return found


def _stayed(before: Patch, now: Patch) -> bool:
    """Whether white paper stayed in place."""
    return iou(before.place, now.place) > MOST
