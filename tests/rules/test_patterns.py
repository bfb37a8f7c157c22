"""Each pattern of the rules: the top cards that make it, and the piles that just miss it."""

from __future__ import annotations

from typing import Any

import pytest

from referee.rules.conditions import PileView
from referee.rules.house import read_house_rules
from referee.rules.matches import find_patterns


def look(cards: str, **more: Any) -> PileView:
    """Return a pile in short notation, the newest card last."""
    played = tuple(reversed(cards.split()))
    first = played[-1] if played else ""
    return PileView(played, **{"first": first, "bottom": first, **more})


def found(rows: str, cards: str, values: dict[str, Any] | None = None, **more: Any) -> tuple[tuple[str, ...], int]:
    """Return the patterns found with only these rows on, and the number of their cards."""
    rules = read_house_rules({"base": "beggar-my-neighbour", "on": rows.split(), "set": values or {}})
    return find_patterns(look(cards, **more), rules)


@pytest.mark.parametrize(
    ("row", "cards", "depth"),
    [
        ("P1", "2s 7h 7c", 2),
        ("P2", "2s 7h 8c 7c", 3),
        ("P3a", "2s 7h 8c 9d 7c", 4),
        ("P3a", "2s 7h 8c 8d 7c", 4),
        ("P3b", "2s 7h 8c 8d 7c", 4),
        ("P4a", "2s 5h 6c 7d", 3),
        ("P4a", "2s 7h 6c 5d", 3),
        ("P4a", "Ah 2c 3d", 3),
        ("P4a", "Qh Kc Ad", 3),
        ("P4a", "Ah Kc Qd", 3),
        ("P4b", "2s 5h 6c 7d 8s", 4),
        ("P4b", "Jh Qc Kd As", 4),
        ("P5a", "7h 2c 7d", 1),
        ("P5b", "7h 2c 7d", 1),
        ("P5c", "7h 2c 7h", 1),
        ("P6", "2s Kh Qc", 2),
        ("P6", "2s Qh Kc", 2),
        ("P7", "2s Kh 3d Qc", 3),
        ("P7", "2s Qh 3d Kc", 3),
        ("P8", "2s 4h 6c", 2),
        ("P8", "9h Ac", 2),
        ("P9", "2s 4h Kd 6c", 3),
        ("P10a", "2s 4h Kh 6h", 3),
        ("P10b", "2s 4h Kd 6h 2d", 4),
        ("P11", "2s 6h 9c", 2),
        ("P11", "2s 9h 6c", 2),
        ("P12", "2s Jh Tc", 2),
        ("P13a", "2s Xb", 1),
        ("C3b", "2s Xr", 1),
        ("P17", "2s Th", 1),
        ("P18", "2s Jh", 1),
        ("N4", "2s Kh Jc", 2),
        ("N4", "2s Jh Kc", 2),
        ("N4", "2s Qh Jc", 2),
        ("N4", "2s Jh Qc", 2),
    ],
)
def test_a_pattern_is_made_by_so_many_top_cards(row: str, cards: str, depth: int) -> None:
    assert found(row, cards) == ((row,), depth)


