"""A recorded game as a table's payloads, each with the instant at which it was known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields, parse_object
from referee.engine.observations import Table, Tick
from referee.engine.rulings import Ruling
from referee.engine.view import View

RECORDED = Path(__file__).parents[2] / "web" / "demo.jsonl"


@dataclass(frozen=True)
class Moment:
    """Rulings of one moment, and the position then."""

    t: int
    """Time since the game began, ns."""
    rulings: tuple[Ruling, ...]
    view: View


@dataclass(frozen=True)
class Performance:
    """A whole game."""

    names: tuple[str, ...]
    moments: tuple[Moment, ...]

    @property
    def length(self) -> int:
        """Return the time from its first line to its last ruling, ns."""
        return self.moments[-1].t

    @property
    def rulings(self) -> int:
        """Return the number of rulings."""
        return sum(len(moment.rulings) for moment in self.moments)


@cache
def performance(path: Path = RECORDED) -> Performance:
    """Return the game of a log, ruled again."""
    referee, now = Adjudicator(lookahead_ns=200_000_000), 0
    names: tuple[str, ...] = ()
    moments: list[Moment] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith('{"ruling"'):
            continue
        seen = from_fields(parse_object(line, number), number)
        if isinstance(seen, Table):
            names = seen.seats
        now = max(now, getattr(seen, "known_at", None) or seen.t)
        made = referee.observe(seen)
        if made or not isinstance(seen, Tick):
            moments.append(Moment(now, tuple(made), referee.view))
    moments.append(Moment(now, tuple(referee.finish()), referee.view))
    return Performance(names, tuple(moments))
