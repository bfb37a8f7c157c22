"""A log as it stands after what people have said of it: which lines hold, which rulings, and what can be taken back.

The adjudicator is the judge of all this; here is only what must be known to say in words why a wish cannot be met, and
what to offer. Commands (`referee.control`), the table's pause and the page ask; each in its own process. Pure.
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
"""What only people say, besides answers and corrections."""
AMENDING: Final = (Answer, Correct)
_TURNING: Final = (Pause, Resume)
LATE: Final = "late_evidence"
UNUSED: Final = ("mend_amendment", LATE)
"""Questions about lines that the adjudicator could not use."""
BECAUSE: Final = "because"
"""The field of a line that the appliance wrote for people to see why: such a line is none that people said."""
PEOPLE: Final = "people"
"""What stands in that field where it was people, and not the camera, who had the table stopped or let go on."""
BY_PEOPLE: Final[Mapping[str, Any]] = {"by": PEOPLE}
"""Stands in lines that sensors tell, too (a card, a slap, a foul), where people told them."""
RELEASED: Final = "released"
"""Kind of the line that says that one of two who stopped the table lets it go on, while the other does not yet."""
_NEVER: Final = -(2**63)


def is_said(line: Observation | None) -> bool:
    """Whether people said this, answers and corrections aside."""
    if line is None or BECAUSE in line.extra:
        return False
    told = isinstance(line, SAID) or line.extra.get("by") == PEOPLE
    return told or (isinstance(line, Other) and line.name == RELEASED)


def is_stopping(line: Observation) -> bool:
    """Whether by this line the table is stopped, let go on or released, by whomever."""
    return isinstance(line, _TURNING) or (isinstance(line, Other) and line.name == RELEASED)


def as_released(resume: Observation) -> Other:
    """What people's wish to go on comes to while nobody sees the table: their own pause is over, the other is not."""
    return Other(t=resume.t, id=resume.id, name=RELEASED)


@dataclass(frozen=True, slots=True)
class PauseState:
    """Who has stopped the table, as a log has it."""

    by_people: bool
    """People paused the game, and have not let it go on."""
    by_camera: bool
    """The appliance paused it, since nobody saw the table, and has not let it go on."""
    is_stopped: bool
    """Whether slaps are void, by the log's own `pause` and `resume`."""
    last_pause: int
    """Instant of the latest, ns."""
    last_resume: int
    """The same."""


class AmendedLog:
    """What a log's lines come to.

    Args:
        observations: in the order in which they became known; the first is the table.
        rulings: all of them so far.
    """

    def __init__(self, observations: Iterable[Observation], rulings: Sequence[Ruling]) -> None:
        self._lines = {line.id: line for line in observations if not isinstance(line, Tick)}
        self._first_names = {base_id(ruling) for ruling in rulings}
        replaced = {name for ruling in rulings for name in ruling.supersedes}
        self.rulings = {ruling.id: ruling for ruling in rulings if ruling.id not in replaced}
        """Those in force, by id."""
        asked = [(one["ask"], cause_of(one)) for one in rulings if one.kind == "question" and one["ask"] in UNUSED]
        amending = {name for name, line in self._lines.items() if isinstance(line, AMENDING)}
        self._unused = {line for ask, line in asked if ask != LATE and line in amending}
        """Lines that the adjudicator could not use: what did not fit, and what came too late unless it is taken up."""
        said = [line for line in self._lines.values() if isinstance(line, Correct) and line.id not in self._unused]
        self.taken_back: set[str] = set()
        """What was taken back, and what did so; what was taken back itself takes nothing back."""
        for by in reversed(said):
            target = self._lines.get(by.line)
            if by.id not in self.taken_back and by.void and (isinstance(target, AMENDING) or is_said(target)):
                self.taken_back.update((by.line, by.id))
        # Whoever takes back what people told too late takes back that it was taken up.
        self.taken_back.update(by.id for by in said if by.take and by.line in self.taken_back)
        taken_up = {by.line for by in said if by.take and by.id not in self.taken_back}
        self._unused.update(line for ask, line in asked if ask == LATE and line not in taken_up)
        self._said_of: dict[str, list[Correct]] = {}
        for line in said:
            if line.id in self.taken_back:
                continue
            by = line
            if line.void and line.line not in self._lines:
                dead = (one for one in rulings if one.kind == "dead_card" and line.line in (one.id, base_id(one)))
                by = next((as_in_turn(one, line) for one in dead), line)
            self._said_of.setdefault(by.line, []).append(by)

    def known(self, line: str) -> bool:
        """Whether there is such a line that was judged."""
        return line in self._lines and line not in self._unused

    def now(self, line: str) -> Observation | None:
        """A line as it stands; None where it was struck out."""
        found: Observation | None = self._lines[line]
        if line in self.taken_back:
            return None
        for by in self._said_of.get(line, ()):
            if found is not None:
                try:
                    found = apply_correction(found, by)
                except LogError:
                    # The referee asks about it; the line stands.
                    continue
        return found

    def all_now(self) -> list[Observation]:
        """Every line that holds, by instant; answers and corrections aside."""
        names = (name for name, line in self._lines.items() if not isinstance(line, AMENDING) and self.known(name))
        found = (self.now(name) for name in names)
        return sorted((line for line in found if line is not None), key=lambda line: line.t)

    def ruling(self, name: str) -> Ruling | None:
        """A ruling in force, also by the id that it had before it was renamed."""
        found = self.rulings.get(name)
        if found is not None:
            return found
        first = self.first_name(name)
        return next((one for one in self.rulings.values() if base_id(one) == first), None)

    def first_name(self, name: str) -> str:
        """The id that a ruling had before it was renamed."""
        return first_name(name, self._first_names)

    def _acts(self) -> list[Observation]:
        """Everything that people said and that holds."""
        gone = self.taken_back | self._unused
        lines = (line for name, line in self._lines.items() if name not in gone)
        return [line for line in lines if isinstance(line, AMENDING) or is_said(line)]

    def answer(self, question: str) -> Answer | None:
        """The answer to a question that holds, by the question's first id."""
        known = {*self._first_names, question}
        answers = (line for line in self._acts() if isinstance(line, Answer))
        given = [line for line in answers if first_name(line.to, known) == question]
        return given[-1] if given else None

    @property
    def last_act(self) -> list[Observation]:
        """The last thing that people said and that still holds; what takes back is none.

        Stacks that were counted at one instant were said in one breath; so were something that sensors had missed, and
        that it is taken up.
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
        """The first line as it stands."""
        first = next((name for name, line in self._lines.items() if isinstance(line, Table)), None)
        found = self.now(first) if first is not None else None
        return found if isinstance(found, Table) else None

    @property
    def pause(self) -> PauseState:
        """Who has stopped the table.

        Who holds it is a matter of what was said last; whether slaps are void, of the lines' instants.
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
        # At one instant a pause comes after a resume, as the adjudicator has them.
        is_stopped = last_pause > _NEVER and last_pause >= last_resume
        return PauseState(people, camera, is_stopped, last_pause, last_resume)


def read_pause(observations: Iterable[Observation], rulings: Iterable[Ruling]) -> PauseState:
    """Who has stopped the table, by the few lines of a long log that bear on it: hands wait for their light meanwhile.

    Args:
        observations: in the order of the log.
        rulings: all of them so far.
    """
    lines = [line for line in observations if isinstance(line, Correct) or is_stopping(line)]
    unused = [ruling for ruling in rulings if ruling.kind == "question" and ruling["ask"] in UNUSED]
    return AmendedLog(lines, unused).pause
