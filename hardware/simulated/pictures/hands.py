"""Hands and forearms seen from above: a landscape of finger-shaped ridges, lit from one side.

The hand in a picture points up: the tip of its longest finger is at `HandPicture.tip`, the forearm extends downwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.canvas import Bytes

Floats = NDArray[np.float32]
Bone = tuple[float, float, float, float, float, float, float]
"""From (x, y) with radius r to (x, y) with radius r, mm, and its height above the table."""

_ARM_LENGTH = 520.0
_HALF_WIDTH = 92.0
_MARGIN = 30.0
"""Space beyond the fingertips, mm."""
_BARE = -1e3

_SKINS = ((168, 198, 236), (138, 172, 218), (110, 146, 198), (78, 110, 164), (58, 82, 126), (44, 62, 96))
"""Blue, green, red."""
_SLEEVES = (
    (92, 60, 42),
    (52, 50, 150),
    (60, 96, 58),
    (150, 146, 140),
    (48, 46, 46),
    (40, 110, 190),
    (120, 74, 110),
    (206, 200, 190),
)

# fmt: off
_PINCH: tuple[Bone, ...] = (
    (-26, 92, 17, -17, 146, 21, 0), (-8, 84, 18, -4, 150, 24, 2), (10, 86, 18, 10, 148, 22, 2),
    (27, 96, 16, 16, 146, 20, 0),
    (-29, 88, 10.5, -25, 44, 9.5, 4), (-25, 44, 9.5, -13, 9, 7.5, 1),
    (-10, 78, 11, -10, 38, 10, 6), (-10, 38, 10, -4, 0, 7.8, 3),
    (10, 80, 11, 9, 40, 10, 6), (9, 40, 10, 5, 2, 7.8, 3),
    (28, 92, 10, 26, 50, 9, 4), (26, 50, 9, 15, 16, 7, 1),
)
_THUMB: tuple[Bone, ...] = (
    (-30, 132, 16, -40, 84, 12, 4), (-40, 84, 12, -27, 36, 10.5, 9), (-27, 36, 10.5, -10, -12, 8.5, 9),
)
_FLAT: tuple[Bone, ...] = (
    (-26, 100, 18, -18, 152, 22, 0), (-8, 92, 19, -5, 154, 25, 2), (10, 94, 19, 10, 152, 23, 2),
    (27, 104, 17, 17, 150, 20, 0),
    (-30, 94, 10.5, -37, 52, 9.3, 2), (-37, 52, 9.3, -41, 22, 7.6, 0),
    (-10, 84, 11, -13, 36, 9.8, 3), (-13, 36, 9.8, -14, 0, 7.8, 0),
    (11, 86, 11, 15, 40, 9.8, 3), (15, 40, 9.8, 17, 6, 7.8, 0),
    (29, 98, 10, 40, 62, 8.8, 2), (40, 62, 8.8, 48, 36, 7.0, 0),
    (-30, 138, 16, -52, 104, 12, 0), (-52, 104, 12, -66, 68, 9.2, 0),
)
_WRIST: tuple[Bone, ...] = ((0, 146, 27, 0, 196, 25, -2), (0, 196, 25, 6, 330, 36, -2))
_NAILS: dict[str, tuple[tuple[float, float, float, float, float], ...]] = {
    "pinch": ((-4, 1, 4.6, 5.8, 8), (5, 3, 4.6, 5.8, -6), (15, 17, 4.0, 5.0, -16)),
    "flat": ((-41, 23, 4.4, 5.5, -8), (-14, 1, 4.6, 5.8, -2), (17, 7, 4.6, 5.8, 4), (48, 37, 4.0, 5.0, 18)),
    "thumb": ((-11, -10, 5.4, 6.6, 22),),
}
# fmt: on
_NAIL = (205, 210, 245)
_JOINTED = {"pinch": _PINCH[4:], "flat": _FLAT[4:], "thumb": _THUMB}


@dataclass(frozen=True, slots=True)
class ArmLook:
    """The look of a player's arm."""

    skin: tuple[int, int, int]
    sleeve: tuple[int, int, int]
    pattern: str
    """``plain``, ``ribbed`` or ``checked``."""
    cuff: float
    """Start of the sleeve, mm from the fingertip."""
    left_handed: bool
    size: float
    seed: int


