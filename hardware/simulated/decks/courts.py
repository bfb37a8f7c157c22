"""What every court figure is drawn with: its costume, a pen in the figure's own coordinates, woven cloth.

A court figure's head: hair, face, beard, and what each rank wears on it.

A court figure from the shoulders down: the robe and what lies over it, the arm and what it holds.

Court pictures of our own: double-headed kings, queens, jacks and a fool, drawn from outlines.

A figure is drawn once, upright, in a frame 36 mm wide and 66 mm high about (0, 0), of which only the upper half
is kept; the lower half is the same seen from the other side. `Costume` says what differs between families.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardware.simulated.decks.pips import draw_pip
from hardware.simulated.pictures.canvas import Bytes, Canvas, Colour, Points, bezier, box, ellipse, mirrored, placed

_HALF_WIDTH, _HALF_HEIGHT = 18.0, 33.0


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


class CourtFigure:
    """Draws in the figure's own coordinates on a canvas whose frame may be of another size."""

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


_CHEEK = {"fine": 4.4, "flat": 4.7, "merry": 5.0}
"""Half a face's width, mm."""
_LIPS = (190, 52, 56)
_HAIR = {
    "Q": mirrored(
        bezier(
            (0.0, -29),
            ((6.5, -29), (8.0, -24), (7.2, -19)),
            ((6.8, -15), (9.4, -13.4), (8.2, -10.4)),
            ((6.0, -11.5), (4.6, -13), (4.2, -17)),
            ((0, -17),),
        )
    ),
    "K": mirrored(
        bezier(
            (0.0, -28.5),
            ((6, -28), (7.4, -23), (6.8, -18)),
            ((8.2, -17), (8.0, -14.6), (6.2, -14.6)),
            ((4.6, -14.6), (4.2, -17), (4.2, -19)),
            ((0, -19),),
        )
    ),
    "J": mirrored(
        bezier(
            (0.0, -28.5),
            ((6.2, -28.4), (7.0, -23), (6.2, -18.4)),
            ((5.8, -15.6), (7.6, -15.0), (7.4, -16.8)),
            ((7.2, -13.6), (4.0, -14.4), (4.2, -19)),
            ((0, -19),),
        )
    ),
}
"""The outline of the hair behind the face, by rank."""


def draw_hair(f: CourtFigure, rank: str) -> None:
    """What is seen of the hair behind the face, with some strands."""
    f.shape(_HAIR[rank], f.hair)
    for side in (-1.0, 1.0):
        for k in (5.2, 6.1):
            f.line(bezier((side * (k - 0.6), -26), ((side * k, -22), (side * k, -17.4))), 0.14)


def draw_face(f: CourtFigure, rank: str) -> None:
    """Neck, face, nose and lips, and the king's beard."""
    f.shape(box(-2.1, -18.8, 2.1, -14.2), f.costume.skin)
    wide = _CHEEK[f.costume.face]
    f.shape(
        mirrored(
            bezier(
                (0.0, -27.4),
                ((wide, -27.4), (wide + 0.5, -22.5), (wide - 0.4, -20.2)),
                ((wide - 1.4, -17.6), (1.6, -16.6), (0, -16.5)),
            )
        ),
        f.costume.skin,
    )
    for side in (-1.0, 1.0):
        _draw_eye(f, side)
    f.line(bezier((0.2, -23.3), ((0.9, -21.2), (0.95, -20.7)), ((0.5, -20.2), (-0.2, -20.4))), 0.2)
    f.fill(
        bezier((-1.3, -18.9), ((-0.5, -19.5), (0, -19.1)), ((0.5, -19.5), (1.3, -18.9)), ((0, -17.9), (-1.3, -18.9))),
        _LIPS,
    )
    if rank == "K":
        _draw_beard(f)


def _draw_eye(f: CourtFigure, side: float) -> None:
    """The eye in the way of the face, and its brow."""
    ink = f.costume.ink
    if f.costume.face == "merry":
        f.shape(ellipse(side * 1.9, -22.6, 0.95, 1.2), (255, 255, 255), 0.16)
        f.fill(ellipse(side * 1.9 + 0.2, -22.4, 0.5, 0.7), ink)
        f.fill(ellipse(side * 3.0, -20.2, 0.9, 0.6), (238, 156, 140))
    elif f.costume.face == "flat":
        f.fill(ellipse(side * 1.9, -22.4, 0.6), ink)
    else:
        f.line(bezier((side * 1.0, -22.5), ((side * 1.9, -23.4), (side * 2.9, -22.4))), 0.22)
        f.fill(ellipse(side * 1.95, -22.5, 0.42, 0.5), ink)
        f.line(bezier((side * 1.1, -21.9), ((side * 1.9, -21.7), (side * 2.7, -22.1))), 0.12)
    f.line(bezier((side * 0.9, -24.1), ((side * 2.0, -24.8), (side * 3.2, -23.9))), 0.34)


