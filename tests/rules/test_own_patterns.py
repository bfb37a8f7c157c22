"""P19: patterns that a table writes itself, and the built-in ones written in that notation."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise

import pytest

from referee.rules.cards import PACK, RANKS
from referee.rules.house import HouseRules, house_rules
from referee.rules.notation import Look
from referee.rules.patterns import PATTERNS, own_patterns

PILES = 10_000


def _run(places: int, high: bool) -> str:
    """All of ``places`` cards one up or one down from the next; ``high`` counts the ace as 14."""
    rank = "high" if high else "rank"
    ways = []
    for sign in "+-":
        steps = [f"{rank}({one}) = {rank}({two}) {sign} 1" for one, two in pairwise(range(1, places + 1))]
        ways.append("(" + " and ".join(steps) + ")")
    return " or ".join(ways)


WRITTEN = {
    "P1": "rank(1) = rank(2)",
    "P2": "rank(1) = rank(3) and not rank(1) = rank(2)",
    "P3a": "rank(1) = rank(4) and not rank(1) = rank(2) and not rank(1) = rank(3)",
    "P3b": "rank(1) = rank(4) and rank(2) = rank(3) and rank(1) != rank(2)",
    "P4a": f"{_run(3, high=False)} or {_run(3, high=True)}",
    "P4b": f"{_run(4, high=False)} or {_run(4, high=True)}",
    "P5a": "rank(1) = rank(first)",
    "P5b": "rank(1) = rank(bottom)",
    "P5c": "rank(1) = rank(first) and suit(1) = suit(first)",
    "P6": "(rank(1) = K and rank(2) = Q) or (rank(1) = Q and rank(2) = K)",
    "P7": "(rank(1) = K and rank(3) = Q) or (rank(1) = Q and rank(3) = K)",
    "P8": "rank(1) + rank(2) = 10",
    "P9": "rank(1) + rank(3) = 10",
    "P10a": "suit(1) = suit(2) = suit(3)",
    "P10b": "colour(1) = colour(2) = colour(3) = colour(4)",
    "P11": "rank(1) + rank(2) = 15 and rank(1) in {6, 9}",
    "P12": "rank(1) = T and rank(2) = J",
    "P13a": "joker(1)",
    "P14": "rank(1) = wild",
    "P15": "rank(1) = paid",
    "P16": "rank(1) = rank(2) = rank(3)",
    "P17": "rank(1) = T",
    "P18": "rank(1) = J",
}
"""Rows of patterns that look at nothing but the pile; P13b and P13c say how a joker counts, P16b shuts the table."""


@cache
def _piles() -> tuple[Look, ...]:
    """Piles of up to eight cards of several packs with jokers: of few ranks or suits, some in order."""
    rng = random.Random("piles")
    return tuple(_pile(rng) for _ in range(PILES))


def _pile(rng: random.Random) -> Look:
    first, width = rng.randrange(13), rng.choice((2, 3, 4, 4, 13))
    suits = rng.choice(("h", "hd", "sh", "shdc"))
    ranks = [RANKS[(first + step) % 13] for step in range(width)]
    if rng.random() < 0.3:
        letters = [*ranks, *ranks[:4]]
        if rng.random() < 0.5:
            letters.reverse()
    else:
        letters = rng.choices(ranks, k=rng.randint(1, 8))
    cards = [letter + rng.choice(suits) for letter in letters[:8]]
    if rng.random() < 0.15:
        cards[rng.randrange(len(cards))] = rng.choice(("Xr", "Xb"))
    under = rng.random() < 0.5
    bottom = rng.choice(("??", *PACK)) if under else cards[-1]
    paid, wild = rng.choice((0, 1, 2, 3)), rng.choice(("", "2", "7", "T"))
    return Look(tuple(cards), first=cards[-1], bottom=bottom, paid=paid, wild=wild, under=under)


def _rules(row: str) -> HouseRules:
    said = {"on": [row, "P19"], "set": {"P19": {"mine": WRITTEN[row]}, "P16": "slap"}}
    return house_rules(said)


@pytest.mark.parametrize("row", WRITTEN)
def test_a_built_in_pattern_can_be_written_by_a_table(row: str) -> None:
    """Both forms agree on ten thousand random piles, on many of which they hold, and on many of which they do not."""
    rules = _rules(row)
    ((_, mine),) = own_patterns(rules)
    held = 0
    for look in _piles():
        built_in = PATTERNS[row](look, rules) > 0
        assert mine.holds(look) == built_in, (row, look)
        held += built_in
    assert PILES / 400 < held < PILES * 0.9
