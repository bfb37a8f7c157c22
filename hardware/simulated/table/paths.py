"""The place of each player's hand at any instant, from its acts, and the swing of a laid card.

A hand comes in along the line from its seat, slowing down, performs its act, and draws back, speeding up. The remaining
distance is a power of the remaining time, chosen so that a laid card is `REVEAL_MM` from its place at its reveal.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from hardware.simulated.table.acts import (
    FLIP_NS,
    GRASP_NS,
    HOLD_NS,
    LIFT_NS,
    REVEAL_MM,
    SETTLE_NS,
    SWEEP_NS,
    TUCK_NS,
    Act,
    Burn,
    Cover,
    Lay,
    Take,
    bearing,
    towards,
)

_POWER_IN, _POWER_OUT = 1.5, 1.6
_IN = REVEAL_MM / (SETTLE_NS / 1e9) ** _POWER_IN
_OUT = 45.0 / 0.050**_POWER_OUT
_CAMERA_MM = 750.0
"""Height of the camera over the table, for the apparent growth of a lifted card."""
_HELD_MM = 8.0
"""Reach of the fingertips over the near edge of a card."""
Vector = tuple[float, float]


def smooth(x: float) -> float:
    """Rise from 0 to 1 with the least jerk."""
    x = min(1.0, max(0.0, x))
    return x**3 * (10 - 15 * x + 6 * x * x)


@dataclass(frozen=True, slots=True)
class Visit:
    """One act as its hand's stay at the table: from ``arrive`` at one point to ``leave`` from another."""

    act: Act
    arrive: int
    leave: int
    at: Vector
    """Place of the fingertip on arrival."""
    inward: Vector
    """Unit vector of the hand's inward motion."""
    drag: float = 0.0
    """Distance by which the hand draws back during the act, mm."""

    def drawn(self, t: int) -> float:
        """Return how far the hand has drawn back by ``t`` during its act."""
        if not self.drag:
            return 0.0
        return self.drag * smooth((t - self.arrive - GRASP_NS) / SWEEP_NS)


@dataclass(frozen=True, slots=True)
class HandPlace:
    """A hand at an instant."""

    seat: int
    tip: Vector
    """Tip of its longest finger, mm."""
    elbow: Vector
    """A point on the forearm's line, mm."""
    act: Act
    """Its current, next or last act."""
    pose: str
    """``pinch`` or ``flat``."""


def rim(direction: Vector, half_width: float, half_height: float) -> float:
    """Return the distance from the middle to the picture's edge in a direction, mm."""
    return min(
        half_width / abs(direction[0]) if abs(direction[0]) > 1e-9 else math.inf,
        half_height / abs(direction[1]) if abs(direction[1]) > 1e-9 else math.inf,
    )


def forward(lay: Lay) -> Vector:
    """Return the unit vector from the edge by which a card is held to the opposite edge."""
    a = math.radians(lay.pose.turn + (90 if lay.sideways else 0))
    return math.sin(a), -math.cos(a)


