"""What each pixel of the table shows: an arm, a card, a shadow or the bare table, told by a small network.

It sees the picture and the bare table beside it, reduced. `tools/surfaces` trains it, on drawn tables and on stills of
the path-traced second world.
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
from models.eye.networks import WEIGHTS, Network
from models.watch.measure import PART
from models.watch.reaches import over_edge

ROWS: Final = 120
"""The network looks at so many rows, and was trained at so many."""
FILE: Final = "surfaces.onnx"

Kinds = NDArray[np.uint8]
"""A map of `Surface`."""


class Surface(IntEnum):
    """What a pixel may show; the numbers are the network's."""

    TABLE = 0
    """The bare table, with what is printed on it or belongs to it."""
    ARM = 1
    """A hand or an arm, in a sleeve or not."""
    FACE = 2
    BACK = 3
    SHADOW = 4
    OTHER = 5


@cache
def surface_network(folder: Path = WEIGHTS) -> Network:
    """The network, loaded once; raises `WeightsBroken`."""
    return Network(folder / FILE)


def tell_surfaces(network: Callable[[Image], NDArray[np.float32]], picture: Image, bare: Image) -> Kinds:
    """The likeliest surface of each pixel of a picture (H x W x 3) of the table, which is known ``bare``, too."""
    rows, columns = picture.shape[:2]
    size = (round(columns * ROWS / rows / 2) * 2, ROWS)
    both = [cv2.resize(one, size, interpolation=cv2.INTER_AREA) for one in (picture, bare)]
    kinds = network(np.concatenate(both, axis=2)[None])[0].astype(np.uint8)
    _tell_sleeves(kinds)
    return np.asarray(cv2.resize(kinds, (columns, rows), interpolation=cv2.INTER_NEAREST), np.uint8)


def _tell_sleeves(kinds: Kinds) -> None:
    """Take for an arm, in place, what passes for a shadow between a hand and the picture's edge: a dark sleeve."""
    arms, shadows = ((kinds == kind).astype(np.uint8) for kind in (Surface.ARM, Surface.SHADOW))
    loose = arms.copy()
    for box, there in over_edge(arms):
        loose[box][there] = 0
    if loose.any():
        for box, there in over_edge(arms | shadows):
            if np.count_nonzero(loose[box][there]) >= PART * np.count_nonzero(there):
                kinds[box][there] = Surface.ARM
