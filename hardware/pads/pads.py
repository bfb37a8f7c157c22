"""The pads: one input line per seat, with the kernel's own stamps.

The driver does not debounce: a debounced line reports *last edge + debounce*, so that the cleaner contact would beat
the earlier hand. Only the press edge is watched, since a line that watches both may read a quick pulse late and report
a release. The release is found by polling the level while the pad is believed down, and carries its uncertainty.

`referee.table.devices` creates it in the referee's own process; `hardware.pads.slaps` turns the edges into slaps.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from hardware.clock import Clock, monotonic
from hardware.pads.gpiod_lines import GPIOD_DELIVERY, GpiodLines, OnLost, open_gpiod
from hardware.ports import Edge, Lost
from referee.sentence import Sentence
from referee.units import MS, SECOND, US

LEAST_ERROR: Final = 1_500 * US
"""Least half-width of a real pad's stamp, ns: an FSR takes 1 to 2 ms to respond."""
POLL: Final = 500 * US
"""Poll interval, ns, of a pad that has just gone down."""
_LANDED: Final = 20 * MS
"""Time down, ns, from which a pad is polled each `_CALMLY`: that was no blip, and the instant at which the hand leaves
does not justify more CPU time."""
_CALMLY: Final = 2 * MS
_RESTING: Final = 3 * SECOND
"""Time down, ns, from which a pad is polled even less often: no slap lasts so long."""
_SELDOM: Final = 20 * MS
_REMEMBERED_LOOKS: Final = 256

_log = logging.getLogger(__name__)

OnEdge = Callable[[Edge], None]


class _PadPin:
    """One pad's pin: whether it is believed down, and since when that is certain. Pure."""

    def __init__(self, seat: int, pin: int, t_error: int) -> None:
        """Create a pad that is up; ``t_error``: half-width of a press's uncertainty, ns."""
        self.seat = seat
        self.pin = pin
        self.t_error = t_error
        self.down = False
        self.pressed_at = 0
        self.presses = 0
        self.fresh = False
        """Whether it has not been polled since it was pressed: a quick tap is over before Python hears of it."""
        self.looks: deque[tuple[int, int]] = deque(maxlen=_REMEMBERED_LOOKS)
        """The instants before and after each poll that found it down, ns."""

    def press(self, t: int) -> None:
        """Note that it went down at ``t``; it has not been polled since."""
        self.down, self.pressed_at, self.fresh = True, t, True
        self.presses += 1
        self.looks.clear()

    def last_seen_down(self, t: int) -> int:
        """Return the latest instant before ``t`` at which the pad was certainly down, given no other event before
        ``t``.

        A poll not finished by ``t`` proves nothing: it may have seen the press at ``t``, which is still to be reported.
        """
        return next((before for before, after in reversed(self.looks) if after < t), min(self.pressed_at, t))


