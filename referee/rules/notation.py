"""Patterns written by users (P19): a small notation for ranks, suits, colours, positions and sums.

A pattern is a condition on the played cards, counted from the top: card 1 is the newest. ::

    rank(1) = rank(2)                              a double
    rank(1) = rank(3) and rank(1) != rank(2)       a sandwich
    rank(1) + rank(2) = 10                         tens
    suit(1) = suit(2) = suit(3)                    a flush
    rank(1) in {Q, K} and rank(2) in {Q, K}        two of king and queen
    rank(1) = rank(first)                          top-bottom

``rank`` counts A=1, J=11, Q=12, K=13, ``high`` the same with the ace as 14, ``suit`` and ``colour`` are words, and
``joker(1)`` holds for a joker. ``first`` and ``bottom`` stand for the first card played and the lowest card, ``paid``
for the number of the top card among the cards paid to a challenge, ``wild`` for the wild rank. A condition on a card
that is not there, or on the rank of a joker, does not hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from referee.rules.cards import colour, suit, value

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 30


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


_Node = Callable[[PileView], Any]
"""A condition, or a value that one is made of."""
_CardOf = Callable[[PileView], str]

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Missing(Exception):  # noqa: N818 - caught by `_holds`
    """A card that is not there, or a joker's rank."""


def _either(one: _Node, other: _Node) -> _Node:
    return lambda look: _holds(one, look) or _holds(other, look)


def _both(one: _Node, other: _Node) -> _Node:
    return lambda look: _holds(one, look) and _holds(other, look)


def _not(node: _Node) -> _Node:
    return lambda look: not _holds(node, look)


def _holds(node: _Node, look: PileView) -> bool:
    try:
        return bool(node(look))
    except _Missing:
        return False


def _within(left: _Node, members: list[_Node]) -> _Node:
    return lambda look: left(look) in [member(look) for member in members]


def _compared(left: _Node, links: list[tuple[str, _Node]]) -> _Node:
    def compared(look: PileView) -> bool:
        one = left(look)
        for sign, node in links:
            other = node(look)
            if type(one) is not type(other) or not _COMPARE[sign](one, other):
                return False
            one = other
        return True

    return compared


def _added(one: _Node, other: _Node, sign: int) -> _Node:
    def total(look: PileView) -> int:
        left, right = one(look), other(look)
        if not isinstance(left, int) or not isinstance(right, int):
            raise _Missing
        return left + sign * right

    return total


def _counted(what: str) -> _Node:
    def number(look: PileView) -> int:
        found = {"paid": look.paid, "size": len(look.top), "wild": value(look.wild) if look.wild else 0}[what]
        if not found:
            raise _Missing
        return found

    return number


def _first_card(look: PileView) -> str:
    if len(look.top) < 2 or not look.first:
        raise _Missing
    return look.first


def _bottom_card(look: PileView) -> str:
    if not look.bottom or (len(look.top) < 2 and not look.under):
        raise _Missing
    return look.bottom


def _property_of(what: str, card: _CardOf) -> _Node:
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


class NotationError(ValueError):
    """A pattern that cannot be read; ``at`` is the place in the text, from 0, and the message points there."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        self.at = at
        self.problem = problem
        super().__init__(f"{problem}, at character {at + 1}: {text[:at]}>>>{text[at:]}")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A pattern ready to look: whether it holds, how many top cards it looks at, and what it asks of cards."""

    holds: Callable[[PileView], bool]
    depth: int
    asks: frozenset[str] = frozenset()
    """Of ``rank``, ``high``, ``suit``, ``colour``, ``joker``, ``first`` and ``bottom`` those that stand in it."""


_TOKEN: Final = re.compile(r"\s*(?:(\d+)|([A-Za-z]+)|(!=|<=|>=|[=<>+\-(){},]))")
_NUMBERS: Final = {"A": 1, "T": 10, "J": 11, "Q": 12, "K": 13}
_WORDS: Final = {
    **{word: word[0] for word in ("spades", "hearts", "diamonds", "clubs")},
    "red": "red",
    "black": "black",
}
_PLACES: Final = ("first", "bottom")
_COUNTS: Final = ("paid", "wild", "size")
_OF_CARD: Final = ("rank", "high", "suit", "colour", "color", "joker")


