"""Publishes a table's games to a broker: each ruling, the state, and each player's totals of the day.

`referee run` receives `open_broker`; the referee's loop calls the service, whose methods neither wait nor raise. paho
keeps messages in transit (`referee.options.broker.connection`); faults are reported as the part ``mqtt``.
"""

from __future__ import annotations

import functools
import logging
import secrets
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from typing import Any, Final, ParamSpec

from hardware.clock import monotonic
from referee.engine.rulings import GAME_ENDS, Ruling
from referee.engine.view import View
from referee.options.broker.messages import OFFLINE, ONLINE, VERSION, Telling, Topics, announcements, encoded, wall_time
from referee.record.store import Record
from referee.record.stored_lines import LineReader
from referee.settings.model import MqttSettings, Settings
from referee.table.services import GameContext, TableService
from referee.units import MS, SECOND

TALLIED: Final = ("games", "won", "slaps", "false", "cards")
"""Games ended, games won, slaps won, false slaps, cards picked up."""
_MOST_PLAYERS: Final = 200
"""At one table in one day."""
_COUNTED: Final = {"slap_won": "slaps", "slap_false": "false", "won": "won"}


class Tally:
    """Counts for one table and one day."""

    def __init__(self) -> None:
        self._day = ""
        self._game: int | None = None
        self._names: tuple[str, ...] = ()
        self._counts: dict[str, Counter[str]] = {}
        self._counted: dict[str, list[tuple[str, str, int]]] = {}
        """Counts added by each ruling of the current game."""

    def begin(self, day: str, game: int, names: Sequence[str]) -> None:
        """Start a game on that day (a date, ISO 8601), or continue the current one. A new day resets the counts."""
        if game == self._game:
            return
        self._game = game
        if day != self._day:
            self._day = day
            self._counts.clear()
        self._names = tuple(names)
        self._counted.clear()
        for name in self._names:
            if len(self._counts) < _MOST_PLAYERS:
                self._counts.setdefault(name, Counter())

    def take(self, rulings: Iterable[Ruling]) -> bool:
        """Count these rulings; return whether the counts changed."""
        has_changed = False
        for ruling in rulings:
            for gone in (*ruling.supersedes, ruling.id):
                for name, field, count in self._counted.pop(gone, ()):
                    self._counts[name][field] -= count
                    has_changed = True
            adds = [add for add in self._adds(ruling) if add[0] in self._counts]
            for name, field, count in adds:
                self._counts[name][field] += count
            if adds:
                self._counted[ruling.id] = adds
                has_changed = True
        return has_changed

    def _adds(self, ruling: Ruling) -> Iterable[tuple[str, str, int]]:
        if ruling.kind in GAME_ENDS:
            yield from ((player, "games", 1) for player in dict.fromkeys(self._names))
        seat = ruling.get("seat")
        if not isinstance(seat, int) or not 1 <= seat <= len(self._names):
            return
        if ruling.kind in _COUNTED:
            yield self._names[seat - 1], _COUNTED[ruling.kind], 1
        elif ruling.kind == "pile":
            yield self._names[seat - 1], "cards", int(ruling.get("count") or 0)

    def payload(self) -> dict[str, Any]:
        """Return the payload."""
        players = [
            {"name": name, **{field: counts[field] for field in TALLIED}} for name, counts in self._counts.items()
        ]
        return {"version": VERSION, "day": self._day, "players": players}


def tally_of(record: Record, day: str) -> Tally:
    """Return the tally of the games that began here on ``day`` (ISO 8601); raises `RecordError`.

    The last of them stays open: later rulings count for it.
    """
    tally = Tally()
    for info in reversed(record.games()):
        if local_day(info.began) != day:
            continue
        tally.begin(day, info.id, info.seats)
        # An unreadable line is not counted; the record's own page reports it.
        tally.take(LineReader().read(record.lines(info.id), ticks=False)[1])
    return tally


