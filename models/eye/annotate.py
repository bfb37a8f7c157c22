"""Draws readings on their picture, to show at a glance which cards the eye saw and how sure it was.

The line shows the confidence as well as the colour does: whole and thick, dashed, or dotted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import CardSeen
from models.eye.geometry import Image, Points

_LIKELY_READING: Final = 0.5
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
_WHITE, _BLACK, _RED = (255, 255, 255), (25, 25, 25), (40, 30, 200)
_LONG_SIDE: Final = 1200
"""Longer side, px, to which smaller pictures are enlarged so that the labels are legible."""
_BEYOND: Final = 0.18
"""Share of the picture's longer side within which corners outside the picture are shown."""
_Box = tuple[float, float, float, float]
Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The line in which readings of one range of confidence are drawn."""

    meaning: str
    colour: Colour
    dash: tuple[float, float]
    """Lengths drawn and skipped, in line widths; (1, 0) is a whole line."""
    width: float


STYLES: Final = (
    LineStyle(f"{SURE_READING:g} or more", (70, 160, 30), (1, 0), 2.0),
    LineStyle(f"{_LIKELY_READING:g} to {SURE_READING:g}", (20, 130, 235), (7, 4), 1.6),
    LineStyle(f"under {_LIKELY_READING:g}", (150, 50, 190), (3, 3), 1.3),
    LineStyle("seen, not read", (60, 60, 60), (0.5, 3.2), 1.3),
)


def line_style(reading: CardSeen) -> LineStyle:
    """Return the line style of a reading."""
    if reading.card == UNREAD:
        return STYLES[3]
    return STYLES[0 if reading.confidence >= SURE_READING else 1 if reading.confidence >= _LIKELY_READING else 2]


def confidence_text(confidence: float) -> str:
    """Return a confidence in figures that never round it up to certainty."""
    if confidence < 0.99:
        return f"{confidence:.2f}"
    return f"{confidence:.3f}" if confidence < 0.9995 else ">.999"


def _pixel(point: Points) -> tuple[int, int]:
    """Return a point in whole pixels, limited to the range that OpenCV draws."""
    x, y = np.clip(np.round(point), -30000, 30000)
    return int(x), int(y)


class Labels:
    """Places labels where they hide neither each other nor, if possible, an index."""

    def __init__(self, canvas: Image, unit: float, spots: Sequence[Points], scale: float = 1.0) -> None:
        """``unit``: a thousandth of the canvas's longer side; ``scale``: canvas px per picture px."""
        self._canvas, self._unit, self._scale = canvas, unit, scale
        self.placed: list[_Box] = []
        self._spots = [(float(s[0]) - 9 * unit, float(s[1]) - 9 * unit, 18 * unit, 18 * unit) for s in spots]

    def put(self, reading: CardSeen, anchor: Points) -> None:
        """Write a reading's card and confidence as near to `anchor` as possible, with a line to it if that is far."""
        how, small = line_style(reading), reading.card == UNREAD
        # Use a smaller label on a card that is small in its picture.
        high = float(np.linalg.norm(reading.corners[3] - reading.corners[0])) * self._scale
        unit = self._unit * float(np.clip(high / (200 * self._unit), 0.85 if small else 0.62, 1.0))
        size = (0.42 if small else 0.62) * unit
        name = reading.card
        figures = confidence_text(reading.confidence) + ("  TOP" if reading.top and not small else "")
        pieces = [(name[0] if not small else name, size * 1.15, 2), (figures, size, 1)]
        sizes = [cv2.getTextSize(words, _FONT, s, max(1, round(w * unit)))[0] for words, s, w in pieces]
        pip = 0.0 if small else 17 * unit
        pad = 5 * unit
        width = sum(s[0] for s in sizes) + pip + 3.2 * pad
        height = max(s[1] for s in sizes) + 2 * pad
        middle = np.clip(anchor, 0, [self._canvas.shape[1], self._canvas.shape[0]])
        x, y = self._place(middle, width, height)
        self.placed.append((x, y, width, height))
        centre = np.array([x + width / 2, y + height / 2])
        if float(np.linalg.norm(centre - middle)) > height:
            cv2.line(self._canvas, _pixel(middle), _pixel(centre), how.colour, max(1, round(1.2 * unit)), cv2.LINE_AA)
            cv2.circle(self._canvas, _pixel(middle), round(3.5 * unit), how.colour, -1, cv2.LINE_AA)
        box = (_pixel(np.array([x, y])), _pixel(np.array([x + width, y + height])))
        cv2.rectangle(self._canvas, *box, _WHITE, -1)
        cv2.rectangle(self._canvas, *box, how.colour, max(1, round((2.4 if reading.top else 1.4) * unit)), cv2.LINE_AA)
        foot = y + height - pad
        ink = _RED if name[1] in "dhr" else _BLACK
        left = x + pad
        words, text, weight = pieces[0]
        cv2.putText(self._canvas, words, _pixel(np.array([left, foot])), _FONT, text, ink, max(1, round(weight * unit)))
        left += sizes[0][0] + 0.3 * pad
        if not small:
            _draw_pip(self._canvas, name[1], (left + pip / 2, y + height / 2), pip * 0.42, ink)
            left += pip
        words, text, weight = pieces[1]
        at = _pixel(np.array([left + 0.6 * pad, foot]))
        cv2.putText(self._canvas, words, at, _FONT, text, _BLACK, max(1, round(weight * unit)), cv2.LINE_AA)

    def _place(self, middle: Points, width: float, height: float) -> tuple[float, float]:
        """Return the top left of the best of several places round a card's middle."""
        best, least = (0.0, 0.0), float("inf")
        rows, columns = self._canvas.shape[:2]
        for radius in (0.0, 1.3, 2.6, 4.0, 5.5, 7.0):
            for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False) if radius else (0.0,):
                x = float(middle[0] + radius * 1.5 * height * np.cos(angle) - width / 2)
                y = float(middle[1] + radius * height * np.sin(angle) - height / 2)
                x, y = max(0.0, min(columns - width, x)), max(0.0, min(rows - height, y))
                box = (x, y, width, height)
                cost = radius * 0.2 + 20 * _shared(box, self.placed, height / 4) + 3 * _shared(box, self._spots, 0)
                if cost < least:
                    best, least = (x, y), cost
        return best


