"""Packs that the eye was not trained on: other letters, other signs, other colours, other sizes.

They are for trying `referee enrol`; games use them only on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import numpy as np

from hardware.simulated.decks.families import FAMILIES, Family
from hardware.simulated.decks.pips import SIGNS, draw_pip
from hardware.simulated.pictures.canvas import Canvas, Colour, box, ellipse, glyphs, mirrored, path
from tests.support.scenery import scene

FOREIGN: Final[dict[str, dict[str, str]]] = {
    "German": {"Q": "D", "J": "B"},
    "French": {"A": "1", "K": "R", "Q": "D", "J": "V"},
    "Dutch": {"K": "H", "Q": "V", "J": "B"},
    "Italian": {"K": "R", "Q": "D", "J": "F"},
    "Spanish": {"A": "1", "K": "R", "Q": "C", "J": "S"},
    "Scandinavian": {"A": "E", "Q": "D", "J": "Kn"},
    "Russian": {"A": "Т", "K": "К", "Q": "Д", "J": "В"},
}
"""Letters of a language's packs in the place of the English A, K, Q and J."""
_SAXON: Final = {"A": "D", "Q": "O", "J": "U"}

_FOUR_COLOURS: Final = {"d": (24, 92, 190), "c": (16, 128, 62)}
_GERMAN_COLOURS: Final = {"s": (22, 122, 58), "h": (200, 28, 38), "d": (196, 132, 12), "c": (118, 72, 30)}

# The signs of German packs: leaves for spades, hearts, bells for diamonds and acorns for clubs.
SIGNS["s", "german"] = (
    mirrored(path("M0 -0.5 C0.1 -0.34 0.4 -0.3 0.4 -0.02 C0.4 0.18 0.2 0.3 0.05 0.22 L0 0.2")),
    np.array([[-0.04, 0.15], [0.04, 0.15], [0.1, 0.48], [0.02, 0.5]]),
)
SIGNS["h", "german"] = (mirrored(path("M0 0.5 C0.02 0.22 0.46 0.14 0.46 -0.2 C0.46 -0.46 0.2 -0.56 0 -0.28")),)
SIGNS["d", "german"] = (
    mirrored(path("M0 -0.36 C0.3 -0.36 0.36 -0.1 0.36 0.06 L0 0.06")),
    mirrored(path("M0 0.5 C0.26 0.5 0.36 0.3 0.36 0.13 L0 0.13")),
    ellipse(0, -0.42, 0.09),
)
SIGNS["c", "german"] = (
    mirrored(path("M0 0.5 C0.06 0.42 0.24 0.34 0.24 0 L0 0")),
    mirrored(path("M0 -0.34 C0.22 -0.34 0.36 -0.22 0.36 -0.05 L0 -0.05")),
    box(-0.05, -0.5, 0.05, -0.3),
)


@dataclass(frozen=True)
class UnusualFamily(Family):
    """A family with prints that no ordinary one has."""

    letters: Mapping[str, str] = field(default_factory=dict)
    """The printed letter of a rank, where it is not the usual one."""
    colours: Mapping[str, Colour] = field(default_factory=dict)
    """Colours of suits that are not printed in ``black`` or ``red``."""
    scenes: bool = False
    """Courts are country scenes."""
    single: bool = False
    """One large pip on number cards instead of as many as they count."""

    def colour(self, suit: str) -> Colour:
        return self.colours.get(suit) or super().colour(suit)

    def text(self, rank: str) -> str:
        return self.letters.get(rank) or super().text(rank)

    def draw_middle(self, canvas: Canvas, rank: str, suit: str) -> None:
        if self.scenes and rank in "JQK":
            scene(canvas, self, rank, suit, self.colour(suit))
        elif self.single and rank not in "AJQK":
            middle = canvas.width / 2, canvas.height / 2
            draw_pip(canvas, suit, self.pips, self.colour(suit), *middle, 2.2 * self.pip)
        else:
            super().draw_middle(canvas, rank, suit)


def _like(family: str, **changes: Any) -> UnusualFamily:
    usual = FAMILIES[family]
    return UnusualFamily(**{field.name: getattr(usual, field.name) for field in fields(usual)} | changes)


def foreign_packs() -> list[tuple[str, UnusualFamily]]:
    """Return every family's pack in every language that its font can print, with the language."""
    return [
        (language, _like(family, name=f"{family}-{language}", letters=letters))
        for language, letters in FOREIGN.items()
        for family in FAMILIES
        if language != "Russian" or family != "carnival"  # Fredoka has no Cyrillic letters
    ]


UNUSUAL: Final[dict[str, Family]] = {
    family.name: family
    for family in (
        # German letters (Dame, Bube), a bold serif.
        _like("harbour", name="kontor", letters=FOREIGN["German"]),
        # French letters (Roi, Dame, Valet), 1 for the ace, country scenes for courts.
        _like(
            "archive", name="arcade", letters=FOREIGN["French"], size=(61, 110), frame=(41.0, 98.0), field=(11.5, 37.0),
            pip=12.5, scenes=True,
        ),
        # Dutch letters (Heer, Vrouw, Boer) in four colours.
        _like("carnival", name="kwartet", letters=FOREIGN["Dutch"], colours=_FOUR_COLOURS),
        # Indices that fill the corner, one pip.
        _like(
            "meadow", name="loupe", size=(63, 88), index=(21.0, 15.0, 10.6), top=3.2, narrow=0.72,
            frame=(26.0, 60.0), single=True,
        ),
        # German signs and letters (Daus, Ober, Unter).
        _like(
            "harbour", name="eichel", letters=_SAXON, pips="german", colours=_GERMAN_COLOURS,
            font="Roboto-Medium", size=(57, 100), field=(10.4, 33.0), frame=(33.0, 80.0),
            costume=replace(FAMILIES["harbour"].costume, pip_style="german"),
        ),
    )
}  # fmt: skip
"""By name."""


@dataclass(frozen=True)
class FourIndexFamily(Family):
    """A family with an index in each of its cards' four corners."""

    def draw_middle(self, canvas: Canvas, rank: str, suit: str) -> None:
        super().draw_middle(canvas, rank, suit)
        high, sign, middle = self.index
        ink = glyphs(self.font_file, self.text(rank), -0.06 if rank == "T" else 0.0)
        width = min(high * ink.shape[1] / ink.shape[0] * self.narrow, 2 * middle - 2.2)
        y, below = self.top + high / 2, self.top + high + 1.0 + sign / 2
        canvas.text(ink, self.colour(suit), canvas.width - middle, y, width, high)
        canvas.text(ink, self.colour(suit), middle, canvas.height - y, width, high, upside_down=True)
        draw_pip(canvas, suit, self.pips, self.colour(suit), canvas.width - middle, below, sign)
        draw_pip(canvas, suit, self.pips, self.colour(suit), middle, canvas.height - below, sign, turn=180)


def with_four_indices(family: Family) -> FourIndexFamily:
    """The family as its maker prints it for players who fan their cards to either side."""
    return FourIndexFamily(**{field.name: getattr(family, field.name) for field in fields(Family)})