def local_day(began: str) -> str:
    """Return the local date of a wall time in ISO 8601; for an unreadable time, its first ten characters."""
    try:
        return datetime.fromisoformat(began).astimezone().date().isoformat()
    except ValueError:
        return began[:10]


PACE: Final = 200 * MS
"""Minimum time between two messages on one retained topic, ns: a display needs no more."""
BEAT: Final = 10 * SECOND
"""Interval at which an unchanged state is repeated, ns: a longer silence means that the referee hangs, even while its
connection is up.
"""
_LOOK: Final = 50 * MS
"""Time between two checks for due messages, ns."""
_AT_ONCE: Final = 20
"""Rulings published in one check, so that a backlog does not hold up the loop."""
_MOST_WAITING: Final = 2000
"""Rulings kept while the broker is away: about ten minutes of a fast game, some 1 MB."""
_LEAVE: Final = 2.0
"""Time for the last messages when the table is switched off, seconds."""
_LOG: Final = logging.getLogger(__name__)
_Given = ParamSpec("_Given")
Message = tuple[str, Mapping[str, Any], bool]
"""Topic, payload, whether the broker is to retain it."""


class Outbox:
    """Messages to publish: rulings in order, the oldest dropped when it is full; the latest payload of a retained
    topic.
    """

    def __init__(self, most: int = _MOST_WAITING) -> None:
        self._rulings: deque[tuple[str, Mapping[str, Any]]] = deque(maxlen=most)
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._sent: dict[str, tuple[int, Mapping[str, Any]]] = {}
        self.dropped = 0
        """Rulings dropped because it was full."""

    def __len__(self) -> int:
        """Number of waiting rulings."""
        return len(self._rulings)

    def put(self, topic: str, payload: Mapping[str, Any]) -> None:
        """Queue a ruling."""
        self.dropped += len(self._rulings) == self._rulings.maxlen
        self._rulings.append((topic, payload))

    def keep(self, topic: str, payload: Mapping[str, Any]) -> None:
        """Set the payload of a retained topic."""
        self._latest[topic] = payload

    def take(self, now: int, most: int) -> list[Message]:
        """Return the messages due at ``now`` (ns), at most ``most`` rulings."""
        out: list[Message] = []
        while self._rulings and len(out) < most:
            out.append((*self._rulings.popleft(), False))
        for topic, payload in self._latest.items():
            # A topic that was never sent is due at once.
            at, before = self._sent.get(topic, (now - BEAT, None))
            if now - at >= (PACE if payload != before else BEAT):
                self._sent[topic] = (now, payload)
                out.append((topic, payload, True))
        return out

    def again(self) -> None:
        """Make every retained message due, because a new connection's broker may hold none."""
        self._sent.clear()


