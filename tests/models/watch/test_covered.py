"""A card without a readable index is reported as unread before the next lies on it; and a picture without colour."""

import pytest

from tools.hard_set import play


@pytest.mark.parametrize("seed", [103, 107, 623, 672])
def test_a_joker_without_a_letter_is_told_in_time(seed: int) -> None:
    outcome = play("a joker without a letter", seed)
    assert outcome.cards.missed == outcome.invented == outcome.cards.wrong_sure == 0
    assert outcome.seen == outcome.wanted, outcome.faults


def test_without_colour_each_card_is_asked_about_and_no_suit_is_said() -> None:
    outcome = play("a camera without colour", 1)
    assert outcome.cards.wrong == outcome.cards.wrong_sure == 0
    assert outcome.cards.unread >= outcome.cards.laid - 1
