"""What waits to be published: a bounded queue of rulings, and of everything retained only the latest.

Handed over by the referee's thread, taken by the broker's; the lock is held for a few list operations only.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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
