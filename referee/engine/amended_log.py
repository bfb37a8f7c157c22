"""A log after people's amendments: the valid lines and rulings, and what can be taken back.

The adjudicator judges all of this; this module only supports explaining why a command is refused, and what to offer. It
is used by commands (`referee.control`), the table's pause and the page, each in a separate process. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.engine.amendments import apply_correction, as_in_turn
from referee.engine.observations import (
    Answer,
    Contest,
    Correct,
    Count,
    Draw,
    Leave,
    LogError,
    Observation,
    Other,
    Pause,
    Resume,
    Say,
    Table,
    Tick,
)
from referee.engine.rulings import Ruling, base_id, cause_of, first_name

SAID: Final = (Pause, Resume, Count, Contest, Say, Draw, Leave)
"""Kinds that only people report, besides answers and corrections."""
AMENDING: Final = (Answer, Correct)
_TURNING: Final = (Pause, Resume)
LATE: Final = "late_evidence"
UNUSED: Final = ("mend_amendment", LATE)
"""Questions about lines that the adjudicator could not use."""
BECAUSE: Final = "because"
"""Field with the reason for a line that the appliance wrote; such a line is not a statement by people."""
PEOPLE: Final = "people"
"""Value of that field if people, not the camera, stopped or resumed the table."""
BY_PEOPLE: Final[Mapping[str, Any]] = {"by": PEOPLE}
"""Marks a line of a sensor kind (a card, a slap, a foul) that people reported."""
RELEASED: Final = "released"
"""Kind of the line that says that one of the two parties that stopped the table releases it, but the other not yet."""
_NEVER: Final = -(2**63)


def is_said(line: Observation | None) -> bool:
    """Whether people reported this line; answers and corrections do not count."""
    if line is None or BECAUSE in line.extra:
        return False
    told = isinstance(line, SAID) or line.extra.get("by") == PEOPLE
    return told or (isinstance(line, Other) and line.name == RELEASED)


def is_stopping(line: Observation) -> bool:
    """Whether this line stops, resumes or releases the table."""
    return isinstance(line, _TURNING) or (isinstance(line, Other) and line.name == RELEASED)


def as_released(resume: Observation) -> Other:
    """Return people's resume as a release, while the camera does not see the table: only their pause ends."""
    return Other(t=resume.t, id=resume.id, name=RELEASED)


@dataclass(frozen=True, slots=True)
class PauseState:
    """The parties that have stopped the table, by the log."""

    by_people: bool
    """People paused the game, and have not resumed it."""
    by_camera: bool
    """The appliance paused it because the table was not seen, and has not resumed it."""
    is_stopped: bool
    """Whether slaps are void, by the log's `pause` and `resume` lines."""
    last_pause: int
    """Instant of the latest pause, ns."""
    last_resume: int
    """Instant of the latest resume, ns."""


