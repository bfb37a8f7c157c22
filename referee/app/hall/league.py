"""The league: what the day came to for every player, all tables together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from referee.app.hall.parsing import Day
from referee.app.mqtt.tally import FIELDS


@dataclass(frozen=True, slots=True)
class Row:
    """One player's day; whoever bears the same name is the same player, whatever the table."""

    name: str
    tables: int
    games: int
    won: int
    slaps: int
    false: int
    cards: int


def league(days: Iterable[tuple[str, Day]], day: str) -> list[Row]:
    """Rows for one day, the best first: by games won, then slaps won, then fewer false slaps, then name.

    Args:
        days: by table, what its day came to.
        day: the date that counts, ISO 8601; a table that was last on yesterday does not.
    """
    sums: dict[str, Counter[str]] = {}
    for _, one in days:
        if one.day != day:
            continue
        for name, counts in one.players:
            row = sums.setdefault(name, Counter())
            row.update(dict(zip(FIELDS, counts, strict=True)))
            row["tables"] += 1
    rows = [
        Row(name, c["tables"], c["games"], c["won"], c["slaps"], c["false"], c["cards"]) for name, c in sums.items()
    ]
    return sorted(rows, key=lambda row: (-row.won, -row.slaps, row.false, row.name))
