"""The simulated packs' makers: what sets their cards apart, and how each draws its backs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from hardware.simulated.decks.courts import Costume
from hardware.simulated.pictures.canvas import Canvas, Colour, box, ellipse, placed


def rank_text(rank: str) -> str:
    """The index as printed: ``10`` for the ten."""
    return "10" if rank == "T" else rank


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


def font_file(package: str, name: str) -> str:
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
