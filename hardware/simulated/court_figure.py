"""What every court figure is drawn with: its costume, a pen in the figure's own coordinates, woven cloth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardware.simulated.canvas import Canvas, Colour, Points, bezier, box, ellipse, mirrored, placed

HALF_WIDTH, HALF_HEIGHT = 18.0, 33.0


@dataclass(frozen=True, slots=True)
class Costume:
    """What a family's court figures wear; colours are (red, green, blue)."""

    main: Colour
    second: Colour
    third: Colour
    gold: Colour
    ink: Colour
    skin: Colour
    hair: tuple[Colour, Colour, Colour, Colour]
    """By suit: spades, hearts, diamonds, clubs."""
    ground: Colour
    """Behind the figure."""
    slant: float
    """How steeply the line between the two halves falls, mm across the half width."""
    pip_style: str
    face: str
    """``fine``, ``flat`` or ``merry``."""
    line: float = 0.28
    """The pen, mm."""


class Figure:
    """Draws in the figure's own coordinates on a canvas whose frame may be of another size."""

    def __init__(self, canvas: Canvas, costume: Costume, suit: str, frame: tuple[float, float]) -> None:
        self.canvas, self.costume, self.suit = canvas, costume, suit
        self.sx, self.sy = frame[0] / (2 * HALF_WIDTH), frame[1] / (2 * HALF_HEIGHT)
        self.cx, self.cy = canvas.width / 2, canvas.height / 2
        turn = "shdc".index(suit)
        robes = [costume.main, costume.second, costume.third]
        self.robe, self.sash, self.lining = robes[turn % 3], robes[(turn + 1) % 3], robes[(turn + 2) % 3]
        self.hair = costume.hair[turn]
        self.facing = 1.0 if suit in "sd" else -1.0

    def at(self, points: Points) -> Points:
        return points * (self.sx * self.facing, self.sy) + (self.cx, self.cy)

    def fill(self, points: Points, colour: Colour) -> None:
        self.canvas.fill(self.at(points), colour)

    def shape(self, points: Points, colour: Colour, pen: float | None = None) -> None:
        self.canvas.shape(self.at(points), colour, self.costume.ink, pen or self.costume.line)

    def line(self, points: Points, pen: float | None = None, colour: Colour | None = None) -> None:
        self.canvas.line(self.at(points), colour or self.costume.ink, pen or self.costume.line, closed=False)

    def patterned(self, outline: Points, colour: Colour, second: Colour, pattern: str) -> None:
        """Fill an outline with woven cloth."""
        self.fill(outline, colour)

        def weave(sheet: Canvas) -> None:
            for part in _weave(pattern):
                sheet.fill(self.at(part), second)

        self.canvas.within(self.at(outline), weave)
        self.line(np.concatenate([outline, outline[:1]]))


def _weave(pattern: str) -> list[Points]:
    rows = range(-9, 3)
    if pattern == "stripes":
        return [box(x - 0.45, -40, x + 0.45, 10) for x in np.arange(-18, 19, 2.2)]
    if pattern == "dots":
        return [ellipse(x + (j % 2) * 1.6, j * 2.4, 0.62) for j in rows for x in np.arange(-18, 19, 3.2)]
    if pattern == "lozenges":
        unit = np.array([[0, -1.15], [0.8, 0], [0, 1.15], [-0.8, 0]])
        return [placed(unit, x + (j % 2) * 1.3, j * 1.9) for j in range(-12, 4) for x in np.arange(-18, 19, 2.6)]
    if pattern == "scales":
        unit = mirrored(bezier((0.0, 1.2), ((0.9, 0.9), (1.1, 0.0)), ((0.0, 0.55),)))
        return [placed(unit, x + (j % 2) * 1.2, j * 1.7) for j in range(-13, 4) for x in np.arange(-18, 19, 2.4)]
    unit = np.array([[-1.6, 0], [0, -1.2], [1.6, 0], [1.6, 0.75], [0, -0.45], [-1.6, 0.75]])
    return [placed(unit, x, j * 1.7) for j in range(-13, 4) for x in np.arange(-19.2, 20, 3.2)]
