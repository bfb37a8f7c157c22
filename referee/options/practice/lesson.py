"""A lesson in slapping: practice piles, the order of patterns, the judging, and the report. Pure.

`Lesson` takes instants of a hand and returns prompts: no clock, no screen, no device. The caller
(`referee.options.practice.trainer`) shows each prompt at once, reports with `Lesson.shown` when a card became visible,
reports every hand up to an instant before it calls `Lesson.advance` with that instant, and calls that no later than
`Lesson.due`.

A missed pattern returns soon, a known one seldom: S. Leitner's boxes ("So lernt man lernen", 1972), counted in deals
instead of days. A success moves a pattern one box on, a miss moves it back to the first, and a pattern of box n returns
after 2ⁿ deals. The next pattern is introduced when all those introduced have been right twice running.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.record.league import Median, median
from referee.rules.cards import JOKERS, PACK
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules
from referee.rules.matches import find_patterns, own_patterns
from referee.rules.patterns import PATTERNS
from referee.text.rules import sentence
from referee.text.ruling_lines import pretty
from referee.units import MS, whole_ms

_TRIES: Final = 400
"""Number of piles tried for one pattern before giving up."""
_FEWEST, _MOST = 2, 6
"""Number of cards before the one that matters."""
_NEEDS_A_GAME: Final = frozenset(("P13b", "P13c", "P14", "P15", "P16b", "N14", "N15"))
"""Patterns that depend on more than a pile (a drawn or called rank, a challenge), and rows that only change others."""
_LAST: Final = 4
KNOWN_BOX: Final = 2
"""Box from which on a pattern counts as known, so that a new one may follow."""
NO_PATTERN: Final = ""
"""A pile with nothing to slap."""
_SELDOM, _OFTEN = 0.25, 0.5
"""Share of piles with nothing to slap: usually, and after such a pile was slapped nevertheless."""
_CALM: Final = 3
"""Such piles that must be left alone until they become rare again."""
_PACE: Final = 1500 * MS
"""Time from card to card, and for which a pattern stays open, ns."""
BEFORE_PILE: Final = 900 * MS
"""Time before the first card of a pile, ns."""
AFTER_PILE: Final = 2500 * MS
"""Time after a pile, to read the explanation, ns."""
_SOONEST: Final = 100 * MS
"""Shortest human reaction: R. Whelan, The Psychological Record 58 (2008), 475 to 482."""
_NEVER: Final = 2**62


def _look(pile: Sequence[str]) -> PileView:
    """Return the view of a pile, the newest card last."""
    return PileView(tuple(reversed(pile)), first=pile[0] if pile else "", bottom=pile[0] if pile else "")


def held(pile: Sequence[str], rules: HouseRules) -> tuple[str, ...]:
    """Return the patterns that a pile makes."""
    return find_patterns(_look(pile), rules)[0]


def deal(target: str, rules: HouseRules, chance: random.Random) -> tuple[str, ...] | None:
    """Deal a pile in which nothing may be slapped except, if there is a ``target``, that pattern at the very end.

    Args:
        target: a pattern's id; empty for a pile with nothing to slap.
        rules: the house rules.
        chance: random source.

    Returns:
        The cards in the order in which they are laid; None if no such pile was found, since another pattern of these
            rules always comes before this one.
    """
    deck = PACK + (JOKERS if rules.has("S3") and rules.number("S3") else ())
    for _ in range(_TRIES):
        left = list(deck)
        chance.shuffle(left)
        many = chance.randint(_FEWEST, _MOST)
        pile: list[str] = []
        for card in tuple(left):
            if len(pile) == many:
                break
            if not held((*pile, card), rules):
                pile.append(card)
                left.remove(card)
        if not target:
            return tuple(pile)
        last = next((card for card in left if target in held((*pile, card), rules)), None)
        if last is not None:
            return (*pile, last)
    return None


def taught(rules: HouseRules, seed: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the patterns of these rules that can be practised, the shortest first, and those that cannot."""
    rows = [row for row in PATTERNS if row in rules.on and row not in _NEEDS_A_GAME]
    rows += [f"P19:{name}" for name, _ in own_patterns(rules)] if rules.has("P19") else []
    can = tuple(row for row in rows if deal(row, rules, random.Random(seed)) is not None)
    cannot = tuple(row for row in PATTERNS if row in rules.on and row not in can)
    return can, cannot + tuple(row for row in rows if row not in can and row not in cannot)


