"""Lens distortion by Brown and Conrady's model, as in OpenCV, from several views of the sheet.

One view of a flat sheet cannot separate distortion from tilt: the lens is measured only from different views, and kept
only if it explains them better than no distortion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from models.eye.geometry import Floats
from models.table_view.sheet import SheetSeen
from referee.sentence import Sentence

FEWEST_VIEWS = 4
_LEAST_TILT = 12.0
"""Least difference in tilt, degrees, between the two most different views; less gives no focal length."""
_MOST_UNSURE = 0.03
"""Greatest uncertainty of the focal length, as a share of it."""
_HELPS = 0.9
"""The error with the lens must be less than this share of the error without it."""


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera's intrinsics: focal lengths and centre (px), and the distortion k1, k2, p1, p2, k3."""

    fx: float
    fy: float
    cx: float
    cy: float
    bend: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def matrix(self) -> Floats:
        """3 x 3, from directions to px."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1.0]])

    def straightened(self, px: Floats) -> Floats:
        """Return (n, 2) px as a lens without distortion would show them."""
        if not len(px):
            return px
        points = np.ascontiguousarray(px, np.float64).reshape(-1, 1, 2)
        out = cv2.undistortPoints(points, self.matrix, np.array(self.bend), P=self.matrix)
        return np.asarray(out, np.float64).reshape(-1, 2)

    def bent(self, px: Floats) -> Floats:
        """Return (n, 2) px of a lens without distortion as this lens shows them."""
        if not len(px):
            return px
        rays = np.c_[(px - (self.cx, self.cy)) / (self.fx, self.fy), np.ones(len(px))]
        out, _ = cv2.projectPoints(rays.reshape(-1, 1, 3), np.zeros(3), np.zeros(3), self.matrix, np.array(self.bend))
        return np.asarray(out, np.float64).reshape(-1, 2)


@dataclass(frozen=True, slots=True)
class LensFound:
    """The lens measured from several views."""

    lens: Lens | None
    """None if the views do not suffice."""
    views: int
    error_px: float
    """Root mean square distance, px, of the corners from the model."""
    why_not: str = ""


def _solved(
    views: Sequence[SheetSeen], size: tuple[int, int], flags: int
) -> tuple[float, Floats, Floats, Floats, float]:
    """Return the error, px; the camera's matrix, its distortion, its uncertainties; and degrees between views."""
    width, height = size
    start = np.array([[1.1 * width, 0, (width - 1) / 2], [0, 1.1 * width, (height - 1) / 2], [0, 0, 1.0]])
    told = cv2.calibrateCameraExtended(
        [np.c_[v.mm, np.zeros(len(v.mm))].astype(np.float32).reshape(-1, 1, 3) for v in views],
        [v.px.astype(np.float32).reshape(-1, 1, 2) for v in views],
        size, start, np.zeros(5), flags=flags | cv2.CALIB_USE_INTRINSIC_GUESS | cv2.CALIB_FIX_ASPECT_RATIO,
    )  # fmt: skip
    matrix, bend, unsure = np.asarray(told[1]), np.asarray(told[2]).reshape(-1), np.asarray(told[5]).reshape(-1)
    upright = np.array([cv2.Rodrigues(turn)[0][:, 2] for turn in told[3]])
    tilted = float(np.degrees(np.arccos(np.clip(upright @ upright.T, -1, 1))).max())
    return float(told[0]), matrix, bend, unsure, tilted


def measure_lens(views: Sequence[SheetSeen], size: tuple[int, int]) -> LensFound:
    """Return the lens from views of the sheet, held differently in each.

    Args:
        views: one per picture, each with six corners or more.
        size: the pictures' width and height, px.
    """
    views = [v for v in views if len(v.ids) >= 6]
    if len(views) < FEWEST_VIEWS:
        words = Sentence(
            "too few views of the sheet ({count}) to tell the lens from the camera's tilt", count=len(views)
        )
        return LensFound(None, len(views), float("nan"), words)
    fixed = cv2.CALIB_ZERO_TANGENT_DIST | cv2.CALIB_FIX_K3
    plain, *_ = _solved(views, size, fixed | cv2.CALIB_FIX_K1 | cv2.CALIB_FIX_K2)
    error, matrix, bend, unsure, tilted = _solved(views, size, fixed)
    share = float(unsure[0] / matrix[0, 0])
    if tilted < _LEAST_TILT or not share < _MOST_UNSURE:
        words = Sentence(
            "the views are too alike ({angle}° between them): hold the sheet tilted, each time another way",
            angle=f"{tilted:.0f}",
        )
        return LensFound(None, len(views), error, words)
    if error > _HELPS * plain:
        return LensFound(None, len(views), error, Sentence("the lens bends too little to measure: nothing to correct"))
    k1, k2, p1, p2, k3 = (float(b) for b in bend[:5])
    fx, fy, cx, cy = (float(matrix[i, j]) for i, j in ((0, 0), (1, 1), (0, 2), (1, 2)))
    lens = Lens(fx, fy, cx, cy, (k1, k2, p1, p2, k3))
    return LensFound(lens, len(views), error)
