"""What may be slapped: each pattern by its row's id (P rows, N4, N14).

A pattern looks at the played cards from the top; burned and dead cards never count (N3), except that a burned card may
lie lowest (P5b). Each function gives how many top cards make the pattern, 0 where it does not hold. Which of them hold
at a table, with its jokers and its own patterns, tells `referee.rules.matches`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from referee.rules.cards import colour, rank, suit, value
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules

Pattern = Callable[[PileView, HouseRules], int]

PATTERNS: Final[dict[str, Pattern]] = {}


def _pattern(row: str) -> Callable[[Pattern], Pattern]:
    def register(function: Pattern) -> Pattern:
        PATTERNS[row] = function
        return function

    return register


def _alike(one: str, other: str) -> bool:
    return rank(one) != "" and rank(one) == rank(other)


@_pattern("P1")
def double(look: PileView, rules: HouseRules) -> int:
    """P1: the top two share a rank."""
    top = look.top
    return 2 if len(top) >= 2 and _alike(top[0], top[1]) else 0


@_pattern("P2")
def sandwich(look: PileView, rules: HouseRules) -> int:
    """P2: first and third of the top three share a rank, the middle one differs."""
    top = look.top
    return 3 if len(top) >= 3 and _alike(top[0], top[2]) and not _alike(top[0], top[1]) else 0


@_pattern("P3a")
def hoagie(look: PileView, rules: HouseRules) -> int:
    """P3a: first and fourth share a rank, with two cards of other ranks between, alike or not."""
    top = look.top
    if len(top) < 4 or not _alike(top[0], top[3]):
        return 0
    return 0 if _alike(top[0], top[1]) or _alike(top[0], top[2]) else 4


@_pattern("P3b")
def big_mac(look: PileView, rules: HouseRules) -> int:
    """P3b: X-Y-Y-X."""
    top = look.top
    if len(top) < 4 or not _alike(top[0], top[3]) or not _alike(top[1], top[2]):
        return 0
    return 0 if _alike(top[0], top[1]) else 4


@_pattern("P4a")
def run_of_three(look: PileView, rules: HouseRules) -> int:
    """P4a: the top three consecutive, up or down."""
    return _run(look, rules, "P4a")


@_pattern("P4b")
def run_of_four(look: PileView, rules: HouseRules) -> int:
    """P4b: the top four consecutive, or any length of at least three."""
    return _run(look, rules, "P4b")


def _run(look: PileView, rules: HouseRules, row: str) -> int:
    said = rules.value(row)
    options: dict[str, Any] = {"ace": said} if isinstance(said, str) else dict(said)
    n: int = options.get("n", 3 if row == "P4a" else 4)
    cards = look.top[:n]
    wild = rules.has("P13c")
    if len(cards) < n or not all(rank(card) or (wild and card[0] == "X") for card in cards):
        return 0
    values = [value(card) for card in cards]
    return (
        n if any(_fits(values, run) for run in _runs(n, options.get("ace", "both"), options.get("wrap", False))) else 0
    )


def _fits(values: list[int], run: tuple[int, ...]) -> bool:
    return all(seen in (0, wanted) for seen, wanted in zip(values, run, strict=True))


@lru_cache(maxsize=64)
def _runs(n: int, ace: str, wrap: bool) -> tuple[tuple[int, ...], ...]:
    """All runs of n values, up and down; the ace is low, high (after the king) or both; a wrap goes on past it."""
    ladder = [*range(1, 14)]
    if wrap:
        ladder += range(1, n)
    elif ace == "high":
        ladder = [*range(2, 14), 1]
    elif ace == "both":
        ladder += [1]
    up = [tuple(ladder[start : start + n]) for start in range(len(ladder) - n + 1)]
    return tuple(up + [run[::-1] for run in up])


@_pattern("P5a")
def first_played(look: PileView, rules: HouseRules) -> int:
    """P5a: the top card has the rank of the first card played to this pile."""
    return _top_bottom(look, look.first, rules) if len(look.top) >= 2 else 0


@_pattern("P5b")
def lowest(look: PileView, rules: HouseRules) -> int:
    """P5b: the top card has the rank of the card now lowest, burned cards included."""
    return _top_bottom(look, look.bottom, rules) if len(look.top) >= 2 or look.under else 0


@_pattern("P5c")
def top_bottom_in_kind(look: PileView, rules: HouseRules) -> int:
    """P5c: top-bottom, and suit or colour match as well."""
    return lowest(look, rules) if rules.has("P5b") else first_played(look, rules)


def _top_bottom(look: PileView, other: str, rules: HouseRules) -> int:
    if not look.top or not other or not _alike(look.top[0], other):
        return 0
    if rules.has("P5c"):
        same = suit if rules.value("P5c") == "suit" else colour
        return 1 if same(look.top[0]) == same(other) else 0
    return 1


@_pattern("P6")
def marriage(look: PileView, rules: HouseRules) -> int:
    """P6: king and queen adjacent, either order; with N4 only in one suit."""
    return _pair(look, "KQ", 1, rules.has("N4"))


@_pattern("P7")
def divorce(look: PileView, rules: HouseRules) -> int:
    """P7: king and queen with one card between, either order; with N4 only in one suit."""
    return _pair(look, "KQ", 2, rules.has("N4"))


@_pattern("N4")
def courts(look: PileView, rules: HouseRules) -> int:
    """N4: king and jack, or queen and jack, adjacent."""
    return _pair(look, "KJ", 1, False) or _pair(look, "QJ", 1, False)


def _pair(look: PileView, ranks: str, distance: int, one_suit: bool) -> int:
    if len(look.top) <= distance:
        return 0
    one, other = look.top[0], look.top[distance]
    if {rank(one), rank(other)} != set(ranks) or (one_suit and suit(one) != suit(other)):
        return 0
    return distance + 1


@_pattern("P8")
def tens(look: PileView, rules: HouseRules) -> int:
    """P8: the top two add up to ten."""
    return _adds_up(look, 1, rules)


@_pattern("P9")
def add_up_sandwich(look: PileView, rules: HouseRules) -> int:
    """P9: the top card and the third add up to ten."""
    return _adds_up(look, 2, rules)


def _adds_up(look: PileView, distance: int, rules: HouseRules) -> int:
    if len(look.top) <= distance:
        return 0
    values = value(look.top[0]), value(look.top[distance])
    if 0 in values or (1 in values and not rules.value("P8")):
        return 0
    return distance + 1 if sum(values) == 10 else 0


@_pattern("P10a")
def flush(look: PileView, rules: HouseRules) -> int:
    """P10a: the top three (or n) share a suit."""
    return _same(look, rules.value("P10a"), suit, rules.has("P13c"))


@_pattern("P10b")
def colour_run(look: PileView, rules: HouseRules) -> int:
    """P10b: the top four (or n) share a colour."""
    return _same(look, rules.value("P10b"), _colour, rules.has("P13c"))


def _colour(card: str) -> str:
    return colour(card) if rank(card) else ""


def _same(look: PileView, n: int, what: Callable[[str], str], wild: bool) -> int:
    cards = [card for card in look.top[:n] if not (wild and card[0] == "X")]
    kinds = {what(card) for card in cards}
    return n if len(look.top) >= n and "" not in kinds and len(kinds) <= 1 else 0


@_pattern("P11")
def ratscrew(look: PileView, rules: HouseRules) -> int:
    """P11: a six and a nine adjacent, either order."""
    return _pair(look, "69", 1, False)


@_pattern("P12")
def jack_ten(look: PileView, rules: HouseRules) -> int:
    """P12: a ten played on a jack."""
    return 2 if len(look.top) >= 2 and rank(look.top[0]) == "T" and rank(look.top[1]) == "J" else 0


@_pattern("P13a")
def any_joker(look: PileView, rules: HouseRules) -> int:
    """P13a: any joker may be slapped."""
    return 1 if look.top and look.top[0][0] == "X" else 0


@_pattern("C3b")
def red_joker(look: PileView, rules: HouseRules) -> int:
    """C3b: the red joker is an instant slap."""
    return 1 if look.top and look.top[0] == "Xr" else 0


@_pattern("P14")
def wild_rank(look: PileView, rules: HouseRules) -> int:
    """P14: the number rank drawn before play."""
    return 1 if look.top and look.wild and rank(look.top[0]) == look.wild else 0


@_pattern("P15")
def count_match(look: PileView, rules: HouseRules) -> int:
    """P15: the n-th card paid to a challenge has the value n."""
    return 1 if look.top and look.paid and value(look.top[0]) == look.paid else 0


@_pattern("P16")
def three_of_a_kind(look: PileView, rules: HouseRules) -> int:
    """P16: the top three share a rank; as a slap only where the game does not end by it."""
    top = look.top
    if rules.value("P16") == "ends_game" or len(top) < 3:
        return 0
    return 3 if _alike(top[0], top[1]) and _alike(top[1], top[2]) else 0


@_pattern("P17")
def any_ten(look: PileView, rules: HouseRules) -> int:
    """P17: a ten of any suit."""
    return 1 if look.top and rank(look.top[0]) == "T" else 0


@_pattern("P18")
def any_jack(look: PileView, rules: HouseRules) -> int:
    """P18: any jack (the game Slapjack)."""
    return 1 if look.top and rank(look.top[0]) == "J" else 0


@_pattern("N14")
def called(look: PileView, rules: HouseRules) -> int:
    """N14: the card equals the rank that was called for it."""
    return 1 if look.top and look.said and rank(look.top[0]) == look.said else 0
