"""Cards in the log's notation: rank, suit and colour of each text."""

from __future__ import annotations

import pytest

from referee.rules.cards import CARDS, JOKERS, PACK, RANKS, SUITS, UNREADABLE, colour, is_card, rank, suit, value


@pytest.mark.parametrize(
    ("card", "its_value", "its_rank", "its_suit", "its_colour"),
    [
        ("As", 1, "A", "s", "black"),
        ("2h", 2, "2", "h", "red"),
        ("9d", 9, "9", "d", "red"),
        ("Tc", 10, "T", "c", "black"),
        ("Jh", 11, "J", "h", "red"),
        ("Qd", 12, "Q", "d", "red"),
        ("Kc", 13, "K", "c", "black"),
        ("Xr", 0, "", "", "red"),
        ("Xb", 0, "", "", "black"),
        ("??", 0, "", "", ""),
    ],
)
def test_what_a_card_says(card: str, its_value: int, its_rank: str, its_suit: str, its_colour: str) -> None:
    assert (value(card), rank(card), suit(card), colour(card)) == (its_value, its_rank, its_suit, its_colour)


def test_a_pack_has_each_rank_in_each_suit_and_jokers_and_unread_cards_stand_beside_it() -> None:
    assert len(PACK) == len(set(PACK)) == 52
    assert {card[0] for card in PACK} == set(RANKS) == set("A23456789TJQK")
    assert {card[1] for card in PACK} == set(SUITS) == set("shdc")
    assert {*PACK, *JOKERS, UNREADABLE} == CARDS
    assert len(CARDS) == 55


@pytest.mark.parametrize("text", ["10h", "h7", "7H", "7", "", "X", "Xs", "?", 7, None, ["7h"]])
def test_no_other_text_is_a_card(text: object) -> None:
    assert not is_card(text)
    assert all(is_card(card) for card in CARDS)
