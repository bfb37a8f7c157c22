"""The calibration sheet's board: where its corners are, and how they are found in a picture.

The board is a ChArUco board: a chessboard whose white squares hold markers, so that each corner is known by its number
even where a part is hidden. Its millimetres are measured from its upper left, x right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

COLUMNS, ROWS = 6, 7
# An odd number of rows: for an even one OpenCV has drawn two different boards over its versions.
SQUARE_MM, MARKER_MM = 30.0, 22.0
BOARD_MM: Final = (COLUMNS * SQUARE_MM, ROWS * SQUARE_MM)
CORNERS: Final = (COLUMNS - 1) * (ROWS - 1)
"""Inner corners of the chessboard."""
ENOUGH: Final = 15
"""So many corners span at least three of the board's rows and columns: with fewer the table's far edge is a guess."""


@dataclass(frozen=True, slots=True)
class SheetSeen:
    """The board's corners in one picture."""

    ids: NDArray[np.int64]
    """(n,) numbers of the corners seen."""
    mm: Floats
    """(n, 2) their places on the board."""
    px: Floats
    """(n, 2) their places in the picture; whole numbers are the middles of pixels."""

    @property
    def whole(self) -> bool:
        """Whether every corner was seen."""
        return len(self.ids) == CORNERS


@lru_cache(maxsize=1)
def board() -> Any:
    """The board as OpenCV knows it."""
    markers = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    return cv2.aruco.CharucoBoard((COLUMNS, ROWS), SQUARE_MM, MARKER_MM, markers)


@lru_cache(maxsize=1)
def _detector() -> Any:
    return cv2.aruco.CharucoDetector(board())


def board_picture(scale: int) -> Bytes:
    """The board without a margin, one channel, at ``scale`` px/mm (a whole number, so that squares end on pixels)."""
    size = (round(BOARD_MM[0] * scale), round(BOARD_MM[1] * scale))
    return np.asarray(board().generateImage(size, marginSize=0), np.uint8)


def corner_places() -> Floats:
    """(`CORNERS`, 2) mm of every corner, by number."""
    return np.asarray(board().getChessboardCorners(), np.float64)[:, :2]


def find_sheet(image: Bytes) -> SheetSeen | None:
    """The board's corners in a picture (H x W, or H x W x 3, blue first); None if no marker of it is seen."""
    grey = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    corners, ids, _, markers = _detector().detectBoard(grey)
    if markers is None or len(markers) == 0:
        return None
    numbers = np.zeros(0, np.int64) if ids is None else np.asarray(ids, np.int64).reshape(-1)
    points = np.zeros((0, 2)) if ids is None else np.asarray(corners, np.float64).reshape(-1, 2)
    return SheetSeen(numbers, corner_places()[numbers], points)


def mirrored_sheet(image: Bytes) -> bool:
    """Whether the picture shows the board as a mirror would: it is found only in the picture turned over."""
    turned = find_sheet(np.ascontiguousarray(image[:, ::-1]))
    return turned is not None and len(turned.ids) >= ENOUGH


def outline() -> Floats:
    """(4, 2) mm of the board's outer corners, clockwise from the upper left."""
    width, height = BOARD_MM
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)


def edges_between(seen: SheetSeen) -> list[tuple[Floats, Floats]]:
    """The edges from corner to neighbouring corner (px) of which both ends are seen."""
    place = {int(number): px for number, px in zip(seen.ids, seen.px, strict=True)}
    across = COLUMNS - 1
    pairs = [(n, n + 1) for n in place if (n + 1) % across] + [(n, n + across) for n in place]
    return [(place[a], place[b]) for a, b in pairs if b in place]