@pytest.mark.parametrize(
    ("row", "cards"),
    [
        ("P1", "7h"),
        ("P1", "7h 8c"),
        ("P1", "7h 7c 8c"),
        ("P1", "?? ??"),
        ("P2", "7h 7c 7d"),
        ("P2", "7h 8c 9d"),
        ("P3a", "7h 7c 8d 7s"),
        ("P3a", "7h 8c 7d 7s"),
        ("P3a", "7h 8c 7s"),
        ("P3b", "7h 8c 9d 7s"),
        ("P3b", "7h 7c 7d 7s"),
        ("P3b", "7h 8c 8d 9s"),
        ("P4a", "5h 6c 8d"),
        ("P4a", "5h 7c 6d"),
        ("P4a", "6h 7c"),
        ("P4a", "Kh Ac 2d"),
        ("P4a", "5h 6c ??"),
        ("P4b", "4h 6c 7d 8s"),
        ("P5a", "7h"),
        ("P5a", "7h 2c 8d"),
        ("P5b", "7h"),
        ("P5c", "7h 2c 7d"),
        ("P5c", "7h 2c 8h"),
        ("P6", "Kh 2d Qc"),
        ("P6", "Kh Kc"),
        ("P6", "Kh Jc"),
        ("P7", "Kh Qc"),
        ("P7", "Kh 3c Kd"),
        ("P8", "4h 7c"),
        ("P8", "Th Xr"),
        ("P8", "Th"),
        ("P9", "4h 6c"),
        ("P9", "4h 6c 5d"),
        ("P10a", "4h 5h"),
        ("P10a", "4h 5h 6d"),
        ("P10b", "4h 5h 6d"),
        ("P10b", "4s 5h 6d 7d"),
        ("P10b", "Xr 5h 6d 7d"),
        ("P10b", "Xr Xb Xr Xb"),
        ("P10a", "?? ?? ??"),
        ("P11", "6h 8c"),
        ("P11", "6h 6c"),
        ("P12", "Th Jc"),
        ("P12", "Jh"),
        ("P13a", "Xr 2h"),
        ("C3b", "Xb"),
        ("P14", "7h"),
        ("P15", "2h"),
        ("P16", "7h 7c 7d"),
        ("P17", "Th 2c"),
        ("P18", "Jh 2c"),
        ("N4", "Kh Qc"),
        ("N4", "Jh Jc"),
        ("N14", "7h"),
    ],
)
def test_a_pile_that_just_misses_a_pattern(row: str, cards: str) -> None:
    assert found(row, cards) == ((), 0)
    assert found(row, "") == ((), 0)


@pytest.mark.parametrize(
    ("rows", "cards", "values", "more", "wanted"),
    [
        ("P4a", "Ah 2c 3d", {"P4a": "high"}, {}, ((), 0)),
        ("P4a", "Qh Kc Ad", {"P4a": "low"}, {}, ((), 0)),
        ("P4a", "Kh Ac 2d", {"P4a": {"wrap": True}}, {}, (("P4a",), 3)),
        ("P4a", "2h Ac Kd", {"P4a": {"wrap": True}}, {}, (("P4a",), 3)),
        ("P4a", "4h 5c 6d 7s", {"P4a": {"n": 4}}, {}, (("P4a",), 4)),
        ("P4a", "2h 5c 6d 7s", {"P4a": {"n": 4}}, {}, ((), 0)),
        ("P4b", "2h 5c 6d 7s", {"P4b": {"n": 3}}, {}, (("P4b",), 3)),
        ("P4b", "Jh Qc Kd As", {"P4b": "high"}, {}, (("P4b",), 4)),
        ("P4b", "Ah 2c 3d 4s", {"P4b": {"ace": "low"}}, {}, (("P4b",), 4)),
        ("P8", "9h Ac", {"P8": False}, {}, ((), 0)),
        ("P9", "9h 2c Ad", {"P8": False}, {}, ((), 0)),
        ("P10a", "4h 5h", {"P10a": 2}, {}, (("P10a",), 2)),
        ("P10b", "4s 5h 6d 7d", {"P10b": 3}, {}, (("P10b",), 3)),
        ("P14", "2s 7h", {}, {"wild": "7"}, (("P14",), 1)),
        ("P14", "7h 2s", {}, {"wild": "7"}, ((), 0)),
        ("P15", "2s 3h", {}, {"paid": 3}, (("P15",), 1)),
        ("P15", "2s 3h", {}, {"paid": 2}, ((), 0)),
        ("P16", "7h 7c 7d", {"P16": "slap"}, {}, (("P16",), 3)),
        ("P16", "7h 8c 7d", {"P16": "slap"}, {}, ((), 0)),
        ("P16", "7h 7c 8d", {"P16": "slap"}, {}, ((), 0)),
        ("N14", "2s 7h", {}, {"said": "7"}, (("N14",), 1)),
        ("N14", "2s 7h", {}, {"said": "8"}, ((), 0)),
        ("P5b", "2c 7d", {}, {"bottom": "7s"}, (("P5b",), 1)),
        ("P5b", "7d", {}, {"bottom": "7s", "under": True}, (("P5b",), 1)),
        ("P5b", "2c 7d", {}, {"bottom": "??"}, ((), 0)),
        ("P5b P5c", "2c 7d", {}, {"bottom": "7s"}, ((), 0)),
        ("P5b P5c", "2c 7d", {}, {"bottom": "7d"}, (("P5b", "P5c"), 1)),
        ("P5a P5c", "7s 2c 7c", {"P5c": "colour"}, {}, (("P5a", "P5c"), 1)),
        ("P6 N4", "Kh Qc", {}, {}, ((), 0)),
        ("P6 N4", "Kh Qh", {}, {}, (("P6",), 2)),
        ("P7 N4", "Kh 2c Qd", {}, {}, ((), 0)),
        ("P7 N4", "Kh 2c Qh", {}, {}, (("P7",), 3)),
        ("P1 P13b", "Xr 7h 7c", {}, {}, (("P1",), 2)),
        ("P19 P13b", "7h Xr", {"P19": {"mine": "joker(1)"}}, {}, ((), 0)),
        ("P19", "7h Xr", {"P19": {"mine": "joker(1)"}}, {}, (("P19:mine",), 1)),
        ("P1 P2 P3a", "7h 8c 7d 7s", {}, {}, (("P1",), 2)),
        ("P1 P17 P8", "Th Tc", {}, {}, (("P1", "P17"), 2)),
    ],
)
def test_values_and_other_rows_change_it(
    rows: str, cards: str, values: dict[str, Any], more: dict[str, Any], wanted: tuple[tuple[str, ...], int]
) -> None:
    """Options, the drawn rank, the payment or the call, and rows that narrow others down."""
    assert found(rows, cards, values, **more) == wanted


