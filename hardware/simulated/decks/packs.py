"""The simulated table's packs of cards, drawn by this folder, without other artists' work.

A `PrintedDeck` draws its faces and its back on demand, as pictures that OpenCV can place on the table. The families
differ in fonts, pips, courts, layout, proportions and backs, as packs of different makers do.
"""

from __future__ import annotations

import zlib

import cv2
import numpy as np

from hardware.simulated.decks.courts import draw_court
from hardware.simulated.decks.families import FAMILIES, Family
from hardware.simulated.decks.pips import draw_pip
from hardware.simulated.pictures.canvas import Bytes, Canvas, box, glyphs

PACK_RANKS = "A23456789TJQK"
PACK_SUITS = "shdc"
_DRAWN_AT = 9.0
"""Pixels per millimetre at which cards are drawn before they are reduced."""


def print_face(family: Family, card: str) -> Canvas:
    """Return a face or the ``back`` at `_DRAWN_AT` px/mm (RGB)."""
    canvas = Canvas(*family.size, _DRAWN_AT, family.paper)
    if card == "back":
        family.back(canvas)
        return canvas
    rank, suit = card[0], card[1]
    if rank == "X":
        colour = family.red if suit == "r" else family.black
        draw_court(canvas, family.costume, "X", "h" if suit == "r" else "s", family.frame, colour)
        for k, letter in enumerate("JOKER"):
            ink = glyphs(family.font_file, letter)
            y, width = family.top + 2.4 + k * 5.6, min(4.4 * ink.shape[1] / ink.shape[0], 4.8)
            canvas.text(ink, colour, family.index[2], y, width, 4.6)
            canvas.text(ink, colour, canvas.width - family.index[2], canvas.height - y, width, 4.6, upside_down=True)
        return canvas
    colour = family.colour(suit)
    family.draw_middle(canvas, rank, suit)
    high, sign, middle = family.index
    ink = glyphs(family.font_file, family.text(rank), -0.06 if rank == "T" else 0.0)
    narrow = family.narrow * (0.84 if rank == "T" else 1.0)
    width = min(high * ink.shape[1] / ink.shape[0] * narrow, 2 * middle - 2.2)
    # A letter with a tail or a round foot is taller than the others; print it on the same line.
    y = family.top + high / 2
    canvas.text(ink, colour, middle, y, width, high)
    canvas.text(ink, colour, canvas.width - middle, canvas.height - y, width, high, upside_down=True)
    y = family.top + high + 1.0 + sign / 2
    draw_pip(canvas, suit, family.pips, colour, middle, y, sign)
    draw_pip(canvas, suit, family.pips, colour, canvas.width - middle, canvas.height - y, sign, turn=180)
    return canvas


def _cut(canvas: Canvas, scale: float) -> Bytes:
    """Reduce a printed sheet to ``scale`` px/mm, round its corners, and tint its cut edge: BGRA, premultiplied."""
    edge = box(0.06, 0.06, canvas.width - 0.06, canvas.height - 0.06, 3.4)
    canvas.line(edge, (196, 194, 188), 0.16)
    cover = canvas.mask(box(0, 0, canvas.width, canvas.height, 3.4))
    size = (round(canvas.width * scale), round(canvas.height * scale))
    colour = cv2.resize(canvas.image, size, interpolation=cv2.INTER_AREA)
    alpha = cv2.resize(cover, size, interpolation=cv2.INTER_AREA)
    blue_first = colour[..., ::-1].astype(np.uint16) * alpha[..., None] // 255
    return np.ascontiguousarray(np.dstack([blue_first.astype(np.uint8), alpha]))


class PrintedDeck:
    """One pack of a family, printed at ``scale`` px/mm; ``seed`` selects its wear and tint."""

    def __init__(self, family: str | Family = "harbour", scale: float = 1.7, seed: int = 0) -> None:
        if isinstance(family, str) and family not in FAMILIES:
            raise ValueError(f"no deck family called {family!r}: choose one of {', '.join(FAMILIES)}")
        self.family = FAMILIES[family] if isinstance(family, str) else family
        self.scale = scale
        self.seed = seed
        self._cards: dict[str, Bytes] = {}

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a card, mm."""
        return self.family.size

    def picture(self, card: str) -> Bytes:
        """Return a card's face (``7h``, ``Th``, ``Xr``, …) or its ``back``: H x W x 4 uint8, BGRA, premultiplied."""
        if card not in self._cards:
            small = _cut(print_face(self.family, card), self.scale)
            shade = 1.0 - 0.035 * (zlib.crc32(f"{self.seed}/{card}".encode()) % 256) / 255
            small[..., :3] = (small[..., :3] * shade).astype(np.uint8)
            self._cards[card] = small
        return self._cards[card]


def all_cards(packs: int = 1, jokers: int = 0) -> list[str]:
    """Return every card of the packs, then jokers, alternately red and black."""
    return [rank + suit for _ in range(packs) for suit in PACK_SUITS for rank in PACK_RANKS] + [
        "Xr" if k % 2 == 0 else "Xb" for k in range(jokers)
    ]
