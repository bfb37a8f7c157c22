"""Another client of the broker, which hears everything and may publish anything."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from tests.support.patience import PATIENCE


class Listener:
    """Keeps every message under the given filters; ``until`` waits for a condition."""

    def __init__(self, port: int, *filters: str, user: str = "", password: str = "") -> None:
        self.messages: list[tuple[str, bytes, bool]] = []
        self._news = threading.Condition()
        self._entered = threading.Event()
        self.client = Client(CallbackAPIVersion.VERSION2)
        if user:
            self.client.username_pw_set(user, password)
        self.client.reconnect_delay_set(1, 1)
        self._filters = filters
        self.client.on_connect = self._on_connect
        self.client.on_message = self._on_message
        self.client.on_subscribe = self._on_subscribe
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def _on_connect(self, client: Client, *_: Any) -> None:
        if self._filters:
            client.subscribe([(topic, 1) for topic in self._filters])
        else:
            self._entered.set()

    def _on_subscribe(self, *_: Any) -> None:
        self._entered.set()

    def _on_message(self, _client: Client, _data: Any, message: Any) -> None:
        with self._news:
            self.messages.append((message.topic, message.payload, message.retain))
            self._news.notify_all()

    def say(self, topic: str, payload: bytes | str | None, *, retain: bool = False) -> None:
        """Publish a message; it has reached the broker when this returns."""
        self.client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(PATIENCE)

    def until(self, found: Callable[[Self], Any]) -> Any:
        """Return the result of ``found`` once it is true."""
        end = time.monotonic() + PATIENCE
        with self._news:
            while not (answer := found(self)):
                left = end - time.monotonic()
                assert left > 0 and self._news.wait(left), [(topic, text[:60]) for topic, text, _ in self.messages[-9:]]
            return answer

    def last(self, topic: str) -> bytes | None:
        """Return the latest message on a topic."""
        return next((payload for name, payload, _ in reversed(self.messages) if name == topic), None)

    def objects(self, topic: str) -> list[dict[str, Any]]:
        """Return every message on a topic, as JSON."""
        return [json.loads(payload) for name, payload, _ in self.messages if name == topic]

    def __enter__(self) -> Self:
        assert self._entered.wait(PATIENCE)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.client.disconnect()
        self.client.loop_stop()
