"""Readings drawn on their picture, so that a person can see at once what the eye saw and how sure it was.

How sure a reading is shows in the line as well as in its colour: whole and thick, dashed, or dotted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.cards import UNREAD
from models.geometry import Image, Points
from models.labels import BLACK, FONT, STYLES, WHITE, Colour, Drawable, Labels, Style, place, style

LONG_SIDE: Final = 1200
"""Smaller pictures are enlarged to about this, px, for the labels to be read."""
BEYOND: Final = 0.18
"""Corners outside the picture are shown as far as this share of its longer side."""


def drawn(image: Image, readings: Sequence[Drawable], long_side: int = LONG_SIDE) -> Image:
    """A copy of the picture, enlarged if it is small and with a legend beneath; sure readings lie over others."""
    scale = max(1.0, long_side / max(image.shape[:2]))
    canvas, shift = _canvas(image, readings, scale)
    unit = max(canvas.shape[:2]) / 1000
    ordered = sorted(readings, key=lambda r: (r.card != UNREAD, r.confidence))
    for reading in ordered:
        _outline(canvas, reading.corners * scale + shift, style(reading), unit, double=reading.top)
    for reading in ordered:
        for spot in reading.indices:
            _ring(canvas, spot * scale + shift, style(reading), unit)
    labels = Labels(canvas, unit, [spot * scale + shift for r in readings for spot in r.indices], scale)
    for reading in reversed(ordered):
        labels.put(reading, _anchor(reading) * scale + shift)
    return _with_legend(canvas, unit)


def _canvas(image: Image, readings: Sequence[Drawable], scale: float) -> tuple[Image, Points]:
    """The enlarged picture with as much grey round it as corners lie outside, and where its own corner came to lie."""
    h, w = image.shape[:2]
    points = np.concatenate([r.corners for r in readings] + [np.array([[0.0, 0.0], [w, h]])])
    most = BEYOND * max(h, w)
    x0, y0 = np.minimum(most, np.maximum(0, -points.min(0)))
    x1, y1 = np.minimum(most, np.maximum(0, points.max(0) - [w, h]))
    way = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    big = cv2.resize(image, (round(w * scale), round(h * scale)), interpolation=way)
    left, top, right, bottom = (round(float(v) * scale) for v in (x0, y0, x1, y1))
    padded = cv2.copyMakeBorder(big, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(205, 205, 205))
    return np.asarray(padded, np.uint8), np.array([left, top], np.float64)


def _outline(canvas: Image, quad: Points, how: Style, unit: float, double: bool) -> None:
    """A card's outline with a light halo, so that it shows on any ground; double round a top card."""
    width = max(1, round(how.width * unit))
    for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True):
        dashed(canvas, a, b, WHITE, how.dash, width + max(2, round(1.4 * unit)), unit * how.width)
    for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True):
        dashed(canvas, a, b, how.colour, how.dash, width, unit * how.width)
    if double:
        middle = quad.mean(0)
        away = quad - middle
        inner = middle + away * (1 - 9 * unit / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1.0))
        for a, b in zip(inner, np.roll(inner, -1, axis=0), strict=True):
            dashed(canvas, a, b, how.colour, how.dash, max(1, width // 2), unit * how.width)


def dashed(
    canvas: Image, a: Points, b: Points, colour: Colour, dash: tuple[float, float], width: int, unit: float
) -> None:
    """A straight line, whole or in dashes of `dash` (drawn, left out) times `unit` px."""
    on, off = dash[0] * unit, dash[1] * unit
    length = float(np.linalg.norm(b - a))
    # Half infinite corners of a card told wrongly would take for ever.
    if off == 0 or length > 200 * (on + off):
        cv2.line(canvas, place(a), place(b), colour, width, cv2.LINE_AA)
        return
    way = (b - a) / max(length, 1e-6)
    for start in np.arange(0.0, length, on + off):
        end = min(length, float(start) + on)
        cv2.line(canvas, place(a + way * start), place(a + way * end), colour, width, cv2.LINE_AA)


def _ring(canvas: Image, at: Points, how: Style, unit: float) -> None:
    cv2.circle(canvas, place(at), round(9 * unit), WHITE, max(2, round(3.2 * unit)), cv2.LINE_AA)
    cv2.circle(canvas, place(at), round(9 * unit), how.colour, max(1, round(1.6 * unit)), cv2.LINE_AA)


def _anchor(reading: Drawable) -> Points:
    """Where a card's label belongs: its middle, but near its index where other cards may lie on the middle."""
    middle = np.asarray(reading.corners.mean(0))
    if reading.top or not len(reading.indices):
        return middle
    return np.asarray(reading.indices[0] + 0.45 * (middle - reading.indices[0]))


def _with_legend(canvas: Image, unit: float) -> Image:
    """The picture with a strip beneath that says what the lines mean."""
    size, height = 0.5 * unit, round(34 * unit)
    entries = [*((s, s.words) for s in STYLES)]
    long = 44 * unit
    widths = [long + 12 * unit + cv2.getTextSize(words, FONT, size, 1)[0][0] + 26 * unit for _, words in entries]
    more = "double line: top of its heap   ring: index"
    widths.append(cv2.getTextSize(more, FONT, size, 1)[0][0] + 26 * unit)
    rows: list[list[int]] = [[]]
    for i, width in enumerate(widths):
        if rows[-1] and sum(widths[k] for k in rows[-1]) + width > canvas.shape[1] - 16 * unit:
            rows.append([])
        rows[-1].append(i)
    strip = np.full((height * len(rows) + round(8 * unit), canvas.shape[1], 3), WHITE, np.uint8)
    for r, row in enumerate(rows):
        x, y = 14 * unit, (r + 0.6) * height
        for i in row:
            start = np.array([x, y])
            if i < len(entries):
                how = entries[i][0]
                width = max(1, round(how.width * unit))
                dashed(strip, start, start + np.array([long, 0.0]), how.colour, how.dash, width, unit * how.width)
            words, indent = (entries[i][1], long + 10 * unit) if i < len(entries) else (more, 0.0)
            at = place(start + np.array([indent, 6 * unit]))
            cv2.putText(strip, words, at, FONT, size, BLACK, max(1, round(unit)), cv2.LINE_AA)
            x += widths[i]
    return np.vstack([canvas, strip])
