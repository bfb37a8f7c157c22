"""Faces without a readable index: jokers as no pack here prints them, a scoring card, a blank one.

Each is drawn as a back, so that a `PrintedDeck` of any family can print it on a card of that family's size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from hardware.simulated.decks.courts import draw_court
from hardware.simulated.decks.families import FAMILIES, Family
from hardware.simulated.decks.packs import PrintedDeck
from hardware.simulated.pictures.canvas import (
    Bytes,
    Canvas,
    Colour,
    Points,
    box,
    ellipse,
    glyphs,
    mirrored,
    path,
    placed,
)

_INK: Final[Colour] = (28, 26, 36)
_RED: Final[Colour] = (190, 34, 44)
_GOLD: Final[Colour] = (232, 180, 62)
_PAPER: Final[Colour] = (252, 251, 246)
_FONT: Final = FAMILIES["carnival"].font_file


def _star(points: int, waist: float = 0.42) -> Points:
    """A star of radius 1."""
    a = np.arange(2 * points) * np.pi / points
    return np.stack([np.sin(a), -np.cos(a)], axis=1) * np.where(np.arange(2 * points) % 2, waist, 1.0)[:, None]


def _sheet(canvas: Canvas, colour: Colour = _PAPER) -> tuple[float, float]:
    """Draw a star of radius 1."""
    canvas.fill(box(0, 0, canvas.width, canvas.height), colour)
    return canvas.width / 2, canvas.height / 2


def _write(canvas: Canvas, text: str, colour: Colour, x: float, y: float, height: float, turned: bool = False) -> None:
    """Write a line of text about (x, y), ``height`` mm high; turned, it runs down the card."""
    ink = glyphs(_FONT, text, 0.04)
    width = min(height * ink.shape[1] / ink.shape[0], (canvas.height if turned else canvas.width) * 0.8)
    if turned:
        canvas.text(np.ascontiguousarray(np.rot90(ink, -1)), colour, x, y, height, width)
    else:
        canvas.text(ink, colour, x, y, width, height)


def _framed_jester(canvas: Canvas) -> None:
    """A double-headed fool in a frame, no letter anywhere."""
    _sheet(canvas)
    costume = replace(FAMILIES["meadow"].costume, main=(52, 120, 60), second=(230, 200, 70), third=(150, 40, 90))
    draw_court(canvas, costume, "X", "s", (canvas.width - 12, canvas.height - 14), _INK)


def _edge_joker(canvas: Canvas) -> None:
    """JOKER along both long edges, lying on its side, and a cap and bells between."""
    cx, cy = _sheet(canvas)
    for x in (6.5, canvas.width - 6.5):
        _write(canvas, "JOKER", _RED, x, cy, 5.5, turned=True)
    cap = path("M0 8 L7 6 C14 0 18 -6 13 -14 C10 -8 7 -6 4 -6 C3 -12 2 -16 0 -18")
    canvas.shape(placed(mirrored(cap), cx, cy), _RED, _INK, 0.5)
    for x, y in ((0, -18), (13, -14), (-13, -14)):
        canvas.shape(ellipse(cx + x, cy + y, 2.0), _GOLD, _INK, 0.4)
    canvas.shape(box(cx - 9, cy + 7, cx + 9, cy + 11, 1.5), _GOLD, _INK, 0.4)


def _starred(canvas: Canvas) -> None:
    """One large star."""
    cx, cy = _sheet(canvas)
    canvas.shape(placed(_star(5), cx, cy, 21.0), _GOLD, _RED, 0.8)
    canvas.shape(placed(_star(5), cx, cy, 12.0, turn=36), _RED, _INK, 0.4)


def _plain_art(canvas: Canvas) -> None:
    """A landscape to the very edge."""
    cx, _ = _sheet(canvas, (168, 202, 226))
    canvas.fill(ellipse(cx + 12, 20, 9), (250, 226, 150))
    for y, colour in ((46, (108, 140, 170)), (58, (92, 140, 96)), (72, (58, 104, 62))):
        hill = path(f"M0 {y} C{cx * 0.6} {y - 18} {cx} {y + 10} {canvas.width} {y - 8} L{canvas.width} 120 L0 120")
        canvas.fill(hill, colour)


def _mandala(canvas: Canvas) -> None:
    """A joker that is one round ornament on black."""
    cx, cy = _sheet(canvas, (24, 22, 30))
    for radius, points, colour in ((27, 16, _RED), (21, 12, _GOLD), (14, 9, (60, 140, 150)), (7, 6, _PAPER)):
        canvas.shape(placed(_star(points, 0.7), cx, cy, min(radius, cx - 3)), colour, _INK, 0.5)


def _scoring(canvas: Canvas) -> None:
    """A card of rules: lines of small print under a heading."""
    cx, _ = _sheet(canvas)
    _write(canvas, "CONTRACT", (30, 60, 130), cx, 9, 4.2)
    for k in range(13):
        _write(
            canvas, f"{(k * 37) % 9 + 1}0 points {'made' if k % 3 else 'doubled'} {k + 1}", _INK, cx, 19 + 5 * k, 2.2
        )


def _blank(canvas: Canvas) -> None:
    """Draw nothing but paper."""
    _sheet(canvas)


def _banner(canvas: Canvas) -> None:
    """The word across the middle, a small figure above and below it."""
    cx, cy = _sheet(canvas)
    canvas.fill(placed(box(-40, -7, 40, 7), cx, cy, turn=-28), _INK)
    _write(canvas, "Joker", _RED, cx, cy - 24, 12)
    for way in (-1, 1):
        canvas.shape(ellipse(cx + way * 17, cy + way * 12, 6), _GOLD, _INK, 0.5)


def _stripes(canvas: Canvas) -> None:
    """A joker in slanted stripes with a white disc."""
    cx, cy = _sheet(canvas, (214, 60, 60))
    for k in np.arange(-120, 160, 11.0):
        canvas.fill(np.array([[k, 0.0], [k + 5.5, 0.0], [k + 105.5, 100.0], [k + 100, 100.0]]), (246, 214, 90))
    canvas.shape(ellipse(cx, cy, 17), _PAPER, _INK, 0.6)
    canvas.shape(placed(_star(8, 0.3), cx, cy, 13), (40, 80, 150), _INK, 0.4)


ODD_FACES: Final[dict[str, Callable[[Canvas], None]]] = {
    "jester": _framed_jester, "edge": _edge_joker, "star": _starred, "art": _plain_art, "mandala": _mandala,
    "scoring": _scoring, "blank": _blank, "banner": _banner, "stripes": _stripes,
    **{f"back of {name}": family.back for name, family in FAMILIES.items()},
}  # fmt: skip
"""Drawings for a card's canvas, by name: faces without a readable index, and backs."""


UNLETTERED: Final = ("jester", "edge", "star", "art", "mandala", "scoring", "banner", "stripes")
"""Faces of `ODD_FACES` that cannot be read: jokers, and a card of rules."""


class DeckWithOddFaces(PrintedDeck):
    """A pack of a family in which any of `ODD_FACES` is a card, too."""

    def picture(self, card: str) -> Bytes:
        if card in ODD_FACES and card not in self._cards:
            self._cards[card] = odd_deck(self.family, card, self.scale).picture("back")
        return super().picture(card)


def odd_deck(family: Family, face: str, scale: float) -> PrintedDeck:
    """Return a deck of the family whose ``back`` is one of `ODD_FACES`."""
    return PrintedDeck(replace(family, back=ODD_FACES[face]), scale)
