"""Classifies each pixel of the table, with a small network, as arm, card, shadow or bare table.

The network sees the reduced picture with the bare table beside it. `tools/surfaces` trains it on drawn tables and on
stills of the path-traced second world.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.eye.networks import SUFFIX, WEIGHTS, Network
from models.watch.masks import over_edge
from models.watch.measure import PART

ROWS: Final = 120
"""Number of picture rows in the network's input, as in its training."""
FILE: Final = f"surfaces{SUFFIX}"

Kinds = NDArray[np.uint8]
"""A map of `Surface`."""


class Surface(IntEnum):
    """The surface that a pixel shows; the numbers are the network's classes."""

    TABLE = 0
    """The bare table, with its prints and anything else that belongs to it."""
    ARM = 1
    """A hand or an arm, with or without a sleeve."""
    FACE = 2
    BACK = 3
    SHADOW = 4
    OTHER = 5


@cache
def surface_network(folder: Path = WEIGHTS) -> Network:
    """Return the network, loaded once; raises `WeightsBroken`."""
    return Network(folder / FILE)


def tell_surfaces(network: Callable[[Image], NDArray[np.float32]], picture: Image, bare: Image) -> Kinds:
    """Return the likeliest surface of each pixel of a picture (H x W x 3), compared with the ``bare`` table."""
    rows, columns = picture.shape[:2]
    size = (round(columns * ROWS / rows / 2) * 2, ROWS)
    both = [cv2.resize(image, size, interpolation=cv2.INTER_AREA) for image in (picture, bare)]
    kinds = network(np.concatenate(both, axis=2)[None])[0].argmax(0).astype(np.uint8)
    _tell_sleeves(kinds)
    return np.asarray(cv2.resize(kinds, (columns, rows), interpolation=cv2.INTER_NEAREST), np.uint8)


def _tell_sleeves(kinds: Kinds) -> None:
    """Relabel as arm, in place, a "shadow" between a hand and the picture's edge: a dark sleeve."""
    arms, shadows = ((kinds == kind).astype(np.uint8) for kind in (Surface.ARM, Surface.SHADOW))
    loose = arms.copy()
    for box, there in over_edge(arms):
        loose[box][there] = 0
    if loose.any():
        for box, there in over_edge(arms | shadows):
            if np.count_nonzero(loose[box][there]) >= PART * np.count_nonzero(there):
                kinds[box][there] = Surface.ARM
