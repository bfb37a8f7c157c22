"""Court pictures of our own: double-headed kings, queens, jacks and a fool, drawn from outlines.

A figure is drawn once, upright, in a frame 36 mm wide and 66 mm high about (0, 0). Only its upper half is kept; the
lower half is the same, turned by half. `Costume` holds the differences between families.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardware.simulated.decks.pips import draw_pip
from hardware.simulated.pictures.canvas import Canvas, Colour, Points, box, ellipse, mirrored, path, placed

_HALF_WIDTH, _HALF_HEIGHT = 18.0, 33.0


@dataclass(frozen=True, slots=True)
class Costume:
    """The clothes of a family's court figures; colours are (red, green, blue)."""

    main: Colour
    second: Colour
    third: Colour
    gold: Colour
    ink: Colour
    skin: Colour
    hair: tuple[Colour, Colour, Colour, Colour]
    """By suit: spades, hearts, diamonds, clubs."""
    ground: Colour
    """Colour behind the figure."""
    slant: float
    """Fall of the line between the two halves, mm across the half width."""
    pip_style: str
    face: str
    """``fine``, ``flat`` or ``merry``."""
    line: float = 0.28
    """Width of the pen, mm."""


class CourtFigure:
    """A court figure, drawn in its own coordinates on a canvas whose frame may have another size."""

    def __init__(self, canvas: Canvas, costume: Costume, suit: str, frame: tuple[float, float]) -> None:
        self.canvas, self.costume, self.suit = canvas, costume, suit
        self.sx, self.sy = frame[0] / (2 * _HALF_WIDTH), frame[1] / (2 * _HALF_HEIGHT)
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
    if pattern == "stripes":
        return [box(x - 0.45, -40, x + 0.45, 10) for x in np.arange(-18, 19, 2.2)]
    if pattern == "dots":
        return [ellipse(x + (j % 2) * 1.6, j * 2.4, 0.62) for j in range(-9, 3) for x in np.arange(-18, 19, 3.2)]
    if pattern == "lozenges":
        unit = np.array([[0, -1.15], [0.8, 0], [0, 1.15], [-0.8, 0]])
        return [placed(unit, x + (j % 2) * 1.3, j * 1.9) for j in range(-12, 4) for x in np.arange(-18, 19, 2.6)]
    if pattern == "scales":
        unit = mirrored(path("M0 1.2 Q0.9 0.9 1.1 0 L0 0.55"))
        return [placed(unit, x + (j % 2) * 1.2, j * 1.7) for j in range(-13, 4) for x in np.arange(-18, 19, 2.4)]
    unit = np.array([[-1.6, 0], [0, -1.2], [1.6, 0], [1.6, 0.75], [0, -0.45], [-1.6, 0.75]])
    return [placed(unit, x, j * 1.7) for j in range(-13, 4) for x in np.arange(-19.2, 20, 3.2)]


_WHITE = (252, 250, 246)
_CHEEK = {"fine": 4.4, "flat": 4.7, "merry": 5.0}
"""Half a face's width, mm."""
_HAIR = {
    "Q": "M0 -29 C6.5 -29 8 -24 7.2 -19 C6.8 -15 9.4 -13.4 8.2 -10.4 C6 -11.5 4.6 -13 4.2 -17 L0 -17",
    "K": "M0 -28.5 C6 -28 7.4 -23 6.8 -18 C8.2 -17 8 -14.6 6.2 -14.6 C4.6 -14.6 4.2 -17 4.2 -19 L0 -19",
    "J": "M0 -28.5 C6.2 -28.4 7 -23 6.2 -18.4 C5.8 -15.6 7.6 -15 7.4 -16.8 C7.2 -13.6 4 -14.4 4.2 -19 L0 -19",
}
"""The right half of the hair behind the face, by rank."""
_CLOTHS = {"K": ("lozenges", "stripes"), "Q": ("scales", "dots"), "J": ("chevrons", "lozenges")}
"""Patterns of the robe and of its front."""
_SHOULDER = {"K": -14.5, "Q": -12.5, "J": -13.5}
_HELD_AT = 11.6
"""Distance to the side at which the hand holds something upright, mm."""


