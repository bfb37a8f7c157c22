"""The readings of unread cards, compared with every way of reading all of them (reading 10)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from referee.rules.cards import JOKERS, PACK
from referee.rules.house import read_house_rules
from referee.rules.matches import find_patterns
from referee.rules.phase import Challenge, Claim, Over, Turn
from referee.rules.position import Laid, Position
from referee.rules.slap_verdict import Verdict, judge_slap
from referee.rules.unread_cards import hangs_on_gap, readings, rests_on_read_cards

BARE = {"base": "beggar-my-neighbour", "off": ["C1"]}
"""No card challenges, so only the slappable patterns differ."""


def lying(rows: str, cards: str, values: dict[str, Any] | None = None, **more: Any) -> Position:
    """Return a pile in short notation, the newest card last; a card in brackets is burned, and ``??`` was not read."""
    rules = read_house_rules({**BARE, "on": rows.split(), "set": values or {}})
    pile = tuple(
        Laid(face.strip("()"), f"c{n}", n, n % 2 + 1, "burned" if face[0] == "(" else "played")
        for n, face in enumerate(cards.split())
    )
    unread = frozenset(laid.ref for laid in pile if laid.card == "??")
    made = Position(rules, ("Ana", "Ben"), (None, None), ((), ()), pile=pile, unread=unread, phase=Turn(1))
    return made.replace(**more)


def every_reading(position: Position) -> Iterator[Position]:
    """Yield each way of reading all unread cards, one by one, with the cards that deck memory leaves."""
    free = Counter(dict.fromkeys(PACK, position.packs))
    free.subtract(laid.card for laid in position.pile if laid.card in free)
    free.subtract(card for stack in position.known for card in stack if card in free)
    jokers = position.jokers - sum(laid.card in JOKERS for laid in position.pile)
    free.update(dict.fromkeys(JOKERS, max(jokers, 0)))
    kinds = [card for card, number in free.items() if number > 0]
    for cards in itertools.product(kinds, repeat=len(position.unread)):
        if all(times <= free[card] for card, times in Counter(cards).items()):
            named = dict(zip(sorted(position.unread), cards, strict=True))
            yield position.replace(
                pile=tuple(laid._replace(card=named.get(laid.ref, laid.card)) for laid in position.pile)
            )


def held(position: Position) -> tuple[str, ...]:
    return find_patterns(position.look(), position.rules)[0]


ROWS = (
    "P1", "P2", "P3a", "P3b", "P4a", "P4b", "P5a", "P5b", "P5a P5c", "P5b P5c", "P6", "P7", "P6 P7 N4", "P8", "P9",
    "P10a", "P10b", "P11", "P12", "P13a", "P17", "P18", "P1 N15", "P14", "C3b",
)  # fmt: skip
PILES = (
    "7h", "7h 3d", "3c 7h 3d", "Kh 3d Qh", "5h 6h 3h", "4h 6c 9h 9d", "Jh Tc Td Jc Qh", "(7h) 2c 3d", "7h 2c 9d 9s 7c",
)  # fmt: skip
MORE: dict[str, dict[str, Any]] = {"P14": {"wild": "7"}, "P13a": {"jokers": 2}, "C3b": {"jokers": 1}}


@pytest.mark.parametrize("row", ROWS)
def test_one_unread_card_makes_what_some_reading_of_it_makes_and_nothing_else(row: str) -> None:
    """Wherever in the pile it lies: an omitted reading decides nothing, because no pattern looks so deep."""
    for pile in PILES:
        faces = pile.split()
        for place in range(len(faces)):
            brackets = "({})" if faces[place][0] == "(" else "{}"
            cards = " ".join([*faces[:place], brackets.format("??"), *faces[place + 1 :]])
            position = lying(row, cards, **MORE.get(row, {}))
            if brackets != "{}":
                continue
            expected = {held(reading) for reading in every_reading(position)}
            found = {held(reading) for reading in readings(position) if reading is not None}
            assert found == expected, cards


@pytest.mark.parametrize("row", ["P1", "P2", "P3a", "P3b", "P5a", "P6", "P7", "P8", "P10a", "P11", "P16"])
@pytest.mark.parametrize("cards", ["?? ??", "?? 3d ??", "3c ?? 3d ??", "?? ?? 7h 7d"])
def test_two_unread_cards_may_be_a_pair(row: str, cards: str) -> None:
    values = {"P16": "slap"} if row == "P16" else {}
    position = lying(row, cards, values)
    assert {held(reading) for reading in readings(position) if reading is not None} == {
        held(reading) for reading in every_reading(position)
    }


def tops(position: Position) -> set[str]:
    """Return the possible faces of the newest card."""
    return {reading.pile[-1].card for reading in readings(position) if reading is not None}


def test_no_more_cards_are_thought_of_than_there_are() -> None:
    """By deck memory: a card in the pile or known in a stack is nowhere else."""
    sevens = lying("P10a", "7h 7c 7d ??")
    assert {card for card in tops(sevens) if card[0] == "7"} == {"7s"}
    assert "7s" not in tops(sevens.replace(counts=(1, None), known=(("7s",), ())))
    assert "7h" in tops(sevens.replace(packs=2))
    assert not {"Xr", "Xb"} & tops(sevens)
    assert {"Xr", "Xb"} <= tops(sevens.replace(jokers=1))
    assert not {"Xr", "Xb"} & tops(lying("P10a", "Xr ??", jokers=1))
    assert {"Xr", "Xb"} <= tops(lying("P10a", "Xr ??", jokers=2))


def test_two_unread_cards_are_not_both_the_last_of_their_kind() -> None:
    both = {
        tuple(laid.card for laid in reading.pile) for reading in readings(lying("P10a", "?? ??")) if reading is not None
    }
    assert len(both) == 52 * 51
    ranks = {
        tuple(laid.card for laid in reading.pile) for reading in readings(lying("P1", "?? ??")) if reading is not None
    }
    assert len(ranks) == 13 * 13, "of each rank there are four"
    jokers = lying("P13a", "?? ??", jokers=1)
    assert all(sum(laid.card in JOKERS for laid in reading.pile) < 2 for reading in readings(jokers) if reading)
    last = {
        tuple(laid.card for laid in reading.pile)
        for reading in readings(lying("P1", "7h 7c 7d ?? ??"))
        if reading is not None
    }
    assert len(last) == 13 * 13 - 1, "of the sevens there is one"


def test_where_there_are_more_readings_than_can_be_tried_people_are_asked() -> None:
    three = lying("P10a", "?? ?? ??")
    assert list(readings(three)) == [], "whole cards"
    assert judge_slap(three.replace(locks=(None, None)), 1, 10**12).outcome == "question"
    four, five = lying("P3a", "?? ?? ?? ??"), lying("P4b", "?? ?? ?? ?? ??", {"P4b": {"n": 5}})
    assert next(iter(readings(four))) is not None, "ranks"
    assert list(readings(five)) == []


@pytest.mark.parametrize("row", ["P15", "P19", "N14", "N15"])
def test_where_any_card_may_matter_all_are_read(row: str) -> None:
    values = {"P19": {"deep": "rank(9) = 7"}} if row == "P19" else {}
    deep = lying(f"P1 {row}", "?? 3c 4d 5h 6s 8c 9d Th 2s", values)
    assert {reading.pile[0].card[0] for reading in readings(deep) if reading is not None} >= {"7", "K"}
    plain = lying("P1", "?? 3c 4d 5h 6s 8c 9d Th 2s")
    assert [reading.pile[0].card for reading in readings(plain) if reading is not None] == ["??"]


@pytest.mark.parametrize(
    ("row", "cards"),
    [
        ("P1", "7h 7c"), ("P2", "7h 3c 7d"), ("P3a", "7h 3c 4d 7s"), ("P3b", "7h 3c 3d 7s"), ("P6", "Kh Qc"),
        ("P7", "Kh 3c Qd"), ("N4", "Kh Jc"), ("P8", "4h 6c"), ("P9", "4h 2c 6d"), ("P11", "6h 9c"), ("P12", "Jh Tc"),
    ],
)  # fmt: skip
def test_a_pattern_of_read_cards_holds_whatever_lies_under_it(row: str, cards: str) -> None:
    under = lying(row, f"?? {cards}")
    assert held(under) == (row,)
    assert rests_on_read_cards(under, held(under))
    assert not rests_on_read_cards(lying(row, cards.replace(cards.split()[0], "??", 1)), (row,))
    assert not rests_on_read_cards(under, ())
    assert not rests_on_read_cards(under, ("P5a",)), "the first card may be any"
    for rows in (f"{row} P13b", f"{row} P16"):
        assert not rests_on_read_cards(lying(rows, f"?? {cards}"), (row,))
    assert not rests_on_read_cards(under.replace(phase=Claim(1, "challenge", "c1", 1)), (row,))
    assert rests_on_read_cards(lying(f"{row} P16", f"?? {cards}", {"P16": "slap"}), (row,))
    off = lying(row, f"?? {cards}")
    without = read_house_rules({**BARE, "on": [row], "off": ["C1", "M7"]})
    assert not rests_on_read_cards(off.replace(rules=without), (row,))


def test_where_nothing_challenges_an_unread_card_bars_nobody() -> None:
    """Without M7 a challenge would."""
    rules = read_house_rules({**BARE, "on": ["P1"], "off": ["C1", "M7"]})
    position = lying("P1", "?? 7h 3d").replace(
        rules=rules, counts=(5, 5), strikes=(0, 0), debts=(0, 0), locks=(None, None)
    )
    assert judge_slap(position, 1, 10**12).outcome == "false"
    assert judge_slap(
        lying("P1", "?? 7h 7d").replace(rules=rules, counts=(5, 5), locks=(None, None)), 1, 10**12
    ) == Verdict("won", "", ("M1", "P1"), ("P1",), ("c1", "c2"), ("7h", "7d"))


def test_readings_by_which_the_game_would_have_ended_are_none() -> None:
    """P16, and P16b where the table would be closed."""
    three = list(readings(lying("P16", "7h ?? 7d")))
    assert three.count(None) == 1 and len(three) == 13
    assert None not in readings(lying("P16", "7h ?? 7d", {"P16": "slap"}))
    deep = list(readings(lying("P16", "7h 7c ?? 3h 4h 5h 9h")))
    assert deep.count(None) == 1, "however deep it lies"
    sixes = list(readings(lying("P16b", "6h 6c ??")))
    assert sixes.count(None) == 1
    assert None not in readings(lying("P16b", "7h 7c ??"))


def challenged(cards: str, phase: Any, **more: Any) -> list[Position]:
    rules = {"base": "classic", "on": ["P15"], "off": ["P2"]}
    position = lying("P15", cards, phase=phase, **more)
    return [reading for reading in readings(position.replace(rules=read_house_rules(rules))) if reading is not None]


def test_what_an_unread_card_pays_or_challenges_is_what_its_reading_does() -> None:
    """A face card or ace answers the challenge (C4); any other card is one of the chances paid (P15)."""
    queen = Challenge(1, 2, "Qh", "c0", 1)
    for position in challenged("Qh ??", queen):
        face = position.pile[-1].card[0]
        if face in "AKQJ":
            assert isinstance(position.phase, Challenge) and position.paid == 0
        else:
            assert (position.phase, position.paid) == (queen, 1)
    jack = Claim(1, "unread", "c1", 1)
    for position in challenged("Jh ??", jack):
        face = position.pile[-1].card[0]
        if face in "AKQJ":
            wanted = Challenge(2, 1, position.pile[-1].card, "c1", {"A": 4, "K": 3, "Q": 2, "J": 1}[face])
            assert (position.phase, position.paid) == (wanted, 0)
        else:
            assert (position.phase, position.paid) == (Claim(1, "challenge", "c1", 1), 1)


def test_a_game_that_is_over_stays_over_whatever_its_cards_are() -> None:
    for position in challenged("Qh ??", Over(1), paid=1):
        assert (position.phase, position.paid) == (Over(1), 1)


@pytest.mark.parametrize(
    ("on", "off", "phase", "hangs"),
    [
        ("", "", Turn(1), False),
        ("", "C9", Turn(1), True),
        ("N6", "", Turn(1), True),
        ("N11", "", Turn(1), True),
        ("N11", "C9", Challenge(1, 2, "Qh", "c0", 1), False),
    ],
)
def test_where_a_won_challenge_is_its_winners_a_hand_hangs_on_every_gap(
    on: str, off: str, phase: Any, hangs: bool
) -> None:
    """C9, N6, N11: a challenge may have been won unseen; one that still stands was not."""
    values = {"N11": "challenger"} if on == "N11" else {}
    rules = read_house_rules({"base": "classic", "on": on.split(), "off": off.split(), "set": values})
    position = lying("P1", "?? 3c 4d 7h 7c", gaps=frozenset({"c0"}), phase=phase).replace(rules=rules)
    assert hangs_on_gap(position, rests=True) is hangs


@pytest.mark.parametrize(("cards", "left"), [("Jh ?? 9c", ("9c",)), ("Jh ??", None)])
def test_a_card_above_one_that_lost_a_challenge_leads_the_next_pile(cards: str, left: tuple[str, ...] | None) -> None:
    """By a reading as a number card that pile was won; without a card above it, it still lies there."""
    claim = Claim(1, "unread", "c1", 1)
    for position in challenged(cards, claim):
        faces = tuple(laid.card for laid in position.pile)
        if len(faces) < len(cards.split()):
            assert (faces, position.phase) == (left, Turn(1))
        else:
            assert left is None or faces[1][0] in "AKQJ"
    assert any(len(position.pile) < len(cards.split()) for position in challenged(cards, claim)) is (left is not None)
