"""The hall's ear: paho's thread puts messages into a queue, and the event loop takes them out in bunches."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from hardware.clock import Clock, monotonic
from referee.app.mqtt.client import Broker, Connection
from referee.app.mqtt.topics import filters

ROOM: Final = 50_000
"""Messages that wait at most, some 50 MB; further ones push the oldest out, and are counted."""
Heard = tuple[str, bytes, bool, int, float]
"""Topic, payload, whether it had been retained, when it came (ns), and the wall time then (s)."""


class Ear:
    """See above."""

    def __init__(self, broker: Broker, prefix: str, *, clock: Clock = monotonic) -> None:
        self._queue: deque[Heard] = deque(maxlen=ROOM)
        self._clock = clock
        self.lost = 0
        """Messages that were pushed out."""
        wanted = [(one, 1) for one in filters(prefix)]
        self._connection = Connection(
            broker, f"hall-{secrets.token_hex(4)}", entered=lambda client: client.subscribe(wanted), heard=self._hear
        )

    def _hear(self, topic: str, payload: bytes, retained: bool) -> None:
        if len(self._queue) == ROOM:
            self.lost += 1
        self._queue.append((topic, payload, retained, self._clock(), time.time()))

    @property
    def connected(self) -> bool:
        """Whether the broker is there."""
        return self._connection.connected.is_set()

    @property
    def trouble(self) -> str:
        """What is amiss with the broker, in words; empty while all is well."""
        return self._connection.trouble

    def take(self, to: Callable[[str, bytes, bool, int, float], None], most: int) -> int:
        """Hand over what has come, in order, at most so many messages; returns how many."""
        for count in range(most):
            try:
                heard = self._queue.popleft()
            except IndexError:
                return count
            to(*heard)
        return most

    def start(self) -> bool:
        """Begin to listen; see `Connection.start`."""
        return self._connection.start()

    def stop(self) -> None:
        """Leave."""
        self._connection.stop()
