"""Why the table stands still: people paused it, or nobody sees it. It goes on only when neither holds any more.

The log has one switch (`pause` and `resume`), which two hands reach for. So whoever stops the table writes a `pause`
of its own, and only the last one to let go writes the `resume`; the other one writes `released`, a line that changes
nothing for whoever replays the log. The appliance's lines say why in ``because``; those of people are as they were.
Who holds the table is read from the log, corrections and all, and so outlasts a power cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from referee.adjudication.observations import Correct, LogError, Observation, Other, Pause, Resume
from referee.adjudication.rulings import Ruling
from referee.app.amended import BECAUSE, RELEASED, UNUSED, Amended, is_stopping
from referee.app.notices import Notice
from referee.app.sentences import Sentence

PEOPLE: Final = "people"
"""Because of whom the table was stopped, or goes on, where it was not the camera."""
UNSEEN: Final = Sentence("the camera sees nothing yet; the game goes on by itself when it does")
_NEVER: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class Holding:
    """Who holds the table, as a log has it."""

    people: bool
    """People paused the game, and have not let it go on."""
    camera: bool
    """The appliance paused it, since nobody saw the table, and has not let it go on."""
    stopped: bool
    """Whether slaps are void, by the log's own `pause` and `resume`."""
    last_pause: int
    """Instant of the latest, ns."""
    last_resume: int
    """The same."""


def holding(log: Amended) -> Holding:
    """Read from a log who holds the table. Pure.

    Who holds it is a matter of what was said last; whether slaps are void, of the lines' instants.
    """
    people = camera = False
    last = {Pause: _NEVER, Resume: _NEVER}
    for line in log.stopping():
        because = line.extra.get(BECAUSE)
        if because is None:
            people = isinstance(line, Pause)
        elif because != PEOPLE:
            camera = isinstance(line, Pause)
        if type(line) in last:
            last[type(line)] = max(last[type(line)], line.t)
    return Holding(people, camera, log.paused, last[Pause], last[Resume])


def _bearing(observations: Iterable[Observation], rulings: Iterable[Ruling]) -> tuple[list[Observation], list[Ruling]]:
    """What bears on who holds the table: a few lines of a long log, looked through while hands wait for their light."""
    lines = [line for line in observations if isinstance(line, Correct) or is_stopping(line)]
    return lines, [ruling for ruling in rulings if ruling.kind == "question" and ruling["ask"] in UNUSED]


def released(by: Observation) -> Other:
    """What people's wish to go on comes to while nobody sees the table: their own pause is over, the other is not."""
    return Other(t=by.t, id=by.id, name=RELEASED)


class Writing(Protocol):
    """What a conductor does for it."""

    observations: list[Observation]
    rulings: list[Ruling]

    def vouched(self) -> int:
        """Up to where the camera has told everything, ns."""
        ...

    def put(self, seen: Observation) -> None:
        """Put an observation on record, with an id if it has none."""
        ...

    def note(self, name: str, extra: Mapping[str, Any]) -> None:
        """Put something on the log that is not ruled on."""
        ...

    def tell(self, notice: Notice) -> None:
        """Tell it at the table."""
        ...


class Standstill:
    """Stops the table of one game and lets it go on, for the camera and for people."""

    def __init__(self, desk: Writing) -> None:
        self._desk = desk
        self._people = self._camera = self._told = False

    @property
    def holds(self) -> bool:
        """Whether slaps are void, whoever wants them to be."""
        return self._people or self._camera

    def remember(self) -> None:
        """A game that was broken off: what people had paused is paused still."""
        self._people = self._read().people

    def stop(self, because: str, t: int) -> None:
        """Nobody sees the table from ``t`` (ns) on."""
        self._camera = True
        # A line of its own even where people paused before: theirs may be taken back, and this one then still holds.
        self._pause(because, t)
        self._tell(because, t)

    def go_on(self, because: str, t: int) -> None:
        """The table is seen again from ``t`` (ns) on."""
        self._camera = False
        if self._people:
            self._desk.note(RELEASED, {BECAUSE: because})
            words = "the game stays paused until you let it go on"
            self._desk.tell(Notice("still_paused", t, words, {BECAUSE: PEOPLE}))
            return
        self._resume(because, t)
        self._tell(because, t)

    def heard(self, line: Observation) -> Observation:
        """What a line that people say is to be on the log.

        Raises:
            LogError: it would let the table go on, at which nobody looks.
        """
        if not isinstance(line, Resume) or not self._camera:
            return line
        if not self._people:
            raise LogError(None, UNSEEN)
        return released(line)

    def settle(self, t: int) -> None:
        """People have said something, or taken something back: have the table stand still or go on as that leaves it.

        Args:
            t: the instant at which they said it, ns.
        """
        before, now = self._people, self._read()
        self._people = now.people
        t = max(t, self._desk.vouched() + 1)
        if self.holds and not now.stopped:
            self._pause(PEOPLE if self._people else "camera", t)
        elif now.stopped and not self.holds:
            self._resume(PEOPLE, t)
        self._tell(PEOPLE, t)
        if before and not self._people and self._camera:
            self._desk.tell(Notice("waits_for_camera", t, UNSEEN, {BECAUSE: "camera"}))

    def _read(self) -> Holding:
        return holding(Amended(*_bearing(self._desk.observations, self._desk.rulings)))

    def _pause(self, because: str, t: int) -> None:
        self._desk.put(Pause(t=max(t, self._read().last_resume + 1), extra={BECAUSE: because}))

    def _resume(self, because: str, t: int) -> None:
        self._desk.put(Resume(t=max(t, self._read().last_pause + 1), extra={BECAUSE: because}))

    def _tell(self, because: str, t: int) -> None:
        """Say that the table stands still, or goes on, where that has changed."""
        if self.holds == self._told:
            return
        self._told = self.holds
        if self.holds:
            self._desk.tell(Notice("paused", t, "the game is paused: slaps do not count", {BECAUSE: because}))
        else:
            self._desk.tell(Notice("resumed", t, "the game goes on", {BECAUSE: because}))
