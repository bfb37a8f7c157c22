"""gpiozero's mock pins with a clock that is ours: edges carry exact instants, and every change can be told.

The stock mock factory stamps a change with the machine's clock. These pins are stamped with the instant that
the simulated table sets, in the unit in which lgpio's pins are stamped, so the shells above cannot tell the
difference.
"""

from __future__ import annotations

from collections.abc import Callable

from gpiozero.pins.mock import MockFactory, MockPin, MockPWMPin


class ClockedPin(MockPin):  # type: ignore[misc]
    """An input whose edges carry the factory's instant."""

    _state: bool

    def _change_state(self, value: bool) -> bool:
        if self._state == value:
            return False
        self._state = value
        self._last_change = self.factory.now / 1_000_000_000
        return True


class ClockedFactory(MockFactory):  # type: ignore[misc]
    """A mock factory at whose table it is ``now`` (ns) o'clock."""

    exact_time = True

    def __init__(self) -> None:
        super().__init__(pin_class=ClockedPin)
        self.now = 0


class ToldPWMPin(MockPWMPin):  # type: ignore[misc]
    """An output that tells its factory of each change of level."""

    _state: float

    def _change_state(self, value: float) -> bool:
        if self._state == value:
            return False
        self._state = value
        self.factory.told(self.info.name, float(value))
        return True


class ToldFactory(MockFactory):  # type: ignore[misc]
    """A mock factory of dimmable outputs; ``told(pin's name, level)`` hears every change."""

    def __init__(self, told: Callable[[str, float], None]) -> None:
        self.told = told
        super().__init__(pin_class=ToldPWMPin)