class Repetition:
    """The order of practice.

    Args:
        patterns: ids, in the order of their introduction.
        chance: breaks ties, and decides when there is nothing to slap.
        known: patterns that need no introduction.
    """

    def __init__(self, patterns: Sequence[str], chance: random.Random, known: Sequence[str] = ()) -> None:
        self._waiting = [row for row in patterns if row not in known]
        self._boxes = {row: 0 for row in patterns if row in known}
        self._due = dict(self._boxes)
        """The deal at which each pattern returns."""
        self._chance = chance
        self._deals = 0
        self._rash = 0

    @property
    def introduced(self) -> tuple[str, ...]:
        """The introduced patterns, in order."""
        return tuple(self._boxes)

    def box(self, row: str) -> int:
        """Return how well a pattern is known: 0 to `_LAST`."""
        return self._boxes[row]

    def next(self) -> tuple[str, bool]:
        """Return the pattern of the next pile, or `NO_PATTERN`; and whether it is new."""
        self._deals += 1
        if self._waiting and all(box >= KNOWN_BOX for box in self._boxes.values()):
            row = self._waiting.pop(0)
            self._boxes[row], self._due[row] = 0, self._deals
            return row, True
        if not self._boxes or self._chance.random() < (_OFTEN if self._rash else _SELDOM):
            return NO_PATTERN, False
        soonest = min(self._due.values())
        return self._chance.choice([row for row, due in self._due.items() if due == soonest]), False

    def result(self, row: str, right: bool) -> None:
        """Record a result; for `NO_PATTERN`, right means that nothing was slapped."""
        if row == NO_PATTERN:
            self._rash = _CALM if not right else max(0, self._rash - 1)
            return
        self._boxes[row] = min(self._boxes[row] + 1, _LAST) if right else 0
        self._due[row] = self._deals + (1 << self._boxes[row])


class PromptKind(Enum):
    """The kind of a prompt."""

    LESSON = "lesson"
    """A new pattern, explained with an example; the lesson waits for a hand."""
    PILE = "pile"
    """The old cards are gone."""
    CARD = "card"
    RIGHT = "right"
    MISSED = "missed"
    FALSE = "false"
    SOON = "soon"
    """On a pattern, but too soon to be a reaction to it."""
    LEFT = "left"
    """Nothing to slap, and nothing slapped."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt to show and to say."""

    kind: PromptKind
    t: int
    words: str = ""
    card: str = ""
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Try:
    """The result of one pile."""

    row: str
    """The pattern; empty if there was nothing to slap."""
    kind: PromptKind
    since: int | None = None
    """Time from the reveal to the hand, ns, if it was right."""
    error: int = 0
    """Error of that time: the hand's and the card's together, ns."""


class _Phase(Enum):
    WAITING, DEALING, RESTING, OVER = range(4)