def _draw_head(f: CourtFigure, rank: str) -> None:
    """Draw neck, face, nose and lips, the king's beard, and the rank's headgear."""
    _draw_face(f)
    if rank == "K":
        f.shape(mirrored(path("M0 -13 C1.6 -13.2 3.6 -14.8 4.4 -20.6 L3.6 -20.2 C3 -17.9 1.8 -17.7 0 -17.7")), f.hair)
        for x in (-2.4, -1.2, 0.0, 1.2, 2.4):
            f.line(path(f"M{x * 1.1} -17.2 Q{x * 0.9} -15.4 {x * 0.6} -14"), 0.13)
        f.shape(mirrored(path("M0 -20 C1.2 -20.4 2.2 -19.6 3.1 -19 Q1.4 -18.8 0 -19.4")), f.hair, 0.16)
        f.shape(mirrored(path("M0 -26 L5.6 -25.2 L6.8 -32.2 L3.6 -28.9 L0 -33.2")), f.costume.gold)
        f.shape(mirrored(path("M0 -25.2 Q3 -25.2 5.5 -24.5 L5.9 -26.6 Q3 -27.2 0 -27.2")), f.sash)
        for x, y in ((0, -32.6), (6.6, -31.6), (-6.6, -31.6)):
            f.shape(ellipse(x, y, 0.85), f.lining)
        for x in (-3.6, 0.0, 3.6):
            f.fill(ellipse(x, -26.2, 0.6), f.costume.gold)
    elif rank == "Q":
        crown = path("M0 -27 L4.8 -26 L6.2 -30.6 Q4.4 -29.2 3.4 -29.2 L2.9 -31.8 Q1.6 -29.6 0.8 -29.8 L0 -32.6")
        f.shape(mirrored(crown), f.costume.gold)
        for x, y in ((0, -32.3), (2.9, -31.4), (-2.9, -31.4), (6.0, -30.2), (-6.0, -30.2)):
            f.shape(ellipse(x, y, 0.62), _WHITE, 0.16)
        f.fill(ellipse(0, -28.2, 0.9, 0.7), f.sash)
    else:
        hat = path("M-6.4 -25.2 C-8 -29.8 -1.6 -31.8 3.2 -30.6 C7.6 -29.6 7.4 -26.6 6.2 -25 C2 -27 -2 -27 -6.4 -25.2")
        f.patterned(hat, f.sash, f.robe, "stripes")
        f.shape(mirrored(path("M0 -25.6 Q3.6 -25.6 6.4 -24.2 L6.7 -25.8 Q3.6 -27.3 0 -27.3")), f.costume.gold)
        f.shape(path("M5.2 -27.2 C9.6 -28.2 11.2 -31.4 8.6 -33.2 C9.2 -30.8 7 -29.8 4.2 -28.6"), (250, 248, 242))
        f.line(path("M5.2 -27.6 Q8.6 -29.2 9.2 -32.4"), 0.16)


def _draw_face(f: CourtFigure) -> None:
    ink, face = f.costume.ink, f.costume.face
    f.shape(box(-2.1, -18.8, 2.1, -14.2), f.costume.skin)
    w = _CHEEK[face]
    half = path(f"M0 -27.4 C{w} -27.4 {w + 0.5} -22.5 {w - 0.4} -20.2 C{w - 1.4} -17.6 1.6 -16.6 0 -16.5")
    f.shape(mirrored(half), f.costume.skin)
    for side in (-1.0, 1.0):
        if face == "merry":
            f.shape(ellipse(side * 1.9, -22.6, 0.95, 1.2), (255, 255, 255), 0.16)
            f.fill(ellipse(side * 1.9 + 0.2, -22.4, 0.5, 0.7), ink)
            f.fill(ellipse(side * 3.0, -20.2, 0.9, 0.6), (238, 156, 140))
        elif face == "flat":
            f.fill(ellipse(side * 1.9, -22.4, 0.6), ink)
        else:
            f.line(path(f"M{side * 1.0} -22.5 Q{side * 1.9} -23.4 {side * 2.9} -22.4"), 0.22)
            f.fill(ellipse(side * 1.95, -22.5, 0.42, 0.5), ink)
            f.line(path(f"M{side * 1.1} -21.9 Q{side * 1.9} -21.7 {side * 2.7} -22.1"), 0.12)
        f.line(path(f"M{side * 0.9} -24.1 Q{side * 2.0} -24.8 {side * 3.2} -23.9"), 0.34)
    f.line(path("M0.2 -23.3 Q0.9 -21.2 0.95 -20.7 Q0.5 -20.2 -0.2 -20.4"), 0.2)
    lips = path("M-1.3 -18.9 Q-0.5 -19.5 0 -19.1 Q0.5 -19.5 1.3 -18.9 Q0 -17.9 -1.3 -18.9")
    f.fill(lips, (190, 52, 56))


