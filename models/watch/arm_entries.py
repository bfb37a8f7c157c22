"""Arms that cross the picture's edge: where they do, from which bearing, and how far they reach in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.watch.pixels import Mask


@dataclass(frozen=True, slots=True)
class Reach:
    """An arm across the picture's edge, in reduced pixels."""

    x: float
    y: float
    """The middle of the stretch of edge it covers."""
    width: float


def reaches(foreign: Mask) -> list[Reach]:
    """The stretches of the picture's edge that foreign things cross."""
    rows, columns = foreign.shape
    rim = np.concatenate([foreign[1, :], foreign[:, -2], foreign[-2, ::-1], foreign[::-1, 1]]) > 0
    if not rim.any():
        return []
    xs = np.concatenate([np.arange(columns), np.full(rows, columns - 1), np.arange(columns)[::-1], np.zeros(rows)])
    ys = np.concatenate([np.zeros(columns), np.arange(rows), np.full(columns, rows - 1), np.arange(rows)[::-1]])
    wide = [run for run in _runs(rim) if len(run) >= 4]
    return [Reach(float(xs[run].mean()), float(ys[run].mean()), float(len(run))) for run in wide]


def _runs(ring: NDArray[np.bool_], bridge: int = 4) -> list[NDArray[np.int64]]:
    """Runs of True round a ring, as indices; gaps up to ``bridge`` are closed."""
    if ring.all():
        return [np.arange(len(ring))]
    places = np.flatnonzero(ring)
    splits = np.flatnonzero(np.diff(places) > bridge + 1) + 1
    runs = np.split(places, splits)
    if len(runs) > 1 and places[0] + len(ring) - places[-1] <= bridge + 1:
        runs[0] = np.concatenate([runs.pop(), runs[0]])
    return runs


def covered(foreign: Mask, reach: Reach, to: tuple[float, float], skip: Mask | None = None, steps: int = 48) -> float:
    """Share of the straight line from an arm's crossing to a point that is foreign, known cards (``skip``) left out."""
    share = np.linspace(0.0, 1.0, steps)
    xs = np.clip(reach.x + (to[0] - reach.x) * share, 1, foreign.shape[1] - 2).astype(int)
    ys = np.clip(reach.y + (to[1] - reach.y) * share, 1, foreign.shape[0] - 2).astype(int)
    on = foreign[ys, xs] > 0
    if skip is not None:
        keep = skip[ys, xs] == 0
        if keep.sum() >= 6:
            on = on[keep]
    return float(on.mean())


def bearing(x: float, y: float, about: tuple[float, float]) -> float:
    """Degrees counter-clockwise from the picture's right, 0 to 360, of a point about another."""
    return math.degrees(math.atan2(about[1] - y, x - about[0])) % 360.0


def apart(one: float, other: float) -> float:
    """The angle between two bearings, 0 to 180."""
    return abs((one - other + 180.0) % 360.0 - 180.0)
