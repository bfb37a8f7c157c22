"""A header's lines as libgpiod gives them, under the test's own hands: stands for `gpiod.request_lines`."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import gpiod
from gpiod.edge_event import EdgeEvent
from gpiod.line import Bias, Direction, Edge, Value

LINES: Final = 54
PULLED_UP: Final = (2, 3)
"""Pins with resistors of their own."""


@dataclass(frozen=True, slots=True)
class FakeEvent:
    """An edge, with libgpiod's names for its parts."""

    Type = EdgeEvent.Type

    line_offset: int
    timestamp_ns: int
    event_type: EdgeEvent.Type
    global_seqno: int
    line_seqno: int


class FakeHeader:
    """The chip. `drive` and `release` are the outside of a pin; ``now`` is the kernel's instant, ns."""

    def __init__(self) -> None:
        self.now = 0
        self.outputs: list[tuple[int, int, bool]] = []
        """Instant, pin and level of each write."""
        self.gone = False
        self._driven: dict[int, bool] = {}
        self._owners: dict[int, FakeRequest | str] = {}

    def request_lines(
        self, _path: str, *, config: Mapping[Any, gpiod.LineSettings], consumer: str, event_buffer_size: int | None
    ) -> FakeRequest:
        """Claim lines, or raise as the kernel does."""
        settings = dict(_each_line(config))
        if any(pin >= LINES for pin in settings):
            raise ValueError("no such line")
        if any(pin in self._owners for pin in settings):
            raise OSError(errno.EBUSY, "Device or resource busy")
        request = FakeRequest(self, event_buffer_size or 16 * len(settings))
        self._owners |= dict.fromkeys(settings, request)
        request.reconfigure_lines(config)
        return request

    def take(self, pin: int, consumer: str) -> None:
        """Let another program hold a line."""
        self._owners[pin] = consumer

    def settings(self, pin: int) -> gpiod.LineSettings | None:
        """Return how a line is configured; None: no process holds it."""
        owner = self._owners.get(pin)
        return owner.settings[pin] if isinstance(owner, FakeRequest) else None

    def level(self, pin: int) -> bool:
        """Return the level of a pin: as driven, or as pulled."""
        settings = self.settings(pin)
        if settings is not None and settings.direction is Direction.OUTPUT:
            return settings.output_value is Value.ACTIVE
        if pin in self._driven:
            return self._driven[pin]
        return pin in PULLED_UP or (settings is not None and settings.bias is Bias.PULL_UP)

    def drive(self, pin: int, level: bool) -> None:
        """Drive a pin from outside."""
        before = self.level(pin)
        self._driven[pin] = level
        self._notice(pin, before)

    def release(self, pin: int) -> None:
        """Drive it no longer: it follows its pull."""
        before = self.level(pin)
        self._driven.pop(pin, None)
        self._notice(pin, before)

    def changed(self, pin: int) -> None:
        """Let what hangs on a pin answer: the pin was configured or written."""

    def forget(self, request: FakeRequest) -> None:
        """Free a request's lines."""
        self._owners = {pin: owner for pin, owner in self._owners.items() if owner is not request}

    def _notice(self, pin: int, before: bool) -> None:
        owner, after = self._owners.get(pin), self.level(pin)
        if isinstance(owner, FakeRequest) and after != before:
            owner.notice(pin, after)


class FakeRequest:
    """Claimed lines with one queue of edges, which drops its oldest when it is full."""

    def __init__(self, header: FakeHeader, queue: int) -> None:
        self.settings: dict[int, gpiod.LineSettings] = {}
        self._header = header
        self._most = queue
        self._queue: list[FakeEvent] = []
        self._numbers: dict[int, int] = {}
        self._lock = threading.Lock()
        self._signal = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._released = False

    def __bool__(self) -> bool:
        return not self._released

    @property
    def fd(self) -> int:
        return self._signal

    def reconfigure_lines(self, config: Mapping[Any, gpiod.LineSettings]) -> None:
        self._check()
        for pin, settings in _each_line(config):
            self.settings[pin] = settings
            if settings.direction is Direction.OUTPUT:
                self._header.outputs.append((self._header.now, pin, settings.output_value is Value.ACTIVE))
            self._header.changed(pin)

    def get_value(self, pin: int) -> Value:
        self._check()
        return Value(self._header.level(pin) != self.settings[pin].active_low)

    def set_value(self, pin: int, value: Value) -> None:
        self._check()
        if self.settings[pin].direction is not Direction.OUTPUT:
            raise PermissionError(errno.EPERM, "Operation not permitted")
        self.settings[pin] = replace(self.settings[pin], output_value=value)
        self._header.outputs.append((self._header.now, pin, value is Value.ACTIVE))
        self._header.changed(pin)

    def notice(self, pin: int, level: bool) -> None:
        """Queue an edge, if it is watched; of a line that is active at a low level, its fall is the rising edge."""
        level = level != self.settings[pin].active_low
        watched = self.settings[pin].edge_detection
        if watched is Edge.NONE or watched is (Edge.FALLING if level else Edge.RISING):
            return
        kind = EdgeEvent.Type.RISING_EDGE if level else EdgeEvent.Type.FALLING_EDGE
        with self._lock:
            self._numbers[pin] = self._numbers.get(pin, 0) + 1
            number = sum(self._numbers.values())
            self._queue = [
                *self._queue, FakeEvent(pin, self._header.now, kind, number, self._numbers[pin]),
            ][-self._most :]  # fmt: skip
            os.eventfd_write(self._signal, 1)

    def wait_edge_events(self, _timeout: float) -> bool:
        return bool(self._queue)

    def read_edge_events(self, _most: int | None = None) -> list[FakeEvent]:
        self._check()
        with self._lock:
            if not self._queue:
                raise BlockingIOError
            os.eventfd_read(self._signal)
            events, self._queue = self._queue, []
            return events

    def release(self) -> None:
        self._released = True
        self._header.forget(self)
        os.close(self._signal)

    def _check(self) -> None:
        if self._header.gone:
            raise OSError(errno.ENODEV, "No such device")


def _each_line(config: Mapping[Any, gpiod.LineSettings]) -> Iterator[tuple[int, gpiod.LineSettings]]:
    for lines, settings in config.items():
        for line in lines if isinstance(lines, tuple) else (lines,):
            yield line, settings
