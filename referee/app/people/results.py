"""What came out of each game, by seat and by person: worked out anew from the lines, and kept nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from referee.adjudication.observations import LogError
from referee.app.people.store import People
from referee.app.record import GameInfo, Record

if TYPE_CHECKING:
    from referee.app.page.folding import Folded
    from referee.app.page.stats import Figure


@dataclass(frozen=True, slots=True)
class Result:
    """One game."""

    game: int
    began: str
    seats: int
    winner: int | None
    """Seat; None where the game was drawn, broken off, or cannot be read any more."""
    finished: bool
    people: dict[int, str] = field(default_factory=dict)
    """Ids by seat, of those who agreed."""
    hands: tuple[Figure, ...] = ()
    """Every hand that was ruled on."""


@dataclass(frozen=True, slots=True)
class Season:
    """From a day to a day, both included; None leaves that side open. Days as the table's clock had them."""

    start: date | None = None
    end: date | None = None

    def __contains__(self, began: str) -> bool:
        """Whether a game that began then belongs to it; a beginning that is no date belongs to none but the open."""
        if self.start is None and self.end is None:
            return True
        try:
            day = date.fromisoformat(began[:10])
        except ValueError:
            return False
        return (self.start is None or self.start <= day) and (self.end is None or day <= self.end)


def results(people: People, season: Season | None = None) -> Iterator[Result]:
    """Games in which somebody who agreed played, the oldest first; raises `RecordError`."""
    ties: dict[int, dict[int, str]] = {}
    for (game, seat), who in people.ties().items():
        ties.setdefault(game, {})[seat] = who
    with Record(people.path, read_only=True) as record:
        for info in reversed(record.games()):
            if info.id in ties and (season is None or info.began in season):
                yield _result(record, info, ties[info.id])


def _result(record: Record, info: GameInfo, people: dict[int, str]) -> Result:
    from referee.app.page.folding import Folded, TooLong

    try:
        winner, over, hands = outcome(Folded(info, list(record.lines(info.id))))
    except (LogError, TooLong):
        return Result(info.id, info.began, len(info.seats), None, False, people)
    return Result(info.id, info.began, len(info.seats), winner, over, people, hands)


def outcome(folded: Folded) -> tuple[int | None, bool, tuple[Figure, ...]]:
    """Of a game that was ruled again: who won (seat, or None), whether it came to its end, and every hand."""
    from referee.app.page.stats import figures

    ends = [ruling for ruling in folded.rulings if ruling.kind in ("won", "lost", "drawn")]
    over = [ruling for ruling in ends if ruling.id not in folded.replaced_by]
    winner = next((ruling["seat"] for ruling in over if ruling.kind == "won"), None)
    # In Beggar-My-Neighbour the game ends with who lost; of two players the other one has won.
    loser = next((ruling["seat"] for ruling in over if ruling.kind == "lost"), None)
    if winner is None and loser is not None and len(folded.info.seats) == 2:
        winner = 3 - loser
    return winner, bool(over), tuple(figures(folded))
