"""A simulated request of GPIO lines: it answers as libgpiod's does, and its edges are stamped by the table's clock.

Like the kernel's it numbers its edges, keeps a queue of limited length, and drops the oldest when that is full.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from hardware.pads.gpiod_lines import QUEUE


@dataclass(frozen=True, slots=True)
class SimulatedEvent:
    """One press edge, with the names that libgpiod gives its parts."""

    line_offset: int
    timestamp_ns: int
    global_seqno: int
    line_seqno: int


class SimulatedLineRequest:
    """Lines whose contacts are closed and opened by a script; stands for `gpiod.LineRequest`."""

    exact = True

    def __init__(self, pins: Iterable[int], *, start: int = 0, queue: int = QUEUE) -> None:
        """``pins``: their numbers; ``start``: the first instant, ns; ``queue``: how many edges may wait."""
        self.now = start
        self._closed = dict.fromkeys(pins, False)
        self._counts = dict.fromkeys(self._closed, 0)
        self._queue: deque[SimulatedEvent] = deque(maxlen=queue)
        self._number = 0
        self._gone = False
        self._released = False
        self._signal: int | None = None
        self._opening = threading.Lock()

    def drive(self, pin: int, closed: bool) -> None:
        """Close or open the contact on this pin, at `now`."""
        if self._closed[pin] == closed:
            return
        self._closed[pin] = closed
        if closed:
            self._number += 1
            self._counts[pin] += 1
            self._tell(SimulatedEvent(pin, self.now, self._number, self._counts[pin]))

    def merge(self, pin: int) -> None:
        """Close the contact at `now` again before the kernel has queued the edge before, which is told as this one."""
        place = max(at for at, event in enumerate(self._queue) if event.line_offset == pin)
        self._number += 1
        self._queue[place] = SimulatedEvent(pin, self.now, self._number, self._queue[place].line_seqno)

    def vanish(self) -> None:
        """The chip goes, as one does whose driver is unbound."""
        self._gone = True
        self._tell()

    def __bool__(self) -> bool:
        return not self._released

    @property
    def fd(self) -> int:
        """Readable while edges wait."""
        with self._opening:
            if self._signal is None:
                self._signal = os.eventfd(len(self._queue), os.EFD_CLOEXEC)
            return self._signal

    def read_edge_events(self, _most: int = QUEUE) -> list[SimulatedEvent]:
        """Every edge that waits, the oldest first; raises BlockingIOError if there is none."""
        self._still_there()
        with self._opening:
            if not self._queue:
                raise BlockingIOError
            if self._signal is not None:
                os.eventfd_read(self._signal)
            waiting = list(self._queue)
            self._queue.clear()
        return waiting

    def get_value(self, pin: int) -> bool:
        """Whether the contact is closed."""
        self._still_there()
        return self._closed[pin]

    def release(self) -> None:
        """Let go of the lines."""
        self._released = True
        if self._signal is not None:
            os.close(self._signal)
            self._signal = None

    def _tell(self, event: SimulatedEvent | None = None) -> None:
        with self._opening:
            if event is not None:
                self._queue.append(event)
            if self._signal is not None:
                os.eventfd_write(self._signal, 1)

    def _still_there(self) -> None:
        if self._gone:
            raise OSError(19, "No such device")
