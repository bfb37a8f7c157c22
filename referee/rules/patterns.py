"""What may be slapped: each pattern by its row's id (P rows).

A pattern looks at the played cards from the top; burned and dead cards never count (N3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from referee.rules.cards import rank
from referee.rules.house import HouseRules

Pattern = Callable[[Sequence[str]], int]
"""From the played cards, newest first, to how many of them make the pattern: 0 where it does not hold."""

PATTERNS: Final[dict[str, Pattern]] = {}


def _pattern(row: str) -> Callable[[Pattern], Pattern]:
    def register(function: Pattern) -> Pattern:
        PATTERNS[row] = function
        return function

    return register


@_pattern("P1")
def double(top: Sequence[str]) -> int:
    """The top two share a rank."""
    return 2 if len(top) >= 2 and rank(top[0]) and rank(top[0]) == rank(top[1]) else 0


@_pattern("P2")
def sandwich(top: Sequence[str]) -> int:
    """First and third of the top three share a rank, the middle one differs."""
    if len(top) < 3 or not rank(top[0]):
        return 0
    return 3 if rank(top[0]) == rank(top[2]) != rank(top[1]) else 0


def patterns(top: Sequence[str], rules: HouseRules) -> tuple[tuple[str, ...], int]:
    """Ids of all patterns that hold, in the order of the rules, and how many top cards they rest on.

    Args:
        top: played cards, newest first.
        rules: which patterns may be slapped.
    """
    held = [(row, depth) for row, holds in PATTERNS.items() if row in rules.on and (depth := holds(top))]
    return tuple(row for row, _ in held), max((depth for _, depth in held), default=0)