def _draw_beard(f: CourtFigure) -> None:
    beard = mirrored(
        bezier(
            (0.0, -13.0),
            ((1.6, -13.2), (3.6, -14.8), (4.4, -20.6)),
            ((3.6, -20.2),),
            ((3.0, -17.9), (1.8, -17.7), (0, -17.7)),
        )
    )
    f.shape(beard, f.hair)
    for x in (-2.4, -1.2, 0.0, 1.2, 2.4):
        f.line(bezier((x * 1.1, -17.2), ((x * 0.9, -15.4), (x * 0.6, -14.0))), 0.13)
    f.shape(
        mirrored(bezier((0.0, -20.0), ((1.2, -20.4), (2.2, -19.6), (3.1, -19.0)), ((1.4, -18.8), (0, -19.4)))),
        f.hair,
        0.16,
    )


def draw_headgear(f: CourtFigure, rank: str) -> None:
    """The king's crown, the queen's, or the jack's hat."""
    {"K": _crown, "Q": _coronet, "J": _hat}[rank](f)


def _crown(f: CourtFigure) -> None:
    crown = mirrored(bezier((0.0, -26.0), ((5.6, -25.2),), ((6.8, -32.2),), ((3.6, -28.9),), ((0.0, -33.2),)))
    f.shape(crown, f.costume.gold)
    band = mirrored(bezier((0.0, -25.2), ((3, -25.2), (5.5, -24.5)), ((5.9, -26.6),), ((3, -27.2), (0, -27.2))))
    f.shape(band, f.sash)
    for x, y in ((0, -32.6), (6.6, -31.6), (-6.6, -31.6)):
        f.shape(ellipse(x, y, 0.85), f.lining)
    for x in (-3.6, 0.0, 3.6):
        f.fill(ellipse(x, -26.2, 0.6), f.costume.gold)


def _coronet(f: CourtFigure) -> None:
    crown = mirrored(
        bezier(
            (0.0, -27.0),
            ((4.8, -26.0),),
            ((6.2, -30.6),),
            ((4.4, -29.2), (3.4, -29.2)),
            ((2.9, -31.8),),
            ((1.6, -29.6), (0.8, -29.8)),
            ((0.0, -32.6),),
        )
    )
    f.shape(crown, f.costume.gold)
    for x, y in ((0, -32.3), (2.9, -31.4), (-2.9, -31.4), (6.0, -30.2), (-6.0, -30.2)):
        f.shape(ellipse(x, y, 0.62), (252, 250, 246), 0.16)
    f.fill(ellipse(0, -28.2, 0.9, 0.7), f.sash)


def _hat(f: CourtFigure) -> None:
    hat = bezier(
        (-6.4, -25.2),
        ((-8.0, -29.8), (-1.6, -31.8), (3.2, -30.6)),
        ((7.6, -29.6), (7.4, -26.6), (6.2, -25.0)),
        ((2, -27.0), (-2, -27.0), (-6.4, -25.2)),
    )
    f.patterned(hat, f.sash, f.robe, "stripes")
    f.shape(
        mirrored(bezier((0.0, -25.6), ((3.6, -25.6), (6.4, -24.2)), ((6.7, -25.8),), ((3.6, -27.3), (0, -27.3)))),
        f.costume.gold,
    )
    plume = bezier(
        (5.2, -27.2), ((9.6, -28.2), (11.2, -31.4), (8.6, -33.2)), ((9.2, -30.8), (7.0, -29.8), (4.2, -28.6))
    )
    f.shape(plume, (250, 248, 242))
    f.line(bezier((5.2, -27.6), ((8.6, -29.2), (9.2, -32.4))), 0.16)


_PATTERNS = {"K": ("lozenges", "stripes"), "Q": ("scales", "dots"), "J": ("chevrons", "lozenges")}
_SHOULDER = {"K": -14.5, "Q": -12.5, "J": -13.5}
_HELD_AT = 11.6
"""How far to the side the hand holds something upright, mm."""