def _draw_body(f: CourtFigure, rank: str) -> None:
    """Draw the robe of a rank with its golden hems, and the king's cape, the queen's necklace, or the jack's collar."""
    y, gold = _SHOULDER[rank], f.costume.gold
    robe = mirrored(path(f"M0 {y - 2.5} C6 {y - 2.2} 13 {y} 15.5 {y + 6} C18 -4 20 4 20 8 L0 8"))
    f.patterned(robe, f.robe, f.lining, _CLOTHS[rank][0])
    f.patterned(mirrored(path(f"M0 {y - 1} C3.4 {y} 4.2 -4 6.5 8 L0 8")), f.sash, gold, _CLOTHS[rank][1])
    for s in (-1.0, 1.0):
        hem = (
            f"M{s * 3.2} {y - 1} C{s * 5.0} {y + 2} {s * 5.2} -4 {s * 8.2} 8 "
            f"L{s * 10.2} 8 C{s * 7.4} -5 {s * 7.2} {y + 2} {s * 5.2} {y - 1.4}"
        )
        f.shape(path(hem), gold)
        for stud in np.arange(y + 1.5, 2, 2.3):
            f.fill(ellipse(s * (5.2 + (stud - y) * 0.13), float(stud), 0.5), f.robe)
    if rank == "K":
        f.shape(mirrored(path("M0 -13.5 C5 -14 11 -13.5 14.5 -9.5 C11 -8.6 6 -9.6 0 -8.2")), (252, 250, 243))
        for x, tail in ((-10, -10.8), (-6.2, -11.4), (-2.2, -10.6), (2.2, -10.6), (6.2, -11.4), (10, -10.8)):
            f.fill(ellipse(x, tail, 0.42, 0.85), f.costume.ink)
    elif rank == "Q":
        f.shape(mirrored(path("M0 -9 C3.5 -10.5 6.6 -12 8 -16.5 C5 -15.6 2.5 -14 0 -13.4")), (250, 247, 240))
        for a in np.linspace(-0.9, 0.9, 7):
            f.shape(ellipse(6.2 * np.sin(a), -15.3 + 4.6 * np.cos(a), 0.72), gold)
    else:
        f.shape(mirrored(path("M0 -11.5 L4 -11.8 L8 -13.2 L6.8 -16.6 L0 -14.6")), f.lining)
        f.line(np.array([[0, -14.6], [0, -11.5]]))


def _draw_arm(f: CourtFigure, rank: str) -> None:
    """Draw the object in the hand (a sword, a rose, a halberd), a sleeve across the body, and its cuff."""
    x, gold = _HELD_AT, f.costume.gold
    if rank == "K":
        f.shape(path(f"M{x - 0.9} -28.5 L{x} -32.2 L{x + 0.9} -28.5 L{x + 0.9} -8.2 L{x - 0.9} -8.2"), (214, 220, 226))
        f.line(np.array([[x, -31], [x, -8.5]]), 0.16)
        f.shape(box(x - 3.2, -8.6, x + 3.2, -7.2, 0.6), gold)
        f.shape(box(x - 0.7, -7.4, x + 0.7, -1.5), f.sash)
    elif rank == "Q":
        f.line(path(f"M{x} -3 Q{x - 1.2} -10 {x} -18"), 0.6, (64, 124, 66))
        for s in (-1.0, 1.0):
            leaf = path(f"M{x - 0.5} -11 Q{x + s * 3.2} -15.4 {x + s * 2.2} -12 Q{x} -10.4 {x - 0.5} -11")
            f.shape(leaf, (92, 156, 84), 0.16)
        for a in range(0, 360, 60):
            f.shape(placed(ellipse(0, -1.9, 1.25, 1.75), x, -20.4, turn=a), f.sash, 0.18)
        f.shape(ellipse(x, -20.4, 1.25), gold)
    else:
        f.shape(box(x - 0.55, -30, x + 0.55, 2), (150, 104, 62))
        blade = (
            f"M{x} -33 L{x + 1.0} -30.2 Q{x + 5.2} -29.4 {x + 4.4} -23.8 Q{x + 2.6} -26 {x + 0.7} -25.4 "
            f"L{x - 0.7} -25.4 L{x - 1.0} -30.2"
        )
        f.shape(path(blade), (206, 212, 220))
        f.shape(ellipse(x, -24.4, 1.0, 0.7), gold)
    sleeve = path("M18.5 4 L18.5 -4 Q16.8 -8.6 14.2 -8.4 Q12.2 -5.2 8.4 4")
    f.patterned(sleeve, f.lining, f.robe, "stripes" if rank != "K" else "chevrons")
    f.shape(placed(box(-2.6, -1.0, 2.6, 1.0, 0.5), 13.2, -6.6, turn=-28), gold)
    f.shape(placed(ellipse(0, 0, 2.15, 1.75), 11.7, -8.9, turn=-28), f.costume.skin)
    for k in (-0.75, 0.05, 0.85):
        f.line(np.array([[10.2, -8.9 + k], [12.4, -9.2 + k]]), 0.15)


