"""What is offered to people who say that a card is another one."""

from __future__ import annotations

from referee.control.offers import likely_cards
from referee.engine.observations import Card


def seen(card: str, *candidates: tuple[str, float]) -> Card:
    return Card(t=1, id="c1", card=card, seat=1, candidates=candidates)


def test_what_a_card_may_be_begins_with_what_the_eye_held_possible() -> None:
    likely = likely_cards(seen("8c", ("8c", 0.9), ("7c", 0.02), ("3c", 0.05)), elsewhere=())
    assert likely[:2] == ("3c", "7c")
    assert likely[2] == "8s", "then its rank in the other suit of its colour"
    assert "8c" not in likely and len(likely) == 6 == len(set(likely))


def test_no_card_that_lies_elsewhere_is_likely_and_an_unread_one_offers_what_the_eye_held_possible() -> None:
    assert "8s" not in likely_cards(seen("8c"), elsewhere=("8s", "7h"))
    assert likely_cards(seen("??", ("9s", 0.4), ("6s", 0.3)), elsewhere=("6s",)) == ("9s",)
    assert likely_cards(seen("Xr"), elsewhere=()) == ()
