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
for the number of the top card among the cards paid to a challenge, ``wild`` for the wild rank, ``said`` for the rank
that was called for the top card, ``size`` for the number of cards. A condition on a card that is not there, or on the
rank of a joker, does not hold.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from referee.rules.cards import SUITS, colour, suit, value

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


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST_READINGS: Final = 13**4
"""How many ways of naming jokers are looked at together: the ranks of four. Beyond that the lowest stay jokers."""
_LOWEST: Final = -1
"""The place of a card that lies under the cards played, or that is told apart from them."""

_Place = int
"""From 1, the newest; or ``_LOWEST`` and below."""
_Ask = tuple[int | str, str]
"""A card as a pattern names it, and ``number`` or ``suit``."""
_Unknown = tuple[_Place, str]
"""What a wild joker may be anything in: its place, and ``number`` or ``suit``."""


class _Readings:
    """All ways of naming the jokers of a pile at once: bit n of a mask stands for the n-th of them.

    A value is a mapping from what it may be to the readings in which it is that (none of them: there is no such card,
    or it is a joker and has no rank), and a condition is a mask: the readings in which it holds. Where no joker is to
    be named there is one reading, the pile as it lies.
    """

    __slots__ = ("everywhere", "look", "named", "wild")

    def __init__(self, look: PileView, unknown: Sequence[_Unknown] = (), *, wild: bool = False) -> None:
        self.look = look
        self.wild = wild
        self.named: dict[_Unknown, Mapping[Any, int]] = {}
        size = math.prod(len(_MAY_BE[kind]) for _, kind in unknown)
        self.everywhere = (1 << size) - 1
        step = 1
        for one in unknown:
            self.named[one] = _masks(one[1], step, size)
            step *= len(_MAY_BE[one[1]])


_MAY_BE: Final[Mapping[str, Sequence[Any]]] = {"number": range(1, 14), "suit": SUITS}


