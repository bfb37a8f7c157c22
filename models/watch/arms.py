"""Arms over the table: the bearing and seat a card comes from, hovering hands, and the hand that takes the pile."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import Quad, centre_of
from models.watch.masks import Mask
from models.watch.measure import FEW, HALF, LITTLE, NEARLY_ALL, PART, SPECK
from models.watch.motion import Glance, Motion
from models.watch.pace import HAND_NS, LAID_NS, LET_GO_NS, PATIENCE_NS, SWEEP_NS
from models.watch.reaches import Reach
from models.watch.reasons import Reason
from models.watch.stream import SeenFrame, Stream
from models.watch.surfaces import Surface
from models.watch.tracks import Pile, Track
from referee.engine.observations import MAX_ERROR, Observation, Taken
from referee.units import MS

# How arms are told apart, chosen by hand:
_SAME_ARM: Final = 15.0
"""Degrees within which two looks show one arm."""
_SWING: Final = 3 * _SAME_ARM
"""Degrees by which an arm may swing while it lays a card."""
_AROUND: Final = 20.0
"""Degrees within which looks count for one bearing."""
_SEAT_SHARE: Final = 0.6
"""Greatest distance of an arm from its seat's bearing, as a share of the seats' distance, ..."""
_SEAT_LIMITS: Final = (25.0, 60.0)
"""... but within these degrees."""
_MOST_LOOKS: Final = 12
"""Number of arms seen near a card after which no more are noted."""
_WAY_POINTS: Final = 48
"""Number of points tried on an arm's way, ..."""
_LEAST_POINTS: Final = 6
"""... and how many of them must lie beside known cards for those to be left out."""
_SHARPNESS: Final = 4
"""Power of the share of the way that an arm covers, which gives its weight: the longest arm counts most."""
_GONE: Final = 0.65
"""Share of the pile's place that must show bare table."""
TAKEN_ERROR_NS: Final = 150 * MS
"""Uncertainty of the instant at which a pile leaves: the length of a hand's sweep."""


def covered(there: Mask, reach: Reach, to: tuple[float, float], skip: Mask | None = None) -> float:
    """Return the share of the line from an arm's crossing to a point that something other than known cards covers."""
    share = np.linspace(0.0, 1.0, _WAY_POINTS)
    xs = np.clip(reach.x + (to[0] - reach.x) * share, 1, there.shape[1] - 2).astype(int)
    ys = np.clip(reach.y + (to[1] - reach.y) * share, 1, there.shape[0] - 2).astype(int)
    on = there[ys, xs] > 0
    if skip is not None:
        keep = skip[ys, xs] == 0
        if keep.sum() >= _LEAST_POINTS:
            on = on[keep]
    return float(on.mean())


def _near(place: float, size: int) -> slice:
    """A few pixels round a place within a picture's side."""
    middle = min(max(round(place), SPECK), size - SPECK)
    return slice(middle - SPECK, middle + SPECK)


def bearing_of(x: float, y: float, about: tuple[float, float]) -> float:
    """Degrees counter-clockwise from the picture's right, 0 to 360, of a point about another."""
    return math.degrees(math.atan2(about[1] - y, x - about[0])) % 360.0


def apart(one: float, other: float) -> float:
    """The angle between two bearings, 0 to 180."""
    return abs((one - other + 180.0) % 360.0 - 180.0)


def usual(angles: Sequence[tuple[float, float]], claim: float = 1.0) -> float | None:
    """Return the bearing with the most weight around it; None if the others weigh more than ``claim`` times that."""
    if not angles:
        return None
    around = ([(a, w) for a, w in angles if apart(a, middle) < _AROUND] for middle, _ in angles)
    near = max(around, key=lambda looks: sum(w for _, w in looks))
    if sum(w for _, w in angles) > (1 + claim) * sum(w for _, w in near):
        return None
    radians = np.radians([a for a, _ in near])
    weights = np.array([w for _, w in near])
    return float(np.degrees(np.arctan2((np.sin(radians) * weights).sum(), (np.cos(radians) * weights).sum())) % 360)


