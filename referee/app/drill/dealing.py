"""Piles to practise on: cards one after another that make one wanted pattern at their end, or none. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from referee.rules.cards import RANKS, SUITS
from referee.rules.holding import own_patterns, patterns
from referee.rules.house import HouseRules
from referee.rules.look import Look
from referee.rules.patterns import PATTERNS

TRIES: Final = 400
"""Piles that are begun for one pattern before it is given up."""
FEWEST, MOST = 2, 6
"""Cards before the one that matters."""
PACK: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
_NEEDS_A_GAME: Final = frozenset(("P13b", "P13c", "P14", "P15", "P16b", "N14", "N15"))
"""Patterns that rest on more than a pile (a drawn or called rank, a challenge), and rows that only change others."""


def look(pile: Sequence[str]) -> Look:
    """What there is to see of a pile, the newest card last."""
    return Look(tuple(reversed(pile)), first=pile[0] if pile else "", bottom=pile[0] if pile else "")


def held(pile: Sequence[str], rules: HouseRules) -> tuple[str, ...]:
    """The patterns that a pile makes."""
    return patterns(look(pile), rules)[0]


def elsewhere(pile: Sequence[str], rules: HouseRules) -> tuple[str, ...]:
    """Patterns that it would make at other tables: rows that are off here."""
    seen = look(pile)
    return tuple(row for row, holds in PATTERNS.items() if row not in rules.on and holds(seen, rules))


def deck(rules: HouseRules) -> tuple[str, ...]:
    """The cards that are in play."""
    return PACK + (("Xr", "Xb") if rules.has("S3") and rules.value("S3") else ())


def deal(target: str, rules: HouseRules, chance: random.Random) -> tuple[str, ...] | None:
    """A pile in which nothing may be slapped but, if there is a ``target``, that pattern at the very end.

    Args:
        target: a pattern's id; empty for a pile with nothing to slap.
        rules: the house rules.
        chance: which one.

    Returns:
        The cards in the order in which they are laid; None where no such pile was found, since another pattern of
        these rules always comes before this one.
    """
    for _ in range(TRIES):
        left = list(deck(rules))
        chance.shuffle(left)
        pile = _filler(left, chance.randint(FEWEST, MOST), rules)
        if not target:
            return pile
        last = next((card for card in left if target in held((*pile, card), rules)), None)
        if last is not None:
            return (*pile, last)
    return None


def _filler(left: list[str], many: int, rules: HouseRules) -> tuple[str, ...]:
    """Cards from the front of ``left`` that make nothing; they are taken out of it."""
    pile: list[str] = []
    for card in tuple(left):
        if len(pile) == many:
            break
        if not held((*pile, card), rules):
            pile.append(card)
            left.remove(card)
    return tuple(pile)


def taught(rules: HouseRules, seed: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns of these rules that can be practised, the shortest first, and those that cannot."""
    rows = [row for row in PATTERNS if row in rules.on and row not in _NEEDS_A_GAME]
    rows += [f"P19:{name}" for name, _ in own_patterns(rules)] if rules.has("P19") else []
    can = tuple(row for row in rows if deal(row, rules, random.Random(seed)) is not None)
    cannot = tuple(row for row in PATTERNS if row in rules.on and row not in can)
    return can, cannot + tuple(row for row in rows if row not in can and row not in cannot)
