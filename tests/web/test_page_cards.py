"""The large cards of the page are drawn by the deck's own code."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tools.page_cards import FACES, FOLDER, draw_card


def test_every_card_has_its_picture() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(FACES) and len(FACES) == 55


@pytest.mark.parametrize("card", ["7h", "Kc", "back"])
def test_a_picture_is_as_it_is_drawn_now(card: str) -> None:
    drawn = np.asarray(draw_card(card), np.float64)
    with Image.open(FOLDER / f"{card}.webp") as kept:
        other = np.asarray(kept.convert("RGB"), np.float64)
    assert other.shape == drawn.shape
    # Lossy compression changes a grey level or two; another card differs by thirty.
    assert np.abs(other - drawn).mean() < 6
