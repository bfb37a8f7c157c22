"""Whether a picture holds no colour: a monochrome camera's, an infra-red one's, a grey file's.

Such a picture may still be tinted: each colour is then the same share of the light everywhere, but for rounding and
what compression leaves. A coloured picture is not, not even of black cards on a grey table, for a sensor's noise
differs from colour to colour.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image

_PIXELS: Final = 20_000
"""So many are looked at, about."""
_CLIPPED: Final = 248
"""From this level on a colour may be cut off, and says nothing of the tint."""
_REDUCED: Final = 4
"""By so many times the picture is made smaller to look for colour at all: compression blurs colours at edges."""
_CONTRAST: Final = 32.0
"""Levels between the darkest and the brightest that any card shows."""
_SLIGHT: Final = 0.3
"""By such a share of the light colours part in a tint, at most: an infra-red camera's, not a cloth's."""
_NOISE: Final = 1.0
"""Levels by which the usual pixel is off the tint, at most: rounding and compression."""
_COLOUR: Final = 6.0
"""Levels by which a reduced pixel is off it, at least, for a colour."""
_SPECKS: Final = 99.9
"""Per cent of the reduced picture that must be without one: edges and clipped light leave a few."""


def is_grey(image: Image) -> bool:
    """Whether a picture (H x W x 3) holds no colour, or one slight tint all over.

    Not of one that shows nothing at all, nor of a green cloth alone.
    """
    step = max(1, int(np.sqrt(image.shape[0] * image.shape[1] / _PIXELS)))
    few = image[::step, ::step]
    tint, off = _tint(few)
    # Most coloured pictures are told by a few of their pixels.
    if float(np.median(off)) > _NOISE or tint > _SLIGHT or float(np.ptp(few.mean(2))) < _CONTRAST:
        return False
    rows, columns = (max(1, side // _REDUCED) for side in image.shape[:2])
    small = np.asarray(cv2.resize(image, (columns, rows), interpolation=cv2.INTER_AREA), np.uint8)
    return float(np.percentile(_tint(small)[1], _SPECKS)) <= _COLOUR


def _tint(picture: Image) -> tuple[float, NDArray[np.float32]]:
    """How far colours part in the tint that fits all pixels best, as a share of the light, and by how many levels each
    pixel is off it.
    """
    pixels = picture.reshape(-1, 3).astype(np.float32)
    pixels = pixels[pixels.max(1) < _CLIPPED]
    if not len(pixels):
        return 0.0, np.zeros(1, np.float32)
    light = pixels.mean(1)
    shares = (pixels * light[:, None]).sum(0) / max(float((light * light).sum()), 1.0)
    return float(np.ptp(shares)), np.asarray(np.abs(pixels - light[:, None] * shares).max(1), np.float32)
