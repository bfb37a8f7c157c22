"""Detects mains of 50 or 60 Hz from the beat of the lamps' flicker with the camera's frames.

A lamp's light has two cycles in each period of the mains. The rows of a picture are exposed one after another, so the
flicker shows as bands, which drift from frame to frame unless a whole number of cycles fits between two frames: at 25
frames a second for 50 Hz and at 30 for 60 Hz they stand still. So frames are taken at other rates, at which both would
drift, and each band's brightness is fitted with a wave of each kind (least squares, as for a spectrum of uneven
samples).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Floats, Image
from referee.units import SECOND

BEAT_RATES: Final = (26.0, 27.0)
"""Frames a second at which neither kind of band stands still: 50 Hz recur 4 and 8 times a second, 60 Hz 10 and 12
times. Two rates are used, since another flicker may resemble one of them at one rate, but not at both.
"""
BEAT_FRAMES: Final = 36
"""Number of frames at each rate: more than a second."""
_RATES: Final = {50: 25.0, 60: 30.0}
_BANDS: Final = 24
_GAMMA: Final = 2.2
_LEAST_RIPPLE: Final = 0.003
"""Least ripple, as a share of the light: less is sensor noise, and harmless."""
_EXPLAINED: Final = 0.6
"""Least share of all changes that a wave of the mains must explain ..."""
_ALONE: Final = 0.3
"""... and the greatest share that the other mains may explain."""
_VISIBLE: Final = 0.5
"""Share of a wave that must remain when a steady light and a slow change are subtracted."""


def steady_rate(mains_hz: int | None) -> float:
    """Return the frame rate at which a lamp's bands stand still; 30 if the mains are unknown."""
    return _RATES[mains_hz] if mains_hz is not None else 30.0


def is_steady(fps: float, mains_hz: int) -> bool:
    """Whether a whole number of light cycles fits between two frames."""
    return _is_whole(2 * mains_hz / fps)


def is_even(exposure_us: float, mains_hz: int) -> bool:
    """Whether an exposure covers a whole number of light cycles, and so shows no flicker."""
    return _is_whole(2 * mains_hz * exposure_us / 1e6)


def _is_whole(swings: float) -> bool:
    return abs(swings - round(swings)) < 0.02 and round(swings) > 0


@dataclass(frozen=True, slots=True)
class Mains:
    """The mains frequency and ripple found in the flicker."""

    hz: int | None
    """50, 60, or None: no flicker, or none that is certainly of either."""
    ripple: float
    """Amplitude of a band's light, as a share of its mean."""


UNSEEN: Final = Mains(None, 0.0)
"""No flicker was sought or found."""


class Flicker:
    """Collects frames of a still table and identifies the mains that their flicker beats with."""

    def __init__(self) -> None:
        self._instants: list[float] = []
        self._bands: list[Floats] = []

    def feed(self, image: Image, t: int, exposure: int) -> None:
        """Add a picture (H x W x 3), exposed from ``t`` on (ns); only each band's brightness is kept."""
        grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        # Linear light through a table of 256 levels: each band needs only their counts.
        light = (np.arange(256) / 255.0) ** _GAMMA
        bands = [light[band].mean() for band in np.array_split(grey, min(_BANDS, len(grey)))]
        self._instants.append((t + exposure / 2) / SECOND)
        self._bands.append(np.asarray(bands))

    def judge(self) -> Mains:
        """Return the mains, if one of the two explains the changes and the other does not."""
        if len(self._instants) < 12:
            return UNSEEN
        instants = np.asarray(self._instants) - self._instants[0]
        light = np.stack(self._bands)
        shares = light / np.maximum(light.mean(axis=0), 1e-4)
        slow = np.stack([np.ones_like(instants), instants], axis=1)
        changes = _without(shares, slow)
        total = float((changes**2).sum())
        fits = {hz: _fit(changes, instants, slow, 2.0 * hz) for hz in _RATES}
        hz = max(fits, key=lambda frequency: fits[frequency])
        ripple = float(np.sqrt(2 * fits[hz] / changes.size))
        other = max(fit for frequency, fit in fits.items() if frequency != hz)
        sure = fits[hz] >= _EXPLAINED * total and other <= _ALONE * total and ripple >= _LEAST_RIPPLE
        return Mains(hz if sure else None, ripple if sure else float(np.sqrt(2 * total / changes.size)))


def _without(values: Floats, basis: Floats) -> Floats:
    """Return each column without its projection on the columns of the basis."""
    weights, *_ = np.linalg.lstsq(basis, values, rcond=None)
    return np.asarray(values - basis @ weights, np.float64)


def _fit(changes: Floats, instants: NDArray[np.float64], slow: Floats, swings: float) -> float:
    """Return the share of the squared changes explained by a wave of ``swings`` Hz; 0 if it would stand still."""
    turns = 2 * np.pi * swings * instants
    wave = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    left = _without(wave, slow)
    if (left**2).sum() < _VISIBLE * (wave**2).sum():
        return 0.0
    return float((changes**2).sum() - (_without(changes, left) ** 2).sum())
