"""The simulated packs' makers: the distinguishing features of their cards, their faces, and their backs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardware.fonts import font_file
from hardware.simulated.decks.courts import Costume, draw_court
from hardware.simulated.decks.pips import draw_pip
from hardware.simulated.pictures.canvas import Canvas, Colour, box, ellipse, glyphs, placed

# Places of the pips on a number card: columns -1, 0, 1 and heights -1 (top) to 1, upside down below the middle.
_SIDES_3, _SIDES_4 = (-1.0, 0.0, 1.0), (-1.0, -1 / 3, 1 / 3, 1.0)
_LAYOUT: dict[str, tuple[tuple[float, float], ...]] = {
    "2": ((0, -1), (0, 1)),
    "3": ((0, -1), (0, 0), (0, 1)),
    "4": ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    "5": ((-1, -1), (1, -1), (-1, 1), (1, 1), (0, 0)),
    "6": tuple((x, y) for x in (-1.0, 1.0) for y in _SIDES_3),
    "7": (*((x, y) for x in (-1.0, 1.0) for y in _SIDES_3), (0, -0.5)),
    "8": (*((x, y) for x in (-1.0, 1.0) for y in _SIDES_3), (0, -0.5), (0, 0.5)),
    "9": (*((x, y) for x in (-1.0, 1.0) for y in _SIDES_4), (0, 0)),
    "T": (*((x, y) for x in (-1.0, 1.0) for y in _SIDES_4), (0, -2 / 3), (0, 2 / 3)),
}


@dataclass(frozen=True, slots=True)
class Family:
    """The look of one maker's pack; lengths in mm."""

    name: str
    size: tuple[float, float]
    font: str
    """A typeface in `hardware.fonts`."""
    pips: str
    index: tuple[float, float, float]
    """Height of the rank, height of the suit under it, and distance of the column's middle from the left edge."""
    top: float
    """Distance from the upper edge to the rank."""
    narrow: float
    """Width of the letters relative to the font."""
    pip: float
    """Height of the pips on number cards."""
    field: tuple[float, float]
    """Half width and half height of the area of pip centres."""
    frame: tuple[float, float]
    """The court picture's frame."""
    black: Colour
    red: Colour
    paper: Colour
    costume: Costume
    back: Callable[[Canvas], None]

    @property
    def font_file(self) -> str:
        """Path of the font."""
        return font_file(self.font)

    def colour(self, suit: str) -> Colour:
        """Return the suit's ink."""
        return self.red if suit in "hd" else self.black

    def text(self, rank: str) -> str:
        """Return the index text of a rank: ``10`` for the ten."""
        return "10" if rank == "T" else rank

    def draw_middle(self, canvas: Canvas, rank: str, suit: str) -> None:
        """Draw the middle of a face, between its indices: a court's picture, or pips."""
        colour, (cx, cy) = self.colour(suit), (canvas.width / 2, canvas.height / 2)
        if rank in "JQK":
            draw_court(canvas, self.costume, rank, suit, self.frame, colour)
        elif rank == "A" and suit == "s":
            # A large spade with a rose in it, and the maker's name below.
            draw_pip(canvas, "s", self.pips, colour, cx, cy, 36.0)
            draw_pip(canvas, "s", self.pips, self.paper, cx, cy - 1.6, 22.0)
            for a in range(0, 360, 60):
                petal = placed(ellipse(0, -3.2, 1.5, 2.6), cx, cy - 1.0, turn=a)
                canvas.fill(petal, self.costume.gold)
                canvas.line(petal, colour, 0.25)
            canvas.fill(ellipse(cx, cy - 1.0, 1.6), colour)
            name = glyphs(self.font_file, self.name.upper(), 0.12)
            canvas.text(name, colour, cx, cy + 24.0, min(2.0 * name.shape[1] / name.shape[0], 30), 2.0)
        elif rank == "A":
            draw_pip(canvas, suit, self.pips, colour, cx, cy, 20.0 if self.pips == "sharp" else 18.0)
        else:
            for column, row in _LAYOUT[rank]:
                x, y, turn = cx + column * self.field[0], cy + row * self.field[1], 180 if row > 1e-6 else 0
                draw_pip(canvas, suit, self.pips, colour, x, y, self.pip, turn=turn)


