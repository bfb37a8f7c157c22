"""Packs that the eye was not trained on: other letters, other signs, other colours, other sizes.

They are for trying `referee enrol`, and no game is played with them unless somebody asks for one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hardware.simulated.decks.families import FAMILIES, Family
from tests.support.scenery import scene

_FRENCH: Final = (("A", "1"), ("K", "R"), ("Q", "D"), ("J", "V"))
_GERMAN: Final = (("Q", "D"), ("J", "B"))
_DUTCH: Final = (("K", "H"), ("Q", "V"), ("J", "B"))
_SAXON: Final = (("A", "D"), ("Q", "O"), ("J", "U"))

_FOUR_COLOURS: Final = (("d", (24, 92, 190)), ("c", (16, 128, 62)))
_GERMAN_COLOURS: Final = (("s", (22, 122, 58)), ("h", (200, 28, 38)), ("d", (196, 132, 12)), ("c", (118, 72, 30)))

UNUSUAL: Final[dict[str, Family]] = {
    family.name: family
    for family in (
        # German letters (Dame, Bube), a bold serif.
        replace(FAMILIES["harbour"], name="kontor", letters=_GERMAN),
        # French letters (Roi, Dame, Valet), 1 for the ace, country scenes for courts.
        replace(
            FAMILIES["archive"], name="arcade", letters=_FRENCH, size=(61, 110), frame=(41.0, 98.0), field=(11.5, 37.0),
            pip=12.5, court=scene,
        ),
        # Dutch letters (Heer, Vrouw, Boer) in four colours.
        replace(FAMILIES["carnival"], name="kwartet", letters=_DUTCH, colours=_FOUR_COLOURS),
        # Indices that fill the corner, one pip.
        replace(
            FAMILIES["meadow"], name="loupe", size=(63, 88), index=(21.0, 15.0, 10.6), top=3.2, narrow=0.72,
            frame=(26.0, 60.0), single=True,
        ),
        # German signs and letters (Daus, Ober, Unter).
        replace(
            FAMILIES["harbour"], name="eichel", letters=_SAXON, pips="german", colours=_GERMAN_COLOURS,
            font=("font_roboto", "Roboto-Medium.ttf"), size=(57, 100), field=(10.4, 33.0), frame=(33.0, 80.0),
            costume=replace(FAMILIES["harbour"].costume, pip_style="german"),
        ),
    )
}  # fmt: skip
"""By name."""
