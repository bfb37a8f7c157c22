"""What a day's games came to, by player. Pure; rulings that were replaced no longer count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from referee.adjudication.rulings import Ruling
from referee.app.mqtt.topics import VERSION

FIELDS: Final = ("games", "won", "slaps", "false", "cards")
"""Games ended, games won, slaps won, false slaps, cards picked up."""
MOST: Final = 200
"""Players of one table in one day."""
_END: Final = frozenset(("won", "lost", "drawn"))
_SEATS: Final = {"slap_won": "slaps", "slap_false": "false", "won": "won"}


class Tally:
    """Counts for one table and one day."""

    def __init__(self) -> None:
        self._day = ""
        self._game: int | None = None
        self._names: tuple[str, ...] = ()
        self._counts: dict[str, Counter[str]] = {}
        self._counted: dict[str, list[tuple[str, str, int]]] = {}
        """By ruling of the game that is on, what it added."""

    def begin(self, day: str, game: int, names: Sequence[str]) -> None:
        """A game begins on that day (a date, ISO 8601), or the one that was on goes on. A new day begins anew."""
        if game == self._game:
            return
        self._game = game
        if day != self._day:
            self._day = day
            self._counts.clear()
        self._names = tuple(names)
        self._counted.clear()
        for name in self._names:
            if len(self._counts) < MOST:
                self._counts.setdefault(name, Counter())

    def take(self, rulings: Iterable[Ruling]) -> bool:
        """Count these; returns whether that changed anything."""
        return sum(self._take(ruling) for ruling in rulings) > 0

    def _take(self, ruling: Ruling) -> bool:
        gone = [self._counted.pop(id_) for id_ in (*ruling.supersedes, ruling.id) if id_ in self._counted]
        for name, field, count in (one for many in gone for one in many):
            self._counts[name][field] -= count
        adds = [one for one in self._adds(ruling) if one[0] in self._counts]
        for name, field, count in adds:
            self._counts[name][field] += count
        if adds:
            self._counted[ruling.id] = adds
        return bool(gone or adds)

    def _adds(self, ruling: Ruling) -> Iterable[tuple[str, str, int]]:
        seat = ruling.get("seat")
        name = self._names[seat - 1] if isinstance(seat, int) and 1 <= seat <= len(self._names) else None
        if ruling.kind in _END:
            yield from ((player, "games", 1) for player in dict.fromkeys(self._names))
        if name is None:
            return
        if ruling.kind in _SEATS:
            yield name, _SEATS[ruling.kind], 1
        elif ruling.kind == "pile":
            yield name, "cards", int(ruling.get("count") or 0)

    def payload(self) -> dict[str, Any]:
        """As it is told."""
        players = [
            {"name": name, **{field: counts[field] for field in FIELDS}} for name, counts in self._counts.items()
        ]
        return {"version": VERSION, "day": self._day, "players": players}
