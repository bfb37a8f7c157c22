"""What lies over the picture's edge: arms, arms at rest, and soft shadows, which are no arms.

`sort_edge` gets what differs from the bare table, reduced (`models.watch.motion`). A shadow dims all colours alike, or
brightens them where it was learned and has gone, and that little by little. What has not moved for a while and stands
out from its surroundings is a thing at rest; what does not stand out is the table where a thing was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.watch.measure import DIMMEST, LITTLE, PART, SPECK, TINT


@dataclass(frozen=True, slots=True)
class Reach:
    """An arm across the picture's edge, in reduced pixels: the middle of the stretch of edge it covers."""

    x: float
    y: float
    lying: bool = False
    """Whether it has lain there for a while where it crosses the edge, whatever its hand did."""
    dim: bool = False
    """Whether it dims all colours of the table alike, as a hard shadow does, or a dark sleeve on a grey table."""


def reaches(
    foreign: Image, moved: NDArray[np.bool_] | None = None, light: NDArray[np.float32] | None = None
) -> list[Reach]:
    """The stretches of the picture's edge that foreign things cross.

    ``moved`` is what has changed lately, ``light`` the `_light` of each reduced pixel, if known: an arm's middle is
    where its shadow is not.
    """
    rows, columns = foreign.shape
    rim = np.concatenate([foreign[1, :], foreign[:, -2], foreign[-2, ::-1], foreign[::-1, 1]]) > 0
    if not rim.any():
        return []
    xs = np.concatenate([np.arange(columns), np.full(rows, columns - 1), np.arange(columns)[::-1], np.zeros(rows)])
    ys = np.concatenate([np.zeros(columns), np.arange(rows), np.full(columns, rows - 1), np.arange(rows)[::-1]])
    if rim.all():
        runs = [np.arange(len(rim))]
    else:
        # The rim is a ring: a run may go on from its end to its beginning.
        places = np.flatnonzero(rim)
        runs = np.split(places, np.flatnonzero(np.diff(places) > SPECK + 1) + 1)
        if len(runs) > 1 and places[0] + len(rim) - places[-1] <= SPECK + 1:
            runs[0] = np.concatenate([runs.pop(), runs[0]])
    runs = [run for run in runs if len(run) >= SPECK]
    # Who leans on an arm breathes; of an arm that came lately all has moved.
    lying = [moved is not None and _moved_at_root(moved, xs[run], ys[run]) < PART for run in runs]
    clear = [run if light is None else run[~_dims_alike(light, xs[run], ys[run])] for run in runs]
    out = []
    for run, lies, arm in zip(runs, lying, clear, strict=True):
        dim = len(arm) < SPECK
        x, y = (float(each[run if dim else arm].mean()) for each in (xs, ys))
        out.append(Reach(x, y, lies, dim))
    return out


