"""Disturbances between the table and a good picture: glare, shadow, no light, a cover, a knock, a soft lens.

An effect changes a finished picture of the scene for as long as it lasts. Instants in ns, lengths in mm on the table
(the middle is (0, 0)) unless they are px of the picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.scene import Scene
from referee.units import MS

Floats = NDArray[np.float32]
_PAPER: Final = 220.0
"""Grey level of white paper."""


class Effect(Protocol):
    """A disturbance of pictures."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes: ...


def _share(t: int, start: int, until: int, ramp: int) -> float:
    """Return the strength of an effect at ``t``, 0 to 1: it comes and goes within ``ramp``."""
    return min(1.0, max(0.0, min((t - start) / ramp, (until - t) / ramp)))


def _distance(scene: Scene, x: float, y: float, turn: float, wide: float, tall: float) -> Floats:
    """Return each pixel's distance from a point, as a share of an ellipse's axes (mm) turned by degrees."""
    u, v = scene.px(x, y)
    ys, xs = np.mgrid[0 : scene.height, 0 : scene.width].astype(np.float32)
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    along = ((xs - u) * c + (ys - v) * s) / (wide * scene.scale)
    across = ((ys - v) * c - (xs - u) * s) / (tall * scene.scale)
    return np.asarray(np.sqrt(along**2 + across**2), np.float32)


def _turned(scene: Scene, degrees: float) -> tuple[Floats, Floats]:
    """Return each pixel's distance along a direction and across it, in halves of the picture from its middle."""
    ys, xs = np.mgrid[0 : scene.height, 0 : scene.width].astype(np.float32)
    xs, ys = (xs / scene.width - 0.5) * 2, (ys / scene.height - 0.5) * 2
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return xs * c + ys * s, ys * c - xs * s