class Player:
    """The hand of one seat through a whole game; ``leans`` (degrees) and ``side`` (mm) are its owner's habits."""

    def __init__(
        self,
        seat: int,
        seats: int,
        acts: Sequence[Act],
        card: Vector,
        frame: Vector,
        leans: float,
        side: float,
    ) -> None:
        self.seat = seat
        self.bearing = bearing(seat, seats)
        self.outward = towards(bearing(seat, seats) + leans)
        self.outside = rim(self.outward, frame[0] / 2, frame[1] / 2) + 100.0
        home = towards(bearing(seat, seats))
        far = rim(home, frame[0] / 2, frame[1] / 2) + 260.0
        self.elbow = (home[0] * far + home[1] * side, home[1] * far - home[0] * side)
        self.card = card
        self.visits = sorted((self._visit(act) for act in acts), key=lambda v: v.arrive)
        self._arrivals = [v.arrive for v in self.visits]

    def _visit(self, act: Act) -> Visit:
        inward = (-self.outward[0], -self.outward[1])
        if isinstance(act, Lay):
            length = self.card[0] if act.sideways else self.card[1]
            f = forward(act)
            at = (act.pose.x - f[0] * (length / 2 - 8), act.pose.y - f[1] * (length / 2 - 8))
            return Visit(act, act.rest, act.rest + HOLD_NS, at, inward)
        if isinstance(act, Burn):
            reach = self.card[1] / 2 - 6
            at = (act.poses[0].x - inward[0] * reach, act.poses[0].y - inward[1] * reach)
            return Visit(act, act.t, act.t + TUCK_NS, at, inward)
        at = (inward[0] * 38, inward[1] * 38)
        if isinstance(act, Take):
            return Visit(act, act.grasp, act.ends, at, inward, self.outside + 60)
        return Visit(act, act.t, act.until if isinstance(act, Cover) else act.t, at, inward)

    def at(self, t: int) -> HandPlace | None:
        """Return the hand's place at ``t``, or None while it is out of the picture."""
        index = bisect_right(self._arrivals, t) - 1
        before = self.visits[index] if index >= 0 else None
        after = self.visits[index + 1] if index + 1 < len(self.visits) else None
        if before is not None and t <= before.leave:
            return self._place(before, before.drawn(t), t)
        # Distance drawn back from the last act, and distance left to the next, mm.
        left = to_go = math.inf
        if before is not None:
            left = before.drag + _OUT * max(0.0, (t - before.leave) / 1e9) ** _POWER_OUT
        if after is not None:
            to_go = _IN * max(0.0, (after.arrive - t) / 1e9) ** _POWER_IN
        if before is not None and left < self.outside and (after is None or to_go >= self.outside):
            return self._place(before, left, t)
        if after is not None and to_go < self.outside and (before is None or left >= self.outside):
            return self._place(after, to_go, t)
        if before is None or after is None or left >= self.outside:
            return None
        # The hand goes from one act to the next without leaving the picture.
        back = min(left, to_go)
        share = left / (left + to_go)
        one, two = self._place(before, back, t), self._place(after, back, t)
        tip = (one.tip[0] * (1 - share) + two.tip[0] * share, one.tip[1] * (1 - share) + two.tip[1] * share)
        nearer = one if left <= to_go else two
        return HandPlace(self.seat, tip, self.elbow, nearer.act, nearer.pose)

    def _place(self, visit: Visit, back: float, t: int) -> HandPlace:
        tip = (visit.at[0] - visit.inward[0] * back, visit.at[1] - visit.inward[1] * back)
        pose = "flat" if isinstance(visit.act, Take | Cover) else "pinch"
        return HandPlace(self.seat, tip, self.elbow, visit.act, pose)


def swing_angle(lay: Lay, t: int) -> float:
    """Return the card's angle at ``t``, degrees: 0 flat and face down, 90 edge-on, 180 flat and face up."""
    if t >= lay.t:
        return 90 + 90 * math.sin(min(1.0, (t - lay.t) / FLIP_NS) * math.pi / 2)
    return 90 - 90 * smooth((lay.t - t) / LIFT_NS)


def swung(lay: Lay, tip: Vector, angle: float, card: tuple[float, float]) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the corners in mm, from the card's upper left clockwise, of a card swung by ``angle`` about its near edge.

    Args:
        lay: the act of laying.
        tip: place of the fingertips.
        angle: see `swing_angle`.
        card: width and height of a card.
    """
    f = forward(lay)
    right = (-f[1], f[0])
    length, breadth = card[::-1] if not lay.sideways else card
    hinge = (tip[0] - f[0] * _HELD_MM, tip[1] - f[1] * _HELD_MM)
    grown = 1 + math.sin(math.radians(angle)) * length / _CAMERA_MM
    reach = -math.cos(math.radians(angle)) * length * grown

    def corner(along: float, across: float, growth: float) -> Vector:
        aside = across * breadth / 2 * growth
        return hinge[0] + f[0] * along + right[0] * aside, hinge[1] + f[1] * along + right[1] * aside

    near_left, near_right = corner(0, -1, 1), corner(0, 1, 1)
    far_left, far_right = corner(reach, -1, grown), corner(reach, 1, grown)
    if lay.sideways:
        return near_left, far_left, far_right, near_right
    return far_left, far_right, near_right, near_left