@dataclass(frozen=True, slots=True)
class HandPicture:
    """A picture of a hand: BGRA, premultiplied, and its shadow (0 to 255)."""

    image: Bytes
    shadow: Bytes
    tip: tuple[float, float]
    """The longest finger's tip in the picture, px."""


def look(seed: int, seat: int) -> ArmLook:
    """Return a seated player's arm, the same for the same seed."""
    chance = np.random.default_rng((seed, 71, seat))
    skin = np.array(_SKINS[int(chance.integers(len(_SKINS)))]) * chance.uniform(0.93, 1.05)
    sleeve = _SLEEVES[(int(chance.integers(len(_SLEEVES))) + 3 * seat) % len(_SLEEVES)]
    pattern = ("plain", "ribbed", "checked")[int(chance.integers(3))]
    b, g, r = (int(min(255, c)) for c in skin)
    return ArmLook(
        (b, g, r),
        sleeve,
        pattern,
        float(chance.uniform(190, 250)),
        bool(chance.random() < 0.15),
        float(chance.uniform(0.88, 1.02)),
        int(chance.integers(1 << 30)),
    )


def _landscape(bones: Sequence[Bone], xs: Floats, ys: Floats) -> Floats:
    """Return the height of the rounded bones above the table, mm; `_BARE` elsewhere."""
    high = np.full(xs.shape, _BARE, np.float32)
    for x0, y0, r0, x1, y1, r1, lift in bones:
        reach = max(r0, r1)
        spot = _window(xs, ys, min(x0, x1) - reach, max(x0, x1) + reach, min(y0, y1) - reach, max(y0, y1) + reach)
        if spot is None:
            continue
        x, y = xs[spot], ys[spot]
        dx, dy = x1 - x0, y1 - y0
        along = np.clip(((x - x0) * dx + (y - y0) * dy) / max(dx * dx + dy * dy, 1e-6), 0, 1)
        radius = r0 + (r1 - r0) * along
        inside = radius**2 - (x - x0 - along * dx) ** 2 - (y - y0 - along * dy) ** 2
        bump = np.where(inside > 0, np.sqrt(np.maximum(inside, 0)) + lift, _BARE)
        high[spot] = np.maximum(high[spot], bump)
    return high


def _lit(high: Floats, scale: float) -> Floats:
    """Return the brightness by slope, with light from the upper left; about 1 on flat areas."""
    smooth = cv2.GaussianBlur(np.maximum(high, 0), (0, 0), 1.5 * scale)
    gx = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, ksize=3, scale=scale / 8)
    gy = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, ksize=3, scale=scale / 8)
    norm = np.sqrt(1 + gx * gx + gy * gy)
    light = np.clip((0.30 * gx + 0.36 * gy + 0.83) / norm, 0, 1.15)
    return np.asarray(0.42 + 0.66 * light, dtype=np.float32)


