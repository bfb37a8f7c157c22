"""The latest lines of a game as they stand now: with what people corrected since."""

from __future__ import annotations

from collections import deque
from typing import Final

from referee.adjudication.amendments import AmendmentError, corrected
from referee.adjudication.observations import Correct, Observation

KEPT: Final = 500
"""Lines; a slap is over within a few."""


class Recent:
    """Lines as they were told, and the corrections that hold."""

    def __init__(self) -> None:
        self._told: deque[Observation] = deque(maxlen=KEPT)
        self._corrections: dict[str, Correct] = {}
        """By their own ids, in the order in which they came."""

    def add(self, line: Observation) -> None:
        """The next line of the log."""
        if not isinstance(line, Correct):
            self._told.append(line)
        elif line.line not in self._corrections:
            self._corrections[line.id] = line
        elif line.void:
            # A correction that is taken back.
            del self._corrections[line.line]

    def lines(self) -> list[Observation]:
        """As they stand now; those that were struck out are left out."""
        by_line: dict[str, list[Correct]] = {}
        for correction in self._corrections.values():
            by_line.setdefault(correction.line, []).append(correction)
        found = (_standing(line, by_line.get(line.id, [])) for line in self._told)
        return [line for line in found if line is not None]


def _standing(line: Observation, corrections: list[Correct]) -> Observation | None:
    now: Observation | None = line
    for correction in corrections:
        if now is None:
            return None
        try:
            now = corrected(now, correction)
        except AmendmentError:
            # The referee asks about it; the line stands.
            continue
    return now
