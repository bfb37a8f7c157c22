"""The slap patterns of the presets, in their plainest form: one function each, on real cards.

A card is a text such as ``7h``; jokers are ``Xr`` and ``Xb``. A pattern looks at a number of the newest played cards,
oldest first; P5a and P5b look at two, of which the older is the first played or the lowest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product

SUITS = "shdc"
PACK = [rank + suit for rank in "A23456789TJQK" for suit in SUITS]

Cards = Sequence[str]


def value(card: str) -> float:
    """A is 1, J 11, Q 12, K 13; a joker without a role has no number, so nothing adds up or follows with it."""
    return "A23456789TJQK".index(card[0]) + 1 if card[0] != "X" else float("nan")


def same_rank(one: str, other: str) -> bool:
    """Reading 7: a joker without a role matches nothing, not even another joker."""
    return one[0] == other[0] != "X"


def double(cards: Cards) -> bool:
    return same_rank(cards[0], cards[1])


def sandwich(cards: Cards) -> bool:
    return same_rank(cards[0], cards[2]) and not same_rank(cards[0], cards[1])


def hoagie(cards: Cards) -> bool:
    first, second, third, fourth = cards
    return same_rank(first, fourth) and not same_rank(first, second) and not same_rank(first, third)


def big_mac(cards: Cards) -> bool:
    first, second, third, fourth = cards
    return same_rank(first, fourth) and same_rank(second, third) and not same_rank(first, second)


def run(cards: Cards) -> bool:
    """Up or down; the ace may stand below the two or above the king, never in the middle."""
    for ace in (1, 14):
        values = [ace if card[0] == "A" else value(card) for card in cards]
        steps = {after - before for before, after in pairwise(values)}
        if steps in ({1}, {-1}):
            return True
    return False


def pair_of(ranks: str) -> Callable[[Cards], bool]:
    """These two ranks in either order, as the oldest and the newest of the cards."""
    return lambda cards: {cards[0][0], cards[-1][0]} == set(ranks)


def tens(cards: Cards) -> bool:
    return value(cards[0]) + value(cards[-1]) == 10


def tens_without_ace(cards: Cards) -> bool:
    return tens(cards) and "A" not in (cards[0][0], cards[-1][0])


def flush(cards: Cards) -> bool:
    return len({card[1] for card in cards}) == 1 and all(card[0] != "X" for card in cards)


PATTERNS: dict[str, tuple[int, Callable[[Cards], bool]]] = {
    "P1": (2, double),
    "P2": (3, sandwich),
    "P3a": (4, hoagie),
    "P3b": (4, big_mac),
    "P4a": (3, run),
    "P4b": (4, run),
    "P6": (2, pair_of("KQ")),
    "P7": (3, pair_of("KQ")),
    "P8": (2, tens),
    "P8 without ace": (2, tens_without_ace),
    "P9": (3, tens),
    "P10a": (3, flush),
    "P11": (2, pair_of("69")),
    "P12": (2, lambda cards: (cards[0][0], cards[1][0]) == ("J", "T")),
    "P13a": (1, lambda cards: cards[0][0] == "X"),
    "P17": (1, lambda cards: cards[0][0] == "T"),
    "P18": (1, lambda cards: cards[0][0] == "J"),
}
"""By id: how many of the newest played cards it looks at, and when it holds."""


def holds(test: Callable[[Cards], bool], cards: Cards, wild: bool) -> bool:
    """Whether a pattern holds; a wild joker (P13c) stands for any card that completes it."""
    choices = [PACK if wild and card[0] == "X" else [card] for card in cards]
    return any(test(chosen) for chosen in product(*choices))


def found(played: Cards, lowest: str | None, rows: set[str], drawn: str) -> dict[str, int]:
    """Return all patterns on these played cards, and how many of the newest make each.

    P5a and P5b count the top card alone; the one that it matches is far below.

    Args:
        played: oldest first, without burned and dead ones.
        lowest: the burned card that lies lowest, "" if it is unseen; None where nothing was burned.
        rows: the rules of this table.
        drawn: the wild rank (P14), or "".
    """
    wild = "P13c" in rows
    out: dict[str, int] = {}
    for name, (many, test) in PATTERNS.items():
        if name in rows and len(played) >= many and holds(test, played[-many:], wild):
            out[name.split()[0]] = many
    if "P5a" in rows and len(played) >= 2 and holds(double, (played[0], played[-1]), wild):
        out["P5a"] = 1
    if "P5b" in rows and lowest is None and len(played) >= 2 and holds(double, (played[0], played[-1]), wild):
        out["P5b"] = 1
    if "P5b" in rows and lowest and played and holds(double, (lowest, played[-1]), wild):
        out["P5b"] = 1
    if "P14" in rows and played and played[-1][0] == drawn:
        out["P14"] = 1
    return out
