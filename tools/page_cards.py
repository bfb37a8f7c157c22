"""Draw the playing cards that the page shows large: the simulated table's deck, with indices that a whole room can
read.

``python -m tools.page_cards`` writes ``referee/web/static/cards``. The page serves these files unchanged, because its
process has no memory for the drawing libraries.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
from PIL import Image

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import PACK_RANKS, PACK_SUITS, print_face

FOLDER: Final = Path(__file__).parents[1] / "referee" / "web" / "static" / "cards"
FACES: Final = (*(rank + suit for rank in PACK_RANKS for suit in PACK_SUITS), "Xr", "Xb", "back")
_WIDTH: Final = 320
"""Pixels: the width of a card on a projector of 1920 pixels."""
_PAGE: Final = replace(
    FAMILIES["harbour"], font="Roboto-Black", index=(14.5, 10.5, 8.6), top=3.6, narrow=0.92,
    pip=10.5, field=(9.0, 29.0), frame=(30.0, 72.0),
)  # fmt: skip
"""Index scale: a card is 63 mm wide; it fills a seventh of a picture two metres wide, where its rank is 65 mm high."""


def draw_card(card: str) -> Image.Image:
    """Draw one face, or the back, for the page."""
    sheet = print_face(_PAGE, card).image
    height = round(_WIDTH * sheet.shape[0] / sheet.shape[1])
    return Image.fromarray(cv2.resize(sheet, (_WIDTH, height), interpolation=cv2.INTER_AREA))


def main() -> None:
    """Write every card."""
    FOLDER.mkdir(exist_ok=True)
    for card in FACES:
        draw_card(card).save(FOLDER / f"{card}.webp", quality=80, method=6)


if __name__ == "__main__":
    main()
