"""The notation of house patterns: its meaning for a pile, and its errors."""

from __future__ import annotations

import pytest

from referee.rules.conditions import PileView
from referee.rules.notation import MAX_DEPTH, MAX_LENGTH, NotationError, compile_pattern


def look(
    cards: str, *, first: str = "", bottom: str = "", paid: int = 0, wild: str = "", under: bool = False
) -> PileView:
    """Return a pile in short notation, the newest card last; its first card lies lowest by default."""
    played = tuple(reversed(cards.split()))
    lowest = played[-1] if played else ""
    return PileView(played, first or lowest, bottom or lowest, paid, wild, under=under)


@pytest.mark.parametrize(
    ("text", "holds", "not_"),
    [
        ("rank(1) = 7", "2c 7h", "7h 2c"),
        ("rank(2) = 7", "7h 2c", "2c 7h"),
        ("rank(1) = A", "Ah", "Kh"),
        ("rank(1) = 1", "Ah", "2h"),
        ("rank(1) = T", "Th", "9h"),
        ("rank(1) = 11", "Jh", "Qh"),
        ("rank(1) = Q", "Qh", "Jh"),
        ("rank(1) = 13", "Kh", "Ah"),
        ("high(1) = 14", "Ah", "Kh"),
        ("high(1) = 2", "2h", "Ah"),
        ("high(1) > K", "Ah", "Kh"),
        ("rank(1) != 7", "8h", "7h"),
        ("rank(1) < 7", "6h", "7h"),
        ("rank(1) <= 7", "7h", "8h"),
        ("rank(1) > 7", "8h", "7h"),
        ("rank(1) >= 7", "7h", "6h"),
        ("2 < rank(1) < 5", "3h", "2h"),
        ("2 < rank(1) < 5", "4h", "5h"),
        ("rank(1) = rank(2) = rank(3)", "7h 7c 7d", "8h 7c 7d"),
        ("rank(1) + rank(2) = 10", "4h 6c", "4h 5c"),
        ("rank(1) - rank(2) = 1", "4h 5c", "5h 4c"),
        ("rank(1) - 1 + 2 = 8", "7h", "8h"),
        ("rank(1) in {J, Q, K}", "Qh", "Th"),
        ("rank(1) in {rank(2) + 1, 2}", "6c 7h", "6c 8h"),
        ("suit(1) = hearts", "7h", "7d"),
        ("suit(1) = spades", "7s", "7c"),
        ("suit(1) = diamonds", "7d", "7h"),
        ("suit(1) in {clubs, spades}", "7c", "7d"),
        ("colour(1) = red", "7d", "7s"),
        ("color(1) = black", "7c", "7h"),
        ("colour(1) != colour(2)", "7c 7h", "7c 7s"),
        ("joker(1)", "7h Xr", "Xr 7h"),
        ("not joker(1)", "7h", "Xb"),
        ("rank(1) = 7 and rank(2) = 8", "8h 7c", "9h 7c"),
        ("rank(1) = 7 or rank(1) = 8", "8h", "9h"),
        ("not rank(1) = 7", "8h", "7h"),
        ("not (rank(1) = 7 or rank(1) = 8)", "9h", "8h"),
        ("rank(1) = 7 and (rank(2) = 8 or rank(2) = 9)", "9h 7c", "2h 7c"),
        ("rank(1) = 7 or rank(1) = 8 and rank(2) = 2", "3h 7c", "3h 8c"),
        ("size = 2", "2h 3c", "2h"),
        ("size > 2", "2h 3c 4d", "2h 3c"),
        # A missing card, and the rank of a joker, make a condition fail, and only that condition.
        ("rank(1) = rank(2)", "7h 7c", "7h"),
        ("rank(1) = rank(2)", "7h 7c", "Xr Xr"),
        ("rank(2) = 7 or rank(1) = 8", "Xr 8h", "Xr 9h"),
        ("not rank(2) = 7", "Xr 8h", "7c 8h"),
        ("suit(1) = suit(2)", "7h 8h", "Xr 8h"),
        ("colour(1) = red", "7h", "Xr"),
        ("rank(1) != 7", "8h", "??"),
        ("rank(first) = rank(1)", "7h 2c 7d", "7h 2c 8d"),
        ("rank(1) = rank(first)", "7h 7c", "7h"),
        ("rank(1) = rank(bottom)", "7h 2c 7c", "7h"),
    ],
)
def test_a_pattern_holds_for_one_pile_and_not_for_another(text: str, holds: str, not_: str) -> None:
    pattern = compile_pattern(text)
    assert pattern.holds(look(holds))
    assert not pattern.holds(look(not_))


