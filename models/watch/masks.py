"""Masks: pictures of 0 and 255 that say where something is."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image

Mask = NDArray[np.uint8]
"""0 or 255."""
Box = tuple[slice, slice]
"""Rows and columns."""


def difference(one: Image, other: Image, level: int) -> Mask:
    """Return a mask where two pictures differ by more than ``level`` in any channel."""
    b, g, r = cv2.split(cv2.absdiff(one, other))
    worst = cv2.max(cv2.max(b, g), r)
    return np.asarray(cv2.threshold(worst, level, 255, cv2.THRESH_BINARY)[1], np.uint8)


def both(one: Mask, other: Mask) -> Mask:
    """Return where two masks are set."""
    return np.asarray(cv2.bitwise_and(one, other), np.uint8)


def without(one: Mask, other: Mask) -> Mask:
    """Return where the first mask is set, and the other is not."""
    return both(one, np.asarray(cv2.bitwise_not(other), np.uint8))


def opened(mask: Mask, side: int) -> Mask:
    """Return a mask without its parts narrower than ``side`` pixels."""
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, _square(side)), np.uint8)


def closed(mask: Mask, side: int) -> Mask:
    """Return a mask with its holes narrower than ``side`` pixels filled."""
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, _square(side)), np.uint8)


def widened(mask: Mask, by: int) -> Mask:
    """Return a mask grown by so many pixels on all sides."""
    return np.asarray(cv2.dilate(mask, _square(2 * by + 1)), np.uint8)


def narrowed(mask: Mask, by: int) -> Mask:
    """Return a mask shrunk by so many pixels on all sides."""
    return np.asarray(cv2.erode(mask, _square(2 * by + 1)), np.uint8)


def _square(side: int) -> Mask:
    return np.ones((side, side), np.uint8)


def box_of(mask: Image, margin: int = 0) -> Box | None:
    """Return the box round all that a mask shows, with a margin within the picture; None for an empty mask."""
    x, y, width, height = cv2.boundingRect(mask)
    if not width:
        return None
    return np.s_[max(0, y - margin) : y + height + margin, max(0, x - margin) : x + width + margin]


def over_edge(mask: Image) -> Iterator[tuple[Box, NDArray[np.bool_]]]:
    """Yield each connected part of a mask that touches the picture's edge: its box and its mask there."""
    whole = box_of(mask)
    if whole is None:
        return
    rows, columns = mask.shape
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask[whole])
    left, top = stats[:, cv2.CC_STAT_LEFT], stats[:, cv2.CC_STAT_TOP]
    right, bottom = left + stats[:, cv2.CC_STAT_WIDTH], top + stats[:, cv2.CC_STAT_HEIGHT]
    y, x = whole[0].start, whole[1].start
    at_edge = (left + x < 2) | (top + y < 2) | (right + x > columns - 2) | (bottom + y > rows - 2)
    at_edge[0] = False
    for label in np.flatnonzero(at_edge):
        there = labels[top[label] : bottom[label], left[label] : right[label]] == label
        yield np.s_[y + top[label] : y + bottom[label], x + left[label] : x + right[label]], there
