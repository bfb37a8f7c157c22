"""What a log came to once: every line that held by then, with what it met and what was ruled of it.

A log that people amend is judged again and again (K6), and each time leaves a course of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from referee.engine.event_queue import JudgedMoment
from referee.engine.observations import Card, Observation, Slap, Taken
from referee.engine.rulings import Ruling

_TOLD: Final = frozenset(("card", "slap", "lift", "taken", "placed", "foul", "answer", "correct", "count"))
"""Kinds of lines that tell of the table."""


@dataclass(slots=True)
class JudgedCourse:
    """What was judged, as it stood after one of the times that it was judged."""

    moments: dict[str, JudgedMoment] = field(default_factory=dict)
    """By the id of the line, in the order of judging."""
    made: dict[str, JudgedMoment] = field(default_factory=dict)
    """What each ruling came of, by its first id."""
    heats: list[tuple[int, Ruling]] = field(default_factory=list)
    """Each dead heat, with the place of what it came of."""
    shown: list[tuple[int, int, Observation]] = field(default_factory=list)
    """Lines that are worth telling by instant, with their place."""
    changes: list[tuple[int, int, Card | Taken]] = field(default_factory=list)
    """Cards of the pile and pick-ups by instant, with their place."""
    presses: dict[int, list[tuple[int, Slap]]] = field(default_factory=dict)
    """By seat, each press with its place."""

    def add(self, moment: JudgedMoment) -> None:
        """Add the next line; what it brings is put into order by `sort`."""
        line = moment.observation
        self.moments[line.id] = moment
        for ruling in moment.rulings:
            self.made[ruling.id] = moment
            if ruling.kind == "dead_heat":
                self.heats.append((moment.nth, ruling))
        if line.kind in _TOLD:
            self.shown.append((line.t, moment.nth, line))
        if isinstance(line, Taken) or (isinstance(line, Card) and line.zone == "pile"):
            self.changes.append((line.t, moment.nth, line))
        if isinstance(line, Slap):
            self.presses.setdefault(line.seat, []).append((moment.nth, line))

    def sort(self) -> None:
        """Once all lines are there: those by instant in its order."""
        self.shown.sort(key=lambda one: one[:2])
        self.changes.sort(key=lambda one: one[:2])

    def slap(self, name: str) -> Slap | None:
        """The slap of that id; None for a line that is none, or is not there."""
        moment = self.moments.get(name)
        return moment.observation if moment is not None and isinstance(moment.observation, Slap) else None

    def error_between(self, one: str, other: str) -> int:
        """How far off the time between two lines may be: the sum of their stated errors, ns."""
        lines = (self.moments[name].observation for name in (one, other) if name in self.moments)
        return sum(getattr(line, "t_error", 0) for line in lines)

    def last_before(self, t: int) -> JudgedMoment | None:
        """The last line judged up to an instant."""
        return next((one for one in reversed(self.moments.values()) if one.observation.t <= t), None)

    def heat_before(self, place: int) -> Ruling | None:
        """The latest dead heat before a place of judging."""
        return next((heat for nth, heat in reversed(self.heats) if nth < place), None)
