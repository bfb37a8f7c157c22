"""The calibration sheet's board: the places of its corners, and their detection in a picture.

The board is a ChArUco board: a chessboard whose white squares hold markers, so that each corner is identified by number
even if a part is hidden. Its millimetres are measured from its upper left, x right and y down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Floats, Image

_COLUMNS, _ROWS = 6, 7
# An odd number of rows: for an even one, OpenCV versions have drawn two different boards.
_SQUARE_MM, _MARKER_MM = 30.0, 22.0
BOARD_MM: Final = (_COLUMNS * _SQUARE_MM, _ROWS * _SQUARE_MM)
CORNERS: Final = (_COLUMNS - 1) * (_ROWS - 1)
"""Number of inner corners of the chessboard."""
_WHITE_MM: Final = (_SQUARE_MM - _MARKER_MM) / 2
"""Width of the white round each marker."""
RIM_MM: Final = 6.0
"""Least width of the white round the board, except at its lower rim."""
_LEAST_CONTRAST: Final = 12
"""Least difference in grey levels between black and white squares beside a corner."""
ENOUGH: Final = 15
"""Number of corners sure to span three of the board's rows and columns: with fewer the table's far edge is a guess."""


@dataclass(frozen=True, slots=True)
class SheetSeen:
    """The board's corners in one picture."""

    ids: NDArray[np.int64]
    """(n,) numbers of the corners seen."""
    mm: Floats
    """(n, 2) their places on the board."""
    px: Floats
    """(n, 2) their places in the picture; whole numbers are pixel centres."""

    @property
    def whole(self) -> bool:
        """Whether every corner was seen."""
        return len(self.ids) == CORNERS


@lru_cache(maxsize=1)
def _board() -> Any:
    """Return the board as an OpenCV object."""
    markers = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    return cv2.aruco.CharucoBoard((_COLUMNS, _ROWS), _SQUARE_MM, _MARKER_MM, markers)


@lru_cache(maxsize=1)
def _detector() -> Any:
    return cv2.aruco.CharucoDetector(_board())


def board_picture(scale: int) -> Image:
    """Return the board without margin, one channel, at ``scale`` px/mm (whole, so that squares end on pixels)."""
    size = (round(BOARD_MM[0] * scale), round(BOARD_MM[1] * scale))
    return np.asarray(_board().generateImage(size, marginSize=0), np.uint8)


def corner_places() -> Floats:
    """Return (`CORNERS`, 2) mm of every corner, by number."""
    return np.asarray(_board().getChessboardCorners(), np.float64)[:, :2]


