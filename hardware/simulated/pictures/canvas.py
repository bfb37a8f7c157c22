"""A sheet of paper to draw on: millimetres in, an anti-aliased picture out.

All features of the simulated table's cards are drawn with it: outlines made of Bézier curves, filled with plain colours
or patterns. Colours are (red, green, blue), 0 to 255; x runs right and y runs down, both in millimetres.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image as PilImage
from PIL import ImageDraw, ImageFont

Colour = tuple[int, int, int]
Points = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_SHIFT = 4  # sub-pixel bits of cv2.fillPoly


def path(d: str) -> Points:
    """Flatten an outline in SVG path syntax, with absolute M, L, Q and C, into N x 2 points."""
    t = np.linspace(0.0, 1.0, 15)[1:, None]
    points: list[Points] = []
    for part in re.split("[MLQC]", d)[1:]:
        given = np.array([float(number) for number in part.split()]).reshape(-1, 2)
        if len(given) == 1:
            points.append(given)
            continue
        p = [points[-1][-1], *given]
        if len(given) == 2:
            points.append((1 - t) ** 2 * p[0] + 2 * t * (1 - t) * p[1] + t**2 * p[2])
        else:
            points.append((1 - t) ** 3 * p[0] + 3 * t * (1 - t) ** 2 * p[1] + 3 * t**2 * (1 - t) * p[2] + t**3 * p[3])
    return np.concatenate(points)


def mirrored(half: Points) -> Points:
    """Close an outline by reflecting its half about x = 0."""
    return np.concatenate([half, half[::-1] * (-1.0, 1.0)])


def ellipse(x: float, y: float, rx: float, ry: float | None = None, turn: float = 0.0) -> Points:
    """Return an ellipse about (x, y), turned by ``turn`` degrees."""
    a = np.linspace(0, 2 * math.pi, 49)[:-1]
    p = np.stack([rx * np.cos(a), (rx if ry is None else ry) * np.sin(a)], axis=1)
    return placed(p, x, y, turn=turn)


def box(x0: float, y0: float, x1: float, y1: float, radius: float = 0.0) -> Points:
    """Return a rectangle, with round corners if ``radius`` is positive."""
    if radius <= 0:
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    corners = [
        (x1 - radius, y0 + radius, -90),
        (x1 - radius, y1 - radius, 0),
        (x0 + radius, y1 - radius, 90),
        (x0 + radius, y0 + radius, 180),
    ]
    a = np.radians(np.linspace(0, 90, 9))
    parts = [
        np.stack([cx + radius * np.cos(a + math.radians(d)), cy + radius * np.sin(a + math.radians(d))], axis=1)
        for cx, cy, d in corners
    ]
    return np.concatenate(parts)


def placed(shape: Points, x: float, y: float, size: float = 1.0, turn: float = 0.0, wide: float = 1.0) -> Points:
    """Return a unit shape scaled by ``size`` (and ``wide`` across), turned by ``turn`` degrees and moved to (x, y)."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    p = shape * (size * wide, size)
    return np.stack([p[:, 0] * c - p[:, 1] * s + x, p[:, 0] * s + p[:, 1] * c + y], axis=1)


@lru_cache(maxsize=256)
def glyphs(font_file: str, text: str, spacing: float = 0.0) -> Bytes:
    """Return the ink of ``text`` as a tightly cropped mask; ``spacing`` (of an em) is added between letters."""
    em = 320
    font = ImageFont.truetype(font_file, em)
    sheet = PilImage.new("L", (em * (len(text) + 1), em * 2), 0)
    pen = ImageDraw.Draw(sheet)
    x = em * 0.4
    for letter in text:
        pen.text((x, em * 0.3), letter, font=font, fill=255)
        x += font.getlength(letter) + spacing * em
    ink = np.asarray(sheet, dtype=np.uint8)
    rows, columns = np.flatnonzero(ink.max(axis=1)), np.flatnonzero(ink.max(axis=0))
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