class Lesson:
    """One session.

    Args:
        rules: the house rules.
        seed: of the piles; the same seed and the same hands give the same lesson.
        deals: number of piles.
        pace: from card to card, ns.
        shown_error: error of a card's instant, ns.
        steps: introduce the patterns one after another; otherwise all are known from the start.
    """

    def __init__(
        self, rules: HouseRules, seed: int, *, deals: int = 40, pace: int = _PACE, shown_error: int = 0,
        steps: bool = True,
    ) -> None:  # fmt: skip
        self._rules, self._left, self._pace, self._shown_error = rules, deals, pace, shown_error
        self._chance = random.Random(seed)
        self.patterns, self.not_taught = taught(rules, seed)
        self.order = Repetition(self.patterns, self._chance, known=() if steps else self.patterns)
        self.tries: list[Try] = []
        self._phase = _Phase.WAITING
        self._row = NO_PATTERN
        self._cards: tuple[str, ...] = ()
        self._reveals: list[int] = []
        self.due = _NEVER
        """Latest time for the next call of `advance`, ns."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._phase is _Phase.OVER

    def start(self, t: int) -> list[Prompt]:
        """Begin at ``t`` (ns)."""
        if self.patterns:
            return self._next(t)
        self._phase = _Phase.OVER
        return [Prompt(PromptKind.OVER, t, "These rules have no pattern that can be practised alone.")]

    def shown(self, t: int) -> None:
        """The newest card became visible at ``t`` (ns)."""
        if self._reveals:
            self._reveals[-1] = t
            self.due = t + self._pace

    def hand(self, t: int, t_error: int = 0) -> list[Prompt]:
        """Take a hand at ``t`` (ns), ± ``t_error``."""
        if self._phase is _Phase.WAITING:
            return self._begin(t)
        if self._phase is not _Phase.DEALING or not self._reveals or t < self._reveals[0]:
            return []
        at = sum(reveal <= t for reveal in self._reveals)
        pile, since = self._cards[:at], t - self._reveals[at - 1]
        rows = held(pile, self._rules)
        if not rows:
            return self._judged(t, Try(self._row, PromptKind.FALSE), self._why_not(pile), ())
        words = f"{whole_ms(since, t_error + self._shown_error)} ms"
        if since < _SOONEST:
            words += " after the card: too soon to have seen it. A lucky guess costs a card elsewhere."
            return self._judged(t, Try(self._row, PromptKind.SOON), words, rows)
        made = Try(self._row, PromptKind.RIGHT, since, t_error + self._shown_error)
        return self._judged(t, made, f"{words}. {self._says(rows)}", rows)

    def advance(self, t: int) -> list[Prompt]:
        """Advance to ``t`` (ns), up to which every hand was reported."""
        if t < self.due:
            return []
        if self._phase is _Phase.RESTING:
            return self._next(t)
        if self._phase is not _Phase.DEALING:
            return []
        if len(self._reveals) < len(self._cards):
            card = self._cards[len(self._reveals)]
            self._reveals.append(t)
            self.due = t + self._pace
            return [Prompt(PromptKind.CARD, t, card=card)]
        rows = held(self._cards, self._rules)
        if rows:
            return self._judged(t, Try(self._row, PromptKind.MISSED), f"Missed. {self._says(rows)}", rows)
        return self._judged(t, Try(self._row, PromptKind.LEFT), "Right: there was nothing to slap.", ())

    def _next(self, t: int) -> list[Prompt]:
        if self._left == 0:
            self._phase, self.due = _Phase.OVER, _NEVER
            return [Prompt(PromptKind.OVER, t)]
        self._left -= 1
        self._row, new = self.order.next()
        cards = deal(self._row, self._rules, self._chance)
        if cards is None:
            # A pattern that was dealt once can fail again only by bad luck; then there is nothing to slap.
            self._row, cards = NO_PATTERN, deal(NO_PATTERN, self._rules, self._chance)
        self._cards = cards or ()
        self._reveals = []
        if not new:
            return self._begin(t)
        self._phase, self.due = _Phase.WAITING, _NEVER
        example = deal(self._row, self._rules, self._chance) or self._cards
        shown = " ".join(map(pretty, example))
        words = f"{sentence_of(self._row, self._rules)} For example: {shown}. Slap when you are ready."
        return [Prompt(PromptKind.LESSON, t, words, rows=(self._row,))]

    def _begin(self, t: int) -> list[Prompt]:
        self._phase, self.due = _Phase.DEALING, t + BEFORE_PILE
        return [Prompt(PromptKind.PILE, t)]

    def _judged(self, t: int, made: Try, words: str, rows: tuple[str, ...]) -> list[Prompt]:
        self.tries.append(made)
        self.order.result(self._row, made.kind in (PromptKind.RIGHT, PromptKind.LEFT))
        self._phase, self.due = _Phase.RESTING, t + AFTER_PILE
        return [Prompt(made.kind, t, words, rows=rows)]

    def _says(self, rows: tuple[str, ...]) -> str:
        return " ".join(f"{row}: {sentence_of(row, self._rules)}" for row in rows)

    def _why_not(self, pile: tuple[str, ...]) -> str:
        words = f"False: {' '.join(map(pretty, pile[-4:]))} makes nothing here."
        rows = (row for row, holds in PATTERNS.items() if row not in self._rules.on and holds(_look(pile), self._rules))
        if (row := next(rows, None)) is not None:
            words += f" (It would at tables that play {row}: {sentence(row, self._rules)})"
        return words


def sentence_of(row: str, rules: HouseRules) -> str:
    """Return a pattern in plain words; the table's own patterns by their names."""
    if row.startswith("P19:"):
        name = row.removeprefix("P19:")
        return f"Your own pattern {name}: {rules.own_patterns[name]}."
    return sentence(row, rules)