def brought_from(track: Track) -> float | None:
    """Return the bearing of the arm that brought a card, from all looks at arms near it; None if it is uncertain.

    That is the usual bearing, if it was in sight from the first: an arm that came later may be bringing the next card.
    Two arms that were there equally long are ambiguous.
    """
    angle = usual(track.bearings, HALF)
    first = track.bearings[: track.first_arms]
    return None if angle is None or all(apart(bearing, angle) > _SWING for bearing, _ in first) else angle


@dataclass(slots=True)
class _Stay:
    bearing: float
    since: int
    last: int


class Hovering:
    """Remembers which arms stay over the pile."""

    def __init__(self) -> None:
        self._stays: list[_Stay] = []

    def note(self, t: int, arms: Iterable[tuple[float, float]]) -> None:
        """Note the arms of the newest frame: bearing and the share of the way to the pile that each covers."""
        # A card is reported some frames after its reveal, so keep stays that have ended for as long.
        self._stays = [stay for stay in self._stays if stay.last >= t - PATIENCE_NS]
        for bearing, share in arms:
            if share < NEARLY_ALL:
                continue
            fresh = (s for s in self._stays if s.last >= t - LET_GO_NS)
            stay = next((s for s in fresh if apart(s.bearing, bearing) < _SAME_ARM), None)
            if stay is None:
                self._stays.append(_Stay(bearing, t, t))
            else:
                stay.last = t

    def stayed(self, bearing: float, t: int) -> bool:
        """Return whether the arm at a bearing was over the pile at an instant (ns) and had been there for long."""
        return any(apart(stayed, bearing) < _SAME_ARM for stayed in self.at(t))

    def at(self, t: int) -> list[float]:
        """Return the bearings of arms that hovered when a face came up at an instant, ns."""
        return [stay.bearing for stay in self._stays if stay.since <= t - HAND_NS and stay.last >= t]


