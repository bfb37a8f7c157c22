"""Least squares for a handful of unknowns: Levenberg and Marquardt's method with differences for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """Where the squares are least."""

    x: Floats
    residuals: Floats
    covariance: Floats
    """Of ``x``, for residuals whose standard deviation is 1."""


def _slopes(residuals: Callable[[Floats], Floats], x: Floats, at: Floats) -> Floats:
    columns = []
    for k in range(len(x)):
        step = 1e-6 * max(1.0, abs(x[k]))
        moved = x.copy()
        moved[k] += step
        columns.append((residuals(moved) - at) / step)
    return np.stack(columns, axis=1)


def least_squares(residuals: Callable[[Floats], Floats], start: Floats, rounds: int = 60) -> Fit:
    """Find x so that the sum of the squared residuals is least, beginning at ``start``.

    Args:
        residuals: from (n,) unknowns to (m,) residuals, m >= n, each over its own standard deviation.
        start: near enough that the way there goes downhill.
        rounds: at most so many steps.
    """
    x = start.astype(np.float64)
    at = residuals(x)
    damping = 1e-3
    for _ in range(rounds):
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
