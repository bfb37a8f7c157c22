"""P19: patterns that a table writes itself, and the built-in ones written in that notation."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise, product
from typing import Any

import pytest

from referee.rules.cards import PACK, RANKS
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules, read_house_rules
from referee.rules.matches import find_patterns, own_patterns
from referee.rules.notation import Compiled, compile_pattern
from referee.rules.patterns import PATTERNS
from referee.rules.rows import ROWS

PILES = 10_000


def _run(places: int, high: bool) -> str:
    """Return a condition: all of ``places`` cards one up or one down from the next; ``high`` counts the ace as 14."""
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
"""Rows of patterns that look at the pile alone; P13b and P13c say how a joker counts, P16b shuts the table."""


def _wrapped_run(places: int) -> str:
    """Return a condition: one up or one down from the next, and the ace follows the king."""
    ways = []
    for near, far in ((1, 0), (0, 1)):
        steps = []
        for place in range(1, places):
            low, high = place + near, place + far
            steps.append(f"(rank({high}) = rank({low}) + 1 or (rank({high}) = A and rank({low}) = K))")
        ways.append("(" + " and ".join(steps) + ")")
    return " or ".join(ways)


OPTIONS = [
    ({"P4a": "low"}, "P4a", _run(3, high=False)),
    ({"P4a": "high"}, "P4a", _run(3, high=True)),
    ({"P4a": {"n": 3, "ace": "low", "wrap": True}}, "P4a", _wrapped_run(3)),
    ({"P4b": {"n": 5, "ace": "low"}}, "P4b", _run(5, high=False)),
    ({"P4b": {"n": 3}}, "P4b", WRITTEN["P4a"]),
    ({"P5c": "colour"}, "P5c", "rank(1) = rank(first) and colour(1) = colour(first)"),
    ({"P8": False}, "P8", "rank(1) + rank(2) = 10 and rank(1) > A and rank(2) > A"),
    ({"P8": False}, "P9", "rank(1) + rank(3) = 10 and rank(1) > A and rank(3) > A"),
    ({"P10a": 5}, "P10a", "suit(1) = suit(2) = suit(3) = suit(4) = suit(5)"),
    ({"P10b": 2}, "P10b", "colour(1) = colour(2)"),
]
"""Values that change the searched pattern."""


@cache
def _piles() -> tuple[PileView, ...]:
    """Return piles of up to eight cards of several packs with jokers: of few ranks or suits, some in order."""
    rng = random.Random("piles")
    return tuple(_pile(rng) for _ in range(PILES))


def _pile(rng: random.Random) -> PileView:
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
    return PileView(tuple(cards), first=cards[-1], bottom=bottom, paid=paid, wild=wild, under=under)


def _rules(row: str, written: str, values: dict[str, Any] | None = None, *on: str) -> HouseRules:
    said = {"on": [row, "P19", *on], "set": {"P16": "slap", **(values or {}), "P19": {"mine": written}}}
    return read_house_rules(said)


def _agreed(rules: HouseRules, row: str) -> int:
    """Return on how many piles both forms hold.

    Raises:
        AssertionError: they disagree on a pile.
    """
    ((_, mine),) = own_patterns(rules)
    held = 0
    for look in _piles():
        built_in = PATTERNS[row](look, rules) > 0
        assert mine.holds(look) == built_in, (row, look)
        held += built_in
    return held


def test_every_pattern_of_the_rules_is_written() -> None:
    """All P rows except the table's own and those that say how jokers count (P13b, P13c) or shut the table (P16b)."""
    rows = {row for row in ROWS if row.startswith("P")}
    assert rows - set(WRITTEN) == {"P13b", "P13c", "P16b", "P19"}


@pytest.mark.parametrize("row", WRITTEN)
def test_a_built_in_pattern_can_be_written_by_a_table(row: str) -> None:
    """Both forms agree on ten thousand random piles, on many of which they hold, and on many of which they do not."""
    held = _agreed(_rules(row, WRITTEN[row]), row)
    assert PILES / 400 < held < PILES * 0.9


@pytest.mark.parametrize(("values", "row", "written"), OPTIONS)
def test_so_can_it_with_the_values_that_it_may_have(values: dict[str, Any], row: str, written: str) -> None:
    """Ace low, high, round the king; sums without the ace; colour instead of suit; longer and shorter ones."""
    held = _agreed(_rules(row, written, values), row)
    assert PILES / 400 < held < PILES * 0.9


def test_top_bottom_in_kind_goes_with_the_row_that_is_on() -> None:
    """P5c by itself looks at the first card played, with P5b at the lowest."""
    rules = _rules("P5c", "rank(1) = rank(bottom) and suit(1) = suit(bottom)", None, "P5b")
    assert _agreed(rules, "P5c") == _agreed(rules, "P5b") > PILES / 400


