"""The simulated table's packs of cards, drawn by this file and its neighbours; no one else's art is in them.

A `Deck` makes its faces and its back on demand, as pictures that OpenCV can place on the table. The families
differ in fonts, pips, courts, layout, proportions and backs, as packs of different makers do.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import cv2
import numpy as np

from hardware.simulated.canvas import Bytes, Canvas, Colour, box, ellipse, glyphs, placed
from hardware.simulated.courts import Costume, draw_court
from hardware.simulated.pips import draw_pip

RANKS = "A23456789TJQK"
SUITS = "shdc"
DRAWN_AT = 9.0
"""Pixels a millimetre at which cards are drawn before they are made as small as they are seen."""

# Where the pips of a number card stand: columns -1, 0, 1 and heights -1 (top) to 1, upside down below the middle.
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
    """How one maker's pack looks; lengths in mm."""

    name: str
    size: tuple[float, float]
    font: tuple[str, str]
    """Font package and file name."""
    pips: str
    index: tuple[float, float, float]
    """Height of the rank, of the suit under it, and the middle of the column from the left edge."""
    top: float
    """From the upper edge to the rank."""
    narrow: float
    """Width of the letters against the font's own."""
    pip: float
    """Height of the pips on number cards."""
    field: tuple[float, float]
    """Half width and half height over which pip centres spread."""
    frame: tuple[float, float]
    """The court picture's frame."""
    black: Colour
    red: Colour
    paper: Colour
    costume: Costume
    back: Callable[[Canvas], None]
    letters: tuple[tuple[str, str], ...] = ()
    """What is printed for a rank, where it is not the usual letter: ``(("Q", "D"), ("J", "B"))``."""
    colours: tuple[tuple[str, Colour], ...] = ()
    """Of suits that are not printed in ``black`` or ``red``."""
    court: Callable[[Canvas, Family, str, str, Colour], None] | None = None
    """Draws a court of another kind: given the sheet, the family, rank, suit and the suit's colour."""
    single: bool = False
    """One large pip stands on number cards instead of as many as they count."""

    def colour(self, suit: str) -> Colour:
        """The suit's ink."""
        return dict(self.colours).get(suit, self.red if suit in "hd" else self.black)

    def text(self, rank: str) -> str:
        """What the index of a rank says."""
        return dict(self.letters).get(rank, rank_text(rank))


def _font_file(package: str, name: str) -> str:
    module = import_module(package)
    return str(Path(str(module.__file__)).parent / "files" / name)


def _lattice(canvas: Canvas) -> None:
    """Blue crossing lines with rosettes, a white border."""
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
    """Rows of red arcs out to the edge, a thin white frame inside."""
    red, pale = (168, 30, 44), (247, 230, 226)
    canvas.fill(box(0, 0, canvas.width, canvas.height), red)
    for j, y in enumerate(np.arange(-2, canvas.height + 6, 2.8)):
        for x in np.arange(-3, canvas.width + 6, 5.6):
            for radius, colour in ((2.8, pale), (2.45, red), (1.7, pale), (1.35, red), (0.6, pale)):
                canvas.fill(ellipse(float(x) + (j % 2) * 2.8, float(y), radius), colour)
    for inset, colour, pen in ((3.2, pale, 1.5), (3.2, red, 0.4)):
        canvas.line(box(inset, inset, canvas.width - inset, canvas.height - inset, 2.0), colour, pen)


def _confetti(canvas: Canvas) -> None:
    """Green with large scattered dots and stars, a broad cream border."""
    green, cream, gold = (24, 104, 88), (250, 244, 228), (226, 178, 74)
    field = box(5, 5, canvas.width - 5, canvas.height - 5, 3.0)

    def draw(sheet: Canvas) -> None:
        sheet.fill(field, green)
        star = np.stack(
            [
                np.array([np.sin(a), -np.cos(a)]) * (1.0 if k % 2 == 0 else 0.42)
                for k, a in enumerate(np.arange(10) * np.pi / 5)
            ]
        )
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
    """Violet and black harlequin lozenges, a white border with a double line."""
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


