"""Notation of cards and the class lists."""

import pytest

from models.eye import classes


def test_every_card_once() -> None:
    assert len(classes.CARDS) == 54
    assert len(set(classes.CARDS)) == 54


@pytest.mark.parametrize("card", classes.CARDS)
def test_class_numbers_lead_back_to_the_card(card: str) -> None:
    assert classes.compose(classes.rank_index(card), classes.suit_index(card)) == card


def test_a_joker_of_hearts_is_no_card() -> None:
    assert classes.compose(classes.RANKS.index("X"), classes.SUITS.index("h")) is None
    assert classes.compose(classes.RANKS.index("7"), classes.SUITS.index("r")) is None


@pytest.mark.parametrize("text", ["", "7", "10h", "1h", "Xh", "??", "7H"])
def test_what_is_no_card_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(classes.CardError, match="7h"):
        classes.check(text)
