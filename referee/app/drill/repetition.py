"""Which pattern comes next: what was missed comes back soon, what is known comes back seldom. Pure.

S. Leitner's boxes ("So lernt man lernen", 1972), counted in deals instead of days: right moves a pattern one box on, a
miss moves it back to the first, and a pattern of box n comes again after 2ⁿ deals. The next pattern is introduced when
all that were introduced have been right twice running.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LAST: Final = 4
KNOWN: Final = 2
"""Box from which on a pattern makes way for a new one."""
EMPTY: Final = ""
"""A pile with nothing to slap."""
SELDOM, OFTEN = 0.25, 0.5
"""Share of piles with nothing to slap, and the share after one was slapped nevertheless."""
CALM: Final = 3
"""Such piles that must be left alone until they come seldom again."""


@dataclass(slots=True)
class _Item:
    box: int = 0
    due: int = 0


class Repetition:
    """The order of practice.

    Args:
        patterns: ids, in the order in which they are to be introduced.
        chance: settles what is equally due, and when there is nothing to slap.
        known: patterns that need no introduction.
    """

    def __init__(self, patterns: Sequence[str], chance: random.Random, known: Sequence[str] = ()) -> None:
        self._waiting = [row for row in patterns if row not in known]
        self._items = {row: _Item() for row in patterns if row in known}
        self._chance = chance
        self._deals = 0
        self._rash = 0

    @property
    def introduced(self) -> tuple[str, ...]:
        """In the order of introduction."""
        return tuple(self._items)

    def box(self, row: str) -> int:
        """How well a pattern is known: 0 to `LAST`."""
        return self._items[row].box

    def next(self) -> tuple[str, bool]:
        """The pattern of the next pile, or `EMPTY`; and whether it is new."""
        self._deals += 1
        if self._waiting and all(item.box >= KNOWN for item in self._items.values()):
            row = self._waiting.pop(0)
            self._items[row] = _Item(due=self._deals)
            return row, True
        if not self._items or self._chance.random() < (OFTEN if self._rash else SELDOM):
            return EMPTY, False
        soonest = min(item.due for item in self._items.values())
        return self._chance.choice([row for row, item in self._items.items() if item.due == soonest]), False

    def result(self, row: str, right: bool) -> None:
        """How it went; for `EMPTY`, right means that nothing was slapped."""
        if row == EMPTY:
            self._rash = CALM if not right else max(0, self._rash - 1)
            return
        item = self._items[row]
        item.box = min(item.box + 1, LAST) if right else 0
        item.due = self._deals + (1 << item.box)