def report(lesson: Lesson, rules: HouseRules, timing: str) -> list[str]:
    """Return the lines for the end of a lesson.

    Args:
        lesson: one that is over, or was broken off.
        rules: its house rules.
        timing: the accuracy of the times, in words.
    """
    tries = lesson.tries
    if not tries:
        return ["Nothing was dealt."]
    went = Counter(trial.kind for trial in tries)
    lines = [
        f"{len(tries)} piles: {went[PromptKind.RIGHT]} slapped right, {went[PromptKind.MISSED]} missed, "
        f"{went[PromptKind.FALSE]} slapped falsely, {went[PromptKind.SOON]} too soon to have seen the card."
    ]
    over_all = _median(tries)
    if over_all is not None:
        limits = (
            f" (the true median lies within {_ms(over_all.low, tries)} to {_ms(over_all.high, tries)} ms in 95 of 100 "
            "such lessons)" if over_all.low is not None and over_all.high is not None else " (too few for limits)"
        )  # fmt: skip
        times = "1 time" if over_all.count == 1 else f"{over_all.count} times"
        lines += [f"Reaction time: {_ms(over_all.value, tries)} ms in the median of {times}{limits}.", timing]
    lines += ["", *(_row(row, tries, rules) for row in lesson.order.introduced)]
    weak = [row for row in lesson.order.introduced if lesson.order.box(row) < KNOWN_BOX]
    slow = [row for row in lesson.order.introduced if row not in weak and _slower(row, tries)]
    lines.append("")
    if went[PromptKind.FALSE]:
        lines.append("Practise: leave alone what is nothing; wait until you have seen it.")
    lines += [f"Practise: {row}, {sentence_of(row, rules)}" for row in weak]
    lines += [f"Slower than the others: {row}, {sentence_of(row, rules)}" for row in slow]
    waiting = [row for row in lesson.patterns if row not in lesson.order.introduced]
    if waiting:
        lines.append(f"Still to come: {', '.join(waiting)}.")
    if lesson.not_taught:
        lines.append(f"Not practised, since a pile alone does not show it or another pattern always comes first: "
                     f"{', '.join(lesson.not_taught)}.")  # fmt: skip
    if lines[-1] == "":
        lines.append("Nothing was missed twice: play.")
    return lines


def _median(tries: Iterable[Try]) -> Median | None:
    return median([float(trial.since) for trial in tries if trial.since is not None])


def _ms(ns: float, tries: Iterable[Try]) -> int:
    """Return a time in milliseconds, rounded by the largest error of these tries."""
    return whole_ms(round(ns), max(trial.error for trial in tries))


def _row(row: str, tries: Sequence[Try], rules: HouseRules) -> str:
    of = [trial for trial in tries if trial.row == row]
    found = _median(of)
    time = "" if found is None else f", {_ms(found.value, of)} ms (n = {found.count})"
    return f"{row:5} {sum(prompt.kind is PromptKind.RIGHT for prompt in of)} of {len(of)} right{time}"


def _slower(row: str, tries: Sequence[Try]) -> bool:
    """Return whether a pattern's median is certainly above that of the rest: their limits do not overlap."""
    own = _median(trial for trial in tries if trial.row == row)
    rest = _median(trial for trial in tries if trial.row not in (row, NO_PATTERN))
    if own is None or rest is None or own.low is None or rest.high is None:
        return False
    return own.low > rest.high
