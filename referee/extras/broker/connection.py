"""A connection to a broker, for a table and for the hall: who we are, how we come back, what is amiss in words.

What waits to be published: a bounded queue of rulings, and of everything retained only the latest.

Handed over by the referee's thread, taken by the broker's; the lock is held for a few list operations only.

A table's connection to a broker: takes what is told without ever holding up who tells it.

A thread of its own publishes what waits in the `Outbox`; the broker may be slow, dead or not yet there. Rulings that
it has not acknowledged are sent again when it is back, and what is retained is told anew.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from hardware.clock import Clock, monotonic
from referee.extras.broker.messages import OFFLINE, ONLINE, Topics, announcements, encoded

KEEPALIVE: Final = 15
"""Seconds; a broker that hears nothing for one and a half times that publishes the last will."""
SOONEST, LATEST = 1, 30
"""Seconds between attempts to come back: doubled from the one to the other."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is and what it asks for."""

    host: str
    port: int = 1883
    user: str = ""
    password_file: str = ""
    tls: bool = False

    @property
    def where(self) -> str:
        """For people."""
        return f"{self.host}:{self.port}"

    def password(self) -> str | None:
        """The first line of the file; raises `OSError` or `UnicodeDecodeError` where it cannot be read."""
        if not self.password_file:
            return None
        lines = Path(self.password_file).expanduser().read_text(encoding="utf-8").splitlines()
        return lines[0].strip() if lines else ""


class Connection:
    """paho's client and its thread, which comes back by itself; never raises once it is made.

    Args:
        broker: where.
        name: the client's id. A fixed one: a table that comes back over a new connection takes over the old one,
            whose last will would otherwise be published after the new one said ``online``.
        will: topic and payload of the last will, retained.
        entered: called in paho's thread whenever the connection stands anew.
        heard: called there for each message: topic, payload, whether it had been retained.
        acknowledged: called there for each message that the broker has taken.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        *,
        will: tuple[str, bytes] | None = None,
        entered: Callable[[Client], object] = lambda _: None,
        heard: Callable[[str, bytes, bool], None] | None = None,
        acknowledged: Callable[[], None] = lambda: None,
        inflight: int = 20,
    ) -> None:
        self.broker = broker
        self.trouble = f"the broker {broker.where} has not answered yet"
        """What is amiss, and what to do; empty while all is well."""
        self.connected = threading.Event()
        self._entered, self._heard, self._acknowledged = entered, heard, acknowledged
        client = self.client = Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=True)
        client.reconnect_delay_set(SOONEST, LATEST)
        client.max_inflight_messages_set(inflight)
        if will is not None:
            client.will_set(*will, qos=1, retain=True)
        client.on_connect, client.on_connect_fail = self._on_connect, self._on_connect_fail
        client.on_disconnect, client.on_message = self._on_disconnect, self._on_message
        client.on_publish = self._on_publish

    def start(self) -> bool:
        """Begin to connect; false, with `trouble` saying why, where that cannot even be tried."""
        broker, client = self.broker, self.client
        try:
            if broker.user:
                client.username_pw_set(broker.user, broker.password())
            if broker.tls:
                client.tls_set()
            client.connect_async(broker.host, broker.port, KEEPALIVE)
            client.loop_start()
        except (OSError, ValueError) as bad:
            self.trouble = f"no connection to the broker can be made ({bad}): look at password file, host and TLS"
            _LOG.warning("%s", self.trouble)
            return False
        return True

    def stop(self) -> None:
        """Leave properly, so that no last will is published."""
        self.client.disconnect()
        self.client.loop_stop()

    def _on_connect(
        self, client: Client, _data: Any, _flags: ConnectFlags, code: ReasonCode, _more: Properties | None
    ) -> None:
        if code.is_failure:
            what = "look at user and password file, and at who may enter there"
            self._tell(f"the broker {self.broker.where} refuses us ({code}): {what}")
            return
        self.trouble = ""
        self.connected.set()
        self._entered(client)

    def _on_connect_fail(self, _client: Client, _data: Any) -> None:
        trusted = ", and that this machine trusts its certificate" if self.broker.tls else ""
        self._tell(
            f"the broker {self.broker.where} cannot be reached: look at its power and network, and at the host and "
            f"port that are set here{trusted}"
        )

    def _on_disconnect(
        self, _client: Client, _data: Any, _flags: DisconnectFlags, code: ReasonCode, _more: Properties | None
    ) -> None:
        was = self.connected.is_set()
        self.connected.clear()
        if was and code.is_failure:
            words = "it is tried again: look at its power and network"
            self._tell(f"the broker {self.broker.where} is gone ({code}); {words}")

    def _tell(self, words: str) -> None:
        if words != self.trouble:
            _LOG.warning("%s", words)
        self.trouble = words

    def _on_message(self, _client: Client, _data: Any, message: Any) -> None:
        if self._heard is None:
            return
        try:
            self._heard(message.topic, message.payload, message.retain)
        except UnicodeDecodeError:
            return  # a topic that is no text is not ours

    def _on_publish(self, _client: Client, _data: Any, _mid: int, _code: ReasonCode, _more: Properties) -> None:
        self._acknowledged()


MOST: Final = 2000
"""Rulings kept while the broker is away: about ten minutes of a fast game, some 1 MB."""
SECOND: Final = 1_000_000_000
PACE: Final = SECOND // 5
"""Between two messages on one retained topic, ns: who shows the present needs no more."""
BEAT: Final = 10 * SECOND
"""How often the present is told again although nothing changed, ns: who hears nothing for longer knows that the
referee hangs, even where its connection still stands."""


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to publish."""

    topic: str
    payload: Mapping[str, Any]
    retain: bool


