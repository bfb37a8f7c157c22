"""Simulated lights: gpiozero's mock pins under the real shell, with a record of every change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hardware.clock import Clock, monotonic
from hardware.lights.leds import GpioLights
from hardware.pads.pinout import SEAT_LIGHT_PINS, TABLE_LIGHT_PINS


def recording_factory(record: Callable[[str, float], None]) -> Any:
    """Return a gpiozero mock factory of dimmable outputs; ``record(pin's name, level)`` is called for every change."""
    from gpiozero.pins.mock import MockFactory, MockPWMPin

    class RecordingPin(MockPWMPin):  # type: ignore[misc]
        _state: float

        def _change_state(self, value: float) -> bool:
            if self._state == value:
                return False
            self._state = value
            record(self.info.name, float(value))
            return True

    return MockFactory(pin_class=RecordingPin)


@dataclass(frozen=True, slots=True)
class LevelChange:
    """One pin's change of level."""

    t: int
    """Instant on the table's clock, ns."""
    light: str
    """``seat 1`` ..., ``red``, ``green`` or ``blue``."""
    level: float


class SimulatedLights(GpioLights):
    """The real lights on simulated pins; ``changes`` records their levels."""

    def __init__(self, seats: int, clock: Clock = monotonic) -> None:
        """``seats``: 1 to 8; ``clock`` returns the present instant, ns."""
        if not 1 <= seats <= len(SEAT_LIGHT_PINS):
            raise ValueError(f"1 to {len(SEAT_LIGHT_PINS)} lights, not {seats}")
        pins = dict(enumerate(SEAT_LIGHT_PINS[:seats], start=1))
        self._clock = clock
        self._names = {f"GPIO{pin}": f"seat {seat}" for seat, pin in pins.items()}
        for pin, part in zip(TABLE_LIGHT_PINS, ("red", "green", "blue"), strict=True):
            self._names[f"GPIO{pin}"] = part
        self.levels = dict.fromkeys(self._names.values(), 0.0)
        """The current level of each light."""
        self.changes: list[LevelChange] = []
        super().__init__(pins, TABLE_LIGHT_PINS, factory=recording_factory(self._record))

    def _record(self, pin: str, level: float) -> None:
        light = self._names[pin]
        self.levels[light] = level
        self.changes.append(LevelChange(self._clock(), light, level))
