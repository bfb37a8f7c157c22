"""Arms over the table: which bearing a card comes from, which one a sweep of the pile, and whose seat that is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from models.eye.geometry import centre_of
from models.watch.arm_entries import apart, bearing, covered
from models.watch.hover import Hovering
from models.watch.known_cards import Pile
from models.watch.motion import Glance, Motion
from models.watch.pixels import Mask
from models.watch.stream import MS, Stream
from models.watch.tracks import Track

FULL_ARM: Final = 0.5
"""Share of the line from the picture's edge to a card that an arm must cover."""
AGREED: Final = 0.6
"""Share of the looks at arms that must agree on a bearing."""
AT_REST: Final = 2
"""A card that has lain still for more than so many looks is nobody's to lay any more."""
SWEEP_NS: Final = 900 * MS
"""How long it is remembered which arms reached to the pile."""


class Arms:
    """Remembers who reaches where.

    Args:
        seat_bearings: from seat to its bearing (degrees counter-clockwise from the picture's right), if calibrated.
    """

    def __init__(self, seat_bearings: Mapping[int, float], motion: Motion, stream: Stream, pile: Pile) -> None:
        self._bearings = dict(seat_bearings)
        self._motion = motion
        self._stream = stream
        self._pile = pile
        self.hovering = Hovering()
        self._sweeps: deque[tuple[int, float, float]] = deque()
        """Instant (ns), bearing and weight of each look at an arm over the pile."""

    def note_hand(self, track: Track, glance: Glance) -> None:
        """Remember which arm reaches to this card now; one that comes when it has come to rest did not bring it."""
        if not glance.reaches or len(track.bearings) > 12 or track.still > AT_REST:
            return
        quads = [track.quad] + [other.quad for other in self._pile.laid]
        skip = self._motion.mask(quads, glance.foreign.shape, widen=2)
        looks = list(self._reaching(glance, centre_of(track.quad), skip))
        if len(looks) > 1:
            # A hand that was over the pile all the while has brought nothing.
            looks = [look for look in looks if not self.hovering.stayed(look[0], glance.t - self._stream.spacing)]
        track.bearings += looks

    def note_sweep(self, glance: Glance) -> None:
        """Remember which arms reach to the pile's middle, for whoever takes it."""
        if not glance.reaches or not self._pile.laid:
            return
        middle = self._pile.middle(self._stream.shape)
        looks = list(self._reaching(glance, middle, self._pile.mask(self._motion)))
        self.hovering.note(glance.t, ((angle, weight**0.25) for angle, weight in looks))
        self._sweeps += [(glance.t, angle, weight) for angle, weight in looks]
        while self._sweeps and self._sweeps[0][0] < glance.t - SWEEP_NS:
            self._sweeps.popleft()

    def _reaching(self, glance: Glance, to: tuple[float, float], skip: Mask | None) -> Iterator[tuple[float, float]]:
        """Bearing and weight of each arm that reaches to a point (px), known cards (``skip``, reduced) left out."""
        f = self._motion.factor
        rows, columns = glance.foreign.shape
        for reach in glance.reaches:
            share = covered(glance.foreign, reach, (to[0] / f, to[1] / f), skip)
            if share >= FULL_ARM:
                yield bearing(reach.x, reach.y, (columns / 2, rows / 2)), share**4

    def swept(self, since: int) -> float | None:
        """The bearing that swept over the pile since an instant (ns)."""
        return usual([(angle, weight) for t, angle, weight in self._sweeps if t >= since])

    def forget_sweeps(self) -> None:
        """The pile is gone: what reached to it says nothing of the next."""
        self._sweeps.clear()

    def seat(self, angle: float | None) -> int | None:
        """The seat whose bearing is nearest, if it is near enough to be nobody else's."""
        if angle is None or not self._bearings:
            return None
        limit = max(25.0, min(60.0, 216.0 / len(self._bearings)))
        seat = min(self._bearings, key=lambda s: apart(self._bearings[s], angle))
        return seat if apart(self._bearings[seat], angle) <= limit else None


def usual(angles: Sequence[tuple[float, float]]) -> float | None:
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
