"""For how long what is kept: three periods, and what they come to at a given day. Pure.

Pictures go first, then the names (and with them whatever ties a figure to a person), then the game itself. A game that
is marked to be kept stays, with its names, for people asked for that; its pictures stay as well. The newest game and
one that has not ended are left alone. Where the clock stands before the newest game - a machine without a battery that
found no network - nothing is done: a wrong clock must never cost a game.

What is removed when the record has grown to its cap, by a rule that can be read here.

Pictures go first (see `referee.record.pictures`). Then whole games, the oldest first; never one that is marked to be
kept, never one that has not ended, never the latest. Each removal is noted in the record and told at the table. Below
the cap nothing is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Final

from referee.record.store import GameInfo, Record

LEAST, MOST = 0, 36_500


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """Days since a game began; a whole number from `LEAST` to `MOST` each."""

    pictures: int = 30
    """Frames round slaps: hands can be seen on them, and after a month nobody argues any more."""
    figures: int = 365
    """Names, and so results and reaction times by person: a season."""
    games: int = 1095
    """The games themselves, by then without names."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for periods that make no sense together."""
        for field in fields(self):
            days = getattr(self, field.name)
            if type(days) is not int or not LEAST <= days <= MOST:
                raise ValueError(f"{field.name} is kept for {LEAST} to {MOST} days, not {days!r}")
        if not self.pictures <= self.games or not self.figures <= self.games:
            raise ValueError("pictures and figures cannot be kept longer than the games that they belong to")

    @property
    def words(self) -> str:
        """The rule, as it is told."""
        return (
            f"pictures are kept for {self.pictures} days, names and figures for {self.figures} days after the game, "
            f"games for {self.games} days; games marked to be kept stay as they are"
        )


@dataclass(frozen=True, slots=True)
class Due:
    """Ids of games whose time is over."""

    pictures: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    games: tuple[int, ...] = ()
    refused: str = ""
    """Why nothing can be said today; empty where it can."""


def moment(text: str) -> datetime | None:
    """A label of wall time as an instant, in UTC where it names no zone; None for one that is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def find_overdue(games: Sequence[GameInfo], keeping: RetentionPeriods, now: datetime) -> Due:
    """What is over at ``now`` (with a zone); a game whose beginning cannot be read is left alone."""
    begun = {info.id: began for info in games if (began := moment(info.began)) is not None}
    if begun and now < max(begun.values()):
        return Due(refused="the clock stands before the newest game, so nothing is removed: set the clock")
    newest = max((info.id for info in games), default=0)
    # Of those that were broken off only the newest may go on.
    ready = [info for info in games if info.id in begun and info.id != newest and not info.keep]

    def older(days: int) -> tuple[int, ...]:
        return tuple(sorted(info.id for info in ready if now - begun[info.id] > timedelta(days=days)))

    gone = set(older(keeping.games))
    left = [number for number in older(keeping.figures) if number not in gone]
    pictures = [number for number in older(keeping.pictures) if number not in gone]
    return Due(tuple(pictures), tuple(left), tuple(sorted(gone)))


GAMES_CAP: Final = 1024 * 1024 * 1024
"""Most bytes of games, unless the settings say otherwise: some 2,000 games of half an hour."""
_SLACK: Final = 0.9
"""Room is made down to this share of the cap, so that it is not made at every game."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a look at the record's size came to."""

    removed: tuple[GameInfo, ...]
    short: int
    """Bytes above the cap that nothing may be removed for."""

    @property
    def words(self) -> str:
        """For the table; empty where nothing was done and nothing is wrong."""
        said = []
        if self.removed:
            many = "1 old game was" if len(self.removed) == 1 else f"{len(self.removed)} old games were"
            oldest = min(info.began for info in self.removed)
            said.append(f"{many} removed to make room, the oldest of {oldest[:10]}")
        if self.short:
            said.append("the record is over its cap, and all games left are to be kept: raise the cap, or let some go")
        return "; ".join(said)


def choose_games_to_remove(games: Sequence[tuple[GameInfo, int]], cap: int) -> list[GameInfo]:
    """Which games to remove.

    Args:
        games: each with its size, bytes; the oldest first.
        cap: most bytes of all together.
    """
    total = sum(size for _, size in games)
    if total <= cap:
        return []
    out: list[GameInfo] = []
    for info, size in games[:-1]:
        if total <= cap * _SLACK:
            break
        if info.keep or info.ended is None:
            continue
        out.append(info)
        total -= size
    return out


def make_room(record: Record, at: str, cap: int = GAMES_CAP) -> Room:
    """Remove what must go; ``at`` is wall time, ISO 8601. Raises `RecordError`."""
    sizes = record.sizes()
    games = [(info, sizes.get(info.id, 0)) for info in reversed(record.games())]
    gone = choose_games_to_remove(games, cap)
    for info in gone:
        record.remove(info.id, at, f"to stay below {cap} bytes")
    left = sum(sizes.get(info.id, 0) for info in record.games())
    return Room(tuple(gone), max(0, left - cap))