def test_ends_counts_and_what_was_drawn() -> None:
    """The first card played, the lowest one, the number paid, the wild rank; each may be missing."""
    assert compile_pattern("rank(1) = rank(bottom)").holds(look("2c 7h", bottom="7d"))
    assert compile_pattern("rank(1) = rank(bottom)").holds(look("7h", bottom="7d", under=True))
    assert not compile_pattern("rank(1) = rank(bottom)").holds(look("2c 7h", bottom="??"))
    assert compile_pattern("rank(1) = paid").holds(look("2h", paid=2))
    assert not compile_pattern("rank(1) = paid").holds(look("2h", paid=3))
    assert not compile_pattern("paid < 5").holds(look("2h"))
    assert compile_pattern("rank(1) = wild").holds(look("Th", wild="T"))
    assert not compile_pattern("wild < 20").holds(look("Th"))
    assert not compile_pattern("rank(1) = rank(first)").holds(PileView(("7h", "7c"), first=""))
    assert not compile_pattern("rank(1) = rank(bottom)").holds(PileView(("7h", "7c"), bottom=""))


def test_things_of_different_kinds_are_never_equal_nor_added() -> None:
    """A rank is no suit; the comparison fails silently."""
    for text in ("rank(1) = hearts", "suit(1) < 3", "suit(1) + 1 = 2", "1 - suit(1) < 9", "colour(1) + suit(1) = red"):
        assert not compile_pattern(text).holds(look("7h"))


def test_how_many_cards_it_looks_at() -> None:
    """As many as the lowest that it names; a smaller pile never has it."""
    assert compile_pattern("rank(1) = 7").depth == 1
    assert compile_pattern("rank(2) = 7 or rank(5) = 7").depth == 5
    assert not compile_pattern("rank(1) = 7 or rank(5) = 7").holds(look("7h"))
    assert compile_pattern("size > 3").depth == 1


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("", 0, "expected rank"),
        ("rank(1)", 7, "expected =, !=, <, <=, >, >= or in"),
        ("rank(1) =", 9, "expected rank"),
        ("rank(1) = 7 8", 12, 'expected "and", "or", or the end'),
        ("rank 1 = 7", 5, 'expected "("'),
        ("rank(1 = 7", 7, 'expected ")"'),
        ("rank(0) = 7", 5, "expected a card: 1 (the newest) to 52, first or bottom"),
        ("rank(53) = 7", 5, "expected a card: 1 (the newest) to 52, first or bottom"),
        ("rank(last) = 7", 5, "expected a card"),
        ("(rank(1) = 7", 12, 'expected ")"'),
        ("rank(1) in 7", 11, 'expected "{"'),
        ("rank(1) in {7, 8", 16, 'expected "}"'),
        ("rank(1) = seven", 10, "expected rank"),
        ("rank(1) = 7 & joker(1)", 12, "'&' means nothing here"),
        ("rank(1) =   § 7", 12, "'§' means nothing here"),
        ("  §", 2, "'§' means nothing here"),
    ],
)
def test_a_mistake_is_pointed_at(text: str, at: int, words: str) -> None:
    with pytest.raises(NotationError) as mistake:
        compile_pattern(text)
    assert mistake.value.at == at
    assert mistake.value.problem.startswith(words)
    assert str(mistake.value) == f"{mistake.value.problem}, at character {at + 1}: {text[:at]}>>>{text[at:]}"


def test_what_is_no_text_or_too_long_or_too_deep() -> None:
    for said in (3, None, ["joker(1)"]):
        with pytest.raises(NotationError, match=r"^a pattern is a text, at character 1: >>>$"):
            compile_pattern(said)
    longest = "joker(1)" + " " * (MAX_LENGTH - 8)
    assert compile_pattern(longest).holds(look("Xr"))
    with pytest.raises(NotationError, match=f"a pattern has at most {MAX_LENGTH} characters, at character 1: "):
        compile_pattern(longest + " ")
    deep = "(" * (MAX_DEPTH - 1) + "joker(1)" + ")" * (MAX_DEPTH - 1)
    assert compile_pattern(deep).holds(look("Xr"))
    with pytest.raises(NotationError, match="nested too deep"):
        compile_pattern("(" + deep + ")")
    with pytest.raises(NotationError, match="nested too deep"):
        compile_pattern("not " * MAX_DEPTH + "joker(1)")
    beside = " and ".join(["(joker(1))"] * (MAX_DEPTH + 3))
    assert compile_pattern(beside).holds(look("Xr"))
    with pytest.raises(NotationError, match="nested too deep"):
        compile_pattern("not joker(1) and " * 5 + "(" + deep + ")")


def test_the_lowest_card_that_may_be_named_is_the_fifty_second() -> None:
    pattern = compile_pattern("rank(52) = 7")
    assert pattern.holds(PileView(("2h",) * 51 + ("7h",)))
    assert not pattern.holds(PileView(("2h",) * 51))
