"""The pads: one pin a seat, through gpiozero, with the kernel's own stamps.

The driver debounces nothing: a debounced line reports *last edge + debounce*, so that the cleaner contact
beats the earlier hand. Only the press edge is watched, since a line that watches both may read a quick pulse
late and call it a release. The release is found by looking at the level while the pad is believed down, and
says how well it is known.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from hardware.clock import Clock, monotonic
from hardware.gpio import open_factory, require_kernel_time
from hardware.ports import Edge, HardwareMissing

LEAST_ERROR: Final = 1_500_000
"""Half-width of what a real pad's stamp can be worth, ns: an FSR itself takes 1 to 2 ms to respond."""
POLL: Final = 500_000
"""How often the level of a pad that is down is looked at, ns."""
RESTING: Final = 3_000_000_000
"""A pad that has been down for longer than this is looked at more seldom, ns: nobody slaps for so long."""
SELDOM: Final = 20_000_000
DELIVERY: Final = 50_000_000
"""An edge may reach Python this late, ns (37 ms was the worst measured); the watermark waits for it."""
_HISTORY: Final = 256

_log = logging.getLogger(__name__)

OnEdge = Callable[[Edge], None]


def ticks_to_ns(ticks: float | int) -> int:
    """Integer nanoseconds of gpiozero's ticks (seconds as a float), order kept.

    Exact rational arithmetic: the float is the only rounding, which is monotone, so no two edges change
    places; it is exact to the nanosecond until a machine has been up for 52 days (2**52 ns), and within 1 ns
    for 52 more. An ``int`` is taken for seconds too.
    """
    above, below = ticks.as_integer_ratio()
    return (above * 2_000_000_000 + below) // (2 * below)


class _Pad:
    """One pin and what is believed of it. gpiozero keeps only a weak reference to `changed`; `GpioPads` keeps
    us.
    """

    def __init__(self, seat: int, pin: Any, pressed_level: bool, report: Callable[[_Pad, int], None]) -> None:
        self.seat = seat
        self.pin = pin
        self.down = False
        self.pressed_at = 0
        self.seen_down: deque[int] = deque(maxlen=_HISTORY)
        self._pressed_level = pressed_level
        self._report = report

    def changed(self, ticks: float, _state: Any) -> None:
        """gpiozero's callback. The state that it brings is the level at delivery, no part of the edge:
        unused.
        """
        # An exception here would end lgpio's only callback thread, and with it every other pad.
        try:
            self._report(self, ticks_to_ns(ticks))
        except Exception:
            _log.exception("seat %d's pad: the edge was not handled", self.seat)

    def is_down(self) -> bool:
        return bool(self.pin.state) == self._pressed_level

    def last_seen_down(self, before: int) -> int:
        """The latest instant before ``before`` at which the pad was certainly down."""
        return next((t for t in reversed(self.seen_down) if t < before), min(self.pressed_at, before))


