"""The cards offered to people who say that a card is another one."""

from __future__ import annotations

from referee.control.offers import likely_cards
from referee.engine.foresight import Foresight
from referee.engine.observations import Card


def seen(card: str, *candidates: tuple[str, float]) -> Card:
    return Card(t=1, id="c1", card=card, seat=1, candidates=candidates)


def test_what_a_card_may_be_begins_with_what_the_eye_held_possible() -> None:
    likely = likely_cards(seen("8c", ("8c", 0.9), ("7c", 0.02), ("3c", 0.05)), None)
    assert likely[:2] == ("3c", "7c")
    assert likely[2] == "8s", "then its rank in the other suit of its colour"
    assert "8c" not in likely and len(likely) == 6 == len(set(likely))


def test_what_the_referee_named_when_it_asked_comes_before_all_else() -> None:
    assert likely_cards(seen("Qs", ("Qs", 0.7), ("Qc", 0.2)), None, asked=("Qs", "4d", "Qc"))[:2] == ("4d", "Qc")


def test_what_looks_alike_comes_before_what_does_not() -> None:
    assert likely_cards(seen("8c"), None) == ("8s", "8h", "8d", "3c", "5c", "6c")


def test_what_deck_memory_knows_elsewhere_is_left_out() -> None:
    places = Foresight(placed=("8s", "8c", "3c"))
    assert likely_cards(seen("8c"), places)[:3] == ("8h", "8d", "5c")
    two_packs = Foresight(placed=("8s", "8c"), packs=2)
    assert likely_cards(seen("8c"), two_packs)[0] == "8s", "the other pack's lies nowhere yet"


def test_what_the_eye_named_stays_behind_what_may_be_where_memory_speaks_against_it() -> None:
    places = Foresight(placed=("7c", "8c"))
    assert likely_cards(seen("8c", ("7c", 0.4), ("3c", 0.1)), places)[:3] == ("3c", "7c", "8s")


def test_of_an_unread_card_only_what_something_speaks_for_is_offered() -> None:
    assert likely_cards(seen("??", ("9s", 0.4), ("6s", 0.3)), Foresight(placed=("9s",))) == ("6s", "9s")
    assert likely_cards(seen("??"), Foresight()) == ()


def test_jokers_are_likely_where_the_game_has_some() -> None:
    assert likely_cards(seen("Xr"), Foresight(jokers=2))[0] == "Xb"
    assert "Xb" not in likely_cards(seen("Xr"), Foresight())