_HARBOUR = Costume(
    main=(186, 38, 46),
    second=(40, 74, 146),
    third=(236, 200, 82),
    gold=(238, 190, 60),
    ink=(26, 24, 34),
    skin=(248, 222, 196),
    hair=((52, 44, 44), (202, 142, 62), (150, 92, 48), (120, 116, 118)),
    ground=(253, 252, 247),
    slant=9.0,
    pip_style="classic",
    face="fine",
)
_MEADOW = Costume(
    main=(30, 112, 122),
    second=(206, 70, 52),
    third=(240, 226, 192),
    gold=(232, 168, 56),
    ink=(34, 38, 58),
    skin=(236, 196, 160),
    hair=((36, 34, 46), (160, 82, 40), (224, 178, 92), (86, 58, 42)),
    ground=(246, 240, 224),
    slant=0.0,
    pip_style="sharp",
    face="flat",
    line=0.4,
)
_CARNIVAL = Costume(
    main=(214, 58, 92),
    second=(62, 142, 84),
    third=(74, 70, 156),
    gold=(250, 204, 78),
    ink=(44, 30, 50),
    skin=(252, 214, 184),
    hair=((70, 48, 40), (236, 178, 70), (186, 84, 48), (48, 52, 86)),
    ground=(255, 252, 242),
    slant=-7.0,
    pip_style="round",
    face="merry",
    line=0.36,
)
_ARCHIVE = Costume(
    main=(146, 32, 34),
    second=(28, 26, 32),
    third=(222, 186, 110),
    gold=(214, 170, 84),
    ink=(20, 18, 22),
    skin=(244, 224, 204),
    hair=((38, 34, 36), (182, 128, 70), (116, 74, 44), (148, 144, 142)),
    ground=(250, 246, 236),
    slant=5.0,
    pip_style="classic",
    face="fine",
    line=0.24,
)

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "harbour",
            (63, 88),
            ("font_source_serif_pro", "SourceSerifPro-Bold.ttf"),
            "classic",
            (9.6, 7.2, 6.3),
            4.0,
            0.86,
            12.5,
            (12.2, 29.0),
            (37.0, 71.0),
            (22, 22, 26),
            (196, 28, 36),
            (253, 253, 250),
            _HARBOUR,
            _lattice,
        ),
        Family(
            "meadow",
            (57, 89),
            ("font_roboto", "Roboto-Bold.ttf"),
            "sharp",
            (10.6, 8.0, 6.2),
            3.6,
            0.80,
            11.5,
            (10.4, 29.0),
            (31.0, 71.0),
            (18, 24, 40),
            (206, 36, 30),
            (250, 249, 244),
            _MEADOW,
            _waves,
        ),
        Family(
            "carnival",
            (63, 88),
            ("font_fredoka_one", "FredokaOne-Regular.ttf"),
            "round",
            (10.4, 7.6, 6.6),
            3.8,
            0.92,
            12.0,
            (11.6, 28.5),
            (35.5, 69.0),
            (30, 26, 36),
            (220, 34, 58),
            (255, 253, 246),
            _CARNIVAL,
            _confetti,
        ),
        Family(
            "archive",
            (57, 89),
            ("font_source_serif_pro", "SourceSerifPro-Semibold.ttf"),
            "sharp",
            (10.0, 7.0, 5.9),
            4.2,
            0.80,
            11.0,
            (10.6, 28.0),
            (32.0, 70.0),
            (16, 16, 18),
            (176, 22, 30),
            (248, 245, 236),
            _ARCHIVE,
            _diamonds,
        ),
    )
}


def rank_text(rank: str) -> str:
    """The index as printed: ``10`` for the ten."""
    return "10" if rank == "T" else rank


