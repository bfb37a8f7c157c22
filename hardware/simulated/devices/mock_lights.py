"""Simulated lights: mock pins under the real shell, with a record of every change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hardware.clock import Clock, monotonic
from hardware.lights.leds import GpioLights
from hardware.pads.pinout import SEAT_LIGHT_PINS, TABLE_LIGHT_PINS


@dataclass(frozen=True, slots=True)
class LevelChange:
    """One pin's change of level."""

    t: int
    """By the table's clock, ns."""
    light: str
    """``seat 1`` ..., ``red``, ``green`` or ``blue``."""
    level: float


class SimulatedStrip:
    """A strip's device as a file: `hardware.lights.strip.StripLights` writes to it as to the real one."""

    def __init__(self, device: Path, length: int) -> None:
        """``device``: where to make it; ``length``: LEDs."""
        self.device, self._length = device, length
        device.write_bytes(b"")

    @property
    def leds(self) -> list[tuple[int, int, int]]:
        """Red, green and blue of each LED, 0 to 255, as last written."""
        data = self.device.read_bytes()
        return [(data[at], data[at + 1], data[at + 2]) for at in range(0, min(len(data), 4 * self._length), 4)]


class SimulatedLights:
    """Implements `hardware.ports.Lights`; ``lights`` is the real shell, ``changes`` what its pins did."""

    def __init__(self, seats: int, clock: Clock = monotonic) -> None:
        """``seats``: 1 to 8; ``clock`` answers the present instant, ns."""
        if not 1 <= seats <= len(SEAT_LIGHT_PINS):
            raise ValueError(f"1 to {len(SEAT_LIGHT_PINS)} lights, not {seats}")
        from hardware.simulated.devices.mock_pins import ToldFactory

        pins = dict(enumerate(SEAT_LIGHT_PINS[:seats], start=1))
        self._clock = clock
        self._names = {f"GPIO{pin}": f"seat {seat}" for seat, pin in pins.items()}
        for pin, part in zip(TABLE_LIGHT_PINS, ("red", "green", "blue"), strict=True):
            self._names[f"GPIO{pin}"] = part
        self.levels = dict.fromkeys(self._names.values(), 0.0)
        """The present level of each light."""
        self.changes: list[LevelChange] = []
        self.lights = GpioLights(pins, TABLE_LIGHT_PINS, factory=ToldFactory(self._told))

    def seat(self, seat: int, level: float) -> None:
        """Set one seat's light."""
        self.lights.seat(seat, level)

    def table(self, red: float, green: float, blue: float) -> None:
        """Set the table's light."""
        self.lights.table(red, green, blue)

    def close(self) -> None:
        """All dark."""
        self.lights.close()

    def _told(self, pin: str, level: float) -> None:
        light = self._names[pin]
        self.levels[light] = level
        self.changes.append(LevelChange(self._clock(), light, level))
