"""Pads that can be unplugged: the thread that listens to them, and all pads of a table combined.

A `PadSource` is one kind of such pads, a few calls without a thread; `PluggedPads` turns it into pads, and `MixedPads`
combines several kinds into one table's pads. They run in the referee's own process.
"""

from __future__ import annotations

import contextlib
import logging
import select
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from hardware.bell import Waker
from hardware.clock import Clock, monotonic
from hardware.ports import Edge, Lost, TimedPads
from referee.sentence import joined

_log = logging.getLogger(__name__)

OnEdge = Callable[[Edge], None]
OnLost = Callable[[Lost], None]


class PadSource(Protocol):
    """Devices that carry seats' pads, and may be unplugged and plugged in at any time.

    All calls come from one thread at a time.
    """

    pace: int
    """Longest time between calls of `read`, ns, even if nothing is readable."""

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad does not report at present, with advice."""
        ...

    def start(self, on_edge: OnEdge, on_lost: OnLost, now: int) -> None:
        """Report edges from ``now`` (ns) on; earlier presses are discarded."""
        ...

    def held(self) -> tuple[int, ...]:
        """After `read`: return the seats whose pads are down."""
        ...

    def filenos(self) -> list[int]:
        """Return descriptors that become readable when there is news; they may change with each `read`."""
        ...

    def read(self, now: int) -> None:
        """Report all waiting edges, and reconnect devices; never raises for a device."""
        ...

    def watermark(self, now: int) -> int:
        """After `read`: return the instant (ns) up to which every edge has been reported."""
        ...

    def close(self) -> None: ...


class PluggedPads:
    """The pads of one source; implements `hardware.ports.TimedPads`.

    Handlers are called one at a time, on this object's thread or on a caller's of `watermark`, and should only queue
    the edge.
    """

    def __init__(self, source: PadSource, *, clock: Clock = monotonic, poller: bool = True) -> None:
        """``poller``: whether to listen on a thread; otherwise the owner calls `poll`. ``clock`` returns ns."""
        self._source = source
        self._clock = clock
        self._lock = threading.RLock()
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self._closed = False
        self._wake = Waker()
        self._poller = threading.Thread(target=self._poll_on, name="plugged pads", daemon=True) if poller else None

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad does not report at present, with advice."""
        with self._lock:
            return dict(self._source.silent)

    def start(self, on_edge: OnEdge, on_lost: OnLost | None = None) -> None:
        """Report every edge from now on; a handler that raises is logged and stops no pad."""
        with self._lock:
            self._on_edge, self._on_lost = on_edge, on_lost
            self._source.start(self._tell, self._lose, self._clock())
        if self._poller is not None:
            self._poller.start()

    def held(self) -> tuple[int, ...]:
        """Return the seats whose pads are down at this moment."""
        with self._lock:
            self.poll()
            return self._source.held()

    def poll(self) -> None:
        """Report all waiting edges."""
        with self._lock:
            if not self._closed:
                self._source.read(self._clock())

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which every edge has been reported; waiting edges are reported first."""
        with self._lock:
            self.poll()
            return self._source.watermark(now)

    def close(self) -> None:
        """Release the devices; nothing is reported afterwards. May be called twice, and by a handler."""
        if self._closed:
            return
        self._closed = True
        self._wake.ring()
        if self._poller is not None and self._poller.is_alive() and self._poller is not threading.current_thread():
            self._poller.join(timeout=1.0)
        with self._lock:
            self._source.close()
        if self._poller is not threading.current_thread():
            self._wake.close()

    def _tell(self, edge: Edge) -> None:
        self._hand(self._on_edge, edge)

    def _lose(self, lost: Lost) -> None:
        _log.error("%d presses were lost between %d and %d ns", lost.count, lost.after, lost.before)
        self._hand(self._on_lost, lost)

    def _hand(self, handler: Callable[..., None] | None, news: Edge | Lost) -> None:
        if handler is None or self._closed:
            return
        try:
            handler(news)
        except Exception:
            _log.exception("the handler of %s failed; the pads go on", news)

    def _poll_on(self) -> None:
        pause = threading.Event()
        while not self._closed:
            try:
                with self._lock:
                    watched = [self._wake.waitable, *self._source.filenos()]
                # A caller of `watermark` may find a device gone and close its descriptor during this wait.
                with contextlib.suppress(OSError, ValueError):
                    select.select(watched, [], [], self._source.pace / 1e9)
                self.poll()
            except Exception:
                _log.exception("the pads' thread stumbled; it goes on")
                pause.wait(0.1)


class MixedPads:
    """All pads of a table, of any kinds; implements `hardware.ports.TimedPads`."""

    def __init__(self, kinds: Sequence[TimedPads], absent: Mapping[int, str]) -> None:
        """Combine pads of different seats.

        Args:
            kinds: pads of some seats each.
            absent: by seat whose pad could not be opened: the reason, with advice.
        """
        self._kinds = tuple(kinds)
        self._absent = dict(absent)

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad does not report at present, with advice."""
        told = dict(self._absent)
        for pads in self._kinds:
            told |= getattr(pads, "silent", {})
        return told

    @property
    def trouble(self) -> str:
        """Why some pads no longer report, in words; empty while all do."""
        return joined([words for pads in self._kinds if (words := getattr(pads, "trouble", ""))])

    def start(self, on_edge: OnEdge, on_lost: OnLost | None = None) -> None:
        """Report every edge from now on, of different kinds concurrently and in any order: sort by ``t``."""
        for pads in self._kinds:
            pads.start(on_edge, on_lost)

    def held(self) -> tuple[int, ...]:
        """Return the seats whose pads are down at this moment."""
        return tuple(sorted(seat for pads in self._kinds for seat in getattr(pads, "held", tuple)()))

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which every edge has been reported: the slowest kind's guarantee."""
        return min((pads.watermark(now) for pads in self._kinds), default=now)

    def close(self) -> None:
        """Release all pads."""
        for pads in self._kinds:
            pads.close()