def _dims_alike(light: NDArray[np.float32], xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where along the picture's edge all colours are dimmed alike."""
    rows, columns = light.shape[:2]
    x, y = (np.clip(each, 2, n - 3).astype(int) for each, n in ((xs, columns), (ys, rows)))
    # Single pixels are a sensor's noise.
    near = [light[y + j, x + i, :2] for j in (-2, 0, 2) for i in (-2, 0, 2)]
    grey, hue = np.median(near, axis=0).T
    return np.asarray((grey < 1 - LITTLE) & (hue < TINT))


def _moved_at_root(moved: NDArray[np.bool_], xs: NDArray[np.float64], ys: NDArray[np.float64]) -> float:
    """Share of what is near a stretch of the picture's edge that has moved."""
    rows, columns = moved.shape
    places = [(np.clip(xs, d + 1, columns - d - 2), np.clip(ys, d + 1, rows - d - 2)) for d in (0, SPECK, 2 * SPECK)]
    return float(np.mean([moved[y.astype(int), x.astype(int)].mean() for x, y in places]))


def _is_shadow(light: NDArray[np.float32]) -> bool:
    """Whether pixels, each with its `_light`, show the table under a soft shadow, or without one."""
    _, hue, step = np.percentile(light, 90, axis=0)
    least, middle, most = np.percentile(light[:, 0], (5, 50, 95))
    one_sided = most < 1 + LITTLE or least > 1 - LITTLE
    # From one pixel to the next a soft shadow takes 0.16 of its light at most, a sleeve's edge more.
    return bool(one_sided and middle > DIMMEST and hue < TINT and step < PART)


@dataclass(slots=True, eq=False)
class SortedEdge:
    """What reaches in over the picture's edge."""

    arms: list[Reach] = field(default_factory=list)
    resting: list[Reach] = field(default_factory=list)
    things: Image | None = None
    """Mask of all of them, moving and at rest, without known cards; None where there are none."""
    at_rest: Image = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    """Mask of those at rest."""


def sort_edge(foreign: Image, small: Image, table: Image, moved: NDArray[np.bool_], cards: Image | None) -> SortedEdge:
    """Tell arms, arms at rest and soft shadows apart.

    Args:
        foreign: mask of what differs from the bare table.
        small: the reduced picture, B,G,R.
        table: the bare table, B,G,R.
        moved: what has changed lately, (rows, columns).
        cards: mask of known cards, if there are any.
    """
    solid = foreign.copy()
    things, at_rest = np.zeros_like(foreign), np.zeros_like(foreign)
    light: NDArray[np.float32] | None = None
    for box, there in _over_edge(foreign):
        light = _light(small, table) if light is None else light
        if _is_shadow(light[box][there & _near_edge(box, foreign.shape)]):
            solid[box][there] = 0
        elif np.count_nonzero(there) < PART * foreign.size:
            things[box][there] = 255
    if not things.any():
        return SortedEdge(reaches(solid, moved, light))
    if cards is not None:
        things[cv2.dilate(cards, np.ones((2 * SPECK + 1,) * 2, np.uint8)) > 0] = 0
    for box, there in list(_over_edge(things)):
        if moved[box][there].mean() >= LITTLE:
            continue
        if _stands_out(small, table, box, there):
            at_rest[box][there] = 255
        else:
            things[box][there] = 0
    return SortedEdge(
        reaches(cv2.subtract(solid, at_rest), moved, light), reaches(at_rest, None, light), things, at_rest
    )


Box = tuple[slice, slice]


def _over_edge(mask: Image) -> Iterator[tuple[Box, NDArray[np.bool_]]]:
    """The parts of a mask that hang together and touch the picture's edge: the box round each and where it is there."""
    rows, columns = mask.shape
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    left, top = stats[:, cv2.CC_STAT_LEFT], stats[:, cv2.CC_STAT_TOP]
    right, bottom = left + stats[:, cv2.CC_STAT_WIDTH], top + stats[:, cv2.CC_STAT_HEIGHT]
    at_edge = (left < 2) | (top < 2) | (right > columns - 2) | (bottom > rows - 2)
    at_edge[0] = False
    for label in np.flatnonzero(at_edge):
        box = np.s_[top[label] : bottom[label], left[label] : right[label]]
        yield box, labels[box] == label


def _near_edge(box: Box, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Where within a box the picture's edge is near."""
    ys, xs = np.arange(box[0].start, box[0].stop), np.arange(box[1].start, box[1].stop)
    high, wide = np.minimum(ys, shape[0] - 1 - ys), np.minimum(xs, shape[1] - 1 - xs)
    # What the picture shows of an arm's root.
    return np.asarray(np.minimum(high[:, None], wide[None, :]) < 6 * SPECK)


def _stands_out(small: Image, table: Image, box: Box, there: NDArray[np.bool_]) -> bool:
    """Whether a part has its outline in the picture; else it is in the table's, from where the thing was taken away."""
    filled = np.pad(there.astype(np.uint8), 1, mode="edge")
    outline = there & ~(cv2.erode(filled, np.ones((3, 3), np.uint8))[1:-1, 1:-1] > 0)
    if not outline.any():
        return False
    now, before = (_steps(picture[box])[outline].mean() for picture in (small, table))
    return bool(now > before)


def _steps(picture: Image) -> NDArray[np.float32]:
    """How much a picture differs from pixel to pixel."""
    grey = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)), np.float32)


def _light(small: Image, table: Image) -> NDArray[np.float32]:
    """Of each reduced pixel: its light as a share of the table's, the share by which one colour has less of it than
    another, and by how much its light differs from its neighbours', as a share of the full light: where a shadow was
    learned and has gone, all ratios are larger."""
    light = cv2.divide(cv2.add(small, (1, 1, 1, 0), dtype=cv2.CV_32F), cv2.add(table, (1, 1, 1, 0), dtype=cv2.CV_32F))
    b, g, r = cv2.split(light)
    low, high = cv2.min(cv2.min(b, g), r), cv2.max(cv2.max(b, g), r)
    grey = (b + g + r) / 3
    steps = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)) / 8
    return np.asarray(cv2.merge([grey, (high - low) / high, steps / cv2.max(grey, 1.0)]), np.float32)
