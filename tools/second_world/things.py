"""Meshes of things on the table: a card's sheet, stacks, cups, phones, and the arm that reaches for them.

Lengths in mm. The table's surface is z = 0, x points to the picture's right, y to its top.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.second_world.hand_model import POSES, Matrix, Points, Skin, pinch_point, turn

Mesh = tuple[Points, list[tuple[int, ...]]]
SHOULDER_MM: Final = 640.0
"""Distance from the table's middle to a shoulder."""
CARD_MM: Final = 0.45
"""Height that each card adds to a pile: cards never lie quite flat."""


@dataclass(frozen=True, slots=True)
class View:
    """The camera: its place (mm), the turn of its axes (columns: right, up, back), and its picture."""

    place: Points
    axes: NDArray[np.float64]
    focal: float
    """Focal length in widths of the picture."""
    width: int
    height: int

    def project(self, points: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return pixels (N x 2; x right, y down) and depths (mm) of points of the world."""
        seen = (points - self.place) @ self.axes
        depth = -seen[:, 2]
        f = self.focal * self.width
        xs = self.width / 2 + f * seen[:, 0] / depth
        ys = self.height / 2 - f * seen[:, 1] / depth
        return np.stack([xs, ys], axis=1), depth


@dataclass(frozen=True, slots=True)
class CardSheet:
    """A card as a thin sheet with round corners, fine enough to bend; its face is the upper side.

    ``flat`` is N x 2, from the card's middle; ``uv`` the place of each point in the face's picture.
    """

    size: tuple[float, float]
    flat: NDArray[np.float64]
    uv: NDArray[np.float64]
    faces: list[tuple[int, ...]]

    @staticmethod
    def cut(width: float, height: float, radius: float = 3.4) -> CardSheet:
        """Return a sheet of a width and a height."""
        round_part = radius * (1 - np.cos(np.linspace(0.0, np.pi / 2, 5)))
        rows = np.concatenate([round_part, np.linspace(radius, height - radius, 11)[1:-1], height - round_part[::-1]])
        inset = np.minimum(rows, height - rows)
        cut = np.where(inset < radius, radius - np.sqrt(np.maximum(0.0, radius**2 - (radius - inset) ** 2)), 0.0)
        across = np.linspace(-1.0, 1.0, 9)
        xs = across[None] * (width / 2 - cut[:, None])
        ys = np.repeat((rows - height / 2)[:, None], 9, axis=1)
        flat = np.stack([xs, ys], axis=-1).reshape(-1, 2)
        faces: list[tuple[int, ...]] = [
            (i * 9 + j, i * 9 + j + 1, (i + 1) * 9 + j + 1, (i + 1) * 9 + j)
            for i in range(len(rows) - 1)
            for j in range(8)
        ]
        return CardSheet((width, height), flat, flat / [width, height] + 0.5, faces)

    def bent(self, along: float, across: float) -> Points:
        """Return the sheet with its short (``along``) or long edges lifted, mm, in the card's own frame."""
        u, v = 2 * self.flat[:, 0] / self.size[0], 2 * self.flat[:, 1] / self.size[1]
        return np.column_stack([self.flat, along * v**2 + across * u**2])

    @property
    def corners(self) -> Points:
        """Return the four corners, as if they were sharp: upper left, then clockwise as one reads the face."""
        w, h = self.size[0] / 2, self.size[1] / 2
        return np.array([[-w, h, 0], [w, h, 0], [w, -h, 0], [-w, -h, 0]])


def lathe(profile: list[tuple[float, float]], around: int = 40) -> Mesh:
    """Return a body of revolution from its profile: radius and height, mm, from the bottom's middle to the top's."""
    angle = np.arange(around) * 2 * np.pi / around
    points = np.array([[r * np.cos(a), r * np.sin(a), z] for r, z in profile for a in angle])
    faces: list[tuple[int, ...]] = [
        (i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
        for i in range(len(profile) - 1)
        for j in range(around)
    ]
    return points, faces


def cup(radius: float, height: float) -> Mesh:
    """Return a filled mug without its handle."""
    r, z = radius, height
    return lathe([(0, 0), (r * 0.8, 0), (r, z * 0.3), (r, z), (r - 3, z), (r - 3, z * 0.8), (0.1, z * 0.8)])


def block(width: float, depth: float, height: float) -> Mesh:
    """Return a box on the table: a phone, a stack of cards."""
    w, d = width / 2, depth / 2
    low = [[-w, -d, 0], [w, -d, 0], [w, d, 0], [-w, d, 0]]
    points = np.array(low + [[x, y, height] for x, y, _ in low], np.float64)
    sides: list[tuple[int, ...]] = [(0, 3, 2, 1), (4, 5, 6, 7)]
    sides += [(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4) for k in range(4)]
    return points, sides


def placed(points: Points, at: tuple[float, float, float], degrees: float = 0.0) -> Points:
    """Return a thing turned about its upright axis and moved."""
    return np.asarray(points @ turn(2, degrees).T + np.asarray(at))


@dataclass(frozen=True, slots=True)
class Arm:
    """One player's arm.

    Args:
        bearing: where the player sits, degrees counter-clockwise from the picture's right.
        side: 1 for a right hand, -1 for a left one.
        aside: how far the shoulder is to the side of the player's middle, mm.
        scale: size of the hand against an adult's mean.
    """

    bearing: float
    side: int = 1
    aside: float = 60.0
    scale: float = 1.0

    @property
    def shoulder(self) -> NDArray[np.float64]:
        """Return the arm's origin, on the table's plane."""
        out = turn(2, self.bearing)[:2, 0] * SHOULDER_MM
        # The player looks at the table's middle: the right arm is on the counter-clockwise side of it.
        return np.asarray(out + turn(2, self.bearing)[:2, 1] * self.aside * self.side)

    def heading(self, at: Points) -> float:
        """Return the direction in which the arm reaches to a point, degrees."""
        to = np.asarray(at)[:2] - self.shoulder
        return float(np.degrees(np.arctan2(to[1], to[0])))

    def frame(self, at: Points, pitch: float, roll: float, yaw: float = 0.0) -> Matrix:
        """Return the rotation from the hand's frame to the world's:

        ``pitch`` lowers the fingers, 180 of ``roll`` show the palm.
        """
        return turn(2, self.heading(at) + yaw) @ turn(1, pitch) @ turn(0, roll * self.side)

    def reach(self, points: Points, pose: Matrix, at: Points, frame: Matrix, hold: Points | None = None) -> Points:
        """Return the arm's points (in the hand's frame, posed) where the hand holds something ``at`` a point of the
        world.

        ``hold`` is the place in the hand's frame that comes there; by default the pads of the first fingers.
        """
        mirror = np.array([1.0, self.side, 1.0]) * self.scale
        grip = pinch_point(pose) if hold is None else hold
        return np.asarray((points * mirror - grip * mirror) @ frame.T + np.asarray(at))


@dataclass(frozen=True, slots=True)
class ArmMesh:
    """The skin of an arm and, if worn, a sleeve over it."""

    skin: Skin
    sleeve: Skin | None = None

    def posed(self, pose: Matrix) -> tuple[Points, Points | None]:
        """Return skin and sleeve in a pose, in the hand's frame."""
        return self.skin.posed(pose), None if self.sleeve is None else self.sleeve.posed(pose)


PALM: Final = np.array([66.0, 0.0, -17.0])
"""The middle of the palm in the hand's frame: it takes the pile."""
LOOSE: Final = POSES["loose"]
