"""The light on the table: how much it has changed, and how a picture looks in another light."""

from __future__ import annotations

from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.watch.measure import CHANGED, DIMMEST, FEW, HALF, LITTLE, NEARLY_ALL, OVER, PART, SLIGHT, SPECK

_COLOURED: Final = 24
"""Greatest difference, in levels, between the strongest and weakest colour of paper in white light."""
_WAVES: Final = np.arange(HALF, 6.0, SLIGHT)
"""Numbers of a lamp's waves that a rolling shutter may show in one picture."""


def gains(before: Image, now: Image) -> NDArray[np.float64]:
    """Return by how much blue, green and red have brightened in most of the picture."""
    ratios = (now.reshape(-1, 3) + 1.0) / (before.reshape(-1, 3) + 1.0)
    return np.asarray(np.median(ratios, axis=0), np.float64)


def relit(picture: Image, light: NDArray[np.floating]) -> Image:
    """Return the picture in another light; ``light``: gain of each colour, for each pixel or for all."""
    return np.asarray(np.clip(picture * light + 0.5, 0, 255), np.uint8)


def white_in(picture: Image, paper: NDArray[np.float64], level: float) -> Image:
    """Return a mask (255: yes) of the pixels at least ``level`` times as bright as the paper, and of its hue."""
    usual, cast = float(paper.mean()), float(paper.max() - paper.min())
    # Test the picture unchanged, since the learned paper colour may be wrong, and corrected to white light.
    tables = np.clip(np.arange(256)[:, None] * (usual / paper) + 0.5, 0, 255).astype(np.uint8)
    by_white_lamp = np.asarray(cv2.LUT(picture, tables[None]), np.uint8)
    both = _grey_in(picture, level * usual, _COLOURED + cast), _grey_in(by_white_lamp, level * usual, _COLOURED)
    return np.asarray(cv2.bitwise_or(*both), np.uint8)


def _grey_in(picture: Image, least: float, tint: float) -> Image:
    """Return a mask where all colours reach a level and differ by at most a tint."""
    b, g, r = cv2.split(picture)
    low, high = cv2.min(cv2.min(b, g), r), cv2.max(cv2.max(b, g), r)
    bright = cv2.threshold(low, least, 255, cv2.THRESH_BINARY)[1]
    grey = cv2.threshold(cv2.subtract(high, low), tint, 255, cv2.THRESH_BINARY_INV)[1]
    return np.asarray(cv2.bitwise_and(bright, grey), np.uint8)


def fit_balance(before: Image, now: Image, seen: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Fit a camera's change of white balance or exposure between two pictures.

    Returns:
        For each colour a gain and an offset, 3 x 2; None if half of the ``seen`` pixels (rows x columns) changed
        otherwise.
    """
    few = np.s_[::SPECK, ::SPECK]
    was, shown = (picture[few][seen[few]].astype(np.float64) for picture in (before, now))
    if not len(was):
        return None
    change = shown - was
    alike = np.asarray((np.abs(change - np.median(change, axis=0)) <= 2 * CHANGED).all(axis=1), np.bool_)
    balance = np.zeros((3, 2))
    for _ in range(FEW):
        if np.count_nonzero(alike) < HALF * len(alike):
            return None
        one, other = was[alike], shown[alike]
        middle, level = one.mean(axis=0), other.mean(axis=0)
        spread, common = ((one - middle) ** 2).mean(axis=0), ((one - middle) * (other - level)).mean(axis=0)
        # On a cloth of one colour, only noise (about two levels) would set the gain; these terms pull it to 1.
        gain = (common + SPECK) / (spread + SPECK)
        balance = np.stack([gain, level - gain * middle], axis=1)
        alike = np.asarray((np.abs(balanced(was, balance) - shown) <= CHANGED).all(axis=1), np.bool_)
    return balance


def balanced(colours: NDArray[np.floating] | Image, balance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return colours (... x 3) as the camera shows them after this change of balance (`fit_balance`)."""
    return np.asarray(np.clip(colours * balance[:, 0] + balance[:, 1], 0, 255), np.float64)


def rebalanced(picture: Image, balance: NDArray[np.float64]) -> Image:
    """Return a picture as the camera shows it after a change of balance (`fit_balance`)."""
    return np.asarray(balanced(picture, balance) + 0.5, np.uint8)


def usual_table(picture: Image, seen: NDArray[np.bool_]) -> Image:
    """Return the table's appearance everywhere, extrapolated from where it is seen; nearby colours count more.

    Args:
        picture: rows x columns x 3.
        seen: where the table is empty, rows x columns.
    """
    few = np.s_[::SPECK, ::SPECK]
    xs, ys = (np.linspace(-1, 1, size, dtype=np.float32) for size in seen.shape[::-1])
    x, y = np.broadcast_arrays(xs, ys[:, None])
    # A lamp's light falls off with the square of the distance.
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=2)
    colours, at = picture[few][seen[few]].astype(np.float32), terms[few][seen[few]]
    usual = np.abs(colours - np.median(colours, axis=0)).max(axis=1) <= 2 * CHANGED
    if np.count_nonzero(usual) < HALF * len(usual):
        usual[:] = True
    fit = np.linalg.lstsq(at[usual], colours[usual], rcond=None)[0]
    table = np.asarray(terms @ fit, np.float32)
    off = (picture - table) * (seen & (np.abs(picture - table).max(axis=2) <= 2 * CHANGED))[..., None]
    near = (cv2.GaussianBlur(part, (0, 0), 3 * SPECK) for part in (off, seen.astype(np.float32)))
    more, share = near
    return np.asarray(np.clip(table + more / np.maximum(share, LITTLE)[..., None] + 0.5, 0, 255), np.uint8)


