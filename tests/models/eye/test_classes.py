"""Notation of cards and the class lists."""

import pytest

from models import cards


def test_every_card_once() -> None:
    assert len(cards.CARDS) == 54
    assert len(set(cards.CARDS)) == 54


@pytest.mark.parametrize("card", cards.CARDS)
def test_class_numbers_lead_back_to_the_card(card: str) -> None:
    assert cards.compose(cards.rank_index(card), cards.suit_index(card)) == card


def test_a_joker_of_hearts_is_no_card() -> None:
    assert cards.compose(cards.RANKS.index("X"), cards.SUITS.index("h")) is None
    assert cards.compose(cards.RANKS.index("7"), cards.SUITS.index("r")) is None


@pytest.mark.parametrize("text", ["", "7", "10h", "1h", "Xh", "??", "7H"])
def test_what_is_no_card_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(cards.CardError, match="7h"):
        cards.check(text)
