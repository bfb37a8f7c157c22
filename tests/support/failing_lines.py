"""Simulated pad lines with faults: a short queue, merged edges, a chip that vanishes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from hardware.pads.gpiod_lines import QUEUE
from hardware.simulated.devices.simulated_pads import SimulatedEvent, SimulatedLineRequest


class FailingLineRequest(SimulatedLineRequest):
    """Lines with faults on demand; ``queue``: how many edges may wait."""

    def __init__(self, pins: Iterable[int], *, start: int = 0, queue: int = QUEUE) -> None:
        super().__init__(pins, start=start)
        self._queue = deque(maxlen=queue)
        self._gone = False

    def merge(self, pin: int) -> None:
        """Close the contact at `now` again before the kernel has queued the edge before: both are merged."""
        place = max(at for at, event in enumerate(self._queue) if event.line_offset == pin)
        self._number += 1
        self._queue[place] = SimulatedEvent(pin, self.now, self._number, self._queue[place].line_seqno)

    def vanish(self) -> None:
        """Remove the chip, as when its driver is unbound."""
        self._gone = True
        with self._opening:
            if self._signal is not None:
                self._signal.ring()

    def read_edge_events(self, _most: int = QUEUE) -> list[SimulatedEvent]:
        self._raise_if_gone()
        return super().read_edge_events()

    def get_value(self, pin: int) -> bool:
        self._raise_if_gone()
        return super().get_value(pin)

    def _raise_if_gone(self) -> None:
        if self._gone:
            raise OSError(19, "No such device")
