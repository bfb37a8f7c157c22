"""The reason why a pattern was missed, in words for each row."""

from __future__ import annotations

from typing import Any

import pytest

from referee.engine.near_misses import Considered, find_miss, judge_cover, missed_patterns
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules, read_house_rules
from referee.rules.slap_verdict import newest_reveal
from referee.text.explanation_lines import why
from referee.text.ruling_lines import RulingWords
from referee.units import MS
from tests.rules.test_slap_verdict import table


def look(cards: str, **more: Any) -> PileView:
    """Return a pile in short notation, the newest card last."""
    played = tuple(reversed(cards.split()))
    first = played[-1] if played else ""
    return PileView(played, **{"first": first, "bottom": first, **more})


def missed(row: str, seen: PileView, rules: HouseRules) -> str:
    """Return why a pattern was missed, in words."""
    return why(Considered(row, False, *find_miss(row, seen, rules)), RulingWords(()), cards=str)


@pytest.mark.parametrize(
    ("row", "cards", "values", "words"),
    [
        ("P1", "", {}, "no card counts"),
        ("P1", "7h", {}, "it needs 2 cards, and only one is there"),
        ("P1", "7h 8c", {}, "7h and 8c do not share a rank"),
        ("P1", "Xr Xb", {}, "Xr and Xb do not share a rank"),
        ("P2", "7h 8c", {}, "it needs 3 cards, and only 2 are there"),
        ("P2", "7h 7c 7d", {}, "7h and 7d share a rank, but 7c between them does not fit"),
        ("P2", "7h 8c 9d", {}, "7h and 9d do not share a rank"),
        ("P3a", "7h 8c 9d", {}, "it needs 4 cards"),
        ("P3a", "7h 8c 7s 7d", {}, "7h and 7d share a rank, but 8c 7s between them does not fit"),
        ("P3b", "7h 8c 9s", {}, "it needs 4 cards"),
        ("P3b", "7h 8c 9s 7d", {}, "7h and 7d share a rank, but 8c 9s between them does not fit"),
        ("P4a", "5h 6c", {}, "it needs 3 cards"),
        ("P4a", "5h 6c 8d", {}, "5h 6c 8d are not in order"),
        ("P4a", "5h 6c 8d", {"P4a": "low"}, "5h 6c 8d are not in order"),
        ("P4a", "5h 6c 7d", {"P4a": {"n": 4}}, "it needs 4 cards"),
        ("P4a", "5h 6c", {"P4a": {"ace": "low"}}, "it needs 3 cards"),
        ("P4b", "5h 6c 7d", {}, "it needs 4 cards"),
        ("P4b", "5h 6c 7d 9s", {}, "5h 6c 7d 9s are not in order"),
        ("P4b", "5h 6c 7d", {"P4b": "high"}, "it needs 4 cards"),
        ("P4b", "5h 6c 7d", {"P4b": {"ace": "high"}}, "it needs 4 cards"),
        ("P4b", "5h 6c 7d 8s", {"P4b": {"n": 5}}, "it needs 5 cards"),
        ("P5a", "7h", {}, "it needs 2 cards"),
        ("P5a", "7h 9c 8d", {}, "8d does not have the rank of 7h, the first card played"),
        ("P5b", "7h", {}, "it needs 2 cards"),
        ("P5b", "7h 9c 8d", {}, "8d does not have the rank of 7h, the lowest card"),
        ("P6", "Kh", {}, "it needs 2 cards"),
        ("P6", "Kh Jc", {}, "Kh and Jc are no K and Q"),
        ("P7", "Kh 3c", {}, "it needs 3 cards"),
        ("P7", "Kh Qc 3d", {}, "Kh and 3d are no K and Q"),
        ("P8", "4h", {}, "it needs 2 cards"),
        ("P8", "4h 5c", {}, "4h and 5c make 9, not 10"),
        ("P8", "9h Ac", {"P8": False}, "the ace does not count as one here"),
        ("P8", "Xr 5c", {}, "Xr and 5c have no sum"),
        ("P8", "5c ??", {}, "5c and ?? have no sum"),
        ("P9", "4h 6c", {}, "it needs 3 cards"),
        ("P9", "4h 6c 5d", {}, "4h and 5d make 9, not 10"),
        ("P10a", "4h 6h", {}, "it needs 3 cards"),
        ("P10a", "4h 6h 5d", {}, "4h 6h 5d are not of one suit"),
        ("P10a", "4h 6h 5h", {"P10a": 4}, "it needs 4 cards"),
        ("P10b", "4h 6h 5d", {}, "it needs 4 cards"),
        ("P10b", "4h 6h 5d 5s", {}, "4h 6h 5d 5s are not of one colour"),
        ("P10b", "4h 5s", {"P10b": 2}, "4h 5s are not of one colour"),
        ("P11", "6h", {}, "it needs 2 cards"),
        ("P11", "6h 8c", {}, "6h and 8c are no 6 and 9"),
        ("P12", "Jh", {}, "it needs 2 cards"),
        ("P12", "Th Jc", {}, "Jc on Th is no ten on a jack"),
        ("P13a", "7h", {}, "7h is no joker"),
        ("C3b", "Xb", {}, "Xb is not the red joker"),
        ("P14", "7h", {}, "7h is not of the wild rank, which is not drawn yet"),
        ("P15", "7h", {}, "it was not paid to a challenge"),
        ("P16", "7h 7c", {}, "it needs 3 cards"),
        ("P16", "7h 7c 8d", {"P16": "slap"}, "7h 7c 8d do not share a rank"),
        ("P16", "7h 7c 7d", {}, "it ends the game"),
        ("P17", "7h", {}, "7h is no ten"),
        ("P18", "7h", {}, "7h is no jack"),
        ("N4", "Kh", {}, "it needs 2 cards"),
        ("N4", "Kh Qc", {}, "Kh and Qc are no king or queen with a jack"),
        ("N14", "7h", {}, "no rank was called for 7h"),
        ("N15", "7h", {}, "it does not hold"),
    ],
)
def test_a_missed_pattern_is_explained(row: str, cards: str, values: dict[str, Any], words: str) -> None:
    """The cards that it looked at, the oldest first, and their defect."""
    rules = read_house_rules({"base": "beggar-my-neighbour", "on": [row], "set": values})
    assert missed(row, look(cards), rules).startswith(words)


