"""The queue in which observations wait, in event time, until every sensor has reported past them."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Final

from referee.adjudication.drafting import Key, place_of
from referee.adjudication.observations import Card, Observation, Slap

_SLACK: Final = 256
"""Places left behind by what was taken before the queue closes up; so taking the head does not move all the rest."""


class Waiting:
    """Observations by place in event time, the earliest first; they arrive in any order, mostly in that one."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._lines: list[Observation] = []
        self._first = 0
        self._widest = 0

    def add(self, observation: Observation) -> None:
        """Put an observation into its place."""
        key = place_of(observation)
        if self._keys and key < self._keys[-1]:
            at = bisect.bisect_right(self._keys, key, self._first)
            self._keys.insert(at, key)
            self._lines.insert(at, observation)
        else:
            self._keys.append(key)
            self._lines.append(observation)
        error = getattr(observation, "t_error", 0)
        if error > self._widest:
            self._widest = error

    def head(self) -> Observation | None:
        """The earliest; None where none waits."""
        return self._lines[self._first] if self._first < len(self._lines) else None

    def all(self) -> tuple[Observation, ...]:
        """Everything that waits."""
        return tuple(self._lines[self._first :])

    def near(self, one: Card | Slap, skip: int = 0) -> Sequence[Observation]:
        """What waits, without the first ``skip``, and may have happened before this card or slap, by the errors."""
        until = one.t + one.t_error + self._widest
        lines, first = self._lines, self._first + skip
        end = first
        while end < len(lines) and lines[end].t <= until:
            end += 1
        return lines[first:end] if end > first else ()

    def take(self, at: int) -> tuple[Key, Observation]:
        """Take the ``at``-th out, with its place in event time."""
        if at:
            return self._keys.pop(self._first + at), self._lines.pop(self._first + at)
        first = self._first
        taken = self._keys[first], self._lines[first]
        self._first = first + 1
        if first >= _SLACK and 2 * first >= len(self._lines):
            del self._keys[: first + 1], self._lines[: first + 1]
            self._first = 0
        return taken
