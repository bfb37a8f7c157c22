"""What a day's games came to, by player. Pure; rulings that were replaced no longer count.

The day's games that the record already holds, so that a table that was switched off and on forgets nothing.

What the conductor's owner holds: a table that is told on a broker. No method waits, none raises.

Joined to the referee as an outlet (`TablePublisher.rulings`) and by telling it the position (`TablePublisher.tell`)
at least once a second; `trouble` goes to `Conductor.trouble` or `Conductor.mended` as the part ``mqtt``.
"""

from __future__ import annotations

import functools
import json
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, ParamSpec

from hardware.clock import Clock, monotonic
from referee.engine.log import ruling_of
from referee.engine.rulings import GAME_ENDS, Ruling
from referee.engine.view import View
from referee.extras.broker.connection import Broker, Shell, wall_time
from referee.extras.broker.messages import VERSION, Telling, Topics
from referee.record.store import Record
from referee.settings.model import MqttSettings

FIELDS: Final = ("games", "won", "slaps", "false", "cards")
"""Games ended, games won, slaps won, false slaps, cards picked up."""
MOST: Final = 200
"""Players of one table in one day."""
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
        if ruling.kind in GAME_ENDS:
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


def tally_of(record: Record, day: str) -> Tally:
    """Everything that was ruled in games that began here on ``day`` (ISO 8601); raises `RecordError`.

    The last of them is left open: what is ruled next counts for it.
    """
    tally = Tally()
    for info in reversed(record.games()):
        if local_day(info.began) != day:
            continue
        tally.begin(day, info.id, info.seats)
        # A line that cannot be read counts for nothing; the record's own page says so.
        tally.take(ruling_of(json.loads(text)) for _, text in record.lines(info.id) if text.startswith('{"ruling"'))
    return tally


def local_day(began: str) -> str:
    """The date here of a wall time in ISO 8601; of one that cannot be read, what stands where the date should be."""
    try:
        return datetime.fromisoformat(began).astimezone().date().isoformat()
    except ValueError:
        return began[:10]


_LOG: Final = logging.getLogger(__name__)
_Given = ParamSpec("_Given")


def _harmless(method: Callable[_Given, None]) -> Callable[_Given, None]:
    """Whatever goes wrong in telling others, the game goes on."""

    @functools.wraps(method)
    def run(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:
            _LOG.exception("%s failed", method.__name__)

    return run


class TablePublisher:
    """See above.

    Args:
        settings: the section ``[mqtt]``.
        tally: what the day came to so far (`today.tally_of`).
        wall: the present wall time, ISO 8601; its date is the day that games count for.
        session: a name for this run; made up where none is given.

    Raises:
        ValueError: the table's name or the prefix cannot stand in a topic; the settings' checks let none such pass.
    """

    def __init__(
        self,
        settings: MqttSettings,
        *,
        tally: Tally | None = None,
        clock: Clock = monotonic,
        wall: Callable[[], str] = wall_time,
        session: str = "",
    ) -> None:
        self._topics = Topics(settings.prefix, settings.table)
        self._tally = tally or Tally()
        self._telling = Telling(session or secrets.token_hex(4))
        self._wall = wall
        broker = Broker(settings.host, settings.port, settings.user, settings.password_file, settings.tls)
        self._shell = Shell(broker, self._topics, clock=clock, wall=wall)

    @property
    def trouble(self) -> str:
        """What is amiss with the broker, in words that say what to do; empty while all is well."""
        return self._shell.trouble

    @property
    def outbox(self) -> int:
        """Rulings that wait for the broker."""
        return len(self._shell.outbox)

    @_harmless
    def start(self) -> None:
        """Begin to connect."""
        self._shell.start()

    @_harmless
    def begin(self, game: int, names: Sequence[str]) -> None:
        """A game begins, or one that was broken off goes on."""
        self._telling.begin(game, names)
        self._tally.begin(self._wall()[:10], game, names)
        self._keep_day()

    @_harmless
    def rulings(self, rulings: Sequence[Ruling]) -> None:
        """These were decided; an outlet of the conductor."""
        for ruling in rulings:
            self._shell.outbox.put(self._topics.of("ruling"), self._telling.ruling(ruling))
        if self._tally.take(rulings):
            self._keep_day()

    @_harmless
    def tell(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> None:
        """The position is this; to be told after every change and at least once a second."""
        self._shell.outbox.keep(self._topics.of("state"), self._telling.state(view, paused=paused, troubles=troubles))

    @_harmless
    def close(self) -> None:
        """The table is switched off. Takes some seconds at most; nothing else here waits."""
        self._shell.stop()

    def _keep_day(self) -> None:
        self._shell.outbox.keep(self._topics.of("day"), self._tally.payload())
