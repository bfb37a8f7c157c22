"""Conditions of written patterns on a pile, evaluated for all readings of its wild jokers at once (P13c).

`referee.rules.notation` parses them from text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from referee.rules.cards import SUITS, colour, suit, value


class PileView(NamedTuple):
    """The part of a pile that a pattern may look at."""

    top: tuple[str, ...]
    """Played cards, newest first."""
    first: str = ""
    """The first card played to this pile."""
    bottom: str = ""
    """The lowest card; ``??`` if it was not seen."""
    paid: int = 0
    """Number of the top card among those paid to a challenge; 0 if it was not paid."""
    wild: str = ""
    """The wild rank, once drawn."""
    said: str = ""
    """The rank called for the top card."""
    under: bool = False
    """Whether a burned card lies under the played ones."""


COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST_READINGS: Final = 13**4
"""Maximum number of joker readings evaluated together: the ranks of four. Beyond that the lowest stay jokers."""
_LOWEST: Final = -1
"""The place of a card under the played ones, or of one that is distinct from them."""

_Place = int
"""From 1, the newest; or ``_LOWEST`` and below."""
_Ask = tuple[int | str, str]
"""A card as a pattern names it, and ``number`` or ``suit``."""
_Unknown = tuple[_Place, str]
"""An unknown property of a wild joker: its place, and ``number`` or ``suit``."""


class Readings:
    """All readings of a pile's jokers at once: bit n of a mask stands for the n-th reading.

    A value maps each possible result to the mask of readings that give it (empty: there is no such card, or it is a
    joker and has no rank). A condition is the mask of readings in which it holds. Without jokers to name there is one
    reading, the pile as it is.
    """

    __slots__ = ("everywhere", "look", "named", "wild")

    def __init__(self, look: PileView, unknown: Sequence[_Unknown] = (), *, wild: bool = False) -> None:
        self.look = look
        self.wild = wild
        self.named: dict[_Unknown, Mapping[Any, int]] = {}
        size = math.prod(len(_MAY_BE[kind]) for _, kind in unknown)
        self.everywhere = (1 << size) - 1
        step = 1
        for unread in unknown:
            self.named[unread] = _masks(unread[1], step, size)
            step *= len(_MAY_BE[unread[1]])


_MAY_BE: Final[Mapping[str, Sequence[Any]]] = {"number": range(1, 14), "suit": SUITS}


@lru_cache(maxsize=64)
def _masks(kind: str, step: int, size: int) -> Mapping[Any, int]:
    """Return, by choice, the readings in which an unknown has it; the choice changes every ``step`` readings."""
    choices = _MAY_BE[kind]
    # A block of `step` ones in every period, repeated by the geometric series (2^size - 1) / (2^period - 1).
    block, period = (1 << step) - 1, step * len(choices)
    repeated = block * (((1 << size) - 1) // ((1 << period) - 1))
    return {choice: repeated << (step * number) for number, choice in enumerate(choices)}


_Values = Callable[[Readings], Mapping[Any, int]]
_Truth = Callable[[Readings], int]


class Term(NamedTuple):
    """A value, and the card properties that it depends on."""

    values: _Values
    asks: frozenset[_Ask]


class Condition(NamedTuple):
    """A condition, and the card properties that it depends on; ``and`` and ``or`` keep their parts."""

    true_in: _Truth
    asks: frozenset[_Ask]
    joined_by: str = ""
    parts: tuple[Condition, ...] = ()


def joined(word: str, parts: list[Condition]) -> Condition:
    if len(parts) == 1:
        return parts[0]
    parts = [inner for part in parts for inner in (part.parts if part.joined_by == word else (part,))]
    tests = [part.true_in for part in parts]

    def both(readings: Readings) -> int:
        found = readings.everywhere
        for test in tests:
            if not (found := found & test(readings)):
                break
        return found

    def either(readings: Readings) -> int:
        found = 0
        for test in tests:
            if (found := found | test(readings)) == readings.everywhere:
                break
        return found

    asks = frozenset[_Ask]().union(*(part.asks for part in parts))
    return Condition(both if word == "and" else either, asks, word, tuple(parts))


def negated(one: Condition) -> Condition:
    return Condition(lambda readings: readings.everywhere & ~one.true_in(readings), one.asks)


def compared(one: Term, sign: str, other: Term) -> Condition:
    compare = COMPARISONS[sign]

    def true_in(readings: Readings) -> int:
        left, right = one.values(readings), other.values(readings)
        found = 0
        if sign == "=":
            for value_, mask in left.items():
                found |= mask & right.get(value_, 0)
            return found
        for value_, mask in left.items():
            for another, where in right.items():
                if type(value_) is type(another) and compare(value_, another):
                    found |= mask & where
        return found

    return Condition(true_in, one.asks | other.asks)


def within(one: Term, members: list[Term]) -> Condition:
    """Make a membership test; it fails in readings in which any member has no value."""

    def true_in(readings: Readings) -> int:
        left, found, told = one.values(readings), 0, readings.everywhere
        for member in members:
            there = 0
            for value_, where in member.values(readings).items():
                found |= where & left.get(value_, 0)
                there |= where
            told &= there
        return found & told

    return Condition(true_in, one.asks.union(*(member.asks for member in members)))


def added(one: Term, other: Term, sign: int) -> Term:
    def total(readings: Readings) -> Mapping[Any, int]:
        found: dict[int, int] = {}
        right = [(number, where) for number, where in other.values(readings).items() if isinstance(number, int)]
        for number, mask in one.values(readings).items():
            if isinstance(number, int):
                for more, where in right:
                    if both := mask & where:
                        found[number + sign * more] = found.get(number + sign * more, 0) | both
        return found

    return Term(total, one.asks | other.asks)


def constant(value_: Any) -> Term:
    return Term(lambda readings: {value_: readings.everywhere}, frozenset())


def counted(what: str) -> Term:
    def number(readings: Readings) -> Mapping[Any, int]:
        look = readings.look
        found = look.paid if what == "paid" else len(look.top)
        if what in ("wild", "said"):
            rank = look.wild if what == "wild" else look.said
            found = value(rank) if rank else 0
        return {found: readings.everywhere} if found else {}

    return Term(number, frozenset())


def _found(card: int | str, look: PileView) -> tuple[_Place, str] | None:
    """Return the place and face of the card that a pattern names; None if there is none.

    The first card played is the lowest of the top cards, and so is the bottom card unless a burned card lies under it.
    """
    if isinstance(card, int):
        return card, look.top[card - 1]
    if card == "first":
        if len(look.top) < 2 or not look.first:
            return None
        return (len(look.top) if look.top[-1] == look.first else _LOWEST), look.first
    if not look.bottom or (len(look.top) < 2 and not look.under):
        return None
    same = not look.under and look.top[-1] == look.bottom
    return (len(look.top) if same else _LOWEST - 1), look.bottom


def property_of(what: str, card: int | str) -> Term:
    kind = "number" if what in ("rank", "high") else "suit"

    def values(readings: Readings) -> Mapping[Any, int]:
        found = _found(card, readings.look)
        if found is None:
            return {}
        named = readings.named.get((found[0], kind))
        if named is None:
            number = value(found[1])
            if not number:
                return {}
            named = {number if kind == "number" else suit(found[1]): readings.everywhere}
        return named if what in ("rank", "suit") else _convert_values(what, named)

    return Term(values, frozenset(((card, kind),)))


def _convert_values(what: str, named: Mapping[Any, int]) -> Mapping[Any, int]:
    """Map ranks to ranks with the ace as 14 (``high``), or suits to colours."""
    if what == "high":
        return {14 if number == 1 else number: mask for number, mask in named.items()}
    found: dict[str, int] = {}
    for letter, mask in named.items():
        found[colour("A" + letter)] = found.get(colour("A" + letter), 0) | mask
    return found


def is_joker(card: int | str) -> Condition:
    """Make a condition that the card is a joker; a joker that stands for another card is not."""

    def true_in(readings: Readings) -> int:
        found = _found(card, readings.look)
        return readings.everywhere if found is not None and found[1][0] == "X" and not readings.wild else 0

    return Condition(true_in, frozenset())


def is_completed(condition: Condition, look: PileView) -> bool:
    """Whether a condition holds in any reading of the jokers.

    Conditions that share no joker are evaluated separately, so that each involves few jokers.
    """
    if condition.joined_by == "or":
        return any(is_completed(part, look) for part in condition.parts)
    if condition.joined_by != "and":
        return condition.true_in(Readings(look, _unknown(condition.asks, look), wild=True)) != 0
    groups: list[tuple[set[_Unknown], list[Condition]]] = []
    for part in condition.parts:
        of_them, together = set(_unknown(part.asks, look)), [part]
        apart = []
        for group in groups:
            if of_them.isdisjoint(group[0]):
                apart.append(group)
            else:
                of_them |= group[0]
                together = group[1] + together
        groups = [*apart, (of_them, together)]
    if len(groups) == 1 and len(groups[0][1]) > 1:
        return condition.true_in(Readings(look, _unknown(condition.asks, look), wild=True)) != 0
    groups.sort(key=lambda group: len(group[0]))
    return all(is_completed(joined("and", together), look) for _, together in groups)


def _unknown(asks: Iterable[_Ask], look: PileView) -> list[_Unknown]:
    """Return the joker properties to enumerate, jokers at the ends first; no more than can be tried."""
    found = set()
    for card, kind in asks:
        seen = _found(card, look)
        if seen is not None and seen[1][0] == "X":
            found.add((seen[0], kind))
    unknown = sorted(found)
    while math.prod(len(_MAY_BE[kind]) for _, kind in unknown) > _MOST_READINGS:
        unknown.pop()
    return unknown