def find_sheet(image: Image) -> SheetSeen | None:
    """Return the board's corners in a picture (H x W, or H x W x 3, blue first); None if none is seen.

    Blur hides markers long before it hides a chessboard's corners. So a sharpened picture is searched, too, and the
    corners beside markers give the places of the others.
    """
    grey = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    seen = _detected(grey)
    if seen is not None and seen.whole:
        return seen
    # Twice as large, with sharper edges.
    smooth = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 0.7)
    large = cv2.resize(smooth, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    harder = np.clip(large + 4 * (large - cv2.GaussianBlur(large, (0, 0), 6)), 0, 255)
    again = _detected(np.asarray(harder, np.uint8))
    if again is not None and (seen is None or len(again.ids) > len(seen.ids)):
        # Back from twice the size; whole numbers are pixel centres.
        seen = SheetSeen(again.ids, again.mm, (again.px + 0.5) / 2 - 0.5)
    return None if seen is None else _completed(grey, seen)


@lru_cache(maxsize=1)
def _shift() -> float:
    """Return the offset, px, by which this OpenCV reports corners too far right and down.

    Whole numbers are pixels' corners in version 4; here, and in version 5, they are pixel centres. Measured on the
    board's own picture, whose corners are known.
    """
    scale, border = 4, 24
    picture = np.pad(board_picture(scale), border, constant_values=255)
    corners, ids, _, _ = _detector().detectBoard(picture)
    wanted = corner_places()[np.asarray(ids).reshape(-1)] * scale + border - 0.5
    return round(2 * float(np.mean(np.asarray(corners).reshape(-1, 2) - wanted))) / 2


def _detected(grey: Image) -> SheetSeen | None:
    corners, ids, _, _ = _detector().detectBoard(grey)
    # A single marker may be a chance pattern; a corner needs two that agree.
    if ids is None or len(ids) == 0:
        return None
    numbers = np.asarray(ids, np.int64).reshape(-1)
    return SheetSeen(numbers, corner_places()[numbers], np.asarray(corners, np.float64).reshape(-1, 2) - _shift())


def _completed(grey: Image, seen: SheetSeen) -> SheetSeen:
    """Add the other corners that show at the places predicted from those seen."""
    for _ in range(3):
        across, down = (np.ptp(seen.mm, axis=0) / _SQUARE_MM).tolist()
        missing = np.setdiff1d(np.arange(CORNERS), seen.ids)
        if len(seen.ids) < 4 or min(across, down) < 1 or not len(missing):
            return seen
        match, _ = cv2.findHomography(seen.mm, seen.px)
        if match is None:
            return seen
        found = {int(n): px for n in missing if (px := _corner_at(grey, match, int(n))) is not None}
        if not found:
            return seen
        ids = np.concatenate([seen.ids, np.array(list(found), np.int64)])
        seen = SheetSeen(ids, corner_places()[ids], np.concatenate([seen.px, np.array(list(found.values()))]))
    return seen


def _corner_at(grey: Image, match: Floats, number: int) -> Floats | None:
    """Return a corner's place (px), if black and white alternate there as on the board."""
    x, y = corner_places()[number]
    near = _WHITE_MM * 0.75
    around = near * np.array([[0.0, 0], [-1, -1], [1, -1], [-1, 1], [1, 1]]) + np.array([x, y])
    places = cv2.perspectiveTransform(around.reshape(-1, 1, 2), match).reshape(-1, 2)
    reach = float(np.linalg.norm(places[4] - places[1])) / math.sqrt(8)
    rows, columns = grey.shape
    if not (reach < places.min() and (places.max(axis=0) + reach < (columns, rows)).all()):
        return None
    window = max(2, round(reach))
    start = places[:1].astype(np.float32).reshape(1, 1, 2).copy()
    stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 40, 0.005)
    found = np.asarray(cv2.cornerSubPix(grey, start, (window, window), (-1, -1), stop), np.float64).reshape(2)
    if np.linalg.norm(found - places[0]) > reach:
        return None
    at = np.rint(places[1:] + found - places[0]).astype(int)
    levels = grey[at[:, 1], at[:, 0]].astype(int)
    # Squares are black if column and row are both odd or both even.
    black = np.array([True, False, False, True]) ^ bool(sum(divmod(number, _COLUMNS - 1)) % 2)
    return found if levels[~black].min() - levels[black].max() >= _LEAST_CONTRAST else None


def mirrored_sheet(image: Image) -> bool:
    """Whether the picture shows the board mirrored: it is found only in the flipped picture."""
    turned = find_sheet(np.ascontiguousarray(image[:, ::-1]))
    return turned is not None and len(turned.ids) >= ENOUGH


def outline() -> Floats:
    """Return (4, 2) mm of the board's outer corners, clockwise from the upper left."""
    width, height = BOARD_MM
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)


def rims() -> list[Floats]:
    """Return edges (2, 2) mm of the black squares on the left, top and right rims, next to `RIM_MM` of white."""
    edges = []
    for k in range(_ROWS):
        x, y = (0.0 if k % 2 == 0 else BOARD_MM[0]), k * _SQUARE_MM
        edges.append(np.array([[x, y], [x, y + _SQUARE_MM]]))
    across = np.array([[0.0, 0.0], [_SQUARE_MM, 0.0]])
    return edges + [across + np.array([k * _SQUARE_MM, 0.0]) for k in range(0, _COLUMNS, 2)]