def _grain(shape: tuple[int, int], cell: float, seed: int) -> Floats:
    chance = np.random.default_rng(seed)
    small = chance.standard_normal((max(2, int(shape[0] / cell)), max(2, int(shape[1] / cell)))).astype(np.float32)
    return np.asarray(cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def draw_hand(pose: str, look_: ArmLook, scale: float) -> HandPicture:
    """Draw a hand at ``scale`` px/mm: ``pinch`` (holding a card, without the thumb), ``thumb`` or ``flat``."""
    scale_mm = scale * look_.size
    width, height = int(2 * _HALF_WIDTH * scale_mm), int((_ARM_LENGTH + _MARGIN) * scale_mm)
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    xs, ys = (xs / scale_mm - _HALF_WIDTH).astype(np.float32), (ys / scale_mm - _MARGIN).astype(np.float32)
    if look_.left_handed:
        xs = -xs
    skin_high = _landscape((_FLAT if pose == "flat" else _PINCH + _THUMB) + _WRIST, xs, ys)
    skin = np.broadcast_to(np.array(look_.skin, np.float32), (height, width, 3)).copy()
    skin *= (
        1 + 0.025 * _grain((height, width), 9 * scale, look_.seed) + 0.02 * _grain((height, width), 2.5, look_.seed + 1)
    )[..., None]
    _mark(skin, pose, xs, ys)
    colour = skin * _lit(skin_high, scale_mm)[..., None]
    shown = _landscape(_THUMB[2:], xs, ys) if pose == "thumb" else skin_high
    cover = (shown > _BARE).astype(np.float32)
    if pose != "thumb":
        folds = 1.6 * _grain((height, width), 26 * scale, look_.seed + 2)
        sleeve_high = _landscape(((2, look_.cuff, 37, 8, _ARM_LENGTH + 60, 56, 5),), xs, ys)
        sleeve_high = np.where(ys > look_.cuff, sleeve_high + folds, _BARE).astype(np.float32)
        worn = sleeve_high > _BARE / 2
        lit = _lit(sleeve_high, scale_mm) * np.where(ys < look_.cuff + 6, 0.86, 1.0)
        sleeve = np.broadcast_to(np.array(look_.sleeve, np.float32), (height, width, 3)).copy()
        if look_.pattern == "ribbed":
            sleeve *= (0.93 + 0.07 * np.sign(np.sin(xs * 1.6)))[..., None]
        elif look_.pattern == "checked":
            sleeve *= (0.84 + 0.16 * (np.sin(xs * 0.42) > 0.4) + 0.12 * (np.sin(ys * 0.42) > 0.5))[..., None]
        colour = np.where(worn[..., None], sleeve * lit[..., None], colour)
        cover = np.maximum(cover, worn.astype(np.float32))
    cover = cv2.GaussianBlur(cover, (0, 0), 0.6)
    rgb = np.clip(colour, 0, 255) * cover[..., None]
    image = np.dstack([rgb, cover * 255]).astype(np.uint8)
    shadow = np.asarray(cv2.GaussianBlur(cover, (0, 0), 5.0 * scale) * 255 * 0.5, dtype=np.uint8)
    return HandPicture(np.ascontiguousarray(image), shadow, (width / 2, _MARGIN * scale_mm))


def _window(xs: Floats, ys: Floats, x0: float, x1: float, y0: float, y1: float) -> tuple[slice, slice] | None:
    """Return the part of the picture between these coordinates, mm."""
    across = np.flatnonzero((xs[0] > x0) & (xs[0] < x1))
    down = np.flatnonzero((ys[:, 0] > y0) & (ys[:, 0] < y1))
    if not across.size or not down.size:
        return None
    return slice(int(down[0]), int(down[-1]) + 1), slice(int(across[0]), int(across[-1]) + 1)


def _mark(skin: Floats, pose: str, xs: Floats, ys: Floats) -> None:
    """Draw nails, and the creases over the knuckles."""
    for x, y, rx, ry, turn in _NAILS[pose]:
        if (spot := _window(xs, ys, x - 9, x + 9, y - 9, y + 9)) is None:
            continue
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        u = (xs[spot] - x) * c + (ys[spot] - y) * s
        v = -(xs[spot] - x) * s + (ys[spot] - y) * c
        inside = 0.7 * np.clip(1.5 - ((u / rx) ** 2 + (v / ry) ** 2), 0, 0.5)[..., None]
        skin[spot] = skin[spot] * (1 - inside) + np.array(_NAIL, np.float32) * inside
    for x0, y0, _, x1, y1, radius, _ in _JOINTED[pose]:
        for x, y in ((x0, y0), (x1, y1)):
            if y < 20 or (spot := _window(xs, ys, x - 12, x + 12, y - 12, y + 12)) is None:
                continue
            for k in (-1.6, 0.0, 1.6):
                line = np.exp(-(((ys[spot] - y - k) / 0.55) ** 2)) * (np.abs(xs[spot] - x) < 0.6 * radius)
                skin[spot] *= (1 - 0.10 * line)[..., None]
