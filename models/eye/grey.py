"""Detects pictures without colour: from a monochrome or infra-red camera, or a grey file.

Such a picture may still be tinted: then each colour is a constant share of the light everywhere, except for rounding
and compression. A coloured picture lacks this property, even with black cards on a grey table, since a sensor's noise
differs between colours.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image

_PIXELS: Final = 20_000
"""Approximate number of pixels examined."""
_CLIPPED: Final = 248
"""Level above which a colour may be clipped, and then says nothing about the tint."""
_REDUCED: Final = 4
"""Reduction factor before the search for colour: compression blurs colours at edges."""
_CONTRAST: Final = 32.0
"""Least contrast, in levels, of a picture with a card."""
_SLIGHT: Final = 0.3
"""Greatest difference between colours in a tint, as a share of the light: an infra-red camera's, not a cloth's."""
_NOISE: Final = 1.0
"""Greatest median deviation from the tint, in levels: rounding and compression."""
_COLOUR: Final = 6.0
"""Least deviation of a reduced pixel from the tint, in levels, that counts as colour."""
_SPECKS: Final = 99.9
"""Percentage of the reduced picture that must lack colour: edges and clipped light leave a few coloured pixels."""


def is_grey(image: Image) -> bool:
    """Whether a picture (H x W x 3) holds no colour, or one slight tint everywhere.

    A picture that shows nothing at all, or only a green cloth, does not count.
    """
    step = max(1, int(np.sqrt(image.shape[0] * image.shape[1] / _PIXELS)))
    few = image[::step, ::step]
    tint, off = _tint(few)
    # A few pixels identify most coloured pictures.
    if float(np.median(off)) > _NOISE or tint > _SLIGHT or float(np.ptp(few.mean(2))) < _CONTRAST:
        return False
    rows, columns = (max(1, side // _REDUCED) for side in image.shape[:2])
    small = np.asarray(cv2.resize(image, (columns, rows), interpolation=cv2.INTER_AREA), np.uint8)
    return float(np.percentile(_tint(small)[1], _SPECKS)) <= _COLOUR


def _tint(picture: Image) -> tuple[float, NDArray[np.float32]]:
    """Return the colour difference of the best fitting tint, as a share of the light, and each pixel's deviation from
    it in levels.
    """
    pixels = picture.reshape(-1, 3).astype(np.float32)
    pixels = pixels[pixels.max(1) < _CLIPPED]
    if not len(pixels):
        return 0.0, np.zeros(1, np.float32)
    light = pixels.mean(1)
    shares = (pixels * light[:, None]).sum(0) / max(float((light * light).sum()), 1.0)
    return float(np.ptp(shares)), np.asarray(np.abs(pixels - light[:, None] * shares).max(1), np.float32)