class Canvas:
    """A sheet of ``width`` x ``height`` mm at ``scale`` px/mm."""

    def __init__(self, width: float, height: float, scale: float, paper: Colour = (255, 255, 255)) -> None:
        self.width, self.height, self.scale = width, height, scale
        rows, columns = round(height * scale), round(width * scale)
        self.image: Bytes = np.empty((rows, columns, 3), np.uint8)
        cv2.rectangle(self.image, (0, 0), (columns, rows), paper, cv2.FILLED)

    def _fixed(self, points: Points) -> Any:
        # fillPoly takes whole numbers as pixel centres, hence the half pixel.
        return np.round((points * self.scale - 0.5) * (1 << _SHIFT)).astype(np.int32).reshape(-1, 1, 2)

    def fill(self, outline: Points, colour: Colour) -> None:
        """Fill a closed outline."""
        cv2.fillPoly(self.image, [self._fixed(outline)], colour, cv2.LINE_AA, _SHIFT)

    def line(self, points: Points, colour: Colour, width: float, closed: bool = True) -> None:
        """Draw along points with a pen ``width`` mm wide."""
        pixels = max(1, round(width * self.scale))
        cv2.polylines(self.image, [self._fixed(points)], closed, colour, pixels, cv2.LINE_AA, _SHIFT)

    def shape(self, outline: Points, colour: Colour, ink: Colour, width: float = 0.3) -> None:
        """Fill an outline and ink its edge."""
        self.fill(outline, colour)
        self.line(outline, ink, width)

    def mask(self, outline: Points) -> Bytes:
        """Return the outline's coverage of each pixel, 0 to 255."""
        cover = np.zeros(self.image.shape[:2], np.uint8)
        cv2.fillPoly(cover, [self._fixed(outline)], (255,), cv2.LINE_AA, _SHIFT)
        return cover

    def blend(self, other: Bytes, cover: Bytes) -> None:
        """Blend a picture of the same size over this one by ``cover``."""
        a = cv2.merge((cover, cover, cover))
        self.image = cv2.add(
            cv2.multiply(self.image, cv2.bitwise_not(a), scale=1 / 255), cv2.multiply(other, a, scale=1 / 255)
        )

    def within(self, outline: Points, draw: Callable[[Canvas], None]) -> None:
        """Let ``draw`` work on a part of this sheet, and keep only the result inside the outline."""
        low = np.floor(outline.min(axis=0) * self.scale).astype(int) - 2
        high = np.ceil(outline.max(axis=0) * self.scale).astype(int) + 3
        rows, columns = self.image.shape[:2]
        x0, y0 = max(0, int(low[0])), max(0, int(low[1]))
        x1, y1 = max(x0 + 1, min(columns, int(high[0]))), max(y0 + 1, min(rows, int(high[1])))
        part = _Part(self, x0, y0, x1, y1)
        cover = part.mask(outline)
        draw(part)
        whole, part.image = part.image, np.ascontiguousarray(self.image[y0:y1, x0:x1])
        part.blend(whole, cover)
        self.image[y0:y1, x0:x1] = part.image

    def text(
        self, ink: Bytes, colour: Colour, x: float, y: float, width: float, height: float, upside_down: bool = False
    ) -> None:
        """Print a mask (see `glyphs`), fitted to ``width`` x ``height`` mm, centred on (x, y)."""
        size = (max(1, round(width * self.scale)), max(1, round(height * self.scale)))
        small = cv2.resize(ink, size, interpolation=cv2.INTER_AREA)
        left, top = round(x * self.scale - size[0] / 2), round(y * self.scale - size[1] / 2)
        spot = self.image[top : top + size[1], left : left + size[0]]
        a = (small[::-1, ::-1] if upside_down else small)[..., None].astype(np.uint16)
        spot[:] = ((spot * (255 - a) + np.array(colour, np.uint16) * a + 127) // 255).astype(np.uint8)

    def half_turn(self) -> Bytes:
        """Return this sheet turned by half."""
        return np.ascontiguousarray(self.image[::-1, ::-1])


class _Part(Canvas):
    """A window on a sheet: the same millimetres, fewer pixels."""

    def __init__(self, sheet: Canvas, x0: int, y0: int, x1: int, y1: int) -> None:
        self.width, self.height, self.scale = sheet.width, sheet.height, sheet.scale
        self.image = sheet.image[y0:y1, x0:x1].copy()
        self._corner = np.array([x0, y0], dtype=np.float64) + getattr(sheet, "_corner", 0.0)

    def _fixed(self, points: Points) -> Any:
        return super()._fixed(points - self._corner / self.scale)
