"""A table's connection to a broker: takes what is told without ever holding up who tells it.

A thread of its own publishes what waits in the `Outbox`; the broker may be slow, dead or not yet there. Rulings that
it has not acknowledged are sent again when it is back, and what is retained is told anew.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from hardware.clock import Clock, monotonic
from referee.app.mqtt.client import Broker, Connection
from referee.app.mqtt.discovery import announcements
from referee.app.mqtt.outbox import Outbox
from referee.app.mqtt.telling import encoded
from referee.app.mqtt.topics import OFFLINE, ONLINE, Topics

UNDER_WAY: Final = 100
"""Messages given to the broker that it has not acknowledged; more wait in the outbox, which is bounded."""
LOOK: Final = 0.1
"""Seconds between looks for what is due."""
LEAVE: Final = 2.0
"""Seconds that the last messages may take when the table is switched off."""
_LOG: Final = logging.getLogger(__name__)


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