@lru_cache(maxsize=64)
def _masks(kind: str, step: int, size: int) -> Mapping[Any, int]:
    """The readings in which an unknown is each thing that it may be: it changes with every ``step``-th reading."""
    choices = _MAY_BE[kind]
    block, period = (1 << step) - 1, step * len(choices)
    repeated = block * (((1 << size) - 1) // ((1 << period) - 1))
    return {choice: repeated << (step * number) for number, choice in enumerate(choices)}


_Values = Callable[[_Readings], Mapping[Any, int]]
_Truth = Callable[[_Readings], int]


class _Term(NamedTuple):
    """A value, and what it asks of cards."""

    values: _Values
    asks: frozenset[_Ask]


class _Condition(NamedTuple):
    """A condition, and what it asks of cards; ``and`` and ``or`` know their parts."""

    true_in: _Truth
    asks: frozenset[_Ask]
    joined_by: str = ""
    parts: tuple[_Condition, ...] = ()


def _joined(word: str, parts: list[_Condition]) -> _Condition:
    if len(parts) == 1:
        return parts[0]
    tests = [part.true_in for part in parts]

    def both(readings: _Readings) -> int:
        found = readings.everywhere
        for test in tests:
            if not (found := found & test(readings)):
                break
        return found

    def either(readings: _Readings) -> int:
        found = 0
        for test in tests:
            if (found := found | test(readings)) == readings.everywhere:
                break
        return found

    asks = frozenset[_Ask]().union(*(part.asks for part in parts))
    return _Condition(both if word == "and" else either, asks, word, tuple(parts))


def _not(one: _Condition) -> _Condition:
    return _Condition(lambda readings: readings.everywhere & ~one.true_in(readings), one.asks)


def _compared(one: _Term, sign: str, other: _Term) -> _Condition:
    compare = _COMPARE[sign]

    def true_in(readings: _Readings) -> int:
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

    return _Condition(true_in, one.asks | other.asks)


def _within(one: _Term, members: list[_Term]) -> _Condition:
    """In none of the readings in which one of the members has no value."""

    def true_in(readings: _Readings) -> int:
        left, found, told = one.values(readings), 0, readings.everywhere
        for member in members:
            there = 0
            for value_, where in member.values(readings).items():
                found |= where & left.get(value_, 0)
                there |= where
            told &= there
        return found & told

    return _Condition(true_in, one.asks.union(*(member.asks for member in members)))


def _added(one: _Term, other: _Term, sign: int) -> _Term:
    def total(readings: _Readings) -> Mapping[Any, int]:
        found: dict[int, int] = {}
        right = [(number, where) for number, where in other.values(readings).items() if isinstance(number, int)]
        for number, mask in one.values(readings).items():
            if isinstance(number, int):
                for more, where in right:
                    if both := mask & where:
                        found[number + sign * more] = found.get(number + sign * more, 0) | both
        return found

    return _Term(total, one.asks | other.asks)


def _constant(value_: Any) -> _Term:
    return _Term(lambda readings: {value_: readings.everywhere}, frozenset())


def _counted(what: str) -> _Term:
    def number(readings: _Readings) -> Mapping[Any, int]:
        look = readings.look
        found = look.paid if what == "paid" else len(look.top)
        if what in ("wild", "said"):
            rank = look.wild if what == "wild" else look.said
            found = value(rank) if rank else 0
        return {found: readings.everywhere} if found else {}

    return _Term(number, frozenset())


def _found(card: int | str, look: PileView) -> tuple[_Place, str] | None:
    """Where a card lies that a pattern names, and which it is; None where there is none.

    The first card played is the lowest of those at the top, and so is the bottom card where none is burned under it.
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


def _property_of(what: str, card: int | str) -> _Term:
    kind = "number" if what in ("rank", "high") else "suit"

    def values(readings: _Readings) -> Mapping[Any, int]:
        found = _found(card, readings.look)
        if found is None:
            return {}
        named = readings.named.get((found[0], kind))
        if named is None:
            number = value(found[1])
            if not number:
                return {}
            named = {number if kind == "number" else suit(found[1]): readings.everywhere}
        return named if what in ("rank", "suit") else _told(what, named)

    return _Term(values, frozenset(((card, kind),)))


def _told(what: str, named: Mapping[Any, int]) -> Mapping[Any, int]:
    """Ranks with the ace as 14 (``high``), or suits as colours."""
    if what == "high":
        return {14 if number == 1 else number: mask for number, mask in named.items()}
    found: dict[str, int] = {}
    for letter, mask in named.items():
        found[colour("A" + letter)] = found.get(colour("A" + letter), 0) | mask
    return found


def _is_joker(card: int | str) -> _Condition:
    """A joker that stands for another card is none."""

    def true_in(readings: _Readings) -> int:
        found = _found(card, readings.look)
        return readings.everywhere if found is not None and found[1][0] == "X" and not readings.wild else 0

    return _Condition(true_in, frozenset())


def _completed(condition: _Condition, look: PileView) -> bool:
    """Whether there is a way of naming the jokers in which a condition holds.

    Conditions that ask nothing of the same joker are looked at each by itself, so that few jokers stand in each.
    """
    if condition.joined_by == "or":
        return any(_completed(part, look) for part in condition.parts)
    if condition.joined_by != "and":
        return condition.true_in(_Readings(look, _unknown(condition.asks, look), wild=True)) != 0
    groups: list[tuple[set[_Unknown], list[_Condition]]] = []
    for part in _parts(condition):
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
        return condition.true_in(_Readings(look, _unknown(condition.asks, look), wild=True)) != 0
    return all(_completed(_joined("and", together), look) for _, together in groups)


def _parts(condition: _Condition) -> Iterator[_Condition]:
    if condition.joined_by != "and":
        yield condition
    for part in condition.parts if condition.joined_by == "and" else ():
        yield from _parts(part)


def _unknown(asks: Iterable[_Ask], look: PileView) -> list[_Unknown]:
    """What may be anything: jokers of which something is asked, those at the ends first; no more than can be tried."""
    found = set()
    for card, kind in asks:
        seen = _found(card, look)
        if seen is not None and seen[1][0] == "X":
            found.add((seen[0], kind))
    unknown = sorted(found)
    while math.prod(len(_MAY_BE[kind]) for _, kind in unknown) > _MOST_READINGS:
        unknown.pop()
    return unknown


class NotationError(ValueError):
    """A pattern that cannot be read; ``at`` is the place in the text, from 0, and the message points there."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        self.at = at
        self.problem = problem
        super().__init__(f"{problem}, at character {at + 1}: {text[:at]}>>>{text[at:]}")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A pattern ready to look."""

    _condition: _Condition
    depth: int
    """How many top cards it looks at."""

    def holds(self, look: PileView) -> bool:
        """Whether it holds for a pile as it lies."""
        return len(look.top) >= self.depth and self._condition.true_in(_Readings(look)) != 0

    def completed(self, look: PileView) -> bool:
        """Whether wild jokers can complete it (P13c): every joker stands for some card, the same wherever it counts."""
        return len(look.top) >= self.depth and _completed(self._condition, look)


_TOKEN: Final = re.compile(r"\s*(?:(\d+)|([A-Za-z]+)|(!=|<=|>=|[=<>+\-(){},]))")
_NUMBERS: Final = {"A": 1, "T": 10, "J": 11, "Q": 12, "K": 13}
_WORDS: Final = {
    **{word: word[0] for word in ("spades", "hearts", "diamonds", "clubs")},
    "red": "red",
    "black": "black",
}
_PLACES: Final = ("first", "bottom")
_COUNTS: Final = ("paid", "wild", "said", "size")
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
    condition = parser.whole()
    return Compiled(condition, parser.depth)


class _Parser:
    """Recursive descent over the tokens of one pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 1
        self.nesting = 0
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

    def whole(self) -> _Condition:
        node = self.either()
        if self.token:
            raise self.fail('expected "and", "or", or the end')
        return node

    def either(self) -> _Condition:
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        return _joined("or", parts)

    def both(self) -> _Condition:
        parts = [self.negation()]
        while self.take("and"):
            parts.append(self.negation())
        return _joined("and", parts)

    def negation(self) -> _Condition:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise self.fail("nested too deep")
        node = self._negation()
        self.nesting -= 1
        return node

    def _negation(self) -> _Condition:
        if self.take("not"):
            return _not(self.negation())
        if self.take("("):
            node = self.either()
            self.need(")")
            return node
        return self.comparison()

    def comparison(self) -> _Condition:
        if self.token == "joker":
            return _is_joker(self.of_card())
        left = self.sum()
        if self.take("in"):
            return _within(left, self.members())
        links: list[_Condition] = []
        while sign := self.take(*_COMPARE):
            right = self.sum()
            links.append(_compared(left, sign, right))
            left = right
        if not links:
            raise self.fail("expected =, !=, <, <=, >, >= or in")
        return _joined("and", links)

    def members(self) -> list[_Term]:
        self.need("{")
        members = [self.sum()]
        while self.take(","):
            members.append(self.sum())
        self.need("}")
        return members

    def sum(self) -> _Term:
        node = self.term()
        while sign := self.take("+", "-"):
            node = _added(node, self.term(), 1 if sign == "+" else -1)
        return node

    def term(self) -> _Term:
        token = self.token
        if token in _OF_CARD and token != "joker":
            return _property_of(token, self.of_card())
        if token in _COUNTS:
            self.place += 1
            return _counted(token)
        constant: Any = int(token) if token.isdigit() else _NUMBERS.get(token, _WORDS.get(token))
        if constant is None:
            raise self.fail("expected rank(n), suit(n), colour(n), a rank, a suit, a colour or a number")
        self.place += 1
        return _constant(constant)

    def of_card(self) -> int | str:
        """The card in brackets after the word for what is asked of it."""
        self.place += 1
        self.need("(")
        card = self.card()
        self.need(")")
        return card

    def card(self) -> int | str:
        if place := self.take(*_PLACES):
            return place
        if not self.token.isdigit() or not 1 <= int(self.token) <= 52:
            raise self.fail("expected a card: 1 (the newest) to 52, first or bottom")
        number = int(self.token)
        self.place += 1
        self.depth = max(self.depth, number)
        return number
