"""A broken-off game as read from its record, and the timeline on which it resumes. Pure.

A machine's monotonic clock begins anew when the power comes back; the game's timeline does not. So every instant of
the devices is shifted by one amount (`Timeline.ahead`) before the referee sees it, for as long as that game lasts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import LogError, Observation, Other, Table
from referee.record.stored_lines import LineReader, OddLine
from referee.sentence import Sentence
from referee.units import SECOND
from referee.vision.sight import News, Sight

if TYPE_CHECKING:
    from hardware.ports import Edge
    from referee.record.pictures import Picture

RESUME_GAP: Final = SECOND
"""Gap between the last instant of the record and the first one afterwards, ns: more than any error."""
RESUMED: Final = "resumed"
"""Kind of the line that says that a game was resumed after it was broken off."""
_INSTANTS: Final = ("t", "known_at", "since", "until")
"""Fields of observations that hold an instant."""


@dataclass(frozen=True, slots=True)
class ResumedGame:
    """Everything recorded of a game that has not ended."""

    table: Table
    told: tuple[Observation, ...]
    """Every observation except the table, in the order of the record."""
    rulings: frozenset[str]
    """Ids of the rulings on record."""
    last: int
    """The latest instant of any line, ns."""
    times: int
    """Number of times that the game was resumed before."""
    odd: tuple[OddLine, ...] = ()
    """Lines that were left out."""

    @property
    def prefix(self) -> str:
        """Prefix of the ids given from now on, so that none is given twice."""
        return f"{self.times + 1}/"


def past_of(lines: Iterable[str]) -> ResumedGame:
    """Read a game's lines.

    Raises:
        LogError: they have no table, or one that cannot be played at; other odd lines are left out.
    """
    reader = LineReader()
    numbered, rulings = reader.read(enumerate(lines, start=1))
    told = [seen for _, seen in numbered]
    if not told or not isinstance(told[0], Table):
        raise LogError(1, Sentence("the first line of a game must be its table; this game cannot go on"))
    Adjudicator().observe(told[0])
    last = max(0, *(seen.t for seen in told))
    times = sum(isinstance(seen, Other) and seen.name == RESUMED for seen in told)
    names = frozenset(ruling.id for ruling in rulings)
    return ResumedGame(told[0], tuple(told[1:]), names, last, times, tuple(reader.odd))


@dataclass(frozen=True, slots=True)
class Timeline:
    """Maps the machine's instants to the game's."""

    ahead: int = 0
    """Amount added to an instant of the machine, ns."""

    @staticmethod
    def after(last: int, now: int) -> Timeline:
        """Return the timeline that continues after ``last`` of the game; it is ``now`` by the machine (ns).

        Time never moves back, nor forward without need: if the clock ran on, because the program was stopped but not
        the machine, nothing is shifted.
        """
        return Timeline(0 if now > last + RESUME_GAP else last + RESUME_GAP - now)

    def now(self, t: int) -> int:
        """Return the game's instant at the machine's ``t``, ns."""
        return t + self.ahead

    def machine(self, t: int) -> int:
        """Return the machine's instant at the game's ``t``, ns."""
        return t - self.ahead

    def picture(self, picture: Picture) -> Picture:
        """Return a kept frame with its instant on the game's timeline."""
        return replace(picture, t=picture.t + self.ahead)

    def edge(self, edge: Edge) -> Edge:
        """Return an edge with its instant on the game's timeline."""
        return replace(edge, t=edge.t + self.ahead)

    def news(self, news: News) -> News:
        """Return a sight, or its absence, with its instants on the game's timeline."""
        seen = tuple(self._moved(line) for line in news.seen)
        if isinstance(news, Sight):
            return replace(news, t=news.t + self.ahead, seen=seen, watermark=news.watermark + self.ahead)
        watermark = None if news.watermark is None else news.watermark + self.ahead
        return replace(news, seen=seen, watermark=watermark)

    def _moved(self, seen: Observation) -> Observation:
        instants = {name: getattr(seen, name, None) for name in _INSTANTS}
        return replace(seen, **{name: t + self.ahead for name, t in instants.items() if t is not None})
