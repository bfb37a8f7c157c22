"""The table as the camera sees it: maps millimetres on the table to pixels in the picture, and back.

The origin in millimetres is the point seen at the picture's middle; x runs to the picture's right there, y at a right
angle to it, towards the picture's bottom. So they do not depend on how a sheet or a card was laid down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.classes import HEIGHT_MM
from models.eye.geometry import Floats
from models.table_view.lens import Lens

SOUGHT_FOCAL: Final = 1.1
"""Assumed focal length as a share of the picture's width: 49 degrees across, the view of a Camera Module 3 in its fast
mode, within ..."""
_FOCAL_DOUBT: Final = 0.35
"""... this standard deviation of its logarithm: from a wide lens to a portrait lens."""
CORNER_PX: Final = 0.2
"""Standard deviation of a corner's place, px."""
_MARGIN_MM: Final = 5.0
"""Distance that the playing area keeps from the picture's edge."""


class NoTable(ValueError):  # noqa: N818 - it names what was found
    """The points do not determine a table."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A camera's view of the table.

    Args:
        homography: 3 x 3, from (x, y, 1) mm on the table to px of a lens without distortion.
        size: the picture's width and height, px.
        lens: the measured distortion, if any.
    """

    homography: Floats
    size: tuple[int, int]
    lens: Lens | None = None

    def to_px(self, mm: Floats) -> Floats:
        """Map (n, 2) mm on the table to (n, 2) px."""
        flat = project(self.homography, mm)
        return flat if self.lens is None else self.lens.bent(flat)

    def to_mm(self, px: Floats) -> Floats:
        """Map (n, 2) px to (n, 2) mm on the table."""
        flat = px if self.lens is None else self.lens.straightened(px)
        return project(np.linalg.inv(self.homography), flat)

    def scale(self, mm: tuple[float, float]) -> float:
        """Return px per mm at a place of the table, averaged over all directions."""
        x, y = mm
        near = np.array([[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]])
        left, right, up, down = self.to_px(near)
        across, along = (right - left) / 2, (down - up) / 2
        return math.sqrt(abs(float(across[0] * along[1] - across[1] * along[0])))

    def card_height(self, mm: tuple[float, float] = (0.0, 0.0)) -> float:
        """Return the height of a card lying there, px."""
        return HEIGHT_MM * self.scale(mm)


@dataclass(frozen=True, slots=True)
class TableFound:
    """A table found in a picture."""

    view: TableView
    tilt: float
    """Angle, degrees, between the camera's axis and the table's normal ..."""
    tilt_error: float
    """... and its standard deviation."""
    towards: float
    """The bearing (degrees counter-clockwise from the picture's right) of the side nearer to the lens."""
    error_px: float
    """Root mean square distance, px, of the points from the model."""
    from_source: Floats
    """3 x 3, from the mm of the sheet (or of the first card) to those of the table."""


# Least squares for a handful of unknowns


@dataclass(frozen=True, slots=True)
class Fit:
    """The result of a least-squares fit."""

    x: Floats
    residuals: Floats
    covariance: Floats
    """Covariance of ``x``, for residuals of standard deviation 1."""


def _slopes(residuals: Callable[[Floats], Floats], x: Floats, at: Floats) -> Floats:
    """Return the derivatives (m, n), by differences."""
    columns = []
    for k in range(len(x)):
        step = 1e-6 * max(1.0, abs(x[k]))
        moved = x.copy()
        moved[k] += step
        columns.append((residuals(moved) - at) / step)
    return np.stack(columns, axis=1)