def draw_body(f: CourtFigure, rank: str) -> None:
    """The robe of a rank, and the king's cape, the queen's collar, or the jack's."""
    shoulder = _SHOULDER[rank]
    first, second = _PATTERNS[rank]
    robe = mirrored(
        bezier(
            (0.0, shoulder - 2.5),
            ((6, shoulder - 2.2), (13, shoulder), (15.5, shoulder + 6)),
            ((18, -4), (20, 4), (20, 8)),
            ((0, 8),),
        )
    )
    f.patterned(robe, f.robe, f.lining, first)
    front = mirrored(bezier((0.0, shoulder - 1), ((3.4, shoulder), (4.2, -4), (6.5, 8)), ((0, 8),)))
    f.patterned(front, f.sash, f.costume.gold, second)
    _hem(f, shoulder)
    {"K": _cape, "Q": _necklace, "J": _collar}[rank](f)


def _hem(f: CourtFigure, shoulder: float) -> None:
    """A golden edge with studs along both sides of the front."""
    for side in (-1.0, 1.0):
        edge = bezier(
            (side * 3.2, shoulder - 1),
            ((side * 5.0, shoulder + 2), (side * 5.2, -4), (side * 8.2, 8)),
            ((side * 10.2, 8),),
            ((side * 7.4, -5), (side * 7.2, shoulder + 2), (side * 5.2, shoulder - 1.4)),
        )
        f.shape(edge, f.costume.gold)
        for y in np.arange(shoulder + 1.5, 2, 2.3):
            f.fill(ellipse(side * (5.2 + (y - shoulder) * 0.13), float(y), 0.5), f.robe)


def _cape(f: CourtFigure) -> None:
    """The king's, of ermine."""
    cape = mirrored(bezier((0.0, -13.5), ((5, -14), (11, -13.5), (14.5, -9.5)), ((11, -8.6), (6, -9.6), (0, -8.2))))
    f.shape(cape, (252, 250, 243))
    for x, y in ((-10, -10.8), (-6.2, -11.4), (-2.2, -10.6), (2.2, -10.6), (6.2, -11.4), (10, -10.8)):
        f.fill(ellipse(x, y, 0.42, 0.85), f.costume.ink)


def _necklace(f: CourtFigure) -> None:
    """The queen's white front, and beads of gold."""
    f.shape(
        mirrored(bezier((0.0, -9.0), ((3.5, -10.5), (6.6, -12), (8, -16.5)), ((5, -15.6), (2.5, -14), (0, -13.4)))),
        (250, 247, 240),
    )
    for a in np.linspace(-0.9, 0.9, 7):
        f.shape(ellipse(6.2 * np.sin(a), -15.3 + 4.6 * np.cos(a), 0.72), f.costume.gold)


def _collar(f: CourtFigure) -> None:
    """The jack's."""
    f.shape(mirrored(bezier((0.0, -11.5), ((4, -11.8),), ((8, -13.2),), ((6.8, -16.6),), ((0, -14.6),))), f.lining)
    f.line(np.array([[0, -14.6], [0, -11.5]]))


def draw_arm(f: CourtFigure, rank: str) -> None:
    """A sleeve across the body, its cuff, and what the hand holds."""
    {"K": _sword, "Q": _rose, "J": _halberd}[rank](f)
    sleeve = bezier((18.5, 4), ((18.5, -4),), ((16.8, -8.6), (14.2, -8.4)), ((12.2, -5.2), (8.4, 4)))
    f.patterned(sleeve, f.lining, f.robe, "stripes" if rank != "K" else "chevrons")
    f.shape(placed(box(-2.6, -1.0, 2.6, 1.0, 0.5), 13.2, -6.6, turn=-28), f.costume.gold)
    f.shape(placed(ellipse(0, 0, 2.15, 1.75), 11.7, -8.9, turn=-28), f.costume.skin)
    for k in (-0.75, 0.05, 0.85):
        f.line(np.array([[10.2, -8.9 + k], [12.4, -9.2 + k]]), 0.15)


def _sword(f: CourtFigure) -> None:
    x = _HELD_AT
    f.shape(
        np.array([[x - 0.9, -28.5], [x, -32.2], [x + 0.9, -28.5], [x + 0.9, -8.2], [x - 0.9, -8.2]]),
        (214, 220, 226),
    )
    f.line(np.array([[x, -31], [x, -8.5]]), 0.16)
    f.shape(box(x - 3.2, -8.6, x + 3.2, -7.2, 0.6), f.costume.gold)
    f.shape(box(x - 0.7, -7.4, x + 0.7, -1.5), f.sash)


