"""The patterns that may be slapped, by row id (P rows, N4, N14).

A pattern looks at the played cards from the top; burned and dead cards never count (N3), except that a burned card may
be the lowest (P5b). Each function returns the number of top cards that make the pattern, 0 if it does not hold.
`referee.rules.matches` finds the patterns that hold at a table, with its jokers and its own patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from referee.rules.cards import colour, rank, suit, value
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules

Pattern = Callable[[PileView, HouseRules], int]


def _alike(one: str, other: str) -> bool:
    return rank(one) != "" and rank(one) == rank(other)


def _framed(depth: int) -> Pattern:
    """Make a pattern: the first and last of the top ``depth`` cards share a rank, and no card between them has it."""

    def holds(look: PileView, _: HouseRules) -> int:
        top = look.top
        if len(top) < depth or not _alike(top[0], top[depth - 1]):
            return 0
        return 0 if any(_alike(top[0], between) for between in top[1 : depth - 1]) else depth

    return holds


def _big_mac(look: PileView, _: HouseRules) -> int:
    top = look.top
    if len(top) < 4 or not _alike(top[0], top[3]) or not _alike(top[1], top[2]):
        return 0
    return 0 if _alike(top[0], top[1]) else 4


def _run(row: str) -> Pattern:
    """Make a pattern: the top cards are consecutive, up or down; the row's value says how many."""

    def holds(look: PileView, rules: HouseRules) -> int:
        n, ace, wrap = rules.run(row)
        cards = look.top[:n]
        wild = rules.has("P13c")
        if len(cards) < n or not all(rank(card) or (wild and card[0] == "X") for card in cards):
            return 0
        values = [value(card) for card in cards]
        for run in _runs(n, ace, wrap):
            # A joker has the value 0 and stands for any card.
            if all(seen in (0, wanted) for seen, wanted in zip(values, run, strict=True)):
                return n
        return 0

    return holds


@lru_cache(maxsize=64)
def _runs(n: int, ace: str, wrap: bool) -> tuple[tuple[int, ...], ...]:
    """Return all runs of n values, up and down; the ace is low, high or both; ``wrap`` continues past it."""
    ladder = [*range(1, 14)]
    if wrap:
        ladder += range(1, n)
    elif ace == "high":
        ladder = [*range(2, 14), 1]
    elif ace == "both":
        ladder += [1]
    up = [tuple(ladder[start : start + n]) for start in range(len(ladder) - n + 1)]
    return tuple(up + [run[::-1] for run in up])


def _first_played(look: PileView, rules: HouseRules) -> int:
    return _top_bottom(look, look.first, rules) if len(look.top) >= 2 else 0


def _lowest(look: PileView, rules: HouseRules) -> int:
    return _top_bottom(look, look.bottom, rules) if len(look.top) >= 2 or look.under else 0


def _in_kind(look: PileView, rules: HouseRules) -> int:
    return _lowest(look, rules) if rules.has("P5b") else _first_played(look, rules)


def _top_bottom(look: PileView, other: str, rules: HouseRules) -> int:
    if not look.top or not other or not _alike(look.top[0], other):
        return 0
    if rules.has("P5c"):
        same = suit if rules.word("P5c") == "suit" else colour
        return 1 if same(look.top[0]) == same(other) else 0
    return 1


def _pair(ranks: str, distance: int, *, royal: bool = False) -> Pattern:
    """Make a pattern: two ranks ``distance`` cards apart, in either order; ``royal``: with N4 in one suit only."""

    def holds(look: PileView, rules: HouseRules) -> int:
        if len(look.top) <= distance:
            return 0
        one, other = look.top[0], look.top[distance]
        if {rank(one), rank(other)} != set(ranks) or (royal and rules.has("N4") and suit(one) != suit(other)):
            return 0
        return distance + 1

    return holds


_KING_JACK, _QUEEN_JACK = _pair("KJ", 1), _pair("QJ", 1)


def _courts(look: PileView, rules: HouseRules) -> int:
    return _KING_JACK(look, rules) or _QUEEN_JACK(look, rules)


def _sum_of_ten(distance: int) -> Pattern:
    """Make a pattern: the top card and the one ``distance`` below add up to ten; an ace counts as one by P8."""

    def holds(look: PileView, rules: HouseRules) -> int:
        if len(look.top) <= distance:
            return 0
        values = value(look.top[0]), value(look.top[distance])
        if 0 in values or (1 in values and not rules.ace_is_one):
            return 0
        return distance + 1 if sum(values) == 10 else 0

    return holds


