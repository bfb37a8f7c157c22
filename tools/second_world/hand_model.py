"""A jointed hand with its forearm: bones, poses, and the skin that follows them.

The hand's own frame, in mm: the wrist is the origin, x points to the fingers, y to the thumb's side and z out of the
back of the hand. A pose is an array of `JOINTS` degrees; `POSES` names the ones in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""N x 3, mm."""
Matrix = NDArray[np.float64]

FOREARM_MM: Final = 480.0
"""Longer than a forearm: it includes the upper arm, which is never in the picture."""
_KNUCKLES: Final = ((92.0, 28.0, 0.0), (96.0, 7.0, 2.0), (89.0, -14.0, 1.0), (79.0, -32.0, -2.0))
_FINGERS: Final = ((44.0, 26.0, 22.0), (48.0, 30.0, 23.0), (45.0, 28.0, 23.0), (35.0, 21.0, 20.0))
_FINGER_RADII: Final = ((10.0, 9.0, 8.2, 6.6), (10.2, 9.2, 8.3, 6.8), (9.7, 8.8, 7.9, 6.4), (8.6, 7.6, 6.9, 5.6))
_SPLAY: Final = (7.0, 1.0, -5.0, -13.0)
"""Degrees by which the fingers point apart when at rest."""
_THUMB_ROOT: Final = (20.0, 24.0, -8.0)
_THUMB: Final = (47.0, 35.0, 28.0)
_THUMB_RADII: Final = (16.0, 12.0, 10.5, 7.8)
JOINTS: Final = 22
"""Four for each finger (knuckle, middle, end, spread), four for the thumb (across, down, middle, end), two of the wrist
(down, aside)."""


def _pose(
    fingers: list[tuple[float, float, float, float]], thumb: tuple[float, ...], wrist: tuple[float, ...]
) -> Matrix:
    return np.array([angle for finger in fingers for angle in finger] + [*thumb, *wrist], np.float64)


POSES: Final[dict[str, Matrix]] = {
    "rest": _pose([(0, 0, 0, 0)] * 4, (0, 0, 0, 0), (0, 0)),
    "loose": _pose([(18, 28, 14, 0), (22, 32, 16, 0), (26, 36, 18, 0), (28, 38, 18, 0)], (5, 10, 15, 10), (-10, 0)),
    "pinch": _pose([(20, 16, 6, -2), (19, 18, 6, -1), (32, 34, 16, 0), (38, 40, 20, 2)], (34, 26, 6, 10), (-12, 0)),
    "flat": _pose([(6, 8, 4, 3), (6, 9, 4, 0), (7, 9, 5, -2), (8, 10, 5, -5)], (-4, 8, 8, 5), (-14, 0)),
    "gather": _pose([(26, 34, 18, 5), (28, 36, 18, 1), (30, 36, 18, -3), (32, 36, 18, -8)], (6, 30, 20, 15), (-16, 0)),
    "open": _pose([(14, 12, 6, 1), (14, 14, 6, 0), (24, 26, 12, 0), (28, 30, 14, 0)], (4, 16, 8, 8), (-16, 0)),
}


def turn(axis: int, degrees: float) -> Matrix:
    """Return the rotation about an axis (0, 1, 2), right-handed."""
    a = np.radians(degrees)
    c, s = np.cos(a), np.sin(a)
    out = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[i, i], out[i, j], out[j, i], out[j, j] = c, -s, s, c
    return out


@dataclass(frozen=True, slots=True)
class Bone:
    """A tapered capsule: its ends, mm, and its radii; ``flat`` is its height against its width."""

    start: Points
    end: Points
    radii: tuple[float, float]
    frame: Matrix
    """Turns the bone's own directions into the hand's."""


def _chain(
    root: Points, frame: Matrix, lengths: tuple[float, ...], radii: tuple[float, ...], bends: Matrix
) -> list[Bone]:
    """Return the bones of a finger; each bends down about its own side-to-side axis."""
    out = []
    at = root
    for k, length in enumerate(lengths):
        frame = frame @ turn(1, float(bends[k]))
        end = at + frame @ np.array([length, 0.0, 0.0])
        out.append(Bone(at, end, (radii[k], radii[k + 1]), frame))
        at = end
    return out