def _rose(f: CourtFigure) -> None:
    x = _HELD_AT
    f.line(bezier((x, -3), ((x - 1.2, -10), (x, -18))), 0.6, (64, 124, 66))
    for side in (-1.0, 1.0):
        f.shape(
            bezier((x - 0.5, -11), ((x + side * 3.2, -15.4), (x + side * 2.2, -12.0)), ((x, -10.4), (x - 0.5, -11))),
            (92, 156, 84),
            0.16,
        )
    for a in range(0, 360, 60):
        f.shape(placed(ellipse(0, -1.9, 1.25, 1.75), x, -20.4, turn=a), f.sash, 0.18)
    f.shape(ellipse(x, -20.4, 1.25), f.costume.gold)


def _halberd(f: CourtFigure) -> None:
    x = _HELD_AT
    f.shape(box(x - 0.55, -30, x + 0.55, 2), (150, 104, 62))
    f.shape(
        bezier(
            (x, -33),
            ((x + 1.0, -30.2),),
            ((x + 5.2, -29.4), (x + 4.4, -23.8)),
            ((x + 2.6, -26), (x + 0.7, -25.4)),
            ((x - 0.7, -25.4),),
            ((x - 1.0, -30.2),),
        ),
        (206, 212, 220),
    )
    f.shape(ellipse(x, -24.4, 1.0, 0.7), f.costume.gold)


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
        _fool(figure)
    else:
        draw_hair(figure, rank)
        draw_body(figure, rank)
        draw_face(figure, rank)
        draw_headgear(figure, rank)
        draw_arm(figure, rank)
        _large_pip(figure, pip_colour)
    sheet.image = _two_headed(sheet, costume, frame)
    canvas.blend(sheet.image, canvas.mask(outline))
    canvas.line(outline, costume.ink, 0.32)


def _fool(f: CourtFigure) -> None:
    """The joker's head and cap, in the same coordinates."""
    c = f.costume
    f.patterned(mirrored(bezier((0.0, -12), ((12, -12), (17, -5), (18, 8)), ((0, 8),))), f.robe, f.lining, "lozenges")
    for k, x in enumerate(np.linspace(-11, 11, 6)):
        f.shape(np.array([[x - 2.3, -13.0], [x + 2.3, -13.0], [x, -6.5 - (k % 2)]]), c.gold if k % 2 else f.sash)
        f.shape(ellipse(float(x), -6.0 - (k % 2), 0.8), c.gold)
    for side in (-1.0, 1.0):
        horn = bezier(
            (0.0, -27),
            ((side * 5, -34), (side * 14, -32), (side * 13.4, -22.5)),
            ((side * 11, -26.5), (side * 8, -25.5), (side * 4.6, -21)),
            ((0.0, -23),),
        )
        f.patterned(horn, f.robe if side > 0 else f.sash, f.lining, "stripes")
        f.shape(ellipse(side * 13.3, -21.4, 1.35), c.gold)
    draw_face(f, "J")
    f.shape(mirrored(bezier((0.0, -25.3), ((4, -25.2), (5.4, -23.4)), ((5.5, -25.6),), ((3, -28), (0, -28)))), c.gold)


def _large_pip(figure: CourtFigure, colour: Colour) -> None:
    x, y = figure.at(np.array([[-12.2, -26.4]]))[0]
    draw_pip(figure.canvas, figure.suit, figure.costume.pip_style, colour, float(x), float(y), 8.4)


def _two_headed(sheet: Canvas, costume: Costume, frame: tuple[float, float]) -> Bytes:
    """The upper half, and the same turned for the lower one, with a band between them."""
    cx, cy, reach = sheet.width / 2, sheet.height / 2, sheet.width
    fall = costume.slant / _HALF_WIDTH
    below = np.array(
        [
            [cx - reach, cy - reach * fall],
            [cx + reach, cy + reach * fall],
            [cx + reach, cy + 200],
            [cx - reach, cy + 200],
        ]
    )
    turned = sheet.half_turn()
    sheet.blend(turned, sheet.mask(below))
    half = frame[0] / 2
    band = np.array(
        [
            [-half, -half * fall - 0.75],
            [half, half * fall - 0.75],
            [half, half * fall + 0.75],
            [-half, -half * fall + 0.75],
        ]
    )
    sheet.shape(placed(band, cx, cy), costume.gold, costume.ink, 0.22)
    return sheet.image
