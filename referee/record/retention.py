"""Retention: three periods, and the data that is overdue on a given day. Pure.

Pictures go first, then the names (and with them every tie of a figure to a person), then the game itself. A game that
is marked to be kept stays, with its names and pictures, since people asked for that. The newest game and an unfinished
one are left alone. If the clock stands before the newest game - a machine without a battery that found no network -
nothing is done: a wrong clock must never cost a game.

Also the removal of games when the record has grown to its cap.

Pictures go first (see `referee.record.pictures`). Then whole games, oldest first; never one that is marked to be kept,
never an unfinished one, never the latest. Each removal is noted in the record and announced at the table. Below the cap
nothing is removed.
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
    """Days since a game began; an integer from `LEAST` to `MOST` each."""

    pictures: int = 30
    """Frames around slaps: they show hands, and after a month they are no longer needed for disputes."""
    figures: int = 365
    """Names, and so results and reaction times by person: a season."""
    games: int = 1095
    """The games themselves, by then without names."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for periods that make no sense together."""
        for field in fields(self):
            days = getattr(self, field.name)
            if type(days) is not int or not LEAST <= days <= MOST:
                raise ValueError(f"{field.name} is kept for {LEAST} to {MOST} days, not {days!r}")
        if not self.pictures <= self.games or not self.figures <= self.games:
            raise ValueError("pictures and figures cannot be kept longer than the games that they belong to")

    @property
    def words(self) -> str:
        """The periods in a sentence."""
        return (
            f"pictures are kept for {self.pictures} days, names and figures for {self.figures} days after the game, "
            f"games for {self.games} days; games marked to be kept stay as they are"
        )


@dataclass(frozen=True, slots=True)
class Due:
    """Ids of games with overdue data."""

    pictures: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    games: tuple[int, ...] = ()
    refused: str = ""
    """Why nothing can be decided today; empty if it can."""


def moment(text: str) -> datetime | None:
    """Parse a wall-clock label, in UTC if it names no zone; None if it is invalid."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def find_overdue(games: Sequence[GameInfo], keeping: RetentionPeriods, now: datetime) -> Due:
    """Return what is overdue at ``now`` (with a zone); a game with an unreadable beginning is left alone."""
    begun = {info.id: began for info in games if (began := moment(info.began)) is not None}
    if begun and now < max(begun.values()):
        return Due(refused="the clock stands before the newest game, so nothing is removed: set the clock")
    newest = max((info.id for info in games), default=0)
    # Of the unfinished games only the newest may be resumed.
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
"""Share of the cap down to which room is made, so that it is not needed at every game."""


@dataclass(frozen=True, slots=True)
class Room:
    """The result of making room."""

    removed: tuple[GameInfo, ...]
    short: int
    """Bytes above the cap for which nothing may be removed."""

    @property
    def words(self) -> str:
        """For the table; empty if nothing was done and nothing is wrong."""
        said = []
        if self.removed:
            many = "1 old game was" if len(self.removed) == 1 else f"{len(self.removed)} old games were"
            oldest = min(info.began for info in self.removed)
            said.append(f"{many} removed to make room, the oldest of {oldest[:10]}")
        if self.short:
            said.append("the record is over its cap, and all games left are to be kept: raise the cap, or let some go")
        return "; ".join(said)


def choose_games_to_remove(games: Sequence[tuple[GameInfo, int]], cap: int) -> list[GameInfo]:
    """Return the games to remove.

    Args:
        games: each with its size, bytes; oldest first.
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
    """Remove games above the cap; ``at`` is wall-clock time, ISO 8601. Raises `RecordError`."""
    sizes = record.sizes()
    games = [(info, sizes.get(info.id, 0)) for info in reversed(record.games())]
    gone = choose_games_to_remove(games, cap)
    for info in gone:
        record.remove(info.id, at, f"to stay below {cap} bytes")
    left = sum(sizes.get(info.id, 0) for info in record.games())
    return Room(tuple(gone), max(0, left - cap))
