"""What is removed when the record has grown to its cap, by a rule that can be read here.

Pictures go first (see `referee.app.record_frames`). Then whole games, the oldest first; never one that is marked to be
kept, never one that has not ended, never the latest. Each removal is noted in the record and told at the table. Below
the cap nothing is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.app.record import GameInfo, Record

CAP: Final = 1024 * 1024 * 1024
"""Most bytes of games, unless the settings say otherwise: some 2,000 games of half an hour."""
SLACK: Final = 0.9
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


def chosen(games: Sequence[tuple[GameInfo, int]], cap: int) -> list[GameInfo]:
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
        if total <= cap * SLACK:
            break
        if info.keep or info.ended is None:
            continue
        out.append(info)
        total -= size
    return out


def make_room(record: Record, at: str, cap: int = CAP) -> Room:
    """Remove what must go; ``at`` is wall time, ISO 8601. Raises `RecordError`."""
    sizes = record.sizes()
    games = [(info, sizes.get(info.id, 0)) for info in reversed(record.games())]
    gone = chosen(games, cap)
    for info in gone:
        record.remove(info.id, at, f"to stay below {cap} bytes")
    left = sum(sizes.get(info.id, 0) for info in record.games())
    return Room(tuple(gone), max(0, left - cap))
