"""Pad lines through the kernel's own interface (libgpiod): one request for all pads, one queue of stamped edges.

The kernel stamps each edge on CLOCK_MONOTONIC in the hard interrupt, in integer nanoseconds, and numbers it, so a lost
edge is detected (`LineSequence`). Nothing is polled while all pads rest. `hardware.pads.pads` uses it in the referee's
own process.
"""

from __future__ import annotations

import errno
import os
import select
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hardware.bell import Waker
from hardware.clock import Clock, monotonic
from hardware.pads.pinout import USER_TO_GROUP, open_factory
from hardware.ports import HardwareMissing, Lost
from referee.units import MS

OnPress = Callable[[int, int, int], None]
"""Called for a press with the pin's number, the kernel's stamp, and by how much the stamp may be late, ns."""
OnLost = Callable[[Lost], None]
_PURPOSE: Final = "pads"
"""The end of the name of our lines in the kernel's list (`gpioinfo`)."""
QUEUE: Final = 1024
"""Size of the kernel's edge queue, its maximum. A full queue drops the oldest edge, which may be the first hand."""
GPIOD_DELIVERY: Final = 5 * MS
"""Longest time, ns, from an edge's stamp until it is queued by one of the kernel's real-time threads (docs/timing.md
has the worst measured)."""


@dataclass(frozen=True, slots=True)
class _Missing:
    after: int
    before: int
    noticed: int


class LineSequence:
    """Tracks one request's numbered edges: which have come, which are lost, and which were merged into a later one.
    Pure.

    The kernel stamps and numbers an edge in the hard interrupt, over all lines of a request. A thread per line then
    queues it and gives it the line's own number. So a skipped number has one of three reasons:

    - neighbours came in the wrong order: it is still to come;
    - the line's next edge came before the thread had run, and its stamp replaced the earlier one: the edges are
      *merged*,
      and the reported stamp is late by less than the thread was (the line's own numbers have no gap), see `lateness`;
    - the queue was full and dropped its oldest edge: the edge is *lost* (the line's own numbers have a gap).

    Both numbers count from 1.
    """

    def __init__(self, grace: int) -> None:
        """``grace``: longest wait for a skipped number, ns."""
        self._grace = grace
        self._next = 1
        self._next_of: dict[int, int] = {}
        self._latest = 0
        self._missing: dict[int, _Missing] = {}
        self._overflowed = False
        self.merged = 0
        """Number of edges reported with the stamp of a later one."""

    def feed(self, line: int, number: int, line_number: int, t: int, now: int) -> None:
        """Note an edge of this line with these numbers and this stamp (ns), read at ``now`` (ns)."""
        for passed in range(self._next, number):
            self._missing[passed] = _Missing(self._latest, t, now)
        self._missing.pop(number, None)
        # A gap on the line alone was already reported with an earlier gap.
        if line_number > self._next_of.get(line, 1) and self._missing:
            self._overflowed = True
        self._next = max(self._next, number + 1)
        self._next_of[line] = line_number + 1
        self._latest = max(self._latest, t)

    def lateness(self, t: int) -> int:
        """Return by how much a stamp may be late, ns: an edge that is still missing may have been merged into it."""
        early = [t - gap.after for gap in self._missing.values() if gap.after < t]
        return min(self._grace, max(early, default=0))

    def settle(self, now: int) -> Lost | None:
        """Settle numbers still missing at ``now`` (ns): merged, or lost, which is reported once."""
        if not self._missing:
            return None
        gone = [number for number, gap in self._missing.items() if now - gap.noticed > self._grace]
        if not gone:
            return None
        gaps = [self._missing.pop(number) for number in gone]
        if not self._overflowed:
            self.merged += len(gaps)
            return None
        self._overflowed = bool(self._missing)
        return Lost(len(gaps), after=min(gap.after for gap in gaps), before=max(gap.before for gap in gaps))


