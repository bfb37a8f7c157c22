"""What may be slapped: each pattern by its row's id (P rows, N4, N14).

A pattern looks at the played cards from the top; burned and dead cards never count (N3), except that a burned card may
lie lowest (P5b). Each function gives how many top cards make the pattern, 0 where it does not hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from referee.rules.cards import RANKS, SUITS, colour, rank, suit, value
from referee.rules.house import HouseRules
from referee.rules.notation import Compiled, Look, compile_pattern

Pattern = Callable[[Look, HouseRules], int]

PATTERNS: Final[dict[str, Pattern]] = {}
BY_RANK: Final = {
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
MOST_READINGS: Final = 30_000
"""How many ways of naming jokers are tried for a pattern: beyond that the lower ones stay jokers."""


def _pattern(row: str) -> Callable[[Pattern], Pattern]:
    def register(function: Pattern) -> Pattern:
        PATTERNS[row] = function
        return function

    return register


def _alike(one: str, other: str) -> bool:
    return rank(one) != "" and rank(one) == rank(other)


@_pattern("P1")
def double(look: Look, rules: HouseRules) -> int:
    """P1: the top two share a rank."""
    top = look.top
    return 2 if len(top) >= 2 and _alike(top[0], top[1]) else 0


@_pattern("P2")
def sandwich(look: Look, rules: HouseRules) -> int:
    """P2: first and third of the top three share a rank, the middle one differs."""
    top = look.top
    return 3 if len(top) >= 3 and _alike(top[0], top[2]) and not _alike(top[0], top[1]) else 0


@_pattern("P3a")
def hoagie(look: Look, rules: HouseRules) -> int:
    """P3a: first and fourth share a rank, with two cards of other ranks between, alike or not."""
    top = look.top
    if len(top) < 4 or not _alike(top[0], top[3]):
        return 0
    return 0 if _alike(top[0], top[1]) or _alike(top[0], top[2]) else 4


@_pattern("P3b")
def big_mac(look: Look, rules: HouseRules) -> int:
    """P3b: X-Y-Y-X."""
    top = look.top
    if len(top) < 4 or not _alike(top[0], top[3]) or not _alike(top[1], top[2]):
        return 0
    return 0 if _alike(top[0], top[1]) else 4


@_pattern("P4a")
def run_of_three(look: Look, rules: HouseRules) -> int:
    """P4a: the top three consecutive, up or down."""
    return _run(look, rules, "P4a")


@_pattern("P4b")
def run_of_four(look: Look, rules: HouseRules) -> int:
    """P4b: the top four consecutive, or any length of at least three."""
    return _run(look, rules, "P4b")


def _run(look: Look, rules: HouseRules, row: str) -> int:
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
def first_played(look: Look, rules: HouseRules) -> int:
    """P5a: the top card has the rank of the first card played to this pile."""
    return _top_bottom(look, look.first, rules) if len(look.top) >= 2 else 0


@_pattern("P5b")
def lowest(look: Look, rules: HouseRules) -> int:
    """P5b: the top card has the rank of the card now lowest, burned cards included."""
    return _top_bottom(look, look.bottom, rules) if len(look.top) >= 2 or look.under else 0


@_pattern("P5c")
def top_bottom_in_kind(look: Look, rules: HouseRules) -> int:
    """P5c: top-bottom, and suit or colour match as well."""
    return lowest(look, rules) if rules.has("P5b") else first_played(look, rules)


def _top_bottom(look: Look, other: str, rules: HouseRules) -> int:
    if not look.top or not other or not _alike(look.top[0], other):
        return 0
    if rules.has("P5c"):
        same = suit if rules.value("P5c") == "suit" else colour
        return 1 if same(look.top[0]) == same(other) else 0
    return 1


@_pattern("P6")
def marriage(look: Look, rules: HouseRules) -> int:
    """P6: king and queen adjacent, either order; with N4 only in one suit."""
    return _pair(look, "KQ", 1, rules.has("N4"))


@_pattern("P7")
def divorce(look: Look, rules: HouseRules) -> int:
    """P7: king and queen with one card between, either order; with N4 only in one suit."""
    return _pair(look, "KQ", 2, rules.has("N4"))


@_pattern("N4")
def courts(look: Look, rules: HouseRules) -> int:
    """N4: king and jack, or queen and jack, adjacent."""
    return _pair(look, "KJ", 1, False) or _pair(look, "QJ", 1, False)


def _pair(look: Look, ranks: str, distance: int, one_suit: bool) -> int:
    if len(look.top) <= distance:
        return 0
    one, other = look.top[0], look.top[distance]
    if {rank(one), rank(other)} != set(ranks) or (one_suit and suit(one) != suit(other)):
        return 0
    return distance + 1


@_pattern("P8")
def tens(look: Look, rules: HouseRules) -> int:
    """P8: the top two add up to ten."""
    return _adds_up(look, 1, rules)


@_pattern("P9")
def add_up_sandwich(look: Look, rules: HouseRules) -> int:
    """P9: the top card and the third add up to ten."""
    return _adds_up(look, 2, rules)


def _adds_up(look: Look, distance: int, rules: HouseRules) -> int:
    if len(look.top) <= distance:
        return 0
    values = value(look.top[0]), value(look.top[distance])
    if 0 in values or (1 in values and not rules.value("P8")):
        return 0
    return distance + 1 if sum(values) == 10 else 0


@_pattern("P10a")
def flush(look: Look, rules: HouseRules) -> int:
    """P10a: the top three (or n) share a suit."""
    return _same(look, rules.value("P10a"), suit, rules.has("P13c"))


@_pattern("P10b")
def colour_run(look: Look, rules: HouseRules) -> int:
    """P10b: the top four (or n) share a colour."""
    return _same(look, rules.value("P10b"), _colour, rules.has("P13c"))


def _colour(card: str) -> str:
    return colour(card) if rank(card) else ""


def _same(look: Look, n: int, what: Callable[[str], str], wild: bool) -> int:
    cards = [card for card in look.top[:n] if not (wild and card[0] == "X")]
    kinds = {what(card) for card in cards}
    return n if len(look.top) >= n and "" not in kinds and len(kinds) <= 1 else 0


@_pattern("P11")
def ratscrew(look: Look, rules: HouseRules) -> int:
    """P11: a six and a nine adjacent, either order."""
    return _pair(look, "69", 1, False)


@_pattern("P12")
def jack_ten(look: Look, rules: HouseRules) -> int:
    """P12: a ten played on a jack."""
    return 2 if len(look.top) >= 2 and rank(look.top[0]) == "T" and rank(look.top[1]) == "J" else 0


@_pattern("P13a")
def any_joker(look: Look, rules: HouseRules) -> int:
    """P13a: any joker may be slapped."""
    return 1 if look.top and look.top[0][0] == "X" else 0


@_pattern("C3b")
def red_joker(look: Look, rules: HouseRules) -> int:
    """C3b: the red joker is an instant slap."""
    return 1 if look.top and look.top[0] == "Xr" else 0


@_pattern("P14")
def wild_rank(look: Look, rules: HouseRules) -> int:
    """P14: the number rank drawn before play."""
    return 1 if look.top and look.wild and rank(look.top[0]) == look.wild else 0


@_pattern("P15")
def count_match(look: Look, rules: HouseRules) -> int:
    """P15: the n-th card paid to a challenge has the value n."""
    return 1 if look.top and look.paid and value(look.top[0]) == look.paid else 0


@_pattern("P16")
def three_of_a_kind(look: Look, rules: HouseRules) -> int:
    """P16: the top three share a rank; as a slap only where the game does not end by it."""
    top = look.top
    if rules.value("P16") == "ends_game" or len(top) < 3:
        return 0
    return 3 if _alike(top[0], top[1]) and _alike(top[1], top[2]) else 0


@_pattern("P17")
def any_ten(look: Look, rules: HouseRules) -> int:
    """P17: a ten of any suit."""
    return 1 if look.top and rank(look.top[0]) == "T" else 0


@_pattern("P18")
def any_jack(look: Look, rules: HouseRules) -> int:
    """P18: any jack (the game Slapjack)."""
    return 1 if look.top and rank(look.top[0]) == "J" else 0


@_pattern("N14")
def called(look: Look, rules: HouseRules) -> int:
    """N14: the card equals the rank that was called for it."""
    return 1 if look.top and look.said and rank(look.top[0]) == look.said else 0


def patterns(look: Look, rules: HouseRules) -> tuple[tuple[str, ...], int]:
    """Ids of all patterns that hold, in the order of the rules, and how many top cards they rest on."""
    if rules.has("P13b") and look.top and look.top[0][0] == "X":
        return (), 0
    held = _held(look, rules)
    if not held and rules.has("N15"):
        held = _anywhere(look, rules)
    return tuple(row for row, _ in held), max((depth for _, depth in held), default=0)


def _held(look: Look, rules: HouseRules) -> list[tuple[str, int]]:
    held = []
    for row, holds in PATTERNS.items():
        if row in rules.on:
            depth = holds(look, rules) or (_with_wild_jokers(row, holds, look, rules) if rules.has("P13c") else 0)
            if depth:
                held.append((row, depth))
    if rules.has("P19"):
        held += [(f"P19:{name}", own.depth) for name, own in own_patterns(rules) if _own_holds(own, look, rules)]
    return held


def _anywhere(look: Look, rules: HouseRules) -> list[tuple[str, int]]:
    """N15: the pattern may lie anywhere in the pile."""
    for skip in range(1, len(look.top)):
        under = _held(look._replace(top=look.top[skip:], paid=0, said=""), rules)
        if under:
            return [("N15", skip + max(depth for _, depth in under)), *((row, skip + depth) for row, depth in under)]
    return []


def _with_wild_jokers(row: str, holds: Pattern, look: Look, rules: HouseRules) -> int:
    """P13c: try every card that the jokers among those looked at may stand for."""
    if row == "P5c":
        depth, end = 1, "bottom" if rules.has("P5b") else "first"
    elif row in BY_RANK:
        depth, end = BY_RANK[row]
    else:
        return 0
    suits = SUITS if (end and rules.has("P5c")) or rules.has("N4") else "s"
    alphabet = [letter + kind for letter in RANKS for kind in suits]
    seen = _stand_ins(look, depth, (end,) if end else (), alphabet)
    return max((holds(reading, rules) for reading in seen), default=0)


def _own_holds(own: Compiled, look: Look, rules: HouseRules) -> bool:
    if own.holds(look):
        return True
    if not rules.has("P13c"):
        return False
    ranks = RANKS if own.asks & {"rank", "high"} else "2"
    suits = SUITS if own.asks & {"suit", "colour"} else "s"
    cards = [letter + kind for letter in ranks for kind in suits]
    ends = tuple(end for end in ("first", "bottom") if end in own.asks)
    return any(own.holds(seen) for seen in _stand_ins(look, own.depth, ends, cards))


def _stand_ins(look: Look, depth: int, ends: tuple[str, ...], alphabet: list[str]) -> Iterator[Look]:
    """Every reading of the pile in which jokers among the top cards and at the ends stand for other cards."""
    ends = tuple(end for end in ends if getattr(look, end)[:1] == "X")
    places = [place for place, card in enumerate(look.top[:depth]) if card[0] == "X"]
    while places and len(alphabet) ** (len(places) + len(ends)) > MOST_READINGS:
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
    return tuple((name, _compiled(text)) for name, text in rules.value("P19").items())


@lru_cache(maxsize=256)
def _compiled(text: str) -> Compiled:
    return compile_pattern(text)
