"""Which patterns hold in a pile: the table's rows, its own patterns (P19), wild jokers (P13c), anywhere (N15)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from referee.rules.cards import RANKS, SUITS
from referee.rules.house import HouseRules
from referee.rules.notation import Compiled, PileView, compile_pattern
from referee.rules.patterns import PATTERNS, Pattern

_BY_RANK: Final = {
    "P1": (2, ""),
    "P2": (3, ""),
    "P3a": (4, ""),
    "P3b": (4, ""),
    "P5a": (1, "first"),
    "P5b": (1, "bottom"),
    "P6": (2, ""),
    "P7": (3, ""),
    "P8": (2, ""),
    "P9": (3, ""),
    "P11": (2, ""),
    "P12": (2, ""),
    "P14": (1, ""),
    "P15": (1, ""),
    "P16": (3, ""),
    "P17": (1, ""),
    "P18": (1, ""),
    "N4": (2, ""),
    "N14": (1, ""),
}
"""Patterns for which a wild joker stands in (P13c), with how many top cards they look at, and at which end.

Runs and flushes count their jokers themselves.
"""
_compiled: Final = lru_cache(maxsize=256)(compile_pattern)
_MOST_READINGS: Final = 30_000
"""How many ways of naming jokers are tried for a pattern: beyond that the lower ones stay jokers."""


def find_patterns(look: PileView, rules: HouseRules) -> tuple[tuple[str, ...], int]:
    """Ids of all patterns that hold, in the order of the rules, and how many top cards they rest on."""
    if rules.has("P13b") and look.top and look.top[0][0] == "X":
        return (), 0
    held = _held(look, rules)
    for skip in range(1, len(look.top) if not held and rules.has("N15") else 0):
        # N15: the pattern may lie anywhere in the pile.
        held = [(row, skip + depth) for row, depth in _held(look._replace(top=look.top[skip:], paid=0, said=""), rules)]
        if held:
            held.insert(0, ("N15", max(depth for _, depth in held)))
            break
    return tuple(row for row, _ in held), max((depth for _, depth in held), default=0)


def _held(look: PileView, rules: HouseRules) -> list[tuple[str, int]]:
    held = []
    for row, holds in PATTERNS.items():
        if row in rules.on:
            depth = holds(look, rules) or (_with_wild_jokers(row, holds, look, rules) if rules.has("P13c") else 0)
            if depth:
                held.append((row, depth))
    if rules.has("P19"):
        held += [(f"P19:{name}", own.depth) for name, own in own_patterns(rules) if _own_holds(own, look, rules)]
    return held


def _with_wild_jokers(row: str, holds: Pattern, look: PileView, rules: HouseRules) -> int:
    """P13c: try every card that the jokers among those looked at may stand for."""
    if row == "P5c":
        depth, end = 1, "bottom" if rules.has("P5b") else "first"
    elif row in _BY_RANK:
        depth, end = _BY_RANK[row]
    else:
        return 0
    suits = SUITS if (end and rules.has("P5c")) or rules.has("N4") else "s"
    alphabet = [letter + kind for letter in RANKS for kind in suits]
    seen = _stand_ins(look, depth, (end,) if end else (), alphabet)
    return max((holds(reading, rules) for reading in seen), default=0)


def _own_holds(own: Compiled, look: PileView, rules: HouseRules) -> bool:
    if own.holds(look):
        return True
    if not rules.has("P13c"):
        return False
    ranks = RANKS if own.asks & {"rank", "high"} else "2"
    suits = SUITS if own.asks & {"suit", "colour"} else "s"
    cards = [letter + kind for letter in ranks for kind in suits]
    ends = tuple(end for end in ("first", "bottom") if end in own.asks)
    return any(own.holds(seen) for seen in _stand_ins(look, own.depth, ends, cards))


def _stand_ins(look: PileView, depth: int, ends: tuple[str, ...], alphabet: list[str]) -> Iterator[PileView]:
    """Every reading of the pile in which jokers among the top cards and at the ends stand for other cards."""
    ends = tuple(end for end in ends if getattr(look, end)[:1] == "X")
    places = [place for place, card in enumerate(look.top[:depth]) if card[0] == "X"]
    while places and len(alphabet) ** (len(places) + len(ends)) > _MOST_READINGS:
        places.pop()
    if not places and not ends:
        return
    for cards in itertools.product(alphabet, repeat=len(places) + len(ends)):
        top = list(look.top)
        for place, card in zip(places, cards, strict=False):
            top[place] = card
        changed: dict[str, Any] = dict(zip(ends, cards[len(places) :], strict=True))
        yield look._replace(top=tuple(top), **changed)


def own_patterns(rules: HouseRules) -> tuple[tuple[str, Compiled], ...]:
    """P19: the table's own patterns, by name."""
    return tuple((name, _compiled(text)) for name, text in rules.own_patterns.items())