def _all_of_one(row: str, what: Callable[[str], str]) -> Pattern:
    """Make a pattern: the top cards share a suit or a colour; the row's value says how many."""

    def holds(look: PileView, rules: HouseRules) -> int:
        n, wild = rules.number(row), rules.has("P13c")
        cards = [card for card in look.top[:n] if not (wild and card[0] == "X")]
        kinds = {what(card) if rank(card) else "" for card in cards}
        return n if len(look.top) >= n and "" not in kinds and len(kinds) <= 1 else 0

    return holds


def _jack_ten(look: PileView, _: HouseRules) -> int:
    return 2 if len(look.top) >= 2 and rank(look.top[0]) == "T" and rank(look.top[1]) == "J" else 0


def _three_of_a_kind(look: PileView, rules: HouseRules) -> int:
    top = look.top
    if rules.three_end_game or len(top) < 3:
        return 0
    return 3 if _alike(top[0], top[1]) and _alike(top[1], top[2]) else 0


def _top_card(fits: Callable[[str, PileView], bool]) -> Pattern:
    """Make a pattern that looks at the top card alone."""
    return lambda look, _: 1 if look.top and fits(look.top[0], look) else 0


PATTERNS: Final[Mapping[str, Pattern]] = {
    # P1: the top two share a rank. P2: first and third do, the middle one does not. P3a: first and fourth, with two
    # cards of other ranks between, alike or not. P3b: X-Y-Y-X.
    "P1": _framed(2),
    "P2": _framed(3),
    "P3a": _framed(4),
    "P3b": _big_mac,
    # P4a: the top three consecutive, up or down. P4b: the top four, or any length of at least three.
    "P4a": _run("P4a"),
    "P4b": _run("P4b"),
    # P5a: the top card has the rank of the first card played to this pile. P5b: of the card now lowest, burned cards
    # included. P5c: suit or colour match as well.
    "P5a": _first_played,
    "P5b": _lowest,
    "P5c": _in_kind,
    # P6: king and queen adjacent. P7: with one card between. N4: king or queen adjacent to a jack.
    "P6": _pair("KQ", 1, royal=True),
    "P7": _pair("KQ", 2, royal=True),
    "N4": _courts,
    # P8: the top two add up to ten. P9: the top card and the third do.
    "P8": _sum_of_ten(1),
    "P9": _sum_of_ten(2),
    # P10a: the top three (or n) share a suit. P10b: the top four (or n) share a colour.
    "P10a": _all_of_one("P10a", suit),
    "P10b": _all_of_one("P10b", colour),
    # P11: a six and a nine adjacent. P12: a ten played on a jack.
    "P11": _pair("69", 1),
    "P12": _jack_ten,
    # P13a: any joker. C3b: the red joker is an instant slap. P14: the number rank drawn before play.
    "P13a": _top_card(lambda top, _: top[0] == "X"),
    "C3b": _top_card(lambda top, _: top == "Xr"),
    "P14": _top_card(lambda top, look: look.wild != "" and rank(top) == look.wild),
    # P15: the n-th card paid to a challenge has the value n. P16: the top three share a rank; as a slap only where the
    # game does not end by it.
    "P15": _top_card(lambda top, look: look.paid > 0 and value(top) == look.paid),
    "P16": _three_of_a_kind,
    # P17: a ten of any suit. P18: any jack (the game Slapjack). N14: the card equals the rank that was called for it.
    "P17": _top_card(lambda top, _: rank(top) == "T"),
    "P18": _top_card(lambda top, _: rank(top) == "J"),
    "N14": _top_card(lambda top, look: look.said != "" and rank(top) == look.said),
}

_DEPTHS: Final[Mapping[str, int]] = {
    "P1": 2, "P2": 3, "P3a": 4, "P3b": 4, "P5a": 2, "P5b": 2, "P5c": 2, "P6": 2, "P7": 3, "P8": 2, "P9": 3, "P11": 2,
    "P12": 2, "P16": 3, "N4": 2,
}  # fmt: skip


def pattern_depth(row: str, rules: HouseRules) -> int:
    """Return the number of cards a pattern needs, counted from the top."""
    if row in ("P4a", "P4b"):
        return rules.run(row).n
    if row in ("P10a", "P10b"):
        return rules.number(row)
    return _DEPTHS.get(row, 1)
