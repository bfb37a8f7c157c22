"""Packs of other letters, signs and colours."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import PrintedDeck
from tests.support.unusual_packs import UNUSUAL


def test_they_differ_from_the_ordinary_packs_and_from_each_other() -> None:
    assert len(UNUSUAL) >= 4
    assert not set(UNUSUAL) & set(FAMILIES)
    assert UNUSUAL["kontor"].text("Q") == "D"
    assert UNUSUAL["arcade"].text("A") == "1"
    assert UNUSUAL["kwartet"].colour("d") != UNUSUAL["kwartet"].colour("h")
    assert FAMILIES["harbour"].text("Q") == "Q"


@pytest.mark.parametrize("name", UNUSUAL)
def test_every_suit_and_letter_is_printed_differently(name: str) -> None:
    deck = PrintedDeck(UNUSUAL[name], 1.2)
    pictures = [deck.picture(card) for card in ("As", "Ah", "Ks", "Qs", "Js", "Jc", "Jd", "7s", "7c")]
    for k, picture in enumerate(pictures):
        for other in pictures[:k]:
            assert np.abs(picture.astype(int) - other).mean() > 1