def fit_daylight(table: Image, now: Image, seen: NDArray[np.bool_]) -> NDArray[np.float32] | None:
    """Return the gain of each colour of the table if daylight has changed a little; None otherwise.

    Daylight changes slowly, and more on the window's side. A gain for each colour, and one slope across the picture for
    all, are fitted by least squares to the pixels that look like the table in that light.

    Args:
        table: the earlier table, rows x columns x 3.
        now: the current picture.
        seen: where the table is empty, rows x columns.

    Returns:
        Gains, rows x columns x 3. None if the light is unchanged or another lamp's, or if most of the seen pixels are
        not table.
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
    # The gain is extreme in a corner.
    slope = abs(across) + abs(down)
    if max(np.abs(gain * colour - 1).max() for gain in (middle - slope, middle + slope)) < LITTLE:
        return None
    light = (middle + across * xs + down * ys[:, None])[..., None] * colour
    return np.asarray(light, np.float32)


def fit_bands(before: Image, now: Image) -> NDArray[np.float32] | None:
    """Fit the bands of a flickering lamp: a rolling shutter exposes row after row, so its light lies in waves.

    Returns:
        Each row's gain, rows x 1 x 1, about 1; None if no wave explains how nearly all rows have changed.
    """
    was, shown = (picture[:, ::SPECK, 1] + np.float32(1.0) for picture in (before, now))
    if np.std(shown.mean(axis=1) / was.mean(axis=1)) < LITTLE / 2:
        return None
    light = np.median(shown / was, axis=1)
    light /= np.median(light)
    # A wave of the least swing that counts changes most rows by more. An arm or a card does not, and the fit is costly.
    if np.median(np.abs(light - 1)) < LITTLE / FEW:
        return None
    # Rows that an arm covers differ from the wave.
    waves, alike = _waves(len(light)), np.abs(light - 1) < PART
    for _ in range(FEW):
        # The longest projection on a wave's basis shows the wave that explains most.
        bases = np.linalg.qr(waves[:, alike])[0]
        wave = waves[((light[alike] @ bases) ** 2).sum(axis=1).argmax()]
        terms = np.linalg.lstsq(wave[alike], light[alike], rcond=None)[0]
        off = np.abs(light - wave @ terms)
        unexplained = np.mean(off[alike] ** 2) > (1 - NEARLY_ALL) * np.var(light[alike])
        alike = off <= max(LITTLE, 2 * np.median(off))
    bands = np.asarray(wave @ terms / terms[0], np.float32)
    if unexplained or np.median(off) > LITTLE or np.ptp(bands) < 2 * LITTLE or bands.min() < DIMMEST:
        return None
    return bands[:, None, None]


@cache
def _waves(rows: int) -> NDArray[np.float32]:
    """Return a basis for each number of waves, waves x rows x 3: a constant, a cosine and a sine."""
    turns = 2 * np.pi * _WAVES[:, None] * np.arange(rows) / rows
    return np.stack([np.ones_like(turns), np.cos(turns), np.sin(turns)], axis=2).astype(np.float32)
