"""A picture's background: the table's cloth, the light on it, a lamp's flicker, the sensor's noise.

All seeded. A few noise fields are generated in advance; each picture gets one, shifted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.canvas import Bytes
from referee.units import MS, SECOND

Floats = NDArray[np.float32]
_CLOTHS = ((58, 104, 46), (112, 74, 40), (52, 46, 104), (96, 100, 98), (70, 92, 118), (60, 62, 60))
"""Green, blue and wine felt, grey linen, oak-brown, slate; blue, green, red."""
_FIELDS = 5
_SHIFT_PX = 64
"""Greatest shift of a noise field."""
_GAMMA: Final = 2.2
"""Exponent from grey level to light."""


def light(width: int, height: int, seed: int) -> Floats:
    """Return the brightness over the picture, about 1: a lamp to one side, and darker corners."""
    chance = np.random.default_rng((seed, 11))
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    xs, ys = (xs / width - 0.5) * 2, (ys / height - 0.5) * 2
    slope = chance.uniform(0.04, 0.12)
    falloff = 1 - 0.11 * (xs * xs + ys * ys)
    return np.asarray((1 - slope * (0.7 * xs + 0.7 * ys)) * falloff, dtype=np.float32)


def cloth(width: int, height: int, scale: float, seed: int, colour: tuple[int, int, int] | None = None) -> Bytes:
    """Return the bare table at ``scale`` px/mm: H x W x 3, blue first; the seed chooses a ``colour`` unless given."""
    chance = np.random.default_rng((seed, 12))
    usual = _CLOTHS[int(chance.integers(len(_CLOTHS)))]
    base = np.array(usual if colour is None else colour, np.float32)
    shade = np.ones((height, width), np.float32)
    for cell, depth in ((120.0, 0.035), (24.0, 0.02), (4.0, 0.02), (0.8, 0.035)):
        rows, columns = max(2, int(height / (cell * scale))), max(2, int(width / (cell * scale)))
        small = chance.standard_normal((rows, columns)).astype(np.float32)
        shade += depth * cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32) / scale
    shade += 0.014 * (np.sin(xs * 5.1 + 0.4 * np.sin(ys * 0.11)) + np.sin(ys * 4.7 + 0.5 * np.sin(xs * 0.09)))
    tint = 1 + 0.02 * cv2.resize(
        chance.standard_normal((6, 8, 3)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC
    )
    return np.asarray(np.clip(base * shade[..., None] * tint, 0, 255), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Lamp:
    """A mains lamp, whose light has two cycles per mains period, seen by a rolling shutter."""

    mains_hz: float = 50.0
    ripple: float = 0.2
    """Amplitude of the light, as a share of its mean."""
    readout: int = 8 * MS
    """Time from the first row's exposure to the last's, ns."""

    def light(self, t: int, exposure: int, rows: int) -> Floats:
        """Return each row's brightness, about 1, in a picture whose first row is exposed from ``t`` on (ns)."""
        swing = 2.0 * self.mains_hz
        middles = (t + exposure / 2 + self.readout * np.arange(rows) / rows) / SECOND
        # An exposure averages the light: one as long as a whole cycle sees no flicker.
        even = np.sinc(swing * exposure / SECOND)
        return np.asarray(1 + self.ripple * even * np.cos(2 * np.pi * swing * middles), np.float32)

    def shine(self, image: Bytes, t: int, exposure: int) -> Bytes:
        """Return the picture (H x W x 3) in this lamp's light."""
        levels = self.light(t, exposure, len(image)) ** (1 / _GAMMA)
        return np.asarray(np.clip(image * levels[:, None, None] + 0.5, 0, 255), np.uint8)


class SensorNoise:
    """Sensor noise for pictures of one size; a no-op if ``sigma`` is 0."""

    def __init__(self, width: int, height: int, sigma: float, seed: int) -> None:
        self._seed = seed
        chance = np.random.default_rng((seed, 31))
        shape = (height + _SHIFT_PX, width + _SHIFT_PX, 3)
        self._fields: list[tuple[Bytes, Bytes]] = []
        """Amounts to add and to subtract."""
        for _ in range(_FIELDS if sigma > 0 else 0):
            field = chance.standard_normal(shape, dtype=np.float32)
            field = (
                cv2.GaussianBlur(field, (0, 0), 0.55) * 1.5
                + chance.standard_normal(shape[:2], dtype=np.float32)[..., None] * 0.7
            )
            field = np.rint(field * sigma * 0.75)
            self._fields.append((np.maximum(field, 0).astype(np.uint8), np.maximum(-field, 0).astype(np.uint8)))

    def add_to(self, frame: Bytes, index: int) -> None:
        """Add noise to a picture in place; ``index`` selects it."""
        if not self._fields:
            return
        chance = np.random.default_rng((self._seed, 41, index))
        more, less = self._fields[int(chance.integers(len(self._fields)))]
        x, y = int(chance.integers(_SHIFT_PX)), int(chance.integers(_SHIFT_PX))
        spot = np.s_[y : y + frame.shape[0], x : x + frame.shape[1]]
        cv2.add(frame, more[spot], dst=frame)
        cv2.subtract(frame, less[spot], dst=frame)
