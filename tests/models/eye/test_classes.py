"""Notation of cards and the class lists."""

import pytest

from models.eye import classes


def test_every_card_once() -> None:
    assert len(classes.CARD_CLASSES) == 54
    assert len(set(classes.CARD_CLASSES)) == 54


def test_every_card_is_of_a_rank_and_a_suit_and_jokers_have_colours_of_their_own() -> None:
    assert {card[0] for card in classes.CARD_CLASSES} == set(classes.RANK_CLASSES)
    assert {card[1] for card in classes.CARD_CLASSES} == set(classes.SUIT_CLASSES)
    assert [card for card in classes.CARD_CLASSES if card[0] == "X" or card[1] in "rb"] == ["Xr", "Xb"]


@pytest.mark.parametrize("text", ["", "7", "10h", "1h", "Xh", "??", "7H"])
def test_what_is_no_card_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(classes.CardError, match="7h"):
        classes.check(text)