class AmendedLog:
    """A log's lines and rulings after all amendments.

    Args:
        observations: in the order of arrival; the first is the table.
        rulings: all of them so far.
    """

    def __init__(self, observations: Iterable[Observation], rulings: Sequence[Ruling]) -> None:
        self._lines = {line.id: line for line in observations if not isinstance(line, Tick)}
        self._first_names = {base_id(ruling) for ruling in rulings}
        replaced = {name for ruling in rulings for name in ruling.supersedes}
        self.rulings = {ruling.id: ruling for ruling in rulings if ruling.id not in replaced}
        """Rulings in force, by id."""
        asked = [
            (ruling["ask"], cause_of(ruling))
            for ruling in rulings
            if ruling.kind == "question" and ruling["ask"] in UNUSED
        ]
        amending = {name for name, line in self._lines.items() if isinstance(line, AMENDING)}
        self._unused = {line for ask, line in asked if ask != LATE and line in amending}
        """Lines that the adjudicator could not use: lines that did not fit, and late ones that were not accepted."""
        said = [line for line in self._lines.values() if isinstance(line, Correct) and line.id not in self._unused]
        self.taken_back: set[str] = set()
        """Ids of lines taken back, and of the lines that did so; a line that is itself taken back has no effect."""
        for by in reversed(said):
            target = self._lines.get(by.line)
            if by.id not in self.taken_back and by.void and (isinstance(target, AMENDING) or is_said(target)):
                self.taken_back.update((by.line, by.id))
        # Taking back a late line also takes back its acceptance.
        self.taken_back.update(by.id for by in said if by.take and by.line in self.taken_back)
        taken_up = {by.line for by in said if by.take and by.id not in self.taken_back}
        self._unused.update(line for ask, line in asked if ask == LATE and line not in taken_up)
        self._said_of: dict[str, list[Correct]] = {}
        for line in said:
            if line.id in self.taken_back:
                continue
            by = line
            if line.void and line.line not in self._lines:
                dead = (
                    ruling
                    for ruling in rulings
                    if ruling.kind == "dead_card" and line.line in (ruling.id, base_id(ruling))
                )
                by = next((as_in_turn(dead_card, line) for dead_card in dead), line)
            self._said_of.setdefault(by.line, []).append(by)

    def known(self, line: str) -> bool:
        """Whether a line with this id exists and was judged."""
        return line in self._lines and line not in self._unused

    def now(self, line: str) -> Observation | None:
        """Return a line as it now stands; None if it was struck out."""
        found: Observation | None = self._lines[line]
        if line in self.taken_back:
            return None
        for by in self._said_of.get(line, ()):
            if found is not None:
                try:
                    found = apply_correction(found, by)
                except LogError:
                    # The correction does not fit, so the line stands; the referee asks about it.
                    continue
        return found

    def all_now(self) -> list[Observation]:
        """Return every valid line by instant, without answers and corrections."""
        names = (name for name, line in self._lines.items() if not isinstance(line, AMENDING) and self.known(name))
        found = (self.now(name) for name in names)
        return sorted((line for line in found if line is not None), key=lambda line: line.t)

    def ruling(self, name: str) -> Ruling | None:
        """Return a ruling in force, by its current or its first id."""
        found = self.rulings.get(name)
        if found is not None:
            return found
        first = self.first_name(name)
        return next((ruling for ruling in self.rulings.values() if base_id(ruling) == first), None)

    def first_name(self, name: str) -> str:
        """Return the id that a ruling had before it was renamed."""
        return first_name(name, self._first_names)

    def _acts(self) -> list[Observation]:
        """Return all valid statements by people."""
        gone = self.taken_back | self._unused
        lines = (line for name, line in self._lines.items() if name not in gone)
        return [line for line in lines if isinstance(line, AMENDING) or is_said(line)]

    def answer(self, question: str) -> Answer | None:
        """Return the valid answer to a question, by the question's first id."""
        known = {*self._first_names, question}
        answers = (line for line in self._acts() if isinstance(line, Answer))
        given = [line for line in answers if first_name(line.to, known) == question]
        return given[-1] if given else None

    @property
    def last_act(self) -> list[Observation]:
        """The last valid statement by people; taking back is not one.

        Counts of one instant belong together, and so do a line that sensors had missed and its acceptance.
        """
        acts = self._acts()
        last = acts[-1:]
        if last and isinstance(last[0], Count):
            return [line for line in acts if isinstance(line, Count) and line.t == last[0].t]
        if last and isinstance(last[0], Correct) and last[0].take:
            return [line for line in acts if line.id == last[0].line] or last
        return last

    @property
    def table(self) -> Table | None:
        """The first line as it now stands."""
        first = next((name for name, line in self._lines.items() if isinstance(line, Table)), None)
        found = self.now(first) if first is not None else None
        return found if isinstance(found, Table) else None

    @property
    def pause(self) -> PauseState:
        """The parties that have stopped the table.

        These follow from the order of the lines; whether slaps are void follows from the lines' instants.
        """
        people = camera = False
        last_pause = last_resume = _NEVER
        for name, line in self._lines.items():
            now = self.now(name) if is_stopping(line) and self.known(name) else None
            if now is None:
                continue
            because = now.extra.get(BECAUSE)
            if because is None:
                people = isinstance(now, Pause)
            elif because != PEOPLE:
                camera = isinstance(now, Pause)
            if isinstance(now, Pause):
                last_pause = max(last_pause, now.t)
            elif isinstance(now, Resume):
                last_resume = max(last_resume, now.t)
        # At the same instant a pause comes after a resume, as in the adjudicator.
        is_stopped = last_pause > _NEVER and last_pause >= last_resume
        return PauseState(people, camera, is_stopped, last_pause, last_resume)


def read_pause(observations: Iterable[Observation], rulings: Iterable[Ruling]) -> PauseState:
    """Return the parties that have stopped the table, from the relevant lines alone: lights wait for this.

    Args:
        observations: in the order of the log.
        rulings: all of them so far.
    """
    lines = [line for line in observations if isinstance(line, Correct) or is_stopping(line)]
    unused = [ruling for ruling in rulings if ruling.kind == "question" and ruling["ask"] in UNUSED]
    return AmendedLog(lines, unused).pause
