"""A log as it stands after what people have said of it: which lines hold, which rulings, and what can be taken back.

The adjudicator is the judge of all this; here is only what must be known to say in words why a wish cannot be met.

The latest lines of a game as they stand now: with what people corrected since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from referee.engine.amendments import AmendmentError, base_id, corrected
from referee.engine.observations import Answer, Correct, Count, LogError, Observation, Other, Pause, Resume, Table, Tick
from referee.engine.rulings import Ruling

SAID: Final = (Pause, Resume, Count)
"""What only people say, besides answers and corrections."""
AMENDING: Final = (Answer, Correct)
_TURNING: Final = (Pause, Resume)
UNUSED: Final = ("mend_amendment", "late_evidence")
"""Questions about lines that the adjudicator could not use."""
BECAUSE: Final = "because"
"""The field of a line that the appliance wrote for people to see why: such a line is none that people said."""
RELEASED: Final = "released"
"""Kind of the line that says that one of two who stopped the table lets it go on, while the other does not yet."""


def is_said(line: Observation | None) -> bool:
    """Whether people said this, answers and corrections aside."""
    if line is None or BECAUSE in line.extra:
        return False
    return isinstance(line, SAID) or (isinstance(line, Other) and line.name == RELEASED)


def is_stopping(line: Observation) -> bool:
    """Whether by this line the table is stopped, let go on or released, by whomever."""
    return isinstance(line, _TURNING) or (isinstance(line, Other) and line.name == RELEASED)


class Amended:
    """What a log's lines come to.

    Args:
        observations: in the order in which they became known; the first is the table.
        rulings: all of them so far.
    """

    def __init__(self, observations: Sequence[Observation], rulings: Sequence[Ruling]) -> None:
        self._lines = {line.id: line for line in observations if not isinstance(line, Tick)}
        replaced = {name for ruling in rulings for name in ruling.supersedes}
        self.rulings = {ruling.id: ruling for ruling in rulings if ruling.id not in replaced}
        """Those in force, by id."""
        asked = [ruling for ruling in rulings if ruling.kind == "question"]
        self._unused = {
            base_id(ruling.id).partition("@")[2].partition("/")[0] for ruling in asked if ruling["ask"] in UNUSED
        }
        """Lines that the adjudicator could not use."""
        said = [line for line in observations if isinstance(line, Correct) and line.id not in self._unused]
        self.taken_back = self._taken_back(said)
        self._said_of: dict[str, list[Correct]] = {}
        for line in said:
            if line.id not in self.taken_back:
                self._correct(line, rulings)

    def _taken_back(self, said: Sequence[Correct]) -> set[str]:
        """What was taken back, and what did so; what was taken back itself takes nothing back."""
        out: set[str] = set()
        for by in reversed(said):
            target = self._lines.get(by.line)
            if by.id not in out and by.void and (isinstance(target, AMENDING) or is_said(target)):
                out.update((by.line, by.id))
        return out

    def _correct(self, by: Correct, rulings: Sequence[Ruling]) -> None:
        target = self._lines.get(by.line)
        if target is None and by.void:
            # A card that was in turn after all is one laid by whoever's turn it was.
            dead = next((r for r in rulings if r.kind == "dead_card" and by.line in (r.id, base_id(r.id))), None)
            if dead is not None:
                told = Correct(t=by.t, id=by.id, line=dead.because[0], extra={"seat": None})
                self._said_of.setdefault(told.line, []).append(told)
                return
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
            if by.id not in self.taken_back and found is not None:
                try:
                    found = corrected(found, by)
                except LogError:
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
        return next((one for one in self.rulings.values() if base_id(one.id) == base_id(name)), None)

    def answer(self, question: str) -> Answer | None:
        """The answer to a question that holds, by the question's first id."""
        given = [
            line
            for line in self._lines.values()
            if isinstance(line, Answer)
            and base_id(line.to) == question
            and line.id not in self.taken_back
            and line.id not in self._unused
        ]
        return given[-1] if given else None

    @property
    def paused(self) -> bool:
        """Whether the table stands still, whoever stopped it."""
        # At one instant a pause comes after a resume, as the adjudicator has them.
        turned = [(line.t, isinstance(line, Pause)) for line in self.stopping() if isinstance(line, _TURNING)]
        return bool(turned) and max(turned)[1]

    def stopping(self) -> list[Observation]:
        """Every line that holds by which the table was stopped, let go or released, in the order of the log."""
        names = (name for name, line in self._lines.items() if is_stopping(line))
        return [line for line in map(self.now, filter(self.known, names)) if line is not None]

    @property
    def last_act(self) -> list[Observation]:
        """The last thing that people said and that still holds; what takes back is none.

        Stacks that were counted at one instant were said in one breath.
        """
        acts: list[Observation] = [
            line
            for name, line in self._lines.items()
            if (isinstance(line, AMENDING) or is_said(line))
            and name not in self.taken_back
            and name not in self._unused
        ]
        last = acts[-1:]
        if last and isinstance(last[0], Count):
            return [line for line in acts if isinstance(line, Count) and line.t == last[0].t]
        return last

    @property
    def table(self) -> Table | None:
        """The first line as it stands."""
        first = next((name for name, line in self._lines.items() if isinstance(line, Table)), None)
        found = self.now(first) if first is not None else None
        return found if isinstance(found, Table) else None


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
