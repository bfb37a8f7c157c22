"""The course of one judging of a log: every valid line, with the state before it and its rulings.

A log that people amend is judged repeatedly (K6), each time with a separate course.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from referee.engine.event_queue import JudgedMoment
from referee.engine.observations import Card, Observation, Slap, Taken
from referee.engine.rulings import Ruling

_TOLD: Final = frozenset(("card", "slap", "lift", "taken", "placed", "foul", "answer", "correct", "count"))
"""Kinds of lines about events at the table."""


@dataclass(slots=True)
class JudgedCourse:
    """Everything judged, as it stood after one pass of judging."""

    moments: dict[str, JudgedMoment] = field(default_factory=dict)
    """By line id, in the order of judging."""
    made: dict[str, JudgedMoment] = field(default_factory=dict)
    """The cause of each ruling, by the ruling's first id."""
    heats: list[tuple[int, Ruling]] = field(default_factory=list)
    """Each dead heat, with the place of its cause."""
    shown: list[tuple[int, int, Observation]] = field(default_factory=list)
    """Lines worth mentioning, by instant, with their place."""
    changes: list[tuple[int, int, Card | Taken]] = field(default_factory=list)
    """Cards of the pile and pick-ups by instant, with their place."""
    presses: dict[int, list[tuple[int, Slap]]] = field(default_factory=dict)
    """By seat, each press with its place."""

    def add(self, moment: JudgedMoment) -> None:
        """Add the next line; `sort` puts everything into order later."""
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
        """Sort the lists by instant, once all lines are added."""
        self.shown.sort(key=lambda entry: entry[:2])
        self.changes.sort(key=lambda entry: entry[:2])

    def slap(self, name: str) -> Slap | None:
        """Return the slap with that id; None if the line is not a slap or is missing."""
        moment = self.moments.get(name)
        return moment.observation if moment is not None and isinstance(moment.observation, Slap) else None

    def error_between(self, one: str, other: str) -> int:
        """Return the error of the time between two lines: the sum of their stated errors, ns."""
        lines = (self.moments[name].observation for name in (one, other) if name in self.moments)
        return sum(getattr(line, "t_error", 0) for line in lines)

    def last_before(self, t: int) -> JudgedMoment | None:
        """Return the last line judged up to an instant."""
        return next((moment for moment in reversed(self.moments.values()) if moment.observation.t <= t), None)

    def heat_before(self, place: int) -> Ruling | None:
        """Return the latest dead heat before a place of judging."""
        return next((heat for nth, heat in reversed(self.heats) if nth < place), None)
