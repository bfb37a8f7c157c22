"""Pads that come and go, as things with a plug do: the thread that listens, and all pads of a table joined to one.

A `PadSource` is one kind of such pads, a handful of calls with no thread of their own; `PluggedPads` makes pads of it,
and `MixedPads` makes one table's pads of several kinds. They run in the referee's own process.
"""

from __future__ import annotations

import contextlib
import logging
import select
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from hardware.bell import Bell
from hardware.clock import Clock, monotonic
from hardware.ports import Edge, Lost, TimedPads
from referee.sentence import joined

_log = logging.getLogger(__name__)

OnEdge = Callable[[Edge], None]
OnLost = Callable[[Lost], None]


class PadSource(Protocol):
    """Devices that carry seats' pads, and may be pulled out and put in again at any instant.

    All is called by one thread at a time.
    """

    pace: int
    """`read` is wanted so often at least, ns, also while nothing can be read."""

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad tells nothing at present, and what to do."""
        ...

    def start(self, on_edge: OnEdge, on_lost: OnLost, now: int) -> None:
        """Report edges from ``now`` (ns) on; what was pressed before is forgotten."""
        ...

    def held(self) -> tuple[int, ...]:
        """After `read`: seats whose pads are down."""
        ...

    def filenos(self) -> list[int]:
        """What can be read when there is something to tell; it may change with each `read`."""
        ...

    def read(self, now: int) -> None:
        """Report everything that waits, and take back in what was put in again; never raises for a device."""
        ...

    def watermark(self, now: int) -> int:
        """After `read`: every edge up to this instant (ns) has been reported."""
        ...

    def close(self) -> None: ...


class PluggedPads:
    """The pads of one source; implements `hardware.ports.TimedPads`.

    A handler is called on the thread of these pads or on that of who asks for the watermark, one at a time, and should
    only put the edge into a queue.
    """

    def __init__(self, source: PadSource, *, clock: Clock = monotonic, poller: bool = True) -> None:
        """``poller``: listen on a thread of our own; otherwise the owner calls `poll`. ``clock`` answers ns."""
        self._source = source
        self._clock = clock
        self._lock = threading.RLock()
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self._closed = False
        self._wake = Bell()
        self._poller = threading.Thread(target=self._poll_on, name="plugged pads", daemon=True) if poller else None

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad tells nothing at present, and what to do."""
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
        """Seats whose pads are down at this moment."""
        with self._lock:
            self.poll()
            return self._source.held()

    def poll(self) -> None:
        """Report everything that waits."""
        with self._lock:
            if not self._closed:
                self._source.read(self._clock())

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) has been reported; what waits is reported first."""
        with self._lock:
            self.poll()
            return self._source.watermark(now)

    def close(self) -> None:
        """Let go of the devices; nothing is reported afterwards. May be called twice, and by a handler."""
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
                # Whoever asks for the watermark may find a device gone, and close it under our hands.
                with contextlib.suppress(OSError, ValueError):
                    select.select(watched, [], [], self._source.pace / 1e9)
                self.poll()
            except Exception:
                _log.exception("the pads' thread stumbled; it goes on")
                pause.wait(0.1)


class MixedPads:
    """All pads of a table, of whatever kinds; implements `hardware.ports.TimedPads`."""

    def __init__(self, kinds: Sequence[TimedPads], absent: Mapping[int, str]) -> None:
        """Join pads, each of other seats.

        Args:
            kinds: pads of some seats each.
            absent: by seat whose pad could not be opened: why, and what to do.
        """
        self._kinds = tuple(kinds)
        self._absent = dict(absent)

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad tells nothing at present, and what to do."""
        told = dict(self._absent)
        for pads in self._kinds:
            told |= getattr(pads, "silent", {})
        return told

    @property
    def trouble(self) -> str:
        """Why some pads tell nothing any more, in words; empty while all do."""
        return joined([words for pads in self._kinds if (words := getattr(pads, "trouble", ""))])

    def start(self, on_edge: OnEdge, on_lost: OnLost | None = None) -> None:
        """Report every edge from now on, of different kinds at once and in any order: sort by ``t``."""
        for pads in self._kinds:
            pads.start(on_edge, on_lost)

    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down at this moment."""
        return tuple(sorted(seat for pads in self._kinds for seat in getattr(pads, "held", tuple)()))

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) has been reported: the slowest kind's promise."""
        return min((pads.watermark(now) for pads in self._kinds), default=now)

    def close(self) -> None:
        """Let go of all pads."""
        for pads in self._kinds:
            pads.close()
