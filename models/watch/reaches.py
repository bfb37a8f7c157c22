"""Arms over the picture's edge, moving and at rest.

`sort_edge` gets the mask where the surface network (`models.watch.surfaces`) sees arms. An arm that has not moved for a
while is at rest: it brings and takes nothing until it moves again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.watch.masks import over_edge, widened
from models.watch.measure import HALF, LITTLE, OVER, PART, SPECK


@dataclass(frozen=True, slots=True)
class Reach:
    """An arm across the picture's edge, in reduced pixels: the middle of the stretch of edge it covers."""

    x: float
    y: float
    lying: bool = False
    """Whether it has been still where it crosses the edge for a while, even if its hand moved."""


def reaches(arms: Image, moved: NDArray[np.bool_] | None = None) -> list[Reach]:
    """Return the stretches of the picture's edge that arms cross; ``moved``: pixels changed lately, if known."""
    rows, columns = arms.shape
    rim = np.concatenate([arms[1, :], arms[:, -2], arms[-2, ::-1], arms[::-1, 1]]) > 0
    if not rim.any():
        return []
    xs = np.concatenate([np.arange(columns), np.full(rows, columns - 1), np.arange(columns)[::-1], np.zeros(rows)])
    ys = np.concatenate([np.zeros(columns), np.arange(rows), np.full(columns, rows - 1), np.arange(rows)[::-1]])
    if rim.all():
        runs = [np.arange(len(rim))]
    else:
        # The rim is a ring: a run may continue from its end to its beginning.
        places = np.flatnonzero(rim)
        runs = np.split(places, np.flatnonzero(np.diff(places) > SPECK + 1) + 1)
        if len(runs) > 1 and places[0] + len(rim) - places[-1] <= SPECK + 1:
            runs[0] = np.concatenate([runs.pop(), runs[0]])
    runs = [run for run in runs if len(run) >= SPECK]
    # The arm of a player who leans on it stirs a little; an arm that came lately has moved everywhere.
    return [
        Reach(
            float(xs[run].mean()), float(ys[run].mean()),
            moved is not None and _moved_at_root(moved, xs[run], ys[run]) < PART,
        )
        for run in runs
    ]  # fmt: skip


def _moved_at_root(moved: NDArray[np.bool_], xs: NDArray[np.float64], ys: NDArray[np.float64]) -> float:
    """Return the share of pixels near a stretch of the picture's edge that have moved."""
    rows, columns = moved.shape
    places = [(np.clip(xs, d + 1, columns - d - 2), np.clip(ys, d + 1, rows - d - 2)) for d in (0, SPECK, 2 * SPECK)]
    return float(np.mean([moved[y.astype(int), x.astype(int)].mean() for x, y in places]))


@dataclass(slots=True, eq=False)
class SortedEdge:
    """The arms over the picture's edge, moving and at rest, with their masks."""

    arms: list[Reach] = field(default_factory=list)
    resting: list[Reach] = field(default_factory=list)
    things: Image | None = None
    """Mask of all arms, moving and at rest; None if there are none."""
    at_rest: Image = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    """Mask of the arms at rest."""


def sort_edge(arms: Image, moved: NDArray[np.bool_], rested: Image | None = None) -> SortedEdge:
    """Separate moving arms from arms at rest.

    Args:
        arms: mask of arms.
        moved: pixels changed lately, (rows, columns).
        rested: mask of the arms at rest in the previous frame: they stay so until they move, whatever touches them.
    """
    at_rest = np.zeros_like(arms)
    for box, there in over_edge(at_rest if rested is None else rested):
        # Another hand may come over the resting arm.
        if moved[box][there].mean() < OVER and (arms[box][there] > 0).mean() >= HALF:
            at_rest[box][there] = 255
    others = cv2.subtract(arms, widened(at_rest, SPECK // 2))
    things = at_rest.copy()
    for box, there in over_edge(others):
        things[box][there] = 255
        if moved[box][there].mean() < LITTLE:
            at_rest[box][there] = 255
    if not things.any():
        return SortedEdge()
    return SortedEdge(reaches(cv2.subtract(things, at_rest), moved), reaches(at_rest), things, at_rest)