class _Printer:
    """Prints the faces of one family."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.font = _font_file(*family.font)

    def face(self, card: str) -> Canvas:
        family = self.family
        canvas = Canvas(*family.size, DRAWN_AT, family.paper)
        rank, suit = card[0], card[1]
        if rank == "X":
            self._joker(canvas, suit)
            return canvas
        colour = family.colour(suit)
        if rank in "JQK" and family.court is not None:
            family.court(canvas, family, rank, suit, colour)
        elif rank in "JQK":
            draw_court(canvas, family.costume, rank, suit, family.frame, colour)
        elif rank == "A":
            self._ace(canvas, suit, colour)
        else:
            self._number(canvas, rank, suit, colour)
        self._indices(canvas, rank, suit, colour)
        return canvas

    def _indices(self, canvas: Canvas, rank: str, suit: str, colour: Colour) -> None:
        family = self.family
        high, sign, middle = family.index
        ink = glyphs(self.font, family.text(rank), -0.06 if rank == "T" else 0.0)
        narrow = family.narrow * (0.84 if rank == "T" else 1.0)
        width = min(high * ink.shape[1] / ink.shape[0] * narrow, 2 * middle - 2.2)
        # A letter with a tail or a round foot is taller than its fellows; print it to the same line.
        y = family.top + high / 2
        canvas.text(ink, colour, middle, y, width, high)
        canvas.text(ink, colour, canvas.width - middle, canvas.height - y, width, high, upside_down=True)
        y = family.top + high + 1.0 + sign / 2
        draw_pip(canvas, suit, family.pips, colour, middle, y, sign)
        draw_pip(canvas, suit, family.pips, colour, canvas.width - middle, canvas.height - y, sign, turn=180)

    def _number(self, canvas: Canvas, rank: str, suit: str, colour: Colour) -> None:
        family = self.family
        cx, cy = canvas.width / 2, canvas.height / 2
        if family.single:
            draw_pip(canvas, suit, family.pips, colour, cx, cy, 2.2 * family.pip)
            return
        for column, row in _LAYOUT[rank]:
            draw_pip(
                canvas,
                suit,
                family.pips,
                colour,
                cx + column * family.field[0],
                cy + row * family.field[1],
                family.pip,
                turn=180 if row > 1e-6 else 0,
            )

    def _ace(self, canvas: Canvas, suit: str, colour: Colour) -> None:
        family = self.family
        cx, cy = canvas.width / 2, canvas.height / 2
        if suit == "s":
            draw_pip(canvas, "s", family.pips, colour, cx, cy, 36.0)
            draw_pip(canvas, "s", family.pips, family.paper, cx, cy - 1.6, 22.0)
            for a in range(0, 360, 60):
                petal = placed(ellipse(0, -3.2, 1.5, 2.6), cx, cy - 1.0, turn=a)
                canvas.fill(petal, family.costume.gold)
                canvas.line(petal, colour, 0.25)
            canvas.fill(ellipse(cx, cy - 1.0, 1.6), colour)
            self._maker(canvas, cy + 24.0, colour)
            return
        draw_pip(canvas, suit, family.pips, colour, cx, cy, 20.0 if family.pips == "sharp" else 18.0)

    def _maker(self, canvas: Canvas, y: float, colour: Colour) -> None:
        words = glyphs(self.font, self.family.name.upper(), 0.12)
        height = 2.0
        canvas.text(words, colour, canvas.width / 2, y, min(height * words.shape[1] / words.shape[0], 30), height)

    def _joker(self, canvas: Canvas, suit: str) -> None:
        family = self.family
        colour = family.red if suit == "r" else family.black
        draw_court(canvas, family.costume, "X", "h" if suit == "r" else "s", family.frame, colour)
        step = 5.6
        for k, letter in enumerate("JOKER"):
            ink = glyphs(self.font, letter)
            y, width = family.top + 2.4 + k * step, min(4.4 * ink.shape[1] / ink.shape[0], 4.8)
            canvas.text(ink, colour, family.index[2], y, width, 4.6)
            canvas.text(ink, colour, canvas.width - family.index[2], canvas.height - y, width, 4.6, upside_down=True)


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


class Deck:
    """One pack of a family, printed at ``scale`` pixels a millimetre; ``seed`` is which of its packs (wear, tint)."""

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
        """A card's face (``7h``, ``Th``, ``Xr``, …) or its ``back``: H x W x 4 uint8, BGRA, premultiplied."""
        if card not in self._cards:
            small = _cut(printed(self.family, card), self.scale)
            shade = 1.0 - 0.035 * (zlib.crc32(f"{self.seed}/{card}".encode()) % 256) / 255
            small[..., :3] = (small[..., :3] * shade).astype(np.uint8)
            self._cards[card] = small
        return self._cards[card]


@lru_cache(maxsize=16)
def _printer(family: Family) -> _Printer:
    return _Printer(family)


def printed(family: str | Family, card: str) -> Canvas:
    """A face or the ``back``, fresh from the press at `DRAWN_AT` px/mm (RGB)."""
    made = FAMILIES[family] if isinstance(family, str) else family
    if card != "back":
        return _printer(made).face(card)
    canvas = Canvas(*made.size, DRAWN_AT, made.paper)
    made.back(canvas)
    return canvas


def all_cards(packs: int = 1, jokers: int = 0) -> list[str]:
    """Every card of the packs, then jokers, red and black in turn."""
    return [rank + suit for _ in range(packs) for suit in SUITS for rank in RANKS] + [
        "Xr" if k % 2 == 0 else "Xb" for k in range(jokers)
    ]