@pytest.mark.parametrize("row", [row for row in WRITTEN if row != "P13a"])
def test_a_wild_joker_completes_both_forms(row: str) -> None:
    """P13c: on piles with jokers, for every meaning of a joker."""
    rules = _rules(row, WRITTEN[row], None, "P13c")
    by_joker = 0
    for look in _piles()[: PILES // 5]:
        if not any(card[0] == "X" for card in (*look.top[:4], look.first, look.bottom)):
            continue
        rows = find_patterns(look, rules)[0]
        assert (row in rows) == ("P19:mine" in rows), (row, look)
        by_joker += row in rows and not PATTERNS[row](look, read_house_rules({"on": [row], "set": {"P16": "slap"}}))
    assert by_joker > 0


def test_jokers_in_a_row_complete_what_they_can() -> None:
    """Four of them are a big mac, a dozen any condition on each card by itself; a condition on too many at once leaves
    the lowest as jokers, because there are too many ways to name them.
    """
    fives = " and ".join(f"rank({place}) = 5 and suit({place}) = hearts" for place in range(1, 13))
    rules = _rules("P3b", fives, None, "P13c")
    assert "P3b" in find_patterns(PileView(("Xr", "Xb", "Xr", "Xb"), first="Xb", bottom="Xb"), rules)[0]
    for cards in (("Xr", *["5h"] * 10, "Xb"), ("Xr",) * 12):
        assert "P19:mine" in find_patterns(PileView(cards), rules)[0]
    assert "P19:mine" not in find_patterns(PileView(("Xr", "5d", *["5h"] * 10)), rules)[0]
    alike = _rules("P3b", "rank(1) = rank(2) = rank(3) = rank(4) = rank(5) = rank(6)", None, "P13c")
    assert "P19:mine" in find_patterns(PileView(("Xr",) * 4 + ("5h",) * 2), alike)[0]
    assert "P19:mine" not in find_patterns(PileView(("Xr",) * 6), alike)[0]


def _term(rng: random.Random) -> str:
    card = rng.choice(("1", "2", "3", "4", "first", "bottom"))
    return rng.choice((f"rank({card})", f"rank({card})", f"high({card})", str(rng.randint(1, 14)), "wild", "size"))


def _condition(rng: random.Random, depth: int) -> str:
    if depth and rng.random() < 0.7:
        one, other = _condition(rng, depth - 1), _condition(rng, depth - 1)
        return rng.choice((f"({one} and {other})", f"({one} and {other})", f"({one} or {other})", f"not {one}"))
    kind, cards = rng.random(), rng.sample(("1", "2", "3", "4", "first", "bottom"), 2)
    if kind < 0.25:
        what = rng.choice(("suit", "colour"))
        named = rng.choice((f"{what}({cards[1]})", "hearts" if what == "suit" else "red"))
        return f"{what}({cards[0]}) {rng.choice(('=', '!='))} {named}"
    if kind < 0.35:
        return f"joker({cards[0]})"
    if kind < 0.5:
        return f"rank({cards[0]}) in {{{rng.randint(1, 13)}, {_term(rng)}}}"
    sign = rng.choice(("=", "=", "!=", "<", ">="))
    left = _term(rng) if kind < 0.75 else f"{_term(rng)} {rng.choice('+-')} {_term(rng)}"
    return f"{left} {sign} {_term(rng)}"


def _some_naming_holds(own: Compiled, look: PileView) -> bool:
    """Whether a naming holds: every joker at the top named in every way, and the lowest card where it is buried."""
    top = look.top[: own.depth]
    jokers = [
        place for place, card in enumerate(look.top) if card[0] == "X" and (place < len(top) or card is look.first)
    ]
    below = look.under and look.bottom[0] == "X"
    if not jokers and not below:
        return False
    for names in product(PACK, repeat=len(jokers) + below):
        cards = list(look.top)
        for place, card in zip(jokers, names, strict=False):
            cards[place] = card
        bottom = names[-1] if below else look.bottom if look.under else cards[-1]
        if own.holds(look._replace(top=tuple(cards), first=cards[-1], bottom=bottom)):
            return True
    return False


def test_wild_jokers_complete_what_some_way_of_naming_them_completes() -> None:
    """P13c, P19: as if all ways had been tried one by one, on random patterns and piles with one or two jokers."""
    rng = random.Random("namings")
    tried = held = 0
    while tried < 400:
        own = compile_pattern(_condition(rng, 2))
        cards = [rng.choice("2345") + rng.choice("sh") for _ in range(rng.randint(1, 5))]
        cards[rng.randrange(len(cards))] = "Xr"
        if rng.random() < 0.25:
            cards[rng.randrange(len(cards))] = "Xb"
        under = rng.random() < 0.3
        bottom = rng.choice(("??", "4h", "Xb")) if under else cards[-1]
        if [*cards, bottom if under else ""].count("Xb") > 1 or (len(cards) < own.depth and rng.random() < 0.9):
            continue
        look = PileView(tuple(cards), first=cards[-1], bottom=bottom, wild=rng.choice(("", "4")), under=under)
        found = own.completed(look)
        assert found == _some_naming_holds(own, look), (own, look)
        tried, held = tried + 1, held + found
    assert 100 < held < 350


@pytest.mark.parametrize("jokers", range(5))
def test_sixty_patterns_are_looked_at_in_one_breath(jokers: int) -> None:
    """The most that a table may want at one slap: none of them holds, so that every way of naming is tried.

    The count of evaluations decides, not a clock: once as the pile lies, and once for each group of jokers.
    """
    looks = 0
    sums = [" + ".join(f"rank({place})" for place in range(1, 5)) + f" = {60 + number}" for number in range(60)]
    for text in sums:
        own = compile_pattern(text)
        test = own._condition.true_in

        def counted(readings: Any, test: Any = test) -> int:
            nonlocal looks
            looks += 1
            return int(test(readings))

        own = Compiled(own._condition._replace(true_in=counted), own.depth)
        look = PileView((*("Xr",) * jokers, *("7h", "2c", "9d", "Ks")), first="Ks", bottom="Ks")
        assert not own.holds(look) and not own.completed(look)
    assert looks == 60 + 60 * (jokers > 0)
