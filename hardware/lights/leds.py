"""Lights through gpiozero: one dimmable LED per seat, and a coloured one for the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hardware.pads.pinout import open_factory
from hardware.ports import HardwareMissing

FREQUENCY: Final = 200
"""Dimming frequency, Hz: a thread dims; a higher one costs the pads' thread time, a lower one flickers."""


class GpioLights:
    """Lights on GPIO pins; implements `hardware.ports.Lights`. Levels outside 0 to 1 are clipped."""

    def __init__(self, seats: Mapping[int, int], table: tuple[int, int, int] | None, *, factory: Any = None) -> None:
        """Claim the pins, all dark.

        Args:
            seats: BCM number of the pin of each seat's light; may be empty.
            table: BCM numbers of the table light's red, green and blue; None: no table light.
            factory: a gpiozero pin factory; None: that of this machine's header.

        Raises:
            HardwareMissing: this machine has no such factory, or a pin cannot be used.
        """
        self._factory = open_factory() if factory is None else factory
        from gpiozero import PWMLED, RGBLED
        from gpiozero.exc import GPIOZeroError

        self._seats: dict[int, Any] = {}
        self._table: Any = None
        try:
            for seat, pin in seats.items():
                self._seats[seat] = PWMLED(pin, frequency=FREQUENCY, pin_factory=self._factory)
            if table is not None:
                self._table = RGBLED(*table, pin_factory=self._factory)
        except (GPIOZeroError, OSError) as error:
            self.close()
            raise HardwareMissing(
                "a light's pin cannot be used ({why}); choose other pins in the settings", why=error
            ) from error

    def seat(self, seat: int, level: float) -> None:
        """Set one seat's light, 0 (off) to 1; a no-op for a seat without a light."""
        if seat in self._seats:
            self._seats[seat].value = _within(level)

    def table(self, red: float, green: float, blue: float) -> None:
        """Set the table's light, each part 0 to 1."""
        if self._table is not None:
            self._table.color = (_within(red), _within(green), _within(blue))

    def close(self) -> None:
        """Switch all lights off and release the pins."""
        for light in (*self._seats.values(), self._table):
            if light is not None:
                light.off()
                light.close()
        self._seats, self._table = {}, None


def _within(level: float) -> float:
    return min(1.0, max(0.0, float(level)))