class Outbox:
    """See above."""

    def __init__(self, most: int = MOST) -> None:
        self._queue: deque[Message] = deque()
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._sent: dict[str, tuple[int, Mapping[str, Any]]] = {}
        self._most = most
        self._lock = threading.Lock()
        self.dropped = 0
        """Rulings that were never published for want of room."""
        self.ready = threading.Event()
        """Something was put in."""

    def put(self, topic: str, payload: Mapping[str, Any]) -> None:
        """Publish this after what was put before; the oldest makes way where there is no room."""
        with self._lock:
            if len(self._queue) >= self._most:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append(Message(topic, payload, False))
        self.ready.set()

    def keep(self, topic: str, payload: Mapping[str, Any]) -> None:
        """From now on this is what the topic holds."""
        with self._lock:
            self._latest[topic] = payload
        self.ready.set()

    def take(self, now: int, most: int) -> list[Message]:
        """What is due at ``now`` (ns), at most so many rulings."""
        self.ready.clear()
        out: list[Message] = []
        with self._lock:
            while self._queue and len(out) < most:
                out.append(self._queue.popleft())
            for topic, payload in self._latest.items():
                at, before = self._sent.get(topic, (now - BEAT, None))
                if now - at >= (PACE if payload != before else BEAT):
                    self._sent[topic] = (now, payload)
                    out.append(Message(topic, payload, True))
        return out

    def again(self) -> None:
        """The broker is new to us and may hold nothing: everything retained is due."""
        with self._lock:
            self._sent.clear()
        self.ready.set()

    def __len__(self) -> int:
        """Rulings that wait."""
        return len(self._queue)


UNDER_WAY: Final = 100
"""Messages given to the broker that it has not acknowledged; more wait in the outbox, which is bounded."""
LOOK: Final = 0.1
"""Seconds between looks for what is due."""
LEAVE: Final = 2.0
"""Seconds that the last messages may take when the table is switched off."""


def wall_time() -> str:
    """The time here, ISO 8601. A label, since the machine may not know it; its date is the day of the league."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


class Shell:
    """See above. `start` it; then `outbox` may be filled from any thread."""

    def __init__(
        self, broker: Broker, topics: Topics, *, clock: Clock = monotonic, wall: Callable[[], str] = wall_time
    ) -> None:
        self.outbox = Outbox()
        self._topics, self._clock, self._wall = topics, clock, wall
        self._under_way = 0
        self._count = threading.Lock()
        self._leaving = threading.Event()
        self._new = threading.Event()
        """The connection stands anew, and the last will of the one before may have been published."""
        self._connection = Connection(
            broker, f"{topics.prefix}-{topics.table}", will=(topics.of("available"), OFFLINE),
            entered=lambda _: self._entered(), acknowledged=self._acknowledged,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)

    @property
    def trouble(self) -> str:
        """What is amiss with the broker, in words that say what to do; empty while all is well."""
        words = self._connection.trouble
        if not words:
            return ""
        dropped = self.outbox.dropped
        lost = f"; {dropped} rulings found no room and are not told there" if dropped else ""
        return (
            f"{words} (section [mqtt] of the settings); the game goes on, and is told there when that is mended{lost}"
        )

    def start(self) -> None:
        """Begin to connect and to publish."""
        self._thread.start()

    def stop(self) -> None:
        """Publish what waits, as far as that takes `LEAVE`, say that the table is off, and leave."""
        self._leaving.set()
        self.outbox.ready.set()
        if self._thread.is_alive():
            self._thread.join(2 * LEAVE)

    def _run(self) -> None:
        try:
            if self._connection.start():
                self._publish_until_told()
        except Exception:
            # Nothing of this may reach the game; it is in the log, and `trouble` says that nothing is told any more.
            _LOG.exception("publishing ended")
            self._connection.trouble = "publishing to the broker ended by a fault of this program; see its log"

    def _entered(self) -> None:
        self._new.set()
        self.outbox.again()

    def _publish_until_told(self) -> None:
        while not self._leaving.is_set():
            self.outbox.ready.wait(LOOK)
            if not self._connection.connected.is_set():
                self.outbox.ready.clear()
                self._leaving.wait(LOOK)
                continue
            if self._new.is_set():
                self._new.clear()
                self._announce()
            self._publish_due()
        self._leave()

    def _announce(self) -> None:
        for topic, payload in announcements(self._topics).items():
            self._publish(topic, encoded(payload), retain=True)
        self._publish(self._topics.of("available"), ONLINE, retain=True)

    def _publish_due(self) -> None:
        room = UNDER_WAY - self._under_way
        if room <= 0:
            self.outbox.ready.clear()
            return
        for message in self.outbox.take(self._clock(), room):
            payload: Mapping[str, Any] = {**message.payload, "at": self._wall()}
            self._publish(message.topic, encoded(payload), retain=message.retain)

    def _publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        with self._count:
            self._under_way += 1
        self._connection.client.publish(topic, payload, qos=1, retain=retain)

    def _acknowledged(self) -> None:
        with self._count:
            self._under_way -= 1

    def _leave(self) -> None:
        """Whoever listens is to know that the table was switched off, not lost."""
        if self._connection.connected.is_set():
            self.outbox.again()
            self._publish_due()
            last = self._connection.client.publish(self._topics.of("available"), OFFLINE, qos=1, retain=True)
            last.wait_for_publish(LEAVE)
        self._connection.stop()
