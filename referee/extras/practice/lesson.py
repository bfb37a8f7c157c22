"""A lesson: instants of a hand go in, prompts come out. Pure: no clock, no screen, no device.

The caller shows each prompt at once, tells with `Lesson.shown` when a card was really to be seen, tells every hand up
to an instant before it calls `Lesson.advance` with that instant, and calls that no later than `Lesson.due`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.app.drill.dealing import deal, elsewhere, held, taught
from referee.app.drill.repetition import EMPTY, Repetition
from referee.app.rulewords import sentence
from referee.app.wording import pretty
from referee.rules.house import HouseRules

MS: Final = 1_000_000
PACE: Final = 1500 * MS
"""From card to card, and as long a pattern stays open, ns."""
BREATH: Final = 900 * MS
"""Before the first card of a pile, ns."""
REST: Final = 2500 * MS
"""After a pile, to read why, ns."""
SOONEST: Final = 100 * MS
"""Nobody perceives and moves in less: R. Whelan, The Psychological Record 58 (2008), 475 to 482."""
NEVER: Final = 2**62


class Kind(Enum):
    """What a prompt is."""

    LESSON = "lesson"
    """A new pattern, explained with an example; the lesson waits for a hand."""
    PILE = "pile"
    """The old cards are gone."""
    CARD = "card"
    RIGHT = "right"
    MISSED = "missed"
    FALSE = "false"
    SOON = "soon"
    """On a pattern, but too soon to have seen it."""
    LEFT = "left"
    """Nothing to slap, and nothing slapped."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing to show and to say."""

    kind: Kind
    t: int
    words: str = ""
    card: str = ""
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Try:
    """How one pile went."""

    row: str
    """The pattern, or empty where there was nothing to slap."""
    kind: Kind
    since: int | None = None
    """From the reveal to the hand, ns, where it was right."""
    error: int = 0
    """Of that: the hand's and the card's together, ns."""


class _Phase(Enum):
    WAITING = "waiting"
    DEALING = "dealing"
    RESTING = "resting"
    OVER = "over"


class Lesson:
    """One session.

    Args:
        rules: the house rules.
        seed: which piles; the same seed and the same hands give the same lesson.
        deals: piles until the end.
        pace: from card to card, ns.
        shown_error: how well the instant of a card is known, ns.
        steps: introduce the patterns one after another; otherwise all are known from the start.
    """

    def __init__(
        self, rules: HouseRules, seed: int, *, deals: int = 40, pace: int = PACE, shown_error: int = 0,
        steps: bool = True,
    ) -> None:  # fmt: skip
        self._rules, self._left, self._pace, self._shown_error = rules, deals, pace, shown_error
        self._chance = random.Random(seed)
        self.patterns, self.not_taught = taught(rules, seed)
        self.order = Repetition(self.patterns, self._chance, known=() if steps else self.patterns)
        self.tries: list[Try] = []
        self._phase = _Phase.WAITING
        self._row = EMPTY
        self._cards: tuple[str, ...] = ()
        self._reveals: list[int] = []
        self.due = NEVER
        """When `advance` is to be called next, ns."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._phase is _Phase.OVER

    def start(self, t: int) -> list[Prompt]:
        """Begin at ``t`` (ns)."""
        if not self.patterns:
            self._phase, self.due = _Phase.OVER, NEVER
            return [Prompt(Kind.OVER, t, "These rules have no pattern that can be practised alone.")]
        return self._next(t)

    def shown(self, t: int) -> None:
        """The newest card could be seen from ``t`` (ns) on."""
        if self._reveals:
            self._reveals[-1] = t
            self.due = t + self._pace

    def hand(self, t: int, t_error: int = 0) -> list[Prompt]:
        """A hand came down at ``t`` (ns), ± ``t_error``."""
        if self._phase is _Phase.WAITING:
            return self._begin(t)
        if self._phase is not _Phase.DEALING or not self._reveals or t < self._reveals[0]:
            return []
        at = sum(reveal <= t for reveal in self._reveals)
        pile, since = self._cards[:at], t - self._reveals[at - 1]
        rows = held(pile, self._rules)
        if not rows:
            return self._judged(t, Try(self._row, Kind.FALSE), self._why_not(pile), ())
        if since < SOONEST:
            words = (
                f"{since / MS:.0f} ms after the card: too soon to have seen it. A lucky guess costs a card elsewhere."
            )
            return self._judged(t, Try(self._row, Kind.SOON), words, rows)
        words = f"{since / MS:.0f} ms. {self._says(rows)}"
        return self._judged(t, Try(self._row, Kind.RIGHT, since, t_error + self._shown_error), words, rows)

    def advance(self, t: int) -> list[Prompt]:
        """It is ``t`` (ns), and every hand up to then was told."""
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
            return [Prompt(Kind.CARD, t, card=card)]
        rows = held(self._cards, self._rules)
        if rows:
            return self._judged(t, Try(self._row, Kind.MISSED), f"Missed. {self._says(rows)}", rows)
        return self._judged(t, Try(self._row, Kind.LEFT), "Right: there was nothing to slap.", ())

    def _next(self, t: int) -> list[Prompt]:
        if self._left == 0:
            self._phase, self.due = _Phase.OVER, NEVER
            return [Prompt(Kind.OVER, t)]
        self._left -= 1
        self._row, new = self.order.next()
        cards = deal(self._row, self._rules, self._chance)
        # A pattern that could be dealt once can be dealt again but for bad luck; then there is nothing to slap.
        self._cards = cards if cards is not None else deal(EMPTY, self._rules, self._chance) or ()
        self._row = self._row if cards is not None else EMPTY
        self._reveals = []
        if not new:
            return self._begin(t)
        self._phase, self.due = _Phase.WAITING, NEVER
        example = deal(self._row, self._rules, self._chance) or self._cards
        shown = " ".join(map(pretty, example))
        words = f"{sentence_of(self._row, self._rules)} For example: {shown}. Slap when you are ready."
        return [Prompt(Kind.LESSON, t, words, rows=(self._row,))]

    def _begin(self, t: int) -> list[Prompt]:
        self._phase, self.due = _Phase.DEALING, t + BREATH
        return [Prompt(Kind.PILE, t)]

    def _judged(self, t: int, made: Try, words: str, rows: tuple[str, ...]) -> list[Prompt]:
        self.tries.append(made)
        self.order.result(self._row, made.kind in (Kind.RIGHT, Kind.LEFT))
        self._phase, self.due = _Phase.RESTING, t + REST
        return [Prompt(made.kind, t, words, rows=rows)]

    def _says(self, rows: tuple[str, ...]) -> str:
        return " ".join(f"{row}: {sentence_of(row, self._rules)}" for row in rows)

    def _why_not(self, pile: tuple[str, ...]) -> str:
        words = f"False: {' '.join(map(pretty, pile[-4:]))} makes nothing here."
        others = elsewhere(pile, self._rules)
        if others:
            words += f" (It would at tables that play {others[0]}: {sentence(others[0], self._rules)})"
        return words


def sentence_of(row: str, rules: HouseRules) -> str:
    """A pattern in plain words; the table's own patterns are called by their names."""
    if row.startswith("P19:"):
        name = row.partition(":")[2]
        return f"Your own pattern {name}: {rules.value('P19')[name]}."
    return sentence(row, rules)
