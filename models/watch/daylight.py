"""The light on the table: by how much it has changed, and what a picture looks like in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.watch.measure import CHANGED, HALF, LITTLE, OVER, SPECK


def gains(before: Image, now: Image) -> NDArray[np.float64]:
    """By how much blue, green and red have become brighter, most of the picture."""
    ratios = (now.reshape(-1, 3) + 1.0) / (before.reshape(-1, 3) + 1.0)
    return np.asarray(np.median(ratios, axis=0), np.float64)


def relit(picture: Image, light: NDArray[np.floating]) -> Image:
    """The picture in another light; ``light`` is by how much brighter each colour is, there or everywhere."""
    return np.asarray(np.clip(picture * light + 0.5, 0, 255), np.uint8)


def fit_daylight(table: Image, now: Image, seen: NDArray[np.bool_]) -> NDArray[np.float32] | None:
    """By how much brighter each colour of the table is now, if daylight has changed a little.

    It changes slowly, and on the window's side more than on the other: a gain for each colour, and one slope across the
    picture for all, are fitted by least squares to what looks like the table in that light.

    Args:
        table: the table as it was, rows x columns x 3.
        now: as it is.
        seen: where nothing lies on it, rows x columns.

    Returns:
        Gains, rows x columns x 3. None if the light is as it was, another lamp's, or most of what is seen is no table.
    """
    few = np.s_[::SPECK, ::SPECK]
    places, was, shown = seen[few], table[few], now[few]
    if not places.any():
        return None
    colour = gains(was[places], shown[places])
    lit = relit(was, colour)
    alike = places & (np.abs(lit.astype(np.int16) - shown).max(axis=2) <= CHANGED)
    before, expected, found = (picture[alike].sum(axis=1, dtype=np.float64) for picture in (was, lit, shown))
    if len(found) < HALF * np.count_nonzero(places) or abs(found.sum() - before.sum()) > OVER * before.sum():
        return None
    xs, ys = (np.linspace(-1, 1, size, dtype=np.float32) for size in seen.shape[::-1])
    at = np.stack(np.broadcast_arrays(1, xs[few[1]][None], ys[few[0]][:, None]), axis=2)[alike]
    middle, across, down = np.linalg.lstsq(at * expected[:, None], found, rcond=None)[0].astype(np.float32)
    # It is most, or least, in a corner.
    slope = abs(across) + abs(down)
    if max(np.abs(gain * colour - 1).max() for gain in (middle - slope, middle + slope)) < LITTLE:
        return None
    light = (middle + across * xs + down * ys[:, None])[..., None] * colour
    return np.asarray(light, np.float32)
