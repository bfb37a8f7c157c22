"""What of a pile a pattern may look at.

What the patterns of the notation are made of: conditions on a pile, put together from smaller ones.

A condition on a card that is not there, or on the rank of a joker, does not hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from referee.rules.cards import colour, suit, value


class PileView(NamedTuple):
    """What a pattern may look at."""

    top: tuple[str, ...]
    """Played cards, newest first."""
    first: str = ""
    """The first card played to this pile."""
    bottom: str = ""
    """The card that lies lowest; ``??`` where nobody saw it."""
    paid: int = 0
    """The top card is the n-th paid to a challenge; 0 where it was not paid."""
    wild: str = ""
    """The wild rank, once drawn."""
    said: str = ""
    """The rank that was called for the top card."""
    under: bool = False
    """Whether a burned card lies under the played ones."""


Node = Callable[[PileView], Any]
"""A condition, or a value that one is made of."""
CardOf = Callable[[PileView], str]

COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Missing(Exception):  # noqa: N818 - caught by `holds`
    """A card that is not there, or a joker's rank."""


def either(one: Node, other: Node) -> Node:
    return lambda look: holds(one, look) or holds(other, look)


def both(one: Node, other: Node) -> Node:
    return lambda look: holds(one, look) and holds(other, look)


def negated(node: Node) -> Node:
    return lambda look: not holds(node, look)


def holds(node: Node, look: PileView) -> bool:
    try:
        return bool(node(look))
    except _Missing:
        return False


def within(left: Node, members: list[Node]) -> Node:
    return lambda look: left(look) in [member(look) for member in members]


def chain(left: Node, links: list[tuple[str, Node]]) -> Node:
    def compared(look: PileView) -> bool:
        one = left(look)
        for sign, node in links:
            other = node(look)
            if type(one) is not type(other) or not COMPARE[sign](one, other):
                return False
            one = other
        return True

    return compared


def added(one: Node, other: Node, sign: int) -> Node:
    def total(look: PileView) -> int:
        left, right = one(look), other(look)
        if not isinstance(left, int) or not isinstance(right, int):
            raise _Missing
        return left + sign * right

    return total


def counted(what: str) -> Node:
    def number(look: PileView) -> int:
        found = {"paid": look.paid, "size": len(look.top), "wild": value(look.wild) if look.wild else 0}[what]
        if not found:
            raise _Missing
        return found

    return number


def first(look: PileView) -> str:
    if len(look.top) < 2 or not look.first:
        raise _Missing
    return look.first


def bottom(look: PileView) -> str:
    if not look.bottom or (len(look.top) < 2 and not look.under):
        raise _Missing
    return look.bottom


def property_of(what: str, card: CardOf) -> Node:
    if what == "joker":
        return lambda look: card(look)[0] == "X"

    def of(look: PileView) -> Any:
        seen = card(look)
        number = value(seen)
        if not number:
            raise _Missing
        if what in ("rank", "high"):
            return 14 if what == "high" and number == 1 else number
        return suit(seen) if what == "suit" else colour(seen)

    return of
