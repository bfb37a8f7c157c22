"""gpiozero's mock inputs with the test's own clock, stamped in the unit of lgpio's pins."""

from __future__ import annotations

from gpiozero.pins.mock import MockFactory, MockPin


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
    """A mock factory whose present instant is ``now`` (ns)."""

    exact_time = True

    def __init__(self) -> None:
        super().__init__(pin_class=ClockedPin)
        self.now = 0
