"""A fake broker with as much MQTT as one listener needs, up to a version; for behaviour beyond Mosquitto's."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from tests.support.patience import PATIENCE

CONNECT, PUBACK, SUBSCRIBE = 0x10, 0x40, 0x82
"""First bytes of packets."""
MQTT_3_1_1, MQTT_5 = 4, 5
"""Levels of the protocol."""
_MOST: Final = b"\x27"
"""First byte of the property with the largest packet size."""


class FakeBroker:
    """Sends its messages (topic, payload) to each subscriber, and keeps to the requested largest packet."""

    def __init__(self, newest: int, messages: Sequence[tuple[str, bytes]]) -> None:
        self.levels: list[int] = []
        """The requested protocol level of each connection."""
        self.taken = threading.Event()
        """Set when the last message has been acknowledged."""
        self._newest, self._messages = newest, messages
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._thread = threading.Thread(target=self._receive)

    def _receive(self) -> None:
        while True:
            try:
                guest, _ = self._door.accept()
            except OSError:
                return  # the test is over
            with guest:
                guest.settimeout(PATIENCE)
                self._serve(guest)

    def _serve(self, guest: socket.socket) -> None:
        level, most = MQTT_3_1_1, 2**28
        with guest.makefile("rb") as stream:
            while first := stream.read(1):
                size = shift = 0
                more = True
                while more:
                    part = stream.read(1)[0]
                    size |= (part & 0x7F) << shift
                    shift, more = shift + 7, part > 0x7F
                body = stream.read(size)
                if first[0] == CONNECT:
                    level = body[6]
                    self.levels.append(level)
                    if level > self._newest:
                        guest.sendall(b"\x20\x02\x00\x01")
                        return
                    if level == MQTT_5 and body[11:12] == _MOST:
                        most = int.from_bytes(body[12:16])
                    guest.sendall(b"\x20\x03\x00\x00\x00" if level == MQTT_5 else b"\x20\x02\x00\x00")
                elif first[0] == SUBSCRIBE:
                    none = b"\x00" if level == MQTT_5 else b""
                    guest.sendall(_packet(0x90, body[:2] + none + b"\x01"))
                    for number, (topic, payload) in enumerate(self._messages, 1):
                        head = len(topic).to_bytes(2) + topic.encode() + number.to_bytes(2) + none
                        packet = _packet(0x32, head + payload)
                        if len(packet) <= most:
                            guest.sendall(packet)
                elif first[0] == PUBACK and int.from_bytes(body[:2]) == len(self._messages):
                    self.taken.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._thread.join()


def _packet(first: int, body: bytes) -> bytes:
    size, length = len(body), b""
    while True:
        size, part = divmod(size, 128)
        length += bytes([part | 0x80 * (size > 0)])
        if not size:
            return bytes([first]) + length + body
