"""Pads that another process presses in real time: edges come through a pipe, stamped where they are made.

Stands for `gpiod.LineRequest` under the real pad shell, as
`hardware.simulated.devices.simulated_pads.SimulatedLineRequest` does where time is data. The kernel stamps an edge in
its interrupt and queues it; here the finger's process stamps it and writes.
"""

from __future__ import annotations

import mmap
import os
import select
import struct
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hardware.simulated.devices.simulated_pads import SimulatedEvent

_EDGE: Final = struct.Struct("qqqq")


@dataclass(frozen=True)
class Slap:
    """Hands that fall together: seats, the seconds since the hand before, and how long each stays down."""

    after: float
    """Seconds since the last slap's first hand."""
    hands: tuple[tuple[int, float], ...]
    down: float = 0.08


class PipedRequest:
    """Lines whose contacts another process closes."""

    exact = True

    def __init__(self, pins: Sequence[int]) -> None:
        self.pins = tuple(pins)
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # Shared with the finger's process: the levels, as the pins themselves would show them.
        self._levels = mmap.mmap(-1, 64)
        self._released = False
        self._number = 0
        self.echo: int | None = None
        """A pipe into which the stamp of each edge is written, too, eight bytes each."""
        self._pressed: Counter[int] = Counter()
        """Edges of all pins, and of each, from earlier fingers: the kernel's sequence numbers go on."""

    def __bool__(self) -> bool:
        return not self._released

    @property
    def fd(self) -> int:
        return self._read

    def wait_edge_events(self, _timeout: float = 0) -> bool:
        return bool(select.select([self._read], [], [], 0)[0])

    def read_edge_events(self, most: int = 64) -> list[SimulatedEvent]:
        data = os.read(self._read, most * _EDGE.size)
        return [SimulatedEvent(*fields) for fields in _EDGE.iter_unpack(data)]

    def get_value(self, pin: int) -> bool:
        return bool(self._levels[pin])

    def release(self) -> None:
        self._released = True

    def tell(self, pin: int, number: int, of_pin: int) -> None:
        """Send an edge from the finger's process, stamped now, with its numbers among all and those of its pin."""
        stamp = time.monotonic_ns()
        os.write(self._write, _EDGE.pack(pin, stamp, number, of_pin))
        if self.echo is not None:
            os.write(self.echo, stamp.to_bytes(8, sys.byteorder))

    def play(self, slaps: Sequence[Slap]) -> int:
        """Press the pads in a separate process, which ends by itself; return its process id."""
        child = os.fork()
        if child:
            self._number += sum(len(slap.hands) for slap in slaps)
            self._pressed.update(self.pins[seat - 1] for slap in slaps for seat, _ in slap.hands)
            return child
        try:
            self._press(slaps)
        finally:
            os._exit(0)

    def _press(self, slaps: Sequence[Slap]) -> None:
        number, at = self._number, time.monotonic()
        pressed = self._pressed.copy()
        for slap in slaps:
            at += slap.after
            due = at
            for seat, later in slap.hands:
                due += later
                time.sleep(max(0.0, due - time.monotonic()))
                number += 1
                pin = self.pins[seat - 1]
                pressed[pin] += 1
                self._levels[pin] = 1
                self.tell(pin, number, pressed[pin])
            time.sleep(slap.down)
            for seat, _ in slap.hands:
                self._levels[self.pins[seat - 1]] = 0