def _draw_fool(f: CourtFigure) -> None:
    """Draw the joker's head and cap."""
    gold = f.costume.gold
    f.patterned(mirrored(path("M0 -12 C12 -12 17 -5 18 8 L0 8")), f.robe, f.lining, "lozenges")
    for k, x in enumerate(np.linspace(-11, 11, 6)):
        f.shape(np.array([[x - 2.3, -13.0], [x + 2.3, -13.0], [x, -6.5 - (k % 2)]]), gold if k % 2 else f.sash)
        f.shape(ellipse(float(x), -6.0 - (k % 2), 0.8), gold)
    for s in (-1.0, 1.0):
        horn = (
            f"M0 -27 C{s * 5} -34 {s * 14} -32 {s * 13.4} -22.5 "
            f"C{s * 11} -26.5 {s * 8} -25.5 {s * 4.6} -21 L0 -23"
        )  # fmt: skip
        f.patterned(path(horn), f.robe if s > 0 else f.sash, f.lining, "stripes")
        f.shape(ellipse(s * 13.3, -21.4, 1.35), gold)
    _draw_face(f)
    f.shape(mirrored(path("M0 -25.3 Q4 -25.2 5.4 -23.4 L5.5 -25.6 Q3 -28 0 -28")), gold)


def draw_court(
    canvas: Canvas, costume: Costume, rank: str, suit: str, frame: tuple[float, float], pip_colour: Colour
) -> None:
    """Draw a court card's picture in a frame of ``frame`` mm about the middle; rank ``X`` draws a joker's."""
    x0, y0 = (canvas.width - frame[0]) / 2, (canvas.height - frame[1]) / 2
    outline = box(x0, y0, canvas.width - x0, canvas.height - y0, 1.2)
    sheet = Canvas(canvas.width, canvas.height, canvas.scale)
    sheet.fill(outline, costume.ground)
    figure = CourtFigure(sheet, costume, suit, frame)
    if rank == "X":
        _draw_fool(figure)
    else:
        figure.shape(mirrored(path(_HAIR[rank])), figure.hair)
        for s in (-1.0, 1.0):
            for k in (5.2, 6.1):
                figure.line(path(f"M{s * (k - 0.6)} -26 Q{s * k} -22 {s * k} -17.4"), 0.14)
        _draw_body(figure, rank)
        _draw_head(figure, rank)
        _draw_arm(figure, rank)
        x, y = figure.at(np.array([[-12.2, -26.4]]))[0]
        draw_pip(sheet, suit, costume.pip_style, pip_colour, float(x), float(y), 8.4)
    # Keep the upper half, add it turned as the lower half, and draw a band between them.
    cx, cy, reach = sheet.width / 2, sheet.height / 2, sheet.width
    fall, half = costume.slant / _HALF_WIDTH, frame[0] / 2
    below = [[-reach, -reach * fall], [reach, reach * fall], [reach, 200], [-reach, 200]]
    sheet.blend(sheet.half_turn(), sheet.mask(placed(np.array(below), cx, cy)))
    band = [[side * half, side * half * fall + by] for side, by in ((-1, -0.75), (1, -0.75), (1, 0.75), (-1, 0.75))]
    sheet.shape(placed(np.array(band), cx, cy), costume.gold, costume.ink, 0.22)
    canvas.blend(sheet.image, canvas.mask(outline))
    canvas.line(outline, costume.ink, 0.32)