@pytest.mark.parametrize(
    ("row", "other", "cards", "more", "words"),
    [
        ("P6", "N4", "Kh Qc", {}, "Kh and Qc are not of one suit"),
        ("P7", "N4", "Kh 3c Qs", {}, "Kh and Qs are not of one suit"),
        ("P5a", "P5c", "7h 9c 7d", {}, "7d and 7h share a rank but not the suit"),
        ("P5b", "P5c", "7h 9c 7d", {}, "7d and 7h share a rank but not the suit"),
        ("P1", "P13b", "7h Xr", {}, "a joker may never be slapped"),
        ("P5b", "P1", "7h", {"bottom": "8c", "under": True}, "7h does not have the rank of 8c, the lowest card"),
        ("P5c", "P5b", "7h", {"bottom": "8c", "under": True}, "7h does not have the rank of 8c, the lowest card"),
        ("P5c", "P5a", "7h", {"bottom": "8c", "under": True}, "it needs 2 cards, and only one is there"),
        ("P5c", "P5a", "7h 9c 7d", {"bottom": "8c"}, "7d and 7h share a rank but not the suit"),
        ("P14", "P1", "7h", {"wild": "8"}, "7h is not of the wild rank, 8"),
        ("P15", "P1", "7h", {"paid": 2}, "7h is card 2 paid"),
        ("N14", "P1", "7h", {"said": "8"}, "7h does not have the rank that was called: 8"),
    ],
)
def test_so_is_one_missed_by_another_row(row: str, other: str, cards: str, more: dict[str, Any], words: str) -> None:
    """Rows that narrow a pattern down, and the drawn rank, the payment or the call."""
    rules = read_house_rules({"base": "beggar-my-neighbour", "on": [row, other]})
    assert missed(row, look(cards, **more), rules) == words


def test_colour_is_named_where_it_is_what_must_match() -> None:
    rules = read_house_rules({"on": ["P5a", "P5c"], "set": {"P5c": "colour"}})
    assert missed("P5a", look("7h 9c 7s"), rules) == "7s and 7h share a rank but not the colour"


def test_a_pattern_that_holds_is_told_as_held() -> None:
    """So is one that the table wrote itself (P19)."""
    own = {"P19": {"twins": "rank(1) = rank(2)", "nines": "rank(1) = 9", "deep": "rank(5) = 9"}}
    said = {seen.row: (seen.held, seen.what) for seen in missed_patterns(table("3d 7h 7c", on="P19", values=own))}
    assert (said["P1"], said["P2"][0]) == ((True, "holds"), False)
    assert said["P19:twins"] == (True, "holds")
    assert (said["P19:nines"], said["P19:deep"]) == ((False, "condition"), (False, "looks_at"))


@pytest.mark.parametrize(
    ("cards", "late", "what"),
    [
        ("7h 7c 2d", -5, "counts_as_cover"),
        ("7h 8c 2d", -5, "counts_as_before"),
        ("7h 7c 2d", 5, "soon_after_cover"),
        ("7h 8c 2d", 5, "soon_after_no_cover"),
    ],
)
def test_a_card_that_doubt_put_before_the_hand_is_told_as_such(cards: str, late: int, what: str) -> None:
    """The hand's stamp is earlier than the card's (K9)."""
    position = table(cards, on="M9")
    newest = newest_reveal(position)
    assert newest is not None
    (told,) = judge_cover(position, newest.t + late * MS, 20 * MS)
    assert (told.row, told.what, told.fields["ms"]) == ("M9", what, late * MS)
