"""For how long what is kept: three periods, and what they come to at a given day. Pure.

Pictures go first, then the names (and with them whatever ties a figure to a person), then the game itself. A game that
is marked to be kept stays, with its names, for people asked for that; its pictures stay as well. The newest game and
one that has not ended are left alone. Where the clock stands before the newest game - a machine without a battery that
found no network - nothing is done: a wrong clock must never cost a game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

from referee.app.record import GameInfo

LEAST, MOST = 0, 36_500


@dataclass(frozen=True, slots=True)
class Keeping:
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


def due(games: Sequence[GameInfo], keeping: Keeping, now: datetime) -> Due:
    """What is over at ``now`` (with a zone); a game whose beginning cannot be read is left alone."""
    begun = {info.id: began for info in games if (began := moment(info.began)) is not None}
    if begun and now < max(begun.values()):
        return Due(refused="the clock stands before the newest game, so nothing is removed: set the clock")
    newest = max((info.id for info in games), default=0)
    ready = [info for info in games if info.id in begun and info.id != newest and info.ended and not info.keep]

    def older(days: int) -> tuple[int, ...]:
        return tuple(sorted(info.id for info in ready if now - begun[info.id] > timedelta(days=days)))

    gone = set(older(keeping.games))
    left = [number for number in older(keeping.figures) if number not in gone]
    pictures = [number for number in older(keeping.pictures) if number not in gone]
    return Due(tuple(pictures), tuple(left), tuple(sorted(gone)))