def _shared(box: _Box, others: Iterable[_Box], gap: float) -> float:
    """Return the share of a box that others cover, each widened by `gap` px."""
    x, y, w, h = box
    total = 0.0
    for ox, oy, ow, oh in others:
        across = min(x + w, ox + ow + gap) - max(x, ox - gap)
        down = min(y + h, oy + oh + gap) - max(y, oy - gap)
        total += max(0.0, across) * max(0.0, down)
    return total / (w * h)


_STEM = ((-0.35, 1.0), (0.35, 1.0), (0.0, 0.1))
_STAR = tuple((np.sin(i * np.pi / 5) * s, -np.cos(i * np.pi / 5) * s) for i, s in enumerate((1.1, 0.45) * 5))
#: The discs (x, y, radius) and polygons of each suit's pip, in half heights about its middle; jokers have a star.
_PIPS: Final[dict[str, tuple[tuple[tuple[float, float, float], ...], tuple[tuple[tuple[float, float], ...], ...]]]] = {
    "d": ((), (((0, -1.1), (0.8, 0), (0, 1.1), (-0.8, 0)),)),
    "h": (((-0.42, -0.35, 0.5), (0.42, -0.35, 0.5)), (((-0.86, -0.1), (0.86, -0.1), (0, 1.0)),)),
    "s": (((-0.42, 0.25, 0.5), (0.42, 0.25, 0.5)), (((-0.86, 0.05), (0.86, 0.05), (0, -1.05)), _STEM)),
    "c": (((0, -0.5, 0.48), (-0.52, 0.25, 0.48), (0.52, 0.25, 0.48)), (_STEM,)),
}


def _draw_pip(canvas: Image, suit: str, at: tuple[float, float], r: float, ink: Colour) -> None:
    """Draw a small pip of a suit (c d h s; a star for jokers) with half height r about a place, px."""
    x, y = at
    discs, polygons = _PIPS.get(suit, ((), (_STAR,)))
    for dx, dy, size in discs:
        cv2.circle(canvas, _pixel(np.array([x + dx * r, y + dy * r])), max(1, round(size * r)), ink, -1, cv2.LINE_AA)
    for polygon in polygons:
        outline = np.array([[x + px * r, y + py * r] for px, py in polygon])
        cv2.fillPoly(canvas, [np.round(outline * 16).astype(np.int32)], ink, cv2.LINE_AA, 4)


def draw_readings(image: Image, readings: Sequence[CardSeen], long_side: int = _LONG_SIDE) -> Image:
    """Return a copy of the picture, enlarged if small, with a legend beneath; sure readings lie over others."""
    scale = max(1.0, long_side / max(image.shape[:2]))
    canvas, shift = _enlarged(image, readings, scale)
    unit = max(canvas.shape[:2]) / 1000
    ordered = sorted(readings, key=lambda r: (r.card != UNREAD, r.confidence))
    for reading in ordered:
        _draw_outline(canvas, reading.corners * scale + shift, line_style(reading), unit, double=reading.top)
    for reading in ordered:
        for spot in reading.indices:
            at, colour = _pixel(spot * scale + shift), line_style(reading).colour
            cv2.circle(canvas, at, round(9 * unit), _WHITE, max(2, round(3.2 * unit)), cv2.LINE_AA)
            cv2.circle(canvas, at, round(9 * unit), colour, max(1, round(1.6 * unit)), cv2.LINE_AA)
    labels = Labels(canvas, unit, [spot * scale + shift for r in readings for spot in r.indices], scale)
    for reading in reversed(ordered):
        # A label belongs on a card's middle, but near its index where other cards may cover the middle.
        anchor = np.asarray(reading.corners.mean(0))
        if not reading.top and len(reading.indices):
            anchor = np.asarray(reading.indices[0] + 0.45 * (anchor - reading.indices[0]))
        labels.put(reading, anchor * scale + shift)
    return np.vstack([canvas, _legend(canvas.shape[1], unit)])