def _noisy(picture: Bytes, t: int, sigma: float = 1.2) -> Bytes:
    """Add the sensor's own noise, which does not get darker with the picture."""
    chance = np.random.default_rng(t % (2**32))
    grain = chance.normal(0, sigma, (picture.shape[0] // 2, picture.shape[1] // 2, 3)).astype(np.float32)
    grain = cv2.resize(grain, (picture.shape[1], picture.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(picture + grain, 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Glare:
    """A lamp's reflection in the coated cards: at one place, for as long as the lamp hangs there."""

    x: float
    y: float
    wide: float = 16.0
    tall: float = 11.0
    turn: float = 30.0
    strength: float = 190.0

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        d = _distance(scene, self.x, self.y, self.turn, self.wide, self.tall)
        gloss = np.full(picture.shape[:2], 0.10, np.float32)
        side, half = scene.pile.side, scene.pile.side // 2
        top, left = scene.height // 2 - half, scene.width // 2 - half
        y0, x0 = max(0, top), max(0, left)
        part = scene.pile.image[y0 - top : scene.height - top, x0 - left : scene.width - left, 3]
        gloss[y0 : y0 + part.shape[0], x0 : x0 + part.shape[1]] += part[:side, :side] / 255 * 0.9
        light = self.strength * np.exp(-(d**2) * 1.6) * gloss
        return np.asarray(np.clip(picture + light[..., None], 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Shade:
    """A sleeve's or a head's shadow over a part of the table; it moves a little."""

    start: int
    until: int
    x: float
    y: float
    turn: float
    depth: float = 0.5
    """Share of the light that it takes away."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = _share(t, self.start, self.until, 180 * MS)
        if share <= 0:
            return picture
        sway = 6 * math.sin(t / 4e8)
        # A sleeve casts a long shadow with one end on the table.
        d = _distance(scene, self.x + sway, self.y, self.turn, 150, 34)
        light = 1 - self.depth * share / (1 + np.exp((d - 1) * 9))
        return np.asarray(picture * light[..., None], np.uint8)


@dataclass(frozen=True, slots=True)
class LampOff:
    """The lamp is off for a while; a little light comes from elsewhere."""

    start: int
    until: int
    left: float = 0.05
    """Share of the light that remains."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = _share(t, self.start, self.until, 50 * MS)
        if share <= 0:
            return picture
        dim = np.asarray(picture * np.float32(1 - share * (1 - self.left)), np.uint8)
        return _noisy(dim, t)


@dataclass(frozen=True, slots=True)
class Lamp:
    """Light of another colour from an instant on, as gains of blue, green and red."""

    gains: tuple[float, float, float]
    start: int = 0

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = _share(t, self.start - 300 * MS, 2**62, 300 * MS)
        gains = 1 + share * (np.array(self.gains, np.float32) - 1)
        return np.asarray(np.clip(picture * gains, 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Balance:
    """The camera changes its white balance or its exposure by itself, and leaves it so."""

    start: int
    span: int
    """Duration, ns; 0: complete in the next picture."""
    levels: tuple[float, float, float]
    """Change of white paper's blue, green and red, grey levels."""
    offset: bool = False
    """Whether all darker levels change by the same amount; else in proportion."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = min(1.0, max(0.0, (t - self.start + 1) / max(1, self.span)))
        if share <= 0:
            return picture
        levels = share * np.array(self.levels, np.float32)
        changed = picture + levels if self.offset else picture * (1 + levels / _PAPER)
        return np.asarray(np.clip(changed + 0.5, 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Daylight:
    """A cloud before the sun, or past it: the light changes slowly, on the window's side more than on the other."""

    start: int
    until: int
    left: float
    """Final share of the light, in the middle."""
    turn: float
    """Degrees to the window."""
    uneven: float
    """Share by which the change is stronger at the window's side, and weaker on the other."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = min(1.0, max(0.0, (t - self.start) / (self.until - self.start)))
        along, _ = _turned(scene, self.turn)
        light = 1 + share * (self.left - 1) * (1 + self.uneven * along)
        return np.asarray(np.clip(picture * light[..., None], 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class SunPatch:
    """Sunlight through a window in a band across the table, with the shadow of a crossbar in it."""

    start: int
    until: int
    """When it reaches its full brightness."""
    turn: float
    """Degrees from the picture's right to the band's other side."""
    off: float
    """Distance of the band's middle from the picture's, in halves of the picture."""
    gain: float
    goes: bool = False
    """Whether it is there at first, and gone from ``until`` on."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = min(1.0, max(0.0, (t - self.start) / (self.until - self.start)))
        share = 1 - share if self.goes else share
        across, along = _turned(scene, self.turn)
        bar = 0.9 / (1 + np.exp((np.abs(along) - 0.04) * 60))
        lit = (1 - bar) / (1 + np.exp((np.abs(across - self.off) - 0.5) * 25))
        return np.asarray(np.clip(picture * (1 + share * (self.gain - 1) * lit[..., None]), 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Covered:
    """An object is held so near to the lens that it is a blur; it may leave a corner free."""

    start: int
    until: int
    colour: tuple[int, int, int]
    """Blue, green, red."""
    turn: float
    free: float = 0.0
    """Share of the picture that stays free."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        share = _share(t, self.start, self.until, 160 * MS)
        if share <= 0:
            return picture
        along, across = _turned(scene, self.turn)
        far = along**2 + across**2
        along += 0.12 * np.sin(across * 3 + t / 5e8)
        reach = -1.7 + share * (3.4 - 2 * self.free) + 0.03 * math.sin(t / 1.5e8)
        over = 1 / (1 + np.exp((along - reach) * 12))
        tone = np.array(self.colour, np.float32) * (1 - 0.25 * far / 2)[..., None]
        mixed = picture * (1 - over[..., None]) + tone * over[..., None]
        return _noisy(np.asarray(np.clip(mixed, 0, 255), np.uint8), t)


@dataclass(frozen=True, slots=True)
class Bump:
    """A knock against the camera: it swings, and stays where it came to rest."""

    t: int
    dx: float
    dy: float
    """px."""
    turn: float
    """Degrees about the picture's middle."""
    swing: int = 250 * MS

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        if t < self.t:
            return picture
        passed = (t - self.t) / self.swing
        # It overshoots and settles.
        part = 1 - math.exp(-4.5 * passed) * math.cos(passed * 9) if passed < 2 else 1.0
        matrix = cv2.getRotationMatrix2D((scene.width / 2, scene.height / 2), self.turn * part, 1.0)
        matrix[:, 2] += (self.dx * part, self.dy * part)
        size = (scene.width, scene.height)
        moved = cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        return np.asarray(moved, np.uint8)


@dataclass(frozen=True, slots=True)
class Soft:
    """The lens is out of focus for a while."""

    start: int
    until: int
    sigma: float
    """px."""

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        sigma = self.sigma * _share(t, self.start, self.until, 250 * MS)
        return picture if sigma < 0.2 else np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), np.uint8)


@dataclass(frozen=True, slots=True)
class Colourless:
    """A monochrome camera's picture, or an infra-red one's with a slight tint."""

    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def __call__(self, picture: Bytes, t: int, scene: Scene) -> Bytes:
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)[..., None]
        return np.asarray(np.clip(grey * np.array(self.tint) + 0.5, 0, 255), np.uint8)