def _harmless(method: Callable[_Given, None]) -> Callable[_Given, None]:
    """Log any exception of a method, so that publishing never stops the game."""

    @functools.wraps(method)
    def run(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:
            _LOG.exception("%s failed", method.__name__)

    return run


class BrokerService(TableService):
    """The publisher of one table.

    Args:
        settings: the section ``[mqtt]``.
        tally: the day's totals so far (`tally_of`).
        session: a name for this run; random by default.

    Raises:
        ValueError: the table's name or the prefix is not valid in a topic; the checks of the settings rule this out.
    """

    name = "mqtt"

    def __init__(self, settings: MqttSettings, *, tally: Tally | None = None, session: str = "") -> None:
        # Import the client library only if there is a broker.
        from referee.options.broker.connection import Broker, Connection

        self._topics = Topics(settings.prefix, settings.table)
        self._tally = tally or Tally()
        self._telling = Telling(session or secrets.token_hex(4))
        self._game: GameContext | None = None
        self._is_begun = False
        self._next_tell = self._next_look = 0
        self._entered = threading.Event()
        """Set on each connection: the last will of the one before may have been published."""
        self.outbox = Outbox()
        self._connection = Connection(
            Broker(settings.host, settings.port, settings.user, settings.password_file, settings.tls),
            f"{settings.prefix}-{settings.table}", will=(self._topics.of("available"), OFFLINE),
            entered=lambda _: self._entered.set(),
        )  # fmt: skip
        self._connection.client.max_queued_messages_set(_MOST_WAITING)

    @property
    def trouble(self) -> str:
        """The fault of the broker, in words that say what to do; empty if there is none."""
        if not (words := self._connection.trouble):
            return ""
        words += " (section [mqtt] of the settings); the game goes on, and is reported there when that is mended"
        dropped = self.outbox.dropped
        return f"{words}; {dropped} rulings found no room and are not reported there" if dropped else words

    @_harmless
    def start(self) -> None:
        """Start to connect."""
        self._connection.start()

    def begin_game(self, game: GameContext) -> None:
        """Set the current game; the broker learns of it once it has a number in the record."""
        self._game, self._is_begun, self._next_tell = game, False, 0

    @_harmless
    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Queue these rulings."""
        for ruling in rulings:
            self.outbox.put(self._topics.of("ruling"), self._telling.ruling(ruling))
        if self._tally.take(rulings):
            self.outbox.keep(self._topics.of("day"), self._tally.payload())

    @_harmless
    def beat(self, now: int) -> None:
        """Publish the state, and pass due messages to the connection."""
        game, number = self._game, None if self._game is None else self._game.number()
        if game is not None and number is not None and now >= self._next_tell:
            self._next_tell = now + PACE
            conductor = game.conductor
            if not self._is_begun:
                self._is_begun = True
                self.begin(number, conductor.view.names)
            self.tell(conductor.view, paused=conductor.paused, troubles=conductor.troubles)
            if words := self.trouble:
                conductor.trouble(self.name, words)
            else:
                conductor.mended(self.name)
        self._flush()

    @_harmless
    def begin(self, game: int, names: Sequence[str]) -> None:
        """Start a game with this number, or continue an interrupted one."""
        self._telling.begin(game, names)
        self._tally.begin(wall_time()[:10], game, names)
        self.outbox.keep(self._topics.of("day"), self._tally.payload())

    @_harmless
    def tell(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> None:
        """Set the position."""
        self.outbox.keep(self._topics.of("state"), self._telling.state(view, paused=paused, troubles=troubles))

    def _flush(self) -> None:
        now = monotonic()
        if not self._connection.connected.is_set() or now < self._next_look:
            return
        self._next_look = now + _LOOK
        if self._entered.is_set():
            self._entered.clear()
            self.outbox.again()
            for topic, fields in announcements(self._topics).items():
                self._publish(topic, encoded(fields))
            self._publish(self._topics.of("available"), ONLINE)
        for topic, payload, retain in self.outbox.take(now, _AT_ONCE):
            self._publish(topic, encoded({**payload, "at": wall_time()}), retain=retain)

    def _publish(self, topic: str, payload: bytes, *, retain: bool = True) -> None:
        self._connection.client.publish(topic, payload, qos=1, retain=retain)

    @_harmless
    def close(self) -> None:
        """Announce that the table was switched off rather than lost; blocks for some seconds at most."""
        if self._connection.connected.is_set():
            self.outbox.again()
            self._next_look = 0
            self._flush()
            client = self._connection.client
            client.publish(self._topics.of("available"), OFFLINE, qos=1, retain=True).wait_for_publish(_LEAVE)
        self._connection.stop(_LEAVE)


def open_broker(settings: Settings, record: Record, stack: ExitStack) -> TableService | None:
    """Open the broker that the settings name (a `referee.table.services.Hook`); `None`: they name none."""
    if not settings.mqtt.enabled:
        return None
    broker = BrokerService(settings.mqtt, tally=tally_of(record, wall_time()[:10]))
    stack.callback(broker.close)
    broker.start()
    return broker