class Arms:
    """Remembers which arms reach where.

    Args:
        seat_bearings: each seat's bearing (degrees counter-clockwise from the picture's right), if calibrated.
    """

    def __init__(self, seat_bearings: Mapping[int, float], motion: Motion, stream: Stream, pile: Pile) -> None:
        self._bearings = dict(seat_bearings)
        self._motion, self._stream, self._pile = motion, stream, pile
        self.hovering = Hovering()
        self._sweeps: deque[tuple[int, float, float]] = deque()
        """Instant (ns), bearing and weight of each look at an arm over the pile."""

    def note_hands(self) -> None:
        """Remember which arms reached for each card under way, in every frame from its reveal until it lay still."""
        spacing = self._stream.spacing
        for track in sorted(self._pile.open, key=lambda track: track.high):
            begin, end = max(track.low, track.high - FEW * spacing), track.high + LAID_NS
            if track.rested is not None:
                # An arm that comes after the card has lain still for a while did not lay it.
                end = min(end, track.rested + FEW * spacing)
            for moment in self._stream.moments:
                on_way = moment.index in track.way
                there = begin < moment.t <= end or on_way
                if moment.index > track.noted and there and not moment.blind:
                    arms = self._bringing(track, moment.glance, track.way.get(moment.index, track.quad))
                    track.note_arms(moment.index, arms, moment.t if on_way else None)

    def _bringing(self, track: Track, glance: Glance, place: Quad) -> list[tuple[float, float]]:
        """Return bearing and weight of the arms that may be bringing a card to its place, px."""
        if not glance.reaches or len(track.bearings) > _MOST_LOOKS:
            return []
        quads = [place] + [other.quad for other in self._pile.laid]
        skip = self._motion.mask(quads, glance.foreign.shape, widen=2)
        # An arm at rest brought the card only if its hand holds it, that is, if the arm covers the whole way.
        reaching = list(self._reaching(glance, centre_of(place), skip, lying=1 - LITTLE))
        # An arm lying beside the one that brings the card holds no card.
        moving = [(angle, weight) for angle, weight, lying in reaching if not lying]
        looks = moving or [(angle, weight) for angle, weight, _ in reaching]
        if len(looks) > 1:
            # A hand that was over the pile all along brought no card.
            looks = [look for look in looks if not self.hovering.stayed(look[0], glance.t - self._stream.spacing)]
        looks = [look for look in looks if not self._laid_another(track, look[0], glance.t)]
        if glance.t > min(track.high, track.high if track.reached is None else track.reached) + LET_GO_NS:
            # An arm that reaches in only well after the reveal did not bring the card.
            looks = [look for look in looks if any(apart(look[0], angle) < _SWING for angle, _ in track.bearings)]
        return looks

    def _laid_another(self, track: Track, angle: float, t: int) -> bool:
        """Return whether the arm at a bearing was still laying the previous card at an instant, ns."""
        cards = (other for other in (*self._pile.laid[-2:], *self._pile.open) if other.is_sure())
        before = (other for other in cards if other.high < track.high and t <= other.high + LAID_NS)
        hands = (usual(other.bearings) for other in before)
        return any(hand is not None and apart(hand, angle) < _SAME_ARM for hand in hands)

    def note_sweep(self, glance: Glance) -> None:
        """Remember which arms reach to the pile's middle: one of them may take it."""
        if not glance.reaches or not self._pile.laid:
            return
        middle = self._pile.middle(self._stream.shape)
        looks = list(self._reaching(glance, middle, self._pile.mask(self._motion)))
        # The weight is a power of the covered share (`_reaching`); undo that.
        self.hovering.note(glance.t, ((angle, weight ** (1 / _SHARPNESS)) for angle, weight, _ in looks))
        self._sweeps += [(glance.t, angle, weight) for angle, weight, _ in looks]
        while self._sweeps and self._sweeps[0][0] < glance.t - PATIENCE_NS:
            self._sweeps.popleft()

    def _reaching(
        self, glance: Glance, to: tuple[float, float], skip: Mask | None, *, lying: float = HALF
    ) -> Iterator[tuple[float, float, bool]]:
        """Yield bearing, weight, and whether it is at rest, of each arm that reaches to a point (px).

        Known cards (``skip``, reduced) are left out. An arm that has been at rest for a while must cover the share
        ``lying`` of the way.
        """
        f = self._motion.factor
        rows, columns = glance.foreign.shape
        _, arms = cv2.connectedComponents((glance.kinds == Surface.ARM).astype(np.uint8))
        things = (glance.kinds != Surface.TABLE) & (glance.kinds != Surface.SHADOW)
        for reach in glance.reaches:
            # Another arm does not count as part of this arm's way.
            own = arms[_near(reach.y, rows), _near(reach.x, columns)].max()
            others = (arms > 0) & (arms != own) & (own > 0)
            way = np.where(things & ~others, np.uint8(255), np.uint8(0))
            share = covered(way, reach, (to[0] / f, to[1] / f), skip)
            if share >= (lying if reach.lying else HALF):
                yield bearing_of(reach.x, reach.y, (columns / 2, rows / 2)), share**_SHARPNESS, reach.lying

    def swept(self, since: int) -> float | None:
        """Return the bearing that swept over the pile since an instant (ns)."""
        return usual([(angle, weight) for t, angle, weight in self._sweeps if t >= since])

    def forget_sweeps(self) -> None:
        """Forget all sweeps once the pile is gone: they say nothing about the next one."""
        self._sweeps.clear()

    def seat(self, angle: float | None) -> int | None:
        """Return the seat whose bearing is nearest; None if it is too far away or another is about as near."""
        if angle is None or not self._bearings:
            return None
        limit = float(np.clip(_SEAT_SHARE * 360 / len(self._bearings), *_SEAT_LIMITS))
        (far, seat), *others = sorted((apart(bearing, angle), seat) for seat, bearing in self._bearings.items())
        # Two seats closer together than two looks at one arm differ cannot be told apart.
        return seat if far <= limit and all(other - far >= _SAME_ARM for other, _ in others) else None