@pytest.mark.parametrize(("row", "length"), [("P4a", 3), ("P4b", 4)])
@pytest.mark.parametrize(
    ("ace", "wrap"), [("low", False), ("high", False), ("both", False), ("low", True), ("high", True), ("both", True)]
)
def test_where_the_ace_stands_in_a_run(row: str, length: int, ace: str, wrap: bool) -> None:
    """Before the two, after the king, or both; round past the king only where it wraps."""
    ladder = "A23456789TJQKA23"
    value = {row: {"ace": ace, "wrap": wrap}}
    for start in range(13):
        ranks = ladder[start : start + length]
        if "A" not in ranks:
            assert found(row, _suited(ranks), value) == ((row,), length)
            continue
        if ranks[0] == "A":
            holds = wrap or ace != "high"
        elif ranks[-1] == "A":
            holds = wrap or ace != "low"
        else:
            holds = wrap
        assert (found(row, _suited(ranks), value) == ((row,), length)) == holds, ranks
        assert (found(row, _suited(ranks[::-1]), value) == ((row,), length)) == holds, ranks
    assert found(row, _suited(f"{ladder[9 : 9 + length - 1]}2"), value) == ((), 0)


def _suited(ranks: str) -> str:
    return " ".join(rank + "shdc"[place % 4] for place, rank in enumerate(ranks))


def test_three_of_a_kind_that_end_the_game_are_no_slap_even_with_wild_jokers() -> None:
    """P16, unless it is only a slap."""
    for cards in ("7h 7c 7d", "7h Xr 7d"):
        assert "P16" not in found("P16 P13c", cards)[0]
        assert "P16" in found("P16 P13c", cards, {"P16": "slap"})[0]


@pytest.mark.parametrize(
    ("row", "cards", "more"),
    [
        ("P1", "7h Xr", {}),
        ("P1", "Xr 7h", {}),
        ("P2", "Xr 8c 7h", {}),
        ("P3a", "Xr 8c 9c 7h", {}),
        ("P3b", "7h Xr 8c 7d", {}),
        ("P4a", "5h Xr 7d", {}),
        ("P4a", "Xr Xb 7d", {}),
        ("P4b", "5h Xr 7d 8d", {}),
        ("P5a", "Xr 2c 7h", {"first": "Xr"}),
        ("P5b", "2c 7h", {"bottom": "Xb"}),
        ("P5c", "7h 2c Xr", {}),
        ("P6", "Kh Xr", {}),
        ("P7", "Xr 3c Qh", {}),
        ("P8", "4h Xr", {}),
        ("P9", "4h Kc Xr", {}),
        ("P10a", "4h Xb 6h", {}),
        ("P10b", "4h Xb 6d 7h", {}),
        ("P11", "6h Xr", {}),
        ("P12", "Xr Tc", {}),
        ("P14", "Xr", {"wild": "7"}),
        ("P15", "Xr", {"paid": 2}),
        ("P17", "Xr", {}),
        ("P18", "Xr", {}),
        ("N4", "Kh Xr", {}),
        ("N14", "Xr", {"said": "7"}),
    ],
)
def test_a_wild_joker_stands_for_what_is_missing(row: str, cards: str, more: dict[str, Any]) -> None:
    """P13c; without it the same pile has nothing."""
    assert row in found(f"{row} P13c", cards, **more)[0]
    assert found(row, cards, **more) == ((), 0)