def _lattice(canvas: Canvas) -> None:
    """Draw blue crossing lines with rosettes and a white border."""
    blue, pale = (38, 66, 132), (226, 232, 244)
    field = box(4, 4, canvas.width - 4, canvas.height - 4, 1.5)

    def draw(sheet: Canvas) -> None:
        sheet.fill(field, blue)
        for k in np.arange(-100, 160, 3.4):
            sheet.line(np.array([[k, 0.0], [k + 90, 90.0]]), pale, 0.34, closed=False)
            sheet.line(np.array([[k + 90, 0.0], [k, 90.0]]), pale, 0.34, closed=False)
        for j in range(-1, 55):
            for i in range(-1, 40):
                if (i + j) % 2 == 0:
                    sheet.fill(ellipse(i * 1.7 + 0.4, j * 1.7, 0.42), pale)
        middle = (canvas.width / 2, canvas.height / 2)
        for radius, colour in ((11.0, pale), (10.2, blue), (8.6, pale), (7.9, blue)):
            sheet.fill(ellipse(*middle, radius), colour)
        for a in range(0, 360, 45):
            sheet.fill(placed(ellipse(0, -4.6, 1.3, 3.0), *middle, turn=a), pale)

    canvas.within(field, draw)
    canvas.line(field, blue, 0.5)


def _waves(canvas: Canvas) -> None:
    """Draw rows of red arcs out to the edge, with a thin white frame inside."""
    red, pale = (168, 30, 44), (247, 230, 226)
    canvas.fill(box(0, 0, canvas.width, canvas.height), red)
    for j, y in enumerate(np.arange(-2, canvas.height + 6, 2.8)):
        for x in np.arange(-3, canvas.width + 6, 5.6):
            for radius, colour in ((2.8, pale), (2.45, red), (1.7, pale), (1.35, red), (0.6, pale)):
                canvas.fill(ellipse(float(x) + (j % 2) * 2.8, float(y), radius), colour)
    for inset, colour, pen in ((3.2, pale, 1.5), (3.2, red, 0.4)):
        canvas.line(box(inset, inset, canvas.width - inset, canvas.height - inset, 2.0), colour, pen)


def _confetti(canvas: Canvas) -> None:
    """Draw large scattered dots and stars on green, with a broad cream border."""
    green, cream, gold = (24, 104, 88), (250, 244, 228), (226, 178, 74)
    field = box(5, 5, canvas.width - 5, canvas.height - 5, 3.0)

    def draw(sheet: Canvas) -> None:
        sheet.fill(field, green)
        a = np.arange(10) * np.pi / 5
        star = np.stack([np.sin(a), -np.cos(a)], axis=1) * np.where(np.arange(10) % 2, 0.42, 1.0)[:, None]
        for j in range(14):
            for i in range(9):
                x, y = 6 + i * 6.6 + (j % 2) * 3.3, 7.5 + j * 6.3
                if (i + 2 * j) % 3 == 0:
                    sheet.fill(placed(star, x, y, 2.3, turn=i * 20), gold)
                else:
                    sheet.fill(ellipse(x, y, 1.5), cream)
                    sheet.fill(ellipse(x, y, 0.8), green)

    canvas.within(field, draw)
    canvas.line(field, gold, 0.7)


def _diamonds(canvas: Canvas) -> None:
    """Draw violet and black harlequin lozenges, with a white border and a double line."""
    violet, dark, pale = (96, 62, 136), (40, 28, 62), (238, 232, 244)
    field = box(3.5, 3.5, canvas.width - 3.5, canvas.height - 3.5, 1.0)

    def draw(sheet: Canvas) -> None:
        sheet.fill(field, violet)
        unit = np.array([[0, -1.0], [1.0, 0], [0, 1.0], [-1.0, 0]])
        for j in range(20):
            for i in range(20):
                sheet.fill(placed(unit, i * 4.0 + (j % 2) * 2.0, j * 5.0, 2.4, wide=0.8), dark)
                sheet.fill(placed(unit, i * 4.0 + (j % 2) * 2.0, j * 5.0, 0.8, wide=0.8), pale)

    canvas.within(field, draw)
    canvas.line(field, dark, 0.4)
    canvas.line(box(2.6, 2.6, canvas.width - 2.6, canvas.height - 2.6, 1.6), violet, 0.3)


_BACKS = {"lattice": _lattice, "waves": _waves, "confetti": _confetti, "diamonds": _diamonds}


def _frozen(value: Any) -> Any:
    """Return a value of the file with tuples for its lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _families() -> Iterator[Family]:
    for name, table in tomllib.loads(Path(__file__).with_name("packs.toml").read_text(encoding="utf-8")).items():
        fields = {key: _frozen(value) for key, value in table.items()}
        fields["costume"] = Costume(**{key: _frozen(value) for key, value in table["costume"].items()})
        fields["back"] = _BACKS[table["back"]]
        yield Family(name, **fields)


FAMILIES: dict[str, Family] = {family.name: family for family in _families()}
"""The makers' packs by name, as described in ``packs.toml``."""