class GpiodLines:
    """Claimed input lines; only the press edge is watched, without debouncing.

    Each line is pulled to its resting level. `drain` is called by one thread at a time, `close` by any.
    """

    def __init__(self, request: Any, *, clock: Clock = monotonic) -> None:
        """``request``: a `gpiod.LineRequest` or a stand-in; ``clock`` returns the present instant, ns."""
        self.request = request
        self._clock = clock
        self._sequence = LineSequence(GPIOD_DELIVERY)
        self._on_press: OnPress | None = None
        self._on_lost: OnLost | None = None
        self._wake: Waker | None = None
        self._closing = threading.Lock()
        self.exact = bool(getattr(request, "exact", False))
        """Whether a stamp is the contact's exact instant: only at a simulated table."""

    def start(self, on_press: OnPress, on_lost: OnLost) -> None:
        """Report presses from now on, in any order among pins; edges queued earlier are counted but dropped."""
        if hasattr(os, "set_blocking"):
            os.set_blocking(self.request.fd, False)
        self.drain()
        self._on_press, self._on_lost = on_press, on_lost
        if self._wake is None:
            self._wake = Waker()

    def drain(self) -> None:
        """Report every press that the kernel has queued, and losses. Raises OSError if the chip is gone."""
        # Each call into the kernel may cost a turn of the interpreter's lock, 5 ms beside a busy thread. So read
        # without asking first whether there is anything, and read again only if there may be more than one batch.
        full = True
        while full:
            try:
                events = self.request.read_edge_events(QUEUE)
            except BlockingIOError:
                break
            full = len(events) >= QUEUE
            now = self._clock()
            for event in events:
                self._sequence.feed(event.line_offset, event.global_seqno, event.line_seqno, event.timestamp_ns, now)
            if self._on_press is not None:
                for event in events:
                    self._on_press(event.line_offset, event.timestamp_ns, self._sequence.lateness(event.timestamp_ns))
        lost = self._sequence.settle(self._clock())
        if lost is not None and self._on_lost is not None:
            self._on_lost(lost)

    @property
    def merged(self) -> int:
        """Number of edges that the kernel reported with the stamp of the line's next edge, for lack of time."""
        return self._sequence.merged

    def is_down(self, pin: int) -> bool:
        """Whether the pad on this pin is closed now. Raises OSError if the chip is gone."""
        return bool(self.request.get_value(pin))

    def sleep(self, at_most: int | None) -> None:
        """Return when an edge is queued, when `wake` is called, or after ``at_most`` ns."""
        with self._closing:
            if not self.request or self._wake is None:
                return
            edges, wake = self.request.fd, self._wake
        # poll() has only millisecond resolution.
        ready, _, _ = select.select([edges, wake.waitable], [], [], None if at_most is None else at_most / 1e9)
        if wake.waitable in ready:
            wake.hush()

    def wake(self) -> None:
        """Let `sleep` return at once."""
        with self._closing:
            if self._wake is not None:
                self._wake.ring()

    def close(self) -> None:
        """Release the lines; may be called twice."""
        with self._closing:
            if self.request:
                self.request.release()
            if self._wake is not None:
                self._wake.close()
                self._wake = None


def open_gpiod(pins: Mapping[int, int], active_high: bool) -> GpiodLines:
    """Claim the header's pins for pads.

    Args:
        pins: BCM number of each seat's pin.
        active_high: whether a pad drives its line high; otherwise it closes to ground, against the pull-up.

    Raises:
        HardwareMissing: no header, no permission, or a pin in use; the message says what to do.
    """
    factory = open_factory()
    import gpiod
    from gpiod.line import Bias, Clock, Direction, Edge

    # Pressed is "active" whichever way the pad closes, so one edge, the rising one of activity, is the press.
    settings = gpiod.LineSettings(
        direction=Direction.INPUT,
        edge_detection=Edge.RISING,
        bias=Bias.PULL_DOWN if active_high else Bias.PULL_UP,
        active_low=not active_high,
        event_clock=Clock.MONOTONIC,
    )
    try:
        request = factory.request({tuple(pins.values()): settings}, _PURPOSE, QUEUE)
    except (OSError, ValueError) as error:
        raise HardwareMissing(_why_refused(factory.chip, pins, error)) from error
    return GpiodLines(request)


def _why_refused(chip: Path, pins: Mapping[int, int], refused: Exception) -> str:
    """Return a message that names each unavailable pin, its owner, and the remedy."""
    import gpiod

    if isinstance(refused, PermissionError):
        return f"{chip} may not be used, so there are no pads: {USER_TO_GROUP}"
    held: dict[str, list[tuple[int, int]]] = {}
    try:
        with gpiod.Chip(str(chip)) as opened:
            count = opened.get_info().num_lines
            for seat, pin in sorted(pins.items()):
                if pin >= count:
                    return f"seat {seat}'s pad: there is no pin {pin} on {chip}; choose another pin in the settings"
                info = opened.get_line_info(pin)
                if info.used:
                    held.setdefault(info.consumer, []).append((seat, pin))
    except OSError as error:
        refused = error
    if held and isinstance(refused, OSError) and refused.errno == errno.EBUSY:
        words = []
        for consumer, pads in held.items():
            seats, numbers = (", ".join(str(number) for number in each) for each in zip(*pads, strict=True))
            which = f"seat {seats}'s pad (pin {numbers})"
            if len(pads) > 1:
                which = f"the pads of seats {seats} (pins {numbers})"
            who = f"{consumer!r}" if consumer else "another program or driver"
            if consumer.endswith(f" {_PURPOSE}"):
                words.append(
                    f"another referee holds {which}: end that one first (sudo systemctl stop referee, or close it)"
                )
            else:
                words.append(f"{who} holds {which}: end it, or choose another pin in the settings")
        return "; ".join(words)
    return f"the pads' pins {sorted(pins.values())} on {chip} cannot be used ({refused}); choose others in the settings"
