"""Court pictures of our own: double-headed kings, queens, jacks and a fool, drawn from outlines.

A figure is drawn once, upright, in a frame 36 mm wide and 66 mm high about (0, 0), of which only the upper half
is kept; the lower half is the same seen from the other side. `Costume` says what differs between families.
"""

from __future__ import annotations

import numpy as np

from hardware.simulated.canvas import Bytes, Canvas, Colour, bezier, box, ellipse, mirrored, placed
from hardware.simulated.court_bodies import draw_arm, draw_body
from hardware.simulated.court_figure import HALF_WIDTH, Costume, Figure
from hardware.simulated.court_heads import draw_face, draw_hair, draw_headgear
from hardware.simulated.pips import draw_pip


def draw_court(
    canvas: Canvas, costume: Costume, rank: str, suit: str, frame: tuple[float, float], pip_colour: Colour
) -> None:
    """Draw a court card's picture in a frame of ``frame`` mm about the middle; rank ``X`` draws a joker's."""
    x0, y0 = (canvas.width - frame[0]) / 2, (canvas.height - frame[1]) / 2
    outline = box(x0, y0, canvas.width - x0, canvas.height - y0, 1.2)
    sheet = Canvas(canvas.width, canvas.height, canvas.scale)
    sheet.fill(outline, costume.ground)
    figure = Figure(sheet, costume, suit, frame)
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


def _fool(f: Figure) -> None:
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


def _large_pip(figure: Figure, colour: Colour) -> None:
    x, y = figure.at(np.array([[-12.2, -26.4]]))[0]
    draw_pip(figure.canvas, figure.suit, figure.costume.pip_style, colour, float(x), float(y), 8.4)


def _two_headed(sheet: Canvas, costume: Costume, frame: tuple[float, float]) -> Bytes:
    """The upper half, and the same turned for the lower one, with a band between them."""
    cx, cy, reach = sheet.width / 2, sheet.height / 2, sheet.width
    fall = costume.slant / HALF_WIDTH
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