@pytest.mark.parametrize(
    ("row", "cards"),
    [
        ("P1", "Xr 7h 8c"),
        ("P2", "7h Xr 8c"),
        ("P4a", "5h Xr 8d"),
        ("P10a", "4h Xb 6d"),
        ("P8", "Th Xr"),
        ("P6", "2h Xr"),
    ],
)
def test_a_wild_joker_is_no_help_where_another_card_is_wrong(row: str, cards: str) -> None:
    assert found(f"{row} P13c", cards) == ((), 0)


def test_a_wild_joker_has_a_suit_where_suits_matter() -> None:
    """N4: one suit for marriages; P5c: the same suit."""
    assert found("P6 N4 P13c", "Qh Xr")[0] == ("P6", "N4")
    for rows, cards in (("P7", "Kh Xr Qd"), ("P7 N4", "Kh Xr Qh"), ("P8", "9h Xr")):
        assert found(f"{rows} P13c", cards)[0][:1] == (rows[:2],)
    assert "P7" not in found("P7 N4 P13c", "Kh Xr Qd")[0]
    assert found("P8 P13c", "9h Xr", {"P8": False}) == ((), 0), "the ace is no one (P8)"
    assert found("P5a P5c P13c", "7h 2c Xr")[0] == ("P5a", "P5c")
    assert found("P5b P5c P13c", "2c 7h", bottom="Xr", under=True)[0] == ("P5b", "P5c")
    for ends in ("P5a", "P5b"):
        assert found(f"{ends} P5c P13c", "7h Xr 7s") == ((), 0), "a joker between them does not help"
        assert found(f"{ends} P13c", "7h Xr 7s")[0] == (ends,)


def test_many_wild_jokers_complete_what_asks_for_suits_alone() -> None:
    """P19: four jokers and a heart make five hearts, because only suits need be tried."""
    hearts = {"P19": {"hearts": "suit(1) = suit(2) = suit(3) = suit(4) = suit(5)"}}
    assert found("P19 P13c", "Xr Xb Xr Xb 7h", hearts)[0] == ("P19:hearts",)
    for text in ("not joker(1)", "rank(1) = 7 and (not joker(1) or rank(1) = 8)"):
        stands = {"P19": {"stands": text}}
        assert found("P19 P13c", "2s Xr", stands)[0] == ("P19:stands",), "a joker that stands for a card is none"
        assert found("P19", "2s Xr", stands) == ((), 0)
    one_rank = {"P19": {"alike": "rank(1) = rank(2) = rank(3) = rank(4) = rank(5)"}}
    assert found("P19 P13c", "7h Xb Xr Xb Xr", one_rank)[0] == ("P19:alike",)
    assert found("P19 P13c", "Xr Xb Xr Xb Xr", one_rank) == ((), 0), "the ranks of more than four are not tried"


@pytest.mark.parametrize(
    ("cards", "wanted"),
    [
        ("7h 7c 2s", (("N15", "P1"), 3)),
        ("7h 7c 2s 3d", (("N15", "P1"), 4)),
        ("7h 7c", (("P1",), 2)),
        ("7h 8c 7d 2s 9s", (("N15", "P2"), 5)),
        ("7h 8c 9d", ((), 0)),
    ],
)
def test_a_pattern_anywhere_in_the_pile(cards: str, wanted: tuple[tuple[str, ...], int]) -> None:
    """N15: the newest one; a pattern on top is reported as such."""
    assert found("P1 P2 N15", cards) == wanted


def test_what_lies_deeper_was_neither_paid_nor_called() -> None:
    """N15: the number paid and the called rank are those of the top card."""
    assert found("P15 N15", "3h 2c", paid=3) == ((), 0)
    assert found("N14 N15", "7h 2c", said="7") == ((), 0)
    assert found("P15 N15", "2c 3h", paid=3) == (("P15",), 1)
