"""Where the camera hangs and how cards lie: homographies, and heaps as people make them, in millimetres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.eye.classes import HEIGHT_MM, WIDTH_MM
from models.eye.geometry import Points
from models.training.art import FACE_H, FACE_W

#: A heap rarely has more; real games bury the rest.
_TALLEST = 30


@dataclass(slots=True)
class TablePose:
    """A card's centre on the table, mm, and its turn, degrees."""

    x: float
    y: float
    angle: float


def _tilt(rng: np.random.Generator) -> float:
    """Radians off the vertical: most cameras hang nearly straight, hand-held ones do not."""
    kind = rng.random()
    if kind < 0.45:
        return float(np.radians(abs(rng.normal(0, 4))))
    return float(np.radians(rng.uniform(0, 25) if kind < 0.8 else rng.uniform(15, 50)))


def camera(rng: np.random.Generator, card_px: float, size: int) -> Points:
    """Homography from the table (mm, origin at the picture's middle) to pixels: a pinhole, tilted, at any turn."""
    focal = size / 2 / np.tan(np.radians(rng.uniform(30, 72)) / 2)
    distance = focal * HEIGHT_MM / card_px
    tilt, azimuth, turn = _tilt(rng), rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi)
    axis = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    lean = np.eye(3) + np.sin(tilt) * cross + (1 - np.cos(tilt)) * cross @ cross  # Rodrigues' formula
    spin = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1.0]])
    rotation = lean @ spin
    lens = np.array([[focal, 0, size / 2], [0, focal, size / 2], [0, 0, 1.0]])
    return np.asarray(lens @ np.column_stack([rotation[:, 0], rotation[:, 1], [0, 0, distance]]))


def _pile(rng: np.random.Generator, cx: float, cy: float, base: float) -> list[TablePose]:
    n = int(rng.integers(1, 12) if rng.random() < 0.7 else rng.integers(10, _TALLEST + 1))
    sigma, wild = rng.uniform(2, 14), rng.random() < 0.5
    off = np.clip(rng.normal(0, sigma, (n, 2)), -25, 25)
    return [TablePose(cx + dx, cy + dy, float(rng.uniform(0, 360) if wild else rng.normal(base, 22))) for dx, dy in off]


def _spread(rng: np.random.Generator, cx: float, cy: float, base: float, kind: str) -> list[TablePose]:
    step = rng.uniform(8, 24) if kind == "fan" else rng.uniform(10, 75)
    n = int(rng.integers(1, 10))
    poses = []
    for i in range(n):
        if kind == "fan":
            angle = base + (i - n / 2) * step * 0.55
            pivot = np.radians(angle)
            poses.append(TablePose(cx + 90 * np.sin(pivot), cy - 90 * np.cos(pivot), float(angle)))
        else:
            along = np.radians(base)
            d = (i - n / 2) * step
            poses.append(TablePose(cx + d * np.cos(along), cy + d * np.sin(along), float(base + rng.normal(0, 5))))
    return poses


def heap(rng: np.random.Generator, extent: float) -> list[TablePose]:
    """Poses of one heap, lowest first; `extent` is half the picture in mm."""
    kind = str(rng.choice(["pile", "loose", "fan", "row", "single"], p=[0.42, 0.14, 0.16, 0.12, 0.16]))
    cx, cy = rng.uniform(-extent, extent, 2) * 0.75
    base = float(rng.uniform(0, 360))
    if kind == "single":
        return [TablePose(cx, cy, base)]
    if kind == "pile":
        return _pile(rng, cx, cy, base)
    if kind == "loose":
        off = rng.uniform(-110, 110, (int(rng.integers(1, 12)), 2))
        return [TablePose(cx + dx, cy + dy, float(rng.uniform(0, 360))) for dx, dy in off]
    return _spread(rng, cx, cy, base, kind)


def card_matrix(pose: TablePose) -> Points:
    """Card pixels (FACE_W×FACE_H) to the table in mm."""
    a = np.radians(pose.angle)
    c, s = np.cos(a), np.sin(a)
    kx, ky = WIDTH_MM / FACE_W, HEIGHT_MM / FACE_H
    return np.array(
        [
            [c * kx, -s * ky, pose.x - c * WIDTH_MM / 2 + s * HEIGHT_MM / 2],
            [s * kx, c * ky, pose.y - s * WIDTH_MM / 2 - c * HEIGHT_MM / 2],
            [0, 0, 1],
        ]
    )