class TakeDetector:
    """Detects that the pile leaves its place."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile, arms: Arms) -> None:
        self._motion, self._stream, self._pile, self._arms = motion, stream, pile, arms
        self._taken = 0
        self._leaving: SeenFrame | None = None

    @property
    def leaving(self) -> int | None:
        """The instant (ns) since which the pile's place shows bare table, until the pile is certain to be gone."""
        return None if self._leaving is None else self._leaving.t

    def watch(self, now: SeenFrame) -> bool:
        """Return whether the newest frame makes it certain that the pile is gone."""
        cards = self._pile.mask(self._motion)
        gone = cards is not None and self._motion.bareness(cards, now.glance) >= _GONE
        # A pile that leaves moves; a table learned anew, or a cover before the lens, does not.
        moved = cards is not None and self._motion.stirred(cards, now.t - PATIENCE_NS) >= PART
        # For a pile that lay there in the first picture, only the surface network knows the table without it.
        if cards is None or not (gone or (moved and self._motion.looks_bare(cards, now.glance))):
            if self._leaving is not None:
                self._pile.reasons.note(Reason.CARDS_AGAIN, since=self._leaving.t)
            self._leaving = None
            return False
        if self._leaving is None:
            self._leaving = now if moved else None
            if not moved:
                self._pile.reasons.note_once(Reason.BARE_UNMOVED)
            return False
        if not gone and now.t - self._leaving.t < HAND_NS:
            return False
        seen = (track for track in self._pile.laid if track.sightings and track.last.index >= self._leaving.index)
        # A tossed card slides on; a card that a hand carries off soon disappears.
        still_there = any((track.still or track.last.plain) and not self._has_left(track, now.glance) for track in seen)
        return not still_there or now.t - self._leaving.t >= PATIENCE_NS

    def _has_left(self, track: Track, glance: Glance) -> bool:
        """Return whether a look at a still table found a card no more, and its place shows bare table."""
        since = (moment for moment in self._stream.moments if moment.t > track.last.t)
        if not any(moment.looked and moment.glance.calm for moment in since):
            return False
        return self._motion.bareness(self._motion.mask([track.quad], glance.small.shape), glance) >= _GONE

    def tell_taken(self) -> list[Observation]:
        """Report that the pile was taken, if its place shows bare table, and begin the next pile."""
        if self._leaving is None:
            return []
        left = self._leaving.t
        # The hand that takes the pile is on it as it leaves; an earlier hand may be the layer's or a slapper's.
        angle = self._arms.swept(left - LAID_NS)
        seat = self._arms.seat(self._arms.swept(left - SWEEP_NS) if angle is None else angle)
        error = TAKEN_ERROR_NS
        if left == self._stream.blind_until:
            # It left unseen: any instant since the place was last seen is possible.
            low = max(self._stream.blind_since, self._stream.watermark + 1)
            left, error, seat = (low + left) // 2, max(error, (left - low + 1) // 2), None
        elif self._stream.gap_open:
            low = max(self._stream.gap_since, self._stream.watermark + 1)
            left, error, seat = (low + left) // 2, min(max(error, (left - low + 1) // 2), MAX_ERROR), None
        t = max(left, self._stream.watermark + 1 + error)
        self._taken += 1
        taken = Taken(t=t, id=f"t{self._taken}", seat=seat, t_error=error)
        seen = self._leaving.t != self._stream.blind_until and not self._stream.gap_open
        reason = Reason.PLACE_BARE if seen else Reason.LEFT_UNSEEN
        self._pile.reasons.note(reason, observation=taken, bearing=angle, since=self._leaving.t)
        self._leaving = None
        self._arms.forget_sweeps()
        self._pile.clear(since=left)
        return [taken]
