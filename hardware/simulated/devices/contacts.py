"""Simulated pads: a simulated kernel queue with exact times under the real pad shell."""

from __future__ import annotations

from typing import Final

from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import POLL, GpioPads
from hardware.pads.pinout import PAD_PINS
from hardware.simulated.devices.kernel_lines import SimulatedLineRequest

_STAMP_ERROR: Final = 20_000
"""Half-width of a simulated edge's stamp, ns: a kernel's, without the pad's own spread."""


class SimulatedPads:
    """Pads whose contacts are closed and opened by a script; ``pads`` is the real shell.

    A simulated pad is stamped exactly, so it may claim less error than a real one.
    """

    def __init__(self, seats: int, t_error: int = _STAMP_ERROR, start: int = 0) -> None:
        """``seats``: 1 to 8; ``t_error``: what the shell shall claim for a press, ns; ``start``: first
        instant, ns.
        """
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
        """The instant at which this table is, ns: every edge up to here has been reported."""
        return self._request.now

    def advance(self, seat: int, level: bool, t_ns: int) -> None:
        """Close (``level`` true) or open one seat's contact at ``t_ns``; instants never run backwards.

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
        """Let time pass up to ``t_ns``, so that the shell finds the releases."""
        self._look_until(t_ns, including=True)
        self._request.now = t_ns

    def close(self) -> None:
        """Let go of the pins."""
        self.pads.close()

    def _look_until(self, t_ns: int, including: bool) -> None:
        """Poll as a thread would, on a grid; of the looks between two changes only the outer ones matter."""
        if t_ns < self.now:
            raise ValueError(f"the simulated table is at {self.now} ns and cannot go back to {t_ns}")
        first = (self.now // POLL + 1) * POLL
        last = ((t_ns if including else t_ns - 1) // POLL) * POLL
        for t in sorted({first, last}):
            if first <= t <= last:
                self._request.now = t
                self.pads.poll(t)
