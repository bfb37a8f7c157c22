"""Light, noise, flicker and motion blur: finds camera settings from pictures of a still table.

Brightness here is linear light, from grey levels by a gamma of 2.2; it is proportional to exposure times gain. At one
brightness, the noise of a sensor that counts photons is proportional to the square root of the gain (EMVA 1288). By
these two laws exposure is exchanged for gain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Floats, Image
from models.table_view.mains import is_steady

_BLOCK: Final = 16
"""Side, px, of the blocks in which pictures are compared."""
_BANDS: Final = 24
"""Number of bands of rows: a flickering lamp brightens bands, since rows are exposed one after another."""
_CLIPPED_AT: Final = 253
_GAMMA: Final = 2.2
WHITE_LEVEL: Final = 200.0
"""Target grey level of white paper: bright, but short of clipping where the light is strongest."""
MOST_NOISE: Final = 6.0
"""Noise, in grey levels, at which cards are still read easily."""
_CARD_SPEED: Final = 2.0
"""Speed in millimetres per millisecond (2 m/s) of a card laid briskly."""
SHORTEST_US, _LONGEST_US, _MOST_GAIN = 1500, 30_000, 16.0
"""Limits of exposure and gain. In 1.5 ms such a card moves 3 mm, and cards smeared by that were all read: a shorter
exposure only adds noise."""
_NEARLY: Final = 0.75
"""Share of a light cycle from which an exposure is extended to a whole one: a lower share would smear moving cards."""


@dataclass(frozen=True, slots=True)
class Stillness:
    """The differences between consecutive pictures of a still table."""

    noise: float
    """Standard deviation of a pixel's grey level; NaN for a single picture."""
    flicker: float
    """Largest change of a band's brightness between pictures, as a share; NaN for a single picture."""
    moving: float
    """Share of the picture in which something moved."""


def compare(frames: Sequence[Image]) -> Stillness:
    """Return noise, flicker and motion in consecutive pictures (H x W x 3) of one size."""
    if len(frames) < 2:
        return Stillness(math.nan, math.nan, 0.0)
    noises, swings, moved = [], [], []
    greys = [cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY).astype(np.float32) for frame in frames]
    for one, other in pairwise(greys):
        change, level = _blocks(other - one), _blocks((one + other) / 2).mean(axis=(2, 3))
        sigma, mean = change.std(axis=(2, 3)), change.mean(axis=(2, 3))
        noises.append(float(np.median(sigma)) / math.sqrt(2))
        rows = np.array_split(np.arange(len(mean)), min(_BANDS, len(mean)))
        share = np.concatenate([np.full(len(r), np.median(mean[r] / np.maximum(level[r], 8))) for r in rows])
        swings.append(float(np.abs(share).max()))
        still = mean - share[:, None] * level
        limit = 2.0 + 4 * float(np.median(sigma)) / _BLOCK
        moved.append(float((np.abs(still) > limit).mean()))
    return Stillness(float(np.median(noises)), float(np.max(swings)), float(np.max(moved)))


def _blocks(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    rows, columns = picture.shape[0] // _BLOCK, picture.shape[1] // _BLOCK
    cut = picture[: rows * _BLOCK, : columns * _BLOCK].reshape(rows, _BLOCK, columns, _BLOCK)
    return np.asarray(cut.transpose(0, 2, 1, 3), np.float32)


@dataclass(frozen=True, slots=True)
class Light:
    """The brightness of white paper in a picture."""

    white: float
    """Grey level of white paper."""
    clipped: float
    """Share of the white paper that is clipped."""


def measure_light(image: Image, papers: Sequence[Floats]) -> Light:
    """Return the brightness of white paper (quads of px) in a picture (H x W x 3)."""
    mask = np.zeros(image.shape[:2], np.uint8)
    for quad in papers:
        cv2.fillConvexPoly(mask, np.rint(quad).astype(np.int32), 255)
    inside = image[mask > 0]
    if not len(inside):
        return Light(0.0, 0.0)
    levels = inside.mean(axis=1)
    white = float(np.percentile(levels, 80))
    bright = inside[levels >= 0.8 * white]
    return Light(white, float((bright.max(axis=1) >= _CLIPPED_AT).mean()))


def smear_px(exposure_us: float, scale: float) -> float:
    """Return the pixels that a card moves during an exposure at `_CARD_SPEED`; ``scale`` in px/mm."""
    return _CARD_SPEED * exposure_us / 1000 * scale


@dataclass(frozen=True, slots=True)
class Exposure:
    """Recommended exposure settings."""

    exposure_us: int
    gain: float
    more_light: float
    """Factor by which the light is still too low; 1 if it suffices."""

    def differs(self, exposure_us: float, gain: float) -> bool:
        """Whether the difference from these settings justifies a change."""
        return abs(self.exposure_us - exposure_us) >= 0.15 * exposure_us or abs(self.gain - gain) >= 1


def advise(
    light: Light, noise: float, exposure_us: float, gain: float, fps: float, *, mains_hz: int | None = None
) -> Exposure:
    """Return the shortest exposure at which white paper is `WHITE_LEVEL` and the noise is `MOST_NOISE` at most.

    Args:
        light: the paper's current brightness.
        noise: current noise in grey levels; NaN if unknown, and then the gain stays.
        exposure_us, gain: the camera's current settings.
        fps: frames a second; no exposure is longer than a frame.
        mains_hz: frequency of flickering lamps (None: no flicker, or unknown). An exposure of whole light cycles is
            even;
            it is taken unless it overexposes. A shorter one is taken only if the bands stand still.
    """
    # Clipped paper is brighter than measured; how much brighter shows once it is no longer clipped.
    seen = max(light.white, 4.0) if light.clipped < 0.25 else 300.0
    product = exposure_us * gain * (WHITE_LEVEL / seen) ** _GAMMA
    least_gain = 1.0 if math.isnan(noise) else gain * (MOST_NOISE / max(noise, 0.3)) ** 2
    most_gain = min(_MOST_GAIN, max(1.0, gain if math.isnan(noise) else least_gain))
    wanted = product / most_gain
    longest = min(_LONGEST_US, 1e6 / fps)
    if mains_hz is not None:
        swing = 1e6 / (2 * mains_hz)
        least = 0 if wanted < _NEARLY * swing and is_steady(fps, mains_hz) else 1
        whole = max(least, min(round(wanted / swing), int(longest / swing))) * swing
        wanted = whole if 0 < whole <= product else wanted
    exposure = min(max(wanted, SHORTEST_US), longest)
    then = min(_MOST_GAIN, max(1.0, product / exposure))
    return Exposure(int(exposure), round(then, 1), max(1.0, product / (exposure * most_gain)))
