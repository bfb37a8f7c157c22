"""How a card that is laid swings over: back up on the hand, edge-on, then face up."""

from __future__ import annotations

import math

from hardware.simulated.table.acts import FLIP_NS, LIFT_NS, Lay
from hardware.simulated.table.paths import forward, smooth

_CAMERA_MM = 750.0
"""Height of the camera over the table, for how a lifted card grows."""
_HELD_MM = 8.0
"""How far the fingertips reach over the near edge."""

Corner = tuple[float, float]


def swing_angle(lay: Lay, t: int) -> float:
    """The card's angle at ``t``, degrees: 0 flat with its back up, 90 edge-on, 180 flat with its face up."""
    if t >= lay.t:
        return 90 + 90 * math.sin(min(1.0, (t - lay.t) / FLIP_NS) * math.pi / 2)
    return 90 - 90 * smooth((lay.t - t) / LIFT_NS)


def swung(lay: Lay, tip: Corner, angle: float, card: tuple[float, float]) -> tuple[Corner, Corner, Corner, Corner]:
    """The corners in mm, from the card's upper left clockwise, of a card swung by ``angle`` about its near edge.

    Args:
        lay: how it is laid.
        tip: where the fingertips are.
        angle: see `swing_angle`.
        card: width and height of a card.
    """
    f = forward(lay)
    right = (-f[1], f[0])
    length, breadth = card[::-1] if not lay.sideways else card
    hinge = (tip[0] - f[0] * _HELD_MM, tip[1] - f[1] * _HELD_MM)
    grown = 1 + math.sin(math.radians(angle)) * length / _CAMERA_MM
    reach = -math.cos(math.radians(angle)) * length * grown

    def corner(along: float, across: float, growth: float) -> Corner:
        x = hinge[0] + f[0] * along + right[0] * across * breadth / 2 * growth
        y = hinge[1] + f[1] * along + right[1] * across * breadth / 2 * growth
        return x, y

    near_left, near_right = corner(0, -1, 1), corner(0, 1, 1)
    far_left, far_right = corner(reach, -1, grown), corner(reach, 1, grown)
    if lay.sideways:
        return near_left, far_left, far_right, near_right
    return far_left, far_right, near_right, near_left
