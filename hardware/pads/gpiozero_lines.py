"""Pad lines through gpiozero's pins over lgpio: the fallback if gpiod is not installed.

The kernel stamps these edges, too. But lgpio polls each half millisecond, which costs CPU time while all pads rest; its
single callback thread delivers edges one after another, and a lost edge goes unnoticed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from hardware.pads.lines import OnLost, OnPress
from hardware.pads.pinout import open_factory
from hardware.ports import HardwareMissing
from referee.units import MS

GPIOZERO_DELIVERY: Final = 50 * MS
"""Longest time until an edge reaches Python, ns: 37 ms was the worst measured."""

_log = logging.getLogger(__name__)


def ticks_to_ns(ticks: float | int) -> int:
    """Return integer nanoseconds from gpiozero's ticks (seconds as a float), keeping their order.

    Exact rational arithmetic: the float is the only rounding, which is monotone, so no two edges change places. It is
    exact to the nanosecond until a machine has been up for 52 days (2**52 ns), and within 1 ns for 52 more. An ``int``
    also counts as seconds.
    """
    above, below = ticks.as_integer_ratio()
    return (above * 2_000_000_000 + below) // (2 * below)


class GpiozeroLines:
    """Claimed lines; implements `hardware.pads.lines.Lines`."""

    def __init__(self, factory: Any, pins: Mapping[int, int], active_high: bool) -> None:
        """Claim the pins.

        Args:
            factory: a gpiozero pin factory that passes on the kernel's stamps.
            pins: BCM number of each seat's pin.
            active_high: whether a pad drives its line high.

        Raises:
            HardwareMissing: the factory has no stamps, or a pin cannot be used.
        """
        self.exact = bool(getattr(factory, "exact_time", False))
        if not self.exact and all(cls.__name__ != "LGPIOFactory" for cls in type(factory).__mro__):
            raise HardwareMissing(
                "gpiozero's {name} does not tell when an edge was, only when it was heard of; install "
                "lgpio (apt install python3-lgpio) and unset GPIOZERO_PIN_FACTORY",
                name=type(factory).__name__,
            )
        self._pressed_level = active_high
        self._awake = threading.Event()
        from gpiozero.exc import GPIOZeroError

        self._pins: dict[int, Any] = {}
        for seat, number in sorted(pins.items()):
            try:
                pin = self._pins[number] = factory.pin(number)
                pin.function = "input"
                pin.pull = "down" if active_high else "up"
                pin.bounce = None
                pin.edges = "rising" if active_high else "falling"
            except GPIOZeroError as refused:
                raise HardwareMissing(
                    "pad of seat {n}: pin {pin} cannot be used ({why}); choose another pin in the settings",
                    n=seat,
                    pin=number,
                    why=refused,
                ) from refused
        # gpiozero holds its callbacks by weak references, so keep them here.
        self._callbacks: dict[int, Callable[[float, Any], None]] = {}

    def start(self, on_press: OnPress, _on_lost: OnLost) -> None:
        """Report presses from now on; losses are never detected."""

        def changed(number: int, ticks: float, _level: Any) -> None:
            # An exception here would end lgpio's only callback thread, and with it every other pad.
            try:
                on_press(number, ticks_to_ns(ticks))
            except Exception:
                _log.exception("pin %d: the edge was not handled", number)
            self._awake.set()

        for number, pin in self._pins.items():
            self._callbacks[number] = partial(changed, number)
            pin.when_changed = self._callbacks[number]

    def drain(self) -> None:
        """Do nothing: lgpio's thread reports by itself."""

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which every press was reported, given delivery within `GPIOZERO_DELIVERY`."""
        return now - GPIOZERO_DELIVERY

    def is_down(self, pin: int) -> bool:
        """Whether the pad on this pin is closed now."""
        return bool(self._pins[pin].state) == self._pressed_level

    def sleep(self, at_most: int | None) -> None:
        """Return when an edge was reported, when `wake` is called, or after ``at_most`` ns."""
        self._awake.wait(None if at_most is None else at_most / 1e9)
        self._awake.clear()

    def wake(self) -> None:
        """Let `sleep` return at once."""
        self._awake.set()

    def close(self) -> None:
        """Release the pins."""
        for pin in self._pins.values():
            pin.when_changed = None
            pin.close()
        self._callbacks = {}


def open_gpiozero(pins: Mapping[int, int], active_high: bool) -> GpiozeroLines:
    """Claim the header's pins; see `hardware.pads.pads.open_lines`."""
    return GpiozeroLines(open_factory(), pins, active_high)