class GpioPads:
    """Pads on GPIO pins; implements `hardware.ports.Pads`.

    Edges of one pad are reported in order. Edges of different pads arrive in any order: sort by ``t``, up to
    `watermark`. A handler is called on lgpio's thread or the poller's, one at a time, and should only put the
    edge into a queue.
    """

    def __init__(
        self,
        pins: Mapping[int, int],
        *,
        factory: Any = None,
        t_error: int = LEAST_ERROR,
        active_high: bool = False,
        clock: Clock = monotonic,
        poller: bool = True,
    ) -> None:
        """Claim the pins.

        Args:
            pins: BCM number of the pin of each seat.
            factory: a gpiozero pin factory that tells kernel time; None opens lgpio's.
            t_error: half-width of what is known of a press, ns.
            active_high: whether the pad drives its line high; otherwise it closes to ground, against the
            pull-up. clock: answers the present instant, ns, for the releases. poller: look for releases on a
            thread of our own; otherwise the owner calls `poll`.

        Raises:
            HardwareMissing: no such factory on this machine, or one that cannot tell who was first.
            ValueError: two seats on one pin, or a real pad's ``t_error`` below `LEAST_ERROR`.
        """
        self._factory = open_factory() if factory is None else factory
        require_kernel_time(self._factory)
        if t_error < LEAST_ERROR and not getattr(self._factory, "exact_time", False):
            raise ValueError(f"t_error of a real pad must be at least {LEAST_ERROR} ns, not {t_error}")
        if len(set(pins.values())) != len(pins):
            raise ValueError("two seats' pads are on one pin; give each seat a pin of its own")
        self._t_error = t_error
        self._clock = clock
        self._lock = threading.RLock()
        self._on_edge: OnEdge | None = None
        self._something_down = threading.Event()
        self._closing = False
        self._last_poll = clock()
        self._pads = [self._claim(seat, pin, active_high) for seat, pin in sorted(pins.items())]
        self._poller = threading.Thread(target=self._poll_on, name="pads", daemon=True) if poller else None

    def _claim(self, seat: int, number: int, active_high: bool) -> _Pad:
        from gpiozero.exc import GPIOZeroError

        try:
            pin = self._factory.pin(number)
            pin.function = "input"
            pin.pull = "down" if active_high else "up"
            pin.bounce = None
            pin.edges = "rising" if active_high else "falling"
        except GPIOZeroError as refused:
            raise HardwareMissing(
                f"seat {seat}'s pad: pin {number} cannot be used ({refused}); choose another pin in the settings"
            ) from refused
        return _Pad(seat, pin, active_high, self._press)

    @property
    def seats(self) -> tuple[int, ...]:
        """Seats that have a pad."""
        return tuple(pad.seat for pad in self._pads)

    def start(self, on_edge: OnEdge) -> None:
        """Report every edge from now on; a handler that raises is logged and stops no other pad."""
        self._on_edge = on_edge
        for pad in self._pads:
            pad.pin.when_changed = pad.changed
        if self._poller is not None:
            self._poller.start()

    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down at this moment: for a roll-call before the game."""
        return tuple(pad.seat for pad in self._pads if pad.is_down())

    def poll(self, now: int) -> None:
        """Look at every pad that is believed down, and report those that have been let go. ``now`` in ns."""
        with self._lock:
            for pad in self._pads:
                if pad.down:
                    self._look(pad, now)
            self._last_poll = now
            if not any(pad.down for pad in self._pads):
                self._something_down.clear()

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) has been reported, were delivery never later than `DELIVERY`."""
        with self._lock:
            delivered = now - DELIVERY
            looking = any(pad.down for pad in self._pads)
            return min(delivered, self._last_poll) if looking else delivered

    def close(self) -> None:
        """Let go of the pins."""
        self._closing = True
        self._something_down.set()
        if self._poller is not None and self._poller.is_alive():
            self._poller.join(timeout=1.0)
        for pad in self._pads:
            pad.pin.when_changed = None
            pad.pin.close()

    def _press(self, pad: _Pad, t: int) -> None:
        with self._lock:
            if pad.down:
                # It cannot be pressed again without having been open: the opening was shorter than our look.
                self._release(pad, pad.last_seen_down(t), t)
            pad.down = True
            pad.pressed_at = t
            pad.seen_down.clear()
            self._tell(Edge(seat=pad.seat, t=t, pressed=True, t_error=self._t_error))
            # A quick tap may be over before Python hears of it.
            self._look(pad, max(self._clock(), t))
            self._something_down.set()

    def _look(self, pad: _Pad, now: int) -> None:
        if pad.is_down():
            pad.seen_down.append(now)
        else:
            self._release(pad, pad.last_seen_down(now), now)

    def _release(self, pad: _Pad, still_down: int, open_by: int) -> None:
        """Report a release that happened somewhere between two looks."""
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

    def _next_look(self) -> int:
        """How long to wait before the levels are looked at again, ns."""
        with self._lock:
            fresh = self._clock() - RESTING
            return POLL if any(pad.down and pad.pressed_at > fresh for pad in self._pads) else SELDOM

    def _poll_on(self) -> None:
        pause = threading.Event()
        while not self._closing:
            self._something_down.wait()
            try:
                self.poll(self._clock())
            except Exception:
                _log.exception("the pads' levels could not be read; trying again")
                pause.wait(0.1)
            pause.wait(self._next_look() / 1e9)
