"""The frames of a sequence as another camera or lamp would give them: `judge --camera`.

A sequence shows one camera that exposes well and knows its lamp. Tables have others, and a watcher that takes levels
and sizes for granted fails on their instants before it loses a card.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import Image
from referee.units import SECOND

Camera = Callable[[Image, int], Image]
"""Converts a frame, H x W x 3, B,G,R, of an instant, ns, to another camera's; its size may change."""

_BALANCE_NS: Final = 2 * SECOND
_EXPOSURE_S: Final = 0.4
"""Time in which an automatic exposure makes up for two thirds of a change."""


def _fixed(convert: Callable[[Image], Image]) -> Callable[[], Camera]:
    """Make cameras that treat all frames alike."""
    return lambda: lambda image, _: convert(image)


def _of_size(share: float) -> Callable[[], Camera]:
    return _fixed(
        lambda image: np.asarray(cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8)
    )


def _coloured(image: Image, *shares: float) -> Image:
    """Scale blue, green and red by these factors."""
    return np.asarray(np.clip(image * np.array(shares), 0, 255), np.uint8)


def _of_colour(*shares: float) -> Callable[[], Camera]:
    return _fixed(lambda image: _coloured(image, *shares))


def _of_curve(exponent: float) -> Callable[[], Camera]:
    curve = (np.power(np.arange(256) / 255, exponent) * 255).astype(np.uint8)
    return _fixed(lambda image: np.asarray(cv2.LUT(image, curve), np.uint8))


def _of_quality(jpeg: int) -> Callable[[], Camera]:
    """Compress as JPEG, as a cheap webcam does."""
    options = (cv2.IMWRITE_JPEG_QUALITY, jpeg)
    return _fixed(lambda image: np.asarray(cv2.imdecode(cv2.imencode(".jpg", image, options)[1], 1), np.uint8))


def _balancing() -> Camera:
    """Shift the white balance by 10 to 20 % and back, at every step, as a webcam does."""

    def convert(image: Image, t: int) -> Image:
        step = t // _BALANCE_NS
        if step % 2 == 0:
            return image
        chance = np.random.default_rng(step)
        warmer = chance.choice((-1, 1))
        blue, red = 1 + chance.uniform(0.1, 0.2, 2) * (-warmer, warmer)
        return _coloured(image, blue, 1.0, red)

    return convert


def _exposing() -> Camera:
    """Hold the mean of the first frame, with a lag: hands and cards change the exposure of all else."""
    aim, gain, before = 0.0, 1.0, 0

    def convert(image: Image, t: int) -> Image:
        nonlocal aim, gain, before
        out = _coloured(image, gain, gain, gain)
        aim = aim or float(out.mean())
        gain *= (aim / max(1.0, float(out.mean()))) ** (1 - np.exp((before - t) / SECOND / _EXPOSURE_S))
        before = t
        return out

    return convert


def _shaking() -> Camera:
    """Shift each frame by up to 1 px each way, as a camera on a table that is hit."""

    def convert(image: Image, t: int) -> Image:
        right, down = np.random.default_rng(t).uniform(-1, 1, 2)
        move = np.array([[1, 0, right], [0, 1, down]])
        size = (image.shape[1], image.shape[0])
        return np.asarray(cv2.warpAffine(image, move, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)

    return convert


OTHER_CAMERAS: Final[dict[str, Callable[[], Camera]]] = {
    "half-size": _of_size(0.5),
    "large": _of_size(1.5),
    "warm": _of_colour(0.55, 0.85, 1.1),
    "cold": _of_colour(1.15, 0.95, 0.75),
    "dim": _of_colour(0.5, 0.5, 0.5),
    "bright": _of_colour(1.3, 1.3, 1.3),
    "flat": _of_curve(0.6),
    "steep": _of_curve(1.6),
    "soft": _fixed(lambda image: np.asarray(cv2.GaussianBlur(image, (0, 0), 1.2), np.uint8)),
    "blurred": _fixed(lambda image: np.asarray(cv2.blur(image, (5, 5)), np.uint8)),
    "compressed": _of_quality(30),
    "jpeg-50": _of_quality(50),
    "balancing": _balancing,
    "exposing": _exposing,
    "shaking": _shaking,
}
"""Makes each camera anew for a sequence: some have a state."""
