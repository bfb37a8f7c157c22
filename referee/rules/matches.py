"""Find the patterns that hold in a pile: rows, custom patterns (P19), wild jokers (P13c), anywhere (N15)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from referee.rules.conditions import PileView
from referee.rules.house import HouseRules
from referee.rules.notation import Compiled, compile_pattern
from referee.rules.patterns import PATTERNS

_ROYAL: Final = "(rank(1) = K and rank({0}) = Q or rank(1) = Q and rank({0}) = K)"
_WRITTEN: Final[Mapping[str, str]] = {
    "P1": "rank(1) = rank(2)",
    "P2": "rank(1) = rank(3) and not rank(1) = rank(2)",
    "P3a": "rank(1) = rank(4) and not rank(1) = rank(2) and not rank(1) = rank(3)",
    "P3b": "rank(1) = rank(4) and rank(2) = rank(3) and rank(1) != rank(2)",
    "P5a": "rank(1) = rank(first)",
    "P5b": "rank(1) = rank(bottom)",
    "P6": _ROYAL.format(2),
    "P7": _ROYAL.format(3),
    "P8": "rank(1) + rank(2) = 10",
    "P9": "rank(1) + rank(3) = 10",
    "P11": "rank(1) + rank(2) = 15 and rank(1) in {6, 9}",
    "P12": "rank(1) = T and rank(2) = J",
    "P14": "rank(1) = wild",
    "P15": "rank(1) = paid",
    "P16": "rank(1) = rank(2) = rank(3)",
    "P17": "rank(1) = T",
    "P18": "rank(1) = J",
    "N4": "rank(1) in {K, Q} and rank(2) = J or rank(1) = J and rank(2) in {K, Q}",
    "N14": "rank(1) = said",
}
"""Patterns that a wild joker completes (P13c), in pattern notation; runs and flushes count jokers themselves."""
_compiled: Final = lru_cache(maxsize=256)(compile_pattern)


def find_patterns(look: PileView, rules: HouseRules) -> tuple[tuple[str, ...], int]:
    """Return the ids of all patterns that hold, in rule order, and the number of top cards that they rest on."""
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
    wild = rules.has("P13c")
    for row, holds in PATTERNS.items():
        if row in rules.on:
            depth = holds(look, rules) or (_completed_depth(row, look, rules) if wild else 0)
            if depth:
                held.append((row, depth))
    for name, own in own_patterns(rules) if rules.has("P19") else ():
        if own.holds(look) or (wild and own.completed(look)):
            held.append((f"P19:{name}", own.depth))
    return held


def _completed_depth(row: str, look: PileView, rules: HouseRules) -> int:
    """Return the depth of a row's pattern if wild jokers complete it (P13c), else 0."""
    written = _written(row, rules)
    if not written or (row == "P16" and rules.three_end_game):
        return 0
    own = _compiled(written)
    return own.depth if own.completed(look) else 0


def _written(row: str, rules: HouseRules) -> str:
    """Return a row's pattern in notation, adapted to these rules."""
    if row == "P5c":
        row = "P5b" if rules.has("P5b") else "P5a"
    more = ""
    if row in ("P5a", "P5b") and rules.has("P5c"):
        kind, end = rules.word("P5c"), "first" if row == "P5a" else "bottom"
        more = f" and {kind}(1) = {kind}({end})"
    elif row in ("P6", "P7") and rules.has("N4"):
        more = f" and suit(1) = suit({2 if row == 'P6' else 3})"
    elif row in ("P8", "P9") and not rules.ace_is_one:
        more = " and A < rank(1) < 9"
    return _WRITTEN.get(row, "") + more


def own_patterns(rules: HouseRules) -> tuple[tuple[str, Compiled], ...]:
    """Return the table's own patterns by name (P19)."""
    return tuple((name, _compiled(text)) for name, text in rules.own_patterns.items())
