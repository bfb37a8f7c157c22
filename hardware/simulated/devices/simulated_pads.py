"""Simulated pads: a simulated kernel queue with exact times under the real pad shell."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hardware.bell import Waker
from hardware.pads.gpiod_lines import QUEUE, GpiodLines
from hardware.pads.pads import POLL, GpioPads
from hardware.pads.pinout import PAD_PINS
from referee.units import US

_STAMP_ERROR: Final = 20 * US
"""Half-width of a simulated edge's stamp, ns: that of a kernel, without a pad's own spread."""


@dataclass(frozen=True, slots=True)
class SimulatedEvent:
    """One press edge, with libgpiod's names for its parts."""

    line_offset: int
    timestamp_ns: int
    global_seqno: int
    line_seqno: int


class SimulatedLineRequest:
    """Lines with scripted contacts; stands for `gpiod.LineRequest`.

    Like the kernel, it numbers its edges, keeps a queue of limited length, and drops the oldest edge when that is full.
    """

    exact = True

    def __init__(self, pins: Iterable[int], *, start: int = 0) -> None:
        """``pins``: their numbers; ``start``: the first instant, ns."""
        self.now = start
        self._closed = dict.fromkeys(pins, False)
        self._counts = dict.fromkeys(self._closed, 0)
        self._queue: deque[SimulatedEvent] = deque(maxlen=QUEUE)
        self._number = 0
        self._released = False
        self._signal: Waker | None = None
        self._opening = threading.Lock()

    def drive(self, pin: int, closed: bool) -> None:
        """Close or open the contact on this pin, at `now`."""
        if self._closed[pin] == closed:
            return
        self._closed[pin] = closed
        if closed:
            self._number += 1
            self._counts[pin] += 1
            with self._opening:
                self._queue.append(SimulatedEvent(pin, self.now, self._number, self._counts[pin]))
                if self._signal is not None:
                    self._signal.ring()

    def __bool__(self) -> bool:
        return not self._released

    @property
    def fd(self) -> int:
        """Descriptor that is readable while edges wait."""
        with self._opening:
            if self._signal is None:
                self._signal = Waker()
                if self._queue:
                    self._signal.ring()
            waitable = self._signal.waitable
            return waitable if isinstance(waitable, int) else waitable.fileno()

    def read_edge_events(self, _most: int = QUEUE) -> list[SimulatedEvent]:
        """Return every waiting edge, the oldest first; raises BlockingIOError if there is none."""
        with self._opening:
            if not self._queue:
                raise BlockingIOError
            if self._signal is not None:
                self._signal.hush()
            waiting = list(self._queue)
            self._queue.clear()
        return waiting

    def get_value(self, pin: int) -> bool:
        """Whether the contact is closed."""
        return self._closed[pin]

    def release(self) -> None:
        """Release the lines."""
        self._released = True
        if self._signal is not None:
            self._signal.close()
            self._signal = None


class SimulatedPads:
    """Pads with scripted contacts; ``pads`` is the real shell.

    A simulated pad is stamped exactly, so it may state a smaller error than a real one.
    """

    def __init__(self, seats: int, t_error: int = _STAMP_ERROR, start: int = 0) -> None:
        """``seats``: 1 to 8; ``t_error``: error of a press stated by the shell, ns; ``start``: first instant, ns."""
        if not 1 <= seats <= len(PAD_PINS):
            raise ValueError(f"1 to {len(PAD_PINS)} pads, not {seats}")
        self._pins = dict(enumerate(PAD_PINS[:seats], start=1))
        self._request = SimulatedLineRequest(self._pins.values(), start=start)
        self.pads = GpioPads(
            self._pins,
            lines=GpiodLines(self._request, clock=lambda: self._request.now),
            t_error=t_error,
            clock=lambda: self._request.now,
            poller=False,
        )

    @property
    def now(self) -> int:
        """The table's present instant, ns: every edge up to here has been reported."""
        return self._request.now

    def advance(self, seat: int, level: bool, t_ns: int) -> None:
        """Close (``level`` true) or open one seat's contact at ``t_ns``; instants never decrease.

        Raises:
            ValueError: ``t_ns`` lies before `now`, or there is no such seat.
        """
        if seat not in self._pins:
            raise ValueError(f"no pad at seat {seat}; this table has {len(self._pins)}")
        self._look_until(t_ns, including=False)
        self._request.now = t_ns
        self._request.drive(self._pins[seat], level)
        self.pads.drain()

    def run_to(self, t_ns: int) -> None:
        """Advance to ``t_ns``, so that the shell finds the releases."""
        self._look_until(t_ns, including=True)
        self._request.now = t_ns

    def close(self) -> None:
        """Release the pins."""
        self.pads.close()

    def _look_until(self, t_ns: int, including: bool) -> None:
        """Poll on a grid, as a thread would; of the polls between two changes only the first and last matter."""
        if t_ns < self.now:
            raise ValueError(f"the simulated table is at {self.now} ns and cannot go back to {t_ns}")
        first = (self.now // POLL + 1) * POLL
        last = ((t_ns if including else t_ns - 1) // POLL) * POLL
        for t in sorted({first, last}):
            if first <= t <= last:
                self._request.now = t
                self.pads.poll(t)