def _enlarged(image: Image, readings: Sequence[CardSeen], scale: float) -> tuple[Image, Points]:
    """Return the enlarged picture, with a grey margin for corners outside it, and the offset of its own corner."""
    h, w = image.shape[:2]
    points = np.concatenate([r.corners for r in readings] + [np.array([[0.0, 0.0], [w, h]])])
    most = _BEYOND * max(h, w)
    x0, y0 = np.minimum(most, np.maximum(0, -points.min(0)))
    x1, y1 = np.minimum(most, np.maximum(0, points.max(0) - [w, h]))
    way = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    big = cv2.resize(image, (round(w * scale), round(h * scale)), interpolation=way)
    left, top, right, bottom = (round(float(v) * scale) for v in (x0, y0, x1, y1))
    padded = cv2.copyMakeBorder(big, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(205, 205, 205))
    return np.asarray(padded, np.uint8), np.array([left, top], np.float64)


def _draw_outline(canvas: Image, quad: Points, how: LineStyle, unit: float, double: bool) -> None:
    """Draw a card's outline with a light halo, so that it shows on any ground; double for a top card."""
    width = max(1, round(how.width * unit))
    halo = width + max(2, round(1.4 * unit))
    lines = [(quad, _WHITE, halo), (quad, how.colour, width)]
    if double:
        away = quad - quad.mean(0)
        inset = 9 * unit / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1.0)
        lines.append((quad.mean(0) + away * (1 - inset), how.colour, max(1, width // 2)))
    for corners, colour, px in lines:
        draw_polygon(canvas, corners, colour, how.dash, px, unit * how.width)


def draw_polygon(
    canvas: Image, corners: Points, colour: Colour, dash: tuple[float, float], width: int, unit: float
) -> None:
    """Draw a closed outline, whole or in dashes; see `draw_dashed`."""
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        draw_dashed(canvas, a, b, colour, dash, width, unit)


def draw_dashed(
    canvas: Image, a: Points, b: Points, colour: Colour, dash: tuple[float, float], width: int, unit: float
) -> None:
    """Draw a straight line, whole or in dashes of `dash` (drawn, skipped) times `unit` px."""
    on, off = dash[0] * unit, dash[1] * unit
    length = float(np.linalg.norm(b - a))
    # Far-off corners of a badly placed card would take almost for ever.
    if off == 0 or length > 200 * (on + off):
        cv2.line(canvas, _pixel(a), _pixel(b), colour, width, cv2.LINE_AA)
        return
    way = (b - a) / max(length, 1e-6)
    for start in np.arange(0.0, length, on + off):
        end = min(length, float(start) + on)
        cv2.line(canvas, _pixel(a + way * start), _pixel(a + way * end), colour, width, cv2.LINE_AA)


def _legend(columns: int, unit: float) -> Image:
    """Return a strip, as wide as the picture, that explains the lines."""
    size, height, long = 0.5 * unit, round(34 * unit), 44 * unit
    entries: list[tuple[str, LineStyle | None]] = [(how.meaning, how) for how in STYLES]
    entries.append(("double line: top of its heap   ring: index", None))
    rows: list[list[tuple[str, LineStyle | None, float]]] = [[]]
    for text, how in entries:
        width = (long + 12 * unit if how else 0.0) + cv2.getTextSize(text, _FONT, size, 1)[0][0] + 26 * unit
        if rows[-1] and sum(entry[2] for entry in rows[-1]) + width > columns - 16 * unit:
            rows.append([])
        rows[-1].append((text, how, width))
    strip = np.full((height * len(rows) + round(8 * unit), columns, 3), _WHITE, np.uint8)
    for r, row in enumerate(rows):
        x, y = 14 * unit, (r + 0.6) * height
        for text, how, width in row:
            start = np.array([x, y])
            if how:
                end = start + np.array([long, 0.0])
                draw_dashed(strip, start, end, how.colour, how.dash, max(1, round(how.width * unit)), unit * how.width)
            at = _pixel(start + np.array([long + 10 * unit if how else 0.0, 6 * unit]))
            cv2.putText(strip, text, at, _FONT, size, _BLACK, max(1, round(unit)), cv2.LINE_AA)
            x += width
    return strip
