"""The picture of a calibration: what was found, the table's grid, the playing area, the seats, a card's height."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from models.cards import HEIGHT_MM, WIDTH_MM
from models.fitting import Floats
from models.table import grid
from referee.app.grading import Measured
from referee.app.problems import UserError

GREEN: Final = (90, 210, 90)
YELLOW: Final = (60, 215, 245)
BLUE: Final = (240, 190, 90)
GREY: Final = (215, 215, 215)
GRID_MM: Final = 50.0


class _Pen:
    """Draws with strokes that suit the picture's size."""

    def __init__(self, image: Any) -> None:
        self.image = image
        self._texts: list[tuple[str, tuple[float, float], tuple[int, int, int], float]] = []
        self.unit = max(image.shape[:2]) / 1200

    def lines(self, points: Floats, colour: tuple[int, int, int], width: float, *, closed: bool = False) -> None:
        shifted = np.rint(points * 16).astype(np.int32)
        thick = max(1, round(width * self.unit))
        cv2.polylines(self.image, [shifted], closed, colour, thick, cv2.LINE_AA, 4)

    def dot(self, at: Floats, colour: tuple[int, int, int], radius: float) -> None:
        x, y = (round(float(v)) for v in at)
        cv2.circle(self.image, (x, y), max(2, round(radius * self.unit)), colour, -1, cv2.LINE_AA)

    def words(self, text: str, at: tuple[float, float], colour: tuple[int, int, int], size: float = 19.0) -> None:
        """Note text whose middle is to be at ``at``; `written` writes it, over everything else."""
        self._texts.append((text, at, colour, size))

    def written(self) -> Any:
        """The picture with its texts, kept inside it."""
        import font_roboto
        from PIL import Image, ImageDraw, ImageFont

        sheet = Image.fromarray(cv2.cvtColor(self.image, cv2.COLOR_BGR2RGB))
        pen = ImageDraw.Draw(sheet)
        rows, columns = self.image.shape[:2]
        for text, (x, y), (blue, green, red), size in self._texts:
            font = ImageFont.truetype(font_roboto.RobotoMedium, max(9, round(size * self.unit)))
            stroke = max(2, round(2.2 * self.unit))
            left, top, right, bottom = pen.textbbox((0, 0), text, font=font, stroke_width=stroke)
            wide, high = right - left, bottom - top
            at = (
                min(max(x - wide / 2, 4), columns - wide - 4) - left,
                min(max(y - high / 2, 4), rows - high - 4) - top,
            )
            pen.text(at, text, font=font, fill=(red, green, blue), stroke_width=stroke, stroke_fill=(0, 0, 0))
        return cv2.cvtColor(np.asarray(sheet), cv2.COLOR_RGB2BGR)


def _grid(pen: _Pen, m: Measured) -> None:
    view = m.found.table.view
    layer = pen.image.copy()
    thin = _Pen(layer)
    for line in grid(m.found.area, GRID_MM):
        thin.lines(view.to_px(line), GREY, 1.2)
    cv2.addWeighted(layer, 0.55, pen.image, 0.45, 0, dst=pen.image)
    sides = np.concatenate([m.found.area, m.found.area[:1]])
    along = np.concatenate([np.linspace(a, b, 25) for a, b in pairwise(sides)])
    pen.lines(view.to_px(along), YELLOW, 2.5, closed=True)


def _seats(pen: _Pen, bearings: Mapping[str, float]) -> None:
    rows, columns = pen.image.shape[:2]
    middle = np.array([columns / 2, rows / 2])
    for name, bearing in bearings.items():
        way = np.array([math.cos(math.radians(bearing)), -math.sin(math.radians(bearing))])
        rim = min(middle[0] / max(abs(way[0]), 1e-9), middle[1] / max(abs(way[1]), 1e-9))
        pen.lines(np.array([middle + way * rim * 0.72, middle + way * rim]), BLUE, 4)
        x, y = middle + way * rim * 0.66
        pen.words(f"{name} {bearing:.0f}°", (float(x), float(y)), BLUE, 26.0)


def _card(pen: _Pen, m: Measured) -> None:
    """A card's outline in the middle of the playing area, with its height."""
    x, y = m.found.area.mean(axis=0)
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (WIDTH_MM / 2, HEIGHT_MM / 2)
    quad = m.found.table.view.to_px(half + np.array([x, y]))
    pen.lines(quad, YELLOW, 2, closed=True)
    pen.lines(np.array([(quad[0] + quad[1]) / 2, (quad[2] + quad[3]) / 2]), YELLOW, 2)
    below = quad.max(axis=0)
    middle, least, most = m.heights
    pen.words(
        f"card {middle:.0f} px ({least:.0f} to {most:.0f})",
        (float(quad[:, 0].mean()), float(below[1]) + 16 * pen.unit),
        YELLOW,
    )


def drawn(image: Any, m: Measured, bearings: Mapping[str, float]) -> Any:
    """The picture with everything that was found (H x W x 3); ``bearings`` by the seats' names, degrees."""
    pen = _Pen(image.copy())
    _grid(pen, m)
    for outline, name in zip(m.found.outlines, m.found.names, strict=True):
        pen.lines(outline, GREEN, 2.5, closed=True)
        top = outline[outline[:, 1].argmin()]
        pen.words(name, (float(top[0]), float(top[1]) - 14 * pen.unit), GREEN)
    for point in m.found.points:
        pen.dot(point, GREEN, 3)
    _card(pen, m)
    _seats(pen, bearings)
    tilt = m.found.table.tilt
    rows, columns = pen.image.shape[:2]
    words = f"grid {GRID_MM:.0f} mm, tilt {tilt:.0f}°, edges {m.edge_px:.1f} px"
    pen.words(words, (columns / 2, rows - 14 * pen.unit), GREY)
    return pen.written()


def write_picture(path: Path, image: Any) -> None:
    """Write a picture.

    Raises:
        UserError: it cannot be written.
    """
    try:
        written = cv2.imwrite(str(path), image)
    except cv2.error:
        written = False
    if not written:
        raise UserError(f"--draw: {path} cannot be written; name a .jpg or .png file in a folder that exists")