def least_squares(residuals: Callable[[Floats], Floats], start: Floats) -> Fit:
    """Minimise the sum of squared residuals by Levenberg and Marquardt's method.

    Args:
        residuals: from (n,) unknowns to (m,) residuals, m >= n, each over its own standard deviation.
        start: near enough to the minimum for a descent to reach it.
    """
    x = start.astype(np.float64)
    at = residuals(x)
    damping = 1e-3
    for _ in range(60):
        slopes = _slopes(residuals, x, at)
        normal, pull = slopes.T @ slopes, slopes.T @ at
        scale = np.diag(np.maximum(np.diag(normal), 1e-12))
        step = np.linalg.lstsq(normal + damping * scale, -pull, rcond=None)[0]
        then = residuals(x + step)
        if (then**2).sum() < (at**2).sum():
            done = np.abs(step).max() < 1e-9 or (at**2).sum() - (then**2).sum() < 1e-12 * (1 + (at**2).sum())
            x, at, damping = x + step, then, damping / 5
            if done:
                break
        else:
            damping *= 4
            if damping > 1e12:
                break
    slopes = _slopes(residuals, x, at)
    return Fit(x, at, np.asarray(np.linalg.pinv(slopes.T @ slopes), np.float64))


# Homographies


def project(matrix: NDArray[Any], points: Floats) -> Floats:
    """Map (n, 2) points through a 3 x 3 homography."""
    out = np.c_[points, np.ones(len(points))] @ matrix.T
    return np.asarray(out[:, :2] / out[:, 2:], np.float64)


def pinhole(pose: Floats, size: tuple[int, int], lens: Lens | None) -> Floats:
    """Return a camera's homography; ``pose``: turn (Rodrigues), shift, mm, and logarithm of the focal length."""
    turn, _ = cv2.Rodrigues(np.ascontiguousarray(pose[:3]))
    if lens is None:
        focal = math.exp(pose[6])
        inside = np.array([[focal, 0, (size[0] - 1) / 2], [0, focal, (size[1] - 1) / 2], [0, 0, 1.0]])
    else:
        inside = lens.matrix
    return np.asarray(inside @ np.c_[turn[:, 0], turn[:, 1], pose[3:6]], np.float64)


def focal_doubt(pose: Floats, size: tuple[int, int]) -> Floats:
    """Return the prior on the focal length, as a residual."""
    return np.array([(pose[6] - math.log(SOUGHT_FOCAL * size[0])) / _FOCAL_DOUBT])


def _first_pose(mm: Floats, px: Floats, size: tuple[int, int]) -> Floats:
    """Return an initial pose: the camera straight above, at the distance that the points' size suggests."""
    focal = SOUGHT_FOCAL * size[0]
    match, _ = cv2.estimateAffinePartial2D(mm.astype(np.float32), px.astype(np.float32), method=cv2.LMEDS)
    if match is None:
        raise NoTable("the points lie in one place")
    scale = math.hypot(match[0, 0], match[1, 0])
    angle = math.atan2(match[1, 0], match[0, 0])
    high = focal / max(scale, 1e-9)
    x, y = (match[:, 2] - ((size[0] - 1) / 2, (size[1] - 1) / 2)) / focal * high
    return np.array([0, 0, angle, x, y, high, math.log(focal)])


def fit_table(mm: Floats, px: Floats, size: tuple[int, int], lens: Lens | None = None) -> TableFound:
    """Return the table from points with known places on a flat object.

    Args:
        mm: (n, 2) places on the object; n >= 4, not in one line.
        px: (n, 2) their places in the picture.
        size: the picture's width and height, px.
        lens: the measured distortion, if any.

    Raises:
        NoTable: the points do not determine it.
    """
    flat = px if lens is None else lens.straightened(px)
    start = _first_pose(mm, flat, size)

    def residuals(pose: Floats) -> Floats:
        off = (project(pinhole(pose, size, lens), mm) - flat).ravel() / CORNER_PX
        return np.concatenate([off, focal_doubt(pose, size)])

    return framed(least_squares(residuals, start), size, lens, 2 * len(mm))