def compile_pattern(text: Any) -> Compiled:
    """Read a pattern.

    Raises:
        NotationError: the text is no pattern; points at the character and says what was expected there.
    """
    if not isinstance(text, str):
        raise NotationError("", 0, "a pattern is a text")
    if len(text) > MAX_LENGTH:
        raise NotationError(text[:20], 0, f"a pattern has at most {MAX_LENGTH} characters")
    parser = _Parser(text)
    node = parser.whole()
    depth = parser.depth

    def whole(look: PileView) -> bool:
        return len(look.top) >= depth and _holds(node, look)

    return Compiled(whole, depth, frozenset(parser.asks))


class _Parser:
    """Recursive descent over the tokens of one pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 1
        self.nesting = 0
        self.asks: set[str] = set()
        self.tokens = self._split()
        self.place = 0

    def _split(self) -> list[tuple[str, int]]:
        tokens: list[tuple[str, int]] = []
        at = 0
        end = len(self.text.rstrip())
        while at < end:
            found = _TOKEN.match(self.text, at)
            if found is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                raise NotationError(self.text, at, f"{self.text[at]!r} means nothing here")
            token = found.group(1) or found.group(2) or found.group(3)
            tokens.append((token, found.end() - len(token)))
            at = found.end()
        tokens.append(("", end))
        return tokens

    @property
    def token(self) -> str:
        return self.tokens[self.place][0]

    def fail(self, problem: str) -> NotationError:
        return NotationError(self.text, self.tokens[self.place][1], problem)

    def take(self, *wanted: str) -> str | None:
        if self.token in wanted:
            self.place += 1
            return self.tokens[self.place - 1][0]
        return None

    def need(self, wanted: str) -> None:
        if self.take(wanted) is None:
            raise self.fail(f'expected "{wanted}"')

    def whole(self) -> _Node:
        node = self.either()
        if self.token:
            raise self.fail('expected "and", "or", or the end')
        return node

    def either(self) -> _Node:
        node = self.both()
        while self.take("or"):
            node = _either(node, self.both())
        return node

    def both(self) -> _Node:
        node = self.negation()
        while self.take("and"):
            node = _both(node, self.negation())
        return node

    def negation(self) -> _Node:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise self.fail("nested too deep")
        node = self._negation()
        self.nesting -= 1
        return node

    def _negation(self) -> _Node:
        if self.take("not"):
            return _not(self.negation())
        if self.take("("):
            node = self.either()
            self.need(")")
            return node
        return self.comparison()

    def comparison(self) -> _Node:
        if self.token == "joker":
            return self.of_card()
        left = self.sum()
        if self.take("in"):
            return _within(left, self.members())
        links: list[tuple[str, _Node]] = []
        while sign := self.take(*_COMPARE):
            links.append((sign, self.sum()))
        if not links:
            raise self.fail("expected =, !=, <, <=, >, >= or in")
        return _compared(left, links)

    def members(self) -> list[_Node]:
        self.need("{")
        members = [self.sum()]
        while self.take(","):
            members.append(self.sum())
        self.need("}")
        return members

    def sum(self) -> _Node:
        node = self.term()
        while sign := self.take("+", "-"):
            node = _added(node, self.term(), 1 if sign == "+" else -1)
        return node

    def term(self) -> _Node:
        token = self.token
        if token in _OF_CARD and token != "joker":
            return self.of_card()
        if token in _COUNTS:
            self.place += 1
            return _counted(token)
        constant: Any = int(token) if token.isdigit() else _NUMBERS.get(token, _WORDS.get(token))
        if constant is None:
            raise self.fail("expected rank(n), suit(n), colour(n), a rank, a suit, a colour or a number")
        self.place += 1
        return lambda _: constant

    def of_card(self) -> _Node:
        what = self.token
        self.asks.add("colour" if what == "color" else what)
        self.place += 1
        self.need("(")
        card = self.card()
        self.need(")")
        return _property_of(what, card)

    def card(self) -> _CardOf:
        if place := self.take(*_PLACES):
            self.asks.add(place)
            return _first_card if place == "first" else _bottom_card
        if not self.token.isdigit() or not 1 <= int(self.token) <= 52:
            raise self.fail("expected a card: 1 (the newest) to 52, first or bottom")
        number = int(self.token)
        self.place += 1
        self.depth = max(self.depth, number)
        return lambda look: look.top[number - 1]