class GpioPads:
    """Pads on GPIO lines; implements `hardware.ports.Pads`.

    Edges of one pad are reported in order. Edges of different pads arrive in any order: sort by ``t``, up to
    `watermark`. Handlers are called one at a time, on this object's thread or on a caller's of `watermark`, and should
    only queue the edge.
    """

    def __init__(
        self,
        pins: Mapping[int, int],
        *,
        lines: GpiodLines | None = None,
        t_error: int | Mapping[int, int] = LEAST_ERROR,
        active_high: bool = False,
        clock: Clock = monotonic,
        poller: bool = True,
    ) -> None:
        """Claim the pins.

        Args:
            pins: BCM number of the pin of each seat.
            lines: these pins, already claimed; None: claim them on this machine's header.
            t_error: half-width of a press's uncertainty, ns: for each seat, or one for all.
            active_high: whether the pad drives its line high; otherwise it closes to ground, against the pull-up.
            clock: returns the present instant, ns.
            poller: whether to read edges and poll for releases on a thread; otherwise the owner calls `poll`.

        Raises:
            HardwareMissing: this machine has no such lines, or they are in use.
            ValueError: two seats share a pin, or a real pad's ``t_error`` is below `LEAST_ERROR`.
        """
        if len(set(pins.values())) != len(pins):
            raise ValueError("two seats' pads are on one pin; give each seat a pin of its own")
        errors = {seat: t_error if isinstance(t_error, int) else t_error[seat] for seat in pins}
        least = min(errors.values(), default=LEAST_ERROR)
        if least < LEAST_ERROR and not (lines is not None and lines.exact):
            raise ValueError(f"t_error of a real pad must be at least {LEAST_ERROR} ns, not {least}")
        self._pads = [_PadPin(seat, pin, errors[seat]) for seat, pin in sorted(pins.items())]
        self._by_pin = {pad.pin: pad for pad in self._pads}
        self._clock = clock
        self._lock = threading.RLock()
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self.lost = 0
        """Number of presses stamped by the kernel and lost, because its queue overflowed."""
        self.trouble = ""
        """Why the pads no longer report, in words; empty while they do."""
        self._closed = False
        self._looked = 0
        self._lines = open_gpiod(pins, active_high) if lines is None else lines
        self._poller = threading.Thread(target=self._poll_on, name="pads", daemon=True) if poller else None

    @property
    def seats(self) -> tuple[int, ...]:
        """Seats that have a pad."""
        return tuple(pad.seat for pad in self._pads)

    @property
    def merged(self) -> int:
        """Number of presses reported with the stamp of the pad's next press, because the kernel had no time to queue
        the first; that press's error covers both.
        """
        return self._lines.merged

    def start(self, on_edge: OnEdge, on_lost: OnLost | None = None) -> None:
        """Report every edge from now on; a handler that raises is logged and stops no other pad."""
        with self._lock:
            self._on_edge, self._on_lost = on_edge, on_lost
            self._lines.start(self._press, self._lose)
        if self._poller is not None:
            self._poller.start()

    def held(self) -> tuple[int, ...]:
        """Return the seats whose pads are down at this moment, for a roll-call before the game."""
        with self._lock:
            if not self._usable:
                return ()
            try:
                return tuple(pad.seat for pad in self._pads if self._lines.is_down(pad.pin))
            except OSError as error:
                self._give_up(error)
                return ()

    def drain(self) -> None:
        """Report every press in the kernel's queue."""
        with self._lock:
            try:
                if self._usable:
                    self._lines.drain()
                while self._usable and (fresh := [pad for pad in self._pads if pad.fresh and pad.down]):
                    self._look(fresh[0], self._clock())
            except OSError as error:
                self._give_up(error)

    def poll(self, now: int) -> None:
        """Report waiting edges; poll every pad that is believed down, and report releases. ``now`` in ns."""
        with self._lock:
            self.drain()
            try:
                for pad in self._pads:
                    if self._usable and pad.down:
                        self._look(pad, now)
            except OSError as error:
                self._give_up(error)

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which every edge has been reported, if queued within the lines' delivery time.

        Waiting edges are reported first, so the guarantee holds even if our thread is busy.
        """
        with self._lock:
            self.drain()
            told = now - GPIOD_DELIVERY
            # A pad that is down may have opened since the last poll, which its next press or poll will show.
            return min([told, *(pad.last_seen_down(told) for pad in self._pads if pad.down and self._usable)])

    def close(self) -> None:
        """Release the pins; nothing is reported afterwards. May be called twice, and by a handler."""
        self._closed = True
        self._lines.wake()
        if self._poller is not None and self._poller.is_alive() and self._poller is not threading.current_thread():
            self._poller.join(timeout=1.0)
        with self._lock:
            self._lines.close()

    @property
    def _usable(self) -> bool:
        return not (self._closed or self.trouble)

    def _press(self, pin: int, t: int, lateness: int) -> None:
        pad = self._by_pin[pin]
        with self._lock:
            if not self._usable:
                return
            if pad.down:
                # A second press implies an opening in between, too short for our polling.
                self._release(pad, pad.last_seen_down(t), t)
            pad.press(t)
            if self._poller is not None and threading.current_thread() is not self._poller:
                # Another thread took it from the queue that our thread sleeps on: wake ours to poll for the release.
                self._lines.wake()
            self._tell(Edge(seat=pad.seat, t=t, pressed=True, t_error=pad.t_error + lateness))

    def _lose(self, lost: Lost) -> None:
        self.lost += lost.count
        _log.error("%d edges of the pads were lost between %d and %d ns", lost.count, lost.after, lost.before)
        if self._on_lost is not None:
            try:
                self._on_lost(lost)
            except Exception:
                _log.exception("the handler of %s failed; the pads go on", lost)

    def _look(self, pad: _PadPin, now: int) -> None:
        """Poll a pad that is believed down. Our thread may be suspended between ``now`` (ns) and the poll."""
        # Another thread may have polled, and given a guarantee based on it, while the caller waited for the lock.
        now = max(now, self._looked)
        while True:
            pad.fresh = False
            down = self._lines.is_down(pad.pin)
            self._looked = over = max(now, self._clock())
            if down:
                pad.looks.append((now, over))
                return
            # It may have been pressed and released again before the poll: then this is the later opening.
            presses = pad.presses
            self._lines.drain()
            if not self._usable:
                return
            if pad.presses == presses:
                self._release(pad, pad.last_seen_down(now), over)
                return
            now = self._clock()

    def _release(self, pad: _PadPin, still_down: int, open_by: int) -> None:
        """Report a release that happened between two polls."""
        pad.down = False
        between = max(open_by - still_down, 0)
        self._tell(Edge(seat=pad.seat, t=still_down + between // 2, pressed=False, t_error=(between + 1) // 2))

    def _tell(self, edge: Edge) -> None:
        if self._on_edge is None:
            return
        try:
            self._on_edge(edge)
        except Exception:
            _log.exception("seat %d's pad: the handler of %s failed; the pads go on", edge.seat, edge)

    def _give_up(self, gone: OSError) -> None:
        self.trouble = Sentence("the pads' pins are gone ({why}): start the referee again", why=gone.strerror or gone)
        _log.error("%s", self.trouble)

    def _poll_on(self) -> None:
        pause = threading.Event()
        while self._usable:
            try:
                with self._lock:
                    newest = min((self._clock() - pad.pressed_at for pad in self._pads if pad.down), default=None)
                # Longest wait for an edge before the next poll; None: no limit.
                pause_ns = None
                if newest is not None:
                    pause_ns = POLL if newest < _LANDED else _CALMLY if newest < _RESTING else _SELDOM
                self._lines.sleep(pause_ns)
                self.poll(self._clock())
            except Exception:
                _log.exception("the pads' thread stumbled; it goes on")
                pause.wait(0.1)