def bones(pose: Matrix) -> list[Bone]:
    """Return the skeleton in a pose: forearm, five bones of the palm, the fingers from index to little, the thumb."""
    wrist = turn(1, float(pose[20])) @ turn(2, float(pose[21]))
    back = wrist @ np.array([-FOREARM_MM, 0.0, 0.0])
    out = [Bone(np.zeros(3), back, (27.0, 46.0), wrist)]
    for knuckle in _KNUCKLES:
        root = np.array([4.0, knuckle[1] * 0.5, 0.0])
        out.append(Bone(root, np.array(knuckle), (17.0, 12.0), np.eye(3)))
    out.append(Bone(np.array([14.0, 12.0, -6.0]), np.array([62.0, 24.0, -8.0]), (16.0, 11.0), np.eye(3)))
    for k, knuckle in enumerate(_KNUCKLES):
        bends = pose[4 * k : 4 * k + 4]
        frame = turn(2, _SPLAY[k] + float(bends[3]))
        out += _chain(np.array(knuckle), frame, _FINGERS[k], _FINGER_RADII[k], bends)
    across, down, middle, end = (float(angle) for angle in pose[16:20])
    # The thumb's joint lets it swing across under the palm; its own bends go towards the fingers.
    frame = turn(2, 46.0 - across) @ turn(1, 12.0 + down) @ turn(0, -50.0)
    out += _chain(np.array(_THUMB_ROOT), frame, _THUMB, _THUMB_RADII, np.array([0.0, middle, end]))
    return out


INDEX_TIP: Final = 8
MIDDLE_TIP: Final = 11
THUMB_TIP: Final = 20


def pinch_point(pose: Matrix) -> Points:
    """Return the undersides of the first two fingertips, in the hand's frame: a card is held there."""
    both = [bones(pose)[k] for k in (INDEX_TIP, MIDDLE_TIP)]
    # A little behind the very tip, on the pad.
    pads = [bone.end - bone.frame @ np.array([6.0, 0.0, bone.radii[1] + 0.5]) for bone in both]
    return np.asarray((pads[0] + pads[1]) / 2)


def _distance(points: Points, bone: Bone) -> Matrix:
    """Return the distance of points outside a bone's capsule, mm (negative inside)."""
    along = bone.end - bone.start
    share = np.clip((points - bone.start) @ along / (along @ along), 0.0, 1.0)
    nearest = bone.start + share[:, None] * along
    radius = bone.radii[0] + share * (bone.radii[1] - bone.radii[0])
    return np.asarray(np.linalg.norm(points - nearest, axis=1) - radius)


@dataclass(frozen=True, slots=True)
class Skin:
    """A mesh that follows the bones.

    ``points`` is the mesh in the pose ``rest``, ``weights`` N x bones.
    """

    points: Points
    faces: list[tuple[int, ...]]
    weights: Matrix

    @staticmethod
    def fit(points: Points, faces: list[tuple[int, ...]], softness: float = 5.0) -> Skin:
        """Bind a mesh drawn round the bones at rest; joints blend over about ``softness`` mm."""
        away = np.stack([_distance(points, bone) for bone in bones(POSES["rest"])], axis=1)
        least = away.min(axis=1, keepdims=True)
        weights = np.exp(-(((away - least) / softness) ** 2))
        weights[weights < 0.02] = 0.0
        return Skin(points, faces, weights / weights.sum(axis=1, keepdims=True))

    def posed(self, pose: Matrix) -> Points:
        """Return the skin in a pose, in the hand's frame."""
        out = np.zeros_like(self.points)
        for k, (still, bent) in enumerate(zip(bones(POSES["rest"]), bones(pose), strict=True)):
            mine = np.flatnonzero(self.weights[:, k])
            moved = (self.points[mine] - still.start) @ still.frame @ bent.frame.T + bent.start
            out[mine] += self.weights[mine, k, None] * moved
        return out


def sleeve(cuff: float, loose: float, chance: np.random.Generator) -> tuple[Points, list[tuple[int, ...]]]:
    """Return a sleeve round the forearm at rest, with folds.

    Args:
        cuff: how far behind the wrist it begins, mm.
        loose: by how much it is wider than the arm, mm.
        chance: draws the folds.
    """
    rings, around = 60, 40
    along = np.linspace(cuff, FOREARM_MM, rings)
    angle = np.arange(around) * 2 * np.pi / around
    folds = sum(
        float(chance.uniform(0.3, 1.0))
        * np.sin(along[:, None] * float(chance.uniform(0.03, 0.16)) + k * angle[None] + float(chance.uniform(0, 6)))
        for k in (0, 1, 1, 2, 2, 3)
    )
    radius = 27.0 + 19.0 * along[:, None] / FOREARM_MM + loose * (1 + 0.28 * folds)
    radius[0] -= loose * 0.3
    xs = np.repeat(-along[:, None], around, axis=1)
    points = np.stack([xs, radius * np.cos(angle) * 1.06, radius * np.sin(angle) * 0.94], axis=-1).reshape(-1, 3)
    faces: list[tuple[int, ...]] = [
        (i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
        for i in range(rings - 1)
        for j in range(around)
    ]
    return points, faces
