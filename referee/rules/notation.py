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

import re
from dataclasses import dataclass
from typing import Any, Final

from referee.rules.conditions import (
    COMPARISONS,
    Condition,
    PileView,
    Readings,
    Term,
    added,
    compared,
    constant,
    counted,
    is_completed,
    is_joker,
    joined,
    negated,
    property_of,
    within,
)
from referee.sentence import Sentence, Spoken

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 30


class NotationError(Spoken, ValueError):
    """A pattern that cannot be read; ``at`` is the offset in the text, from 0, that the message points to."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        self.at = at
        self.problem = problem
        words = "{problem}, at character {at}: {before}>>>{after}"
        super().__init__(Sentence(words, problem=problem, at=at + 1, before=text[:at], after=text[at:]))


@dataclass(frozen=True, slots=True)
class Compiled:
    """A pattern ready to be tested against a pile."""

    _condition: Condition
    depth: int
    """Number of top cards that it looks at."""

    def holds(self, look: PileView) -> bool:
        """Whether it holds for a pile as it is."""
        return len(look.top) >= self.depth and self._condition.true_in(Readings(look)) != 0

    def completed(self, look: PileView) -> bool:
        """Whether wild jokers complete it (P13c): every joker stands for one card, the same wherever it counts.

        Without a joker among the cards that it looks at, nothing completes it.
        """
        if len(look.top) < self.depth:
            return False
        jokers = any(card[:1] == "X" for card in (look.first, look.bottom, *look.top[: self.depth]))
        return jokers and is_completed(self._condition, look)


_TOKEN: Final = re.compile(r"\s*(?:(\d+)|([A-Za-z]+)|(!=|<=|>=|[=<>+\-(){},]))")
_NUMBERS: Final = {"A": 1, "T": 10, "J": 11, "Q": 12, "K": 13}
_WORDS: Final = {
    **{word: word[0] for word in ("spades", "hearts", "diamonds", "clubs")},
    "red": "red",
    "black": "black",
}
_PLACES: Final = ("first", "bottom")
_COUNTS: Final = ("paid", "wild", "said", "size")
_OF_CARD: Final = ("rank", "high", "suit", "colour", "color")


def compile_pattern(text: Any) -> Compiled:
    """Read a pattern.

    Raises:
        NotationError: the text is not a pattern; points at the character and says what was expected there.
    """
    if not isinstance(text, str):
        raise NotationError("", 0, Sentence("a pattern is a text"))
    if len(text) > MAX_LENGTH:
        raise NotationError(text[:20], 0, Sentence("a pattern has at most {most} characters", most=MAX_LENGTH))
    parser = _Parser(text)
    condition = parser.whole()
    return Compiled(condition, parser.depth)


class _Parser:
    """A recursive-descent parser over the tokens of one pattern."""

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
                raise NotationError(self.text, at, Sentence("{sign} means nothing here", sign=repr(self.text[at])))
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
            raise self.fail(Sentence('expected "{wanted}"', wanted=wanted))

    def whole(self) -> Condition:
        node = self.either()
        if self.token:
            raise self.fail(Sentence('expected "and", "or", or the end'))
        return node

    def either(self) -> Condition:
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        return joined("or", parts)

    def both(self) -> Condition:
        parts = [self.negation()]
        while self.take("and"):
            parts.append(self.negation())
        return joined("and", parts)

    def negation(self) -> Condition:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise self.fail(Sentence("nested too deep"))
        node = self._negation()
        self.nesting -= 1
        return node

    def _negation(self) -> Condition:
        if self.take("not"):
            return negated(self.negation())
        if self.take("("):
            node = self.either()
            self.need(")")
            return node
        return self.comparison()

    def comparison(self) -> Condition:
        if self.token == "joker":
            return is_joker(self.of_card())
        left = self.sum()
        if self.take("in"):
            return within(left, self.members())
        links: list[Condition] = []
        while sign := self.take(*COMPARISONS):
            right = self.sum()
            links.append(compared(left, sign, right))
            left = right
        if not links:
            raise self.fail(Sentence("expected =, !=, <, <=, >, >= or in"))
        return joined("and", links)

    def members(self) -> list[Term]:
        self.need("{")
        members = [self.sum()]
        while self.take(","):
            members.append(self.sum())
        self.need("}")
        return members

    def sum(self) -> Term:
        node = self.term()
        while sign := self.take("+", "-"):
            node = added(node, self.term(), 1 if sign == "+" else -1)
        return node

    def term(self) -> Term:
        token = self.token
        if token in _OF_CARD:
            return property_of(token, self.of_card())
        if token in _COUNTS:
            self.place += 1
            return counted(token)
        found: Any = int(token) if token.isdigit() else _NUMBERS.get(token, _WORDS.get(token))
        if found is None:
            raise self.fail(Sentence("expected rank(n), suit(n), colour(n), a rank, a suit, a colour or a number"))
        self.place += 1
        return constant(found)

    def of_card(self) -> int | str:
        """Parse the card in brackets after a property word."""
        self.place += 1
        self.need("(")
        card = self.card()
        self.need(")")
        return card

    def card(self) -> int | str:
        if place := self.take(*_PLACES):
            return place
        if not self.token.isdigit() or not 1 <= int(self.token) <= 52:
            raise self.fail(Sentence("expected a card: 1 (the newest) to 52, first or bottom"))
        number = int(self.token)
        self.place += 1
        self.depth = max(self.depth, number)
        return number