def framed(fit: Fit, size: tuple[int, int], lens: Lens | None, count: int) -> TableFound:
    """Return the table of a fit, with the unknowns of a `pinhole` and ``count`` point residuals (/ `CORNER_PX`) first.

    Raises:
        NoTable: the fit has failed.
    """
    homography = pinhole(fit.x[:7], size, lens)
    error = CORNER_PX * math.sqrt(2 * float((fit.residuals[:count] ** 2).mean()))
    if not np.isfinite(homography).all() or abs(np.linalg.det(homography)) < 1e-9:
        raise NoTable("the points lie in one line, or are not of one flat thing")
    tilt, towards = _tilt(fit.x)
    slope = np.array([(_tilt(fit.x + step)[0] - tilt) / 1e-4 for step in 1e-4 * np.eye(len(fit.x))])
    doubt = max(1.0, error / CORNER_PX) * math.sqrt(max(0.0, float(slope @ fit.covariance @ slope)))
    source = _frame(homography, size)
    matrix = homography @ np.linalg.inv(source)
    view = TableView(np.asarray(matrix / matrix[2, 2], np.float64), size, lens)
    return TableFound(view, tilt, doubt, towards, error, source)


def _tilt(pose: Floats) -> tuple[float, float]:
    """Return the tilt, degrees, and the bearing of the side nearer to the lens."""
    turn, _ = cv2.Rodrigues(np.ascontiguousarray(pose[:3]))
    upright = turn[:, 2]
    if upright[2] < 0:
        upright = -upright
    # The normal points away from the lens; the table comes nearer on the side it leans to.
    towards = math.degrees(math.atan2(-upright[1], upright[0])) % 360
    return math.degrees(math.acos(min(1.0, float(upright[2])))), towards


def _frame(homography: Floats, size: tuple[int, int]) -> Floats:
    """Return the 3 x 3 map from the homography's millimetres to the table's."""
    middle = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    at, right = project(np.linalg.inv(homography), middle + np.array([[-1.0, 0.0], [1.0, 0.0]]))
    x, y = (right - at) / np.linalg.norm(right - at)
    origin = (at + right) / 2
    turned = np.array([[x, y, 0], [-y, x, 0], [0, 0, 1.0]])
    moved = np.array([[1, 0, -origin[0]], [0, 1, -origin[1]], [0, 0, 1.0]])
    return np.asarray(turned @ moved, np.float64)


def seen_area(view: TableView) -> Floats:
    """Return (4, 2) mm: the largest upright rectangle about the middle in the picture, clockwise from upper left."""
    width, height = view.size
    xs, ys = np.linspace(0, width - 1, 9), np.linspace(0, height - 1, 9)
    left, right = (view.to_mm(np.c_[np.full(9, x), ys]) for x in (0.0, width - 1.0))
    top, bottom = (view.to_mm(np.c_[xs, np.full(9, y)]) for y in (0.0, height - 1.0))
    x0, x1 = left[:, 0].max() + _MARGIN_MM, right[:, 0].min() - _MARGIN_MM
    y0, y1 = top[:, 1].max() + _MARGIN_MM, bottom[:, 1].min() - _MARGIN_MM
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def card_heights(view: TableView, area: Floats) -> tuple[float, float, float]:
    """Return a card's height, px: in the area's middle, at its smallest, and at its tallest."""
    x, y = area.mean(axis=0)
    heights = [view.card_height((float(a), float(b))) for a, b in area]
    middle = view.card_height((float(x), float(y)))
    return middle, min([middle, *heights]), max([middle, *heights])


def grid(area: Floats, step: float = 50.0) -> Sequence[Floats]:
    """Return lines (k, 2) mm of a grid over the upright box round an area, through the origin."""
    (x0, y0), (x1, y1) = area.min(axis=0), area.max(axis=0)
    xs = np.arange(math.ceil(x0 / step), math.floor(x1 / step) + 1) * step
    ys = np.arange(math.ceil(y0 / step), math.floor(y1 / step) + 1) * step
    upright = [np.c_[np.full(25, x), np.linspace(y0, y1, 25)] for x in xs]
    return upright + [np.c_[np.linspace(x0, x1, 25), np.full(25, y)] for y in ys]
