"""Courts as on French tarot packs: two country scenes, head to head, with a figure small in each."""

from __future__ import annotations

import numpy as np

from hardware.simulated.decks.families import Family
from hardware.simulated.decks.pips import draw_pip
from hardware.simulated.pictures.canvas import Canvas, Colour, box, ellipse, path, placed

_SKIES: dict[str, Colour] = {"s": (176, 204, 226), "h": (246, 212, 176), "d": (226, 232, 196), "c": (206, 196, 226)}


def scene(canvas: Canvas, family: Family, rank: str, suit: str, colour: Colour) -> None:
    """Draw a court's picture over most of the card; rank selects the figure and the house behind it."""
    x0, y0 = (canvas.width - family.frame[0]) / 2, (canvas.height - family.frame[1]) / 2
    outline = box(x0, y0, canvas.width - x0, canvas.height - y0)
    sheet = Canvas(canvas.width, canvas.height, canvas.scale, family.costume.ground)
    _half(sheet, family, rank, suit, colour)
    below = sheet.half_turn()
    sheet.blend(below, sheet.mask(box(0, canvas.height / 2, canvas.width, canvas.height)))
    middle = canvas.height / 2
    sheet.line(np.array([[x0, middle], [canvas.width - x0, middle]]), family.costume.ink, 0.6, closed=False)
    canvas.blend(sheet.image, canvas.mask(outline))
    canvas.line(outline, family.costume.ink, 0.35)


def _half(sheet: Canvas, family: Family, rank: str, suit: str, colour: Colour) -> None:
    costume, width, middle = family.costume, sheet.width, sheet.height / 2
    pen = costume.line
    sheet.fill(box(0, 0, width, middle), _SKIES[suit])
    sheet.shape(ellipse(width * 0.68, 15, 4.2), costume.gold, costume.ink, pen)
    hill = path(f"M0 {middle} C0 30 {width * 0.4} 20 {width * 0.55} 31 Q{width} 24 {width} {middle}")
    sheet.shape(hill, (122, 164, 96), costume.ink, pen)
    if rank == "K":
        for k, x in enumerate((0.26, 0.36, 0.46)):
            top = 17 - 4 * (k == 1)
            sheet.shape(box(width * x - 2.6, top, width * x + 2.6, 33), costume.second, costume.ink, pen)
            roof = placed(np.array([[-3.2, 0], [3.2, 0], [0, -5.0]]), width * x, top)
            sheet.shape(roof, costume.main, costume.ink, pen)
    elif rank == "Q":
        for x in (0.28, 0.44):
            sheet.shape(box(width * x - 0.7, 24, width * x + 0.7, 34), costume.hair[2], costume.ink, pen)
            sheet.shape(ellipse(width * x, 20.5, 4.2, 5.4), (64, 124, 74), costume.ink, pen)
    else:
        sail = np.array([[0, -9.0], [1.6, -8.6], [0.5, 0], [-0.5, 0]])
        sheet.shape(box(width * 0.31, 22, width * 0.41, 34), costume.third, costume.ink, pen)
        for turn in range(20, 380, 90):
            sheet.shape(placed(sail, width * 0.36, 22, turn=turn), costume.ground, costume.ink, pen)
    _figure(sheet, family, rank, suit)
    draw_pip(sheet, suit, family.pips, colour, width * 0.5, middle - 5.5, 7.0)


def _figure(sheet: Canvas, family: Family, rank: str, suit: str) -> None:
    costume, x, foot = family.costume, sheet.width * 0.68, sheet.height / 2 - 1.0
    robe = np.array([[-2.6, -12], [2.6, -12], [5.0 if rank != "J" else 3.2, 0], [-5.0 if rank != "J" else -3.2, 0]])
    sheet.shape(placed(robe, x, foot), costume.main if suit in "hd" else costume.second, costume.ink, costume.line)
    sheet.shape(ellipse(x, foot - 14.4, 2.5, 2.9), costume.skin, costume.ink, costume.line)
    hat = {
        "K": np.array([[-2.8, 0], [-2.8, -3.4], [-1.2, -1.6], [0, -4.2], [1.2, -1.6], [2.8, -3.4], [2.8, 0]]),
        "Q": np.array([[-2.4, 0], [0, -5.6], [2.4, 0]]),
        "J": np.array([[-3.6, 0], [-1.8, -2.2], [1.8, -2.2], [3.6, 0]]),
    }[rank]
    sheet.shape(placed(hat, x, foot - 16.2), costume.gold if rank != "J" else costume.third, costume.ink, costume.line)
