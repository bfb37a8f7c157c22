"""A simulated MCP3008 under simulated pads: it answers in the chip's own bytes, and knows each blow's force."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hardware.pads.force import CHANNELS, FULL

LASTS: Final = 24_000_000
"""How long a blow presses a pad, ns; hardest in the middle."""


@dataclass(frozen=True, slots=True)
class Blow:
    """A hand on a pad."""

    channel: int
    t: int
    """When it lands, ns."""
    peak: float
    """Its greatest force, 0 to 1."""


class SimulatedForce:
    """Stands for `hardware.pads.force.SpiBus` with a chip on it.

    Args:
        clock: the simulated table's present instant, ns.
        rest: reading of an untouched pad.
    """

    def __init__(self, clock: Callable[[], int], rest: int = 3) -> None:
        self._clock = clock
        self._rest = rest
        self._blows: list[Blow] = []
        self.closed = False
        self.gone = False
        """Pulled off its wires: every transfer fails."""

    def hit(self, seat: int, t: int, peak: float) -> None:
        """A hand lands on a seat's pad at ``t`` (ns)."""
        self._blows.append(Blow(seat - 1, t, peak))

    def transfer(self, data: bytes) -> bytes:
        """Answer as the chip does: a start bit, single-ended and the channel; then a low bit and ten of the reading."""
        if self.gone or self.closed:
            raise OSError(6, "No such device or address")
        if len(data) != 3 or data[0] != 1 or not data[1] & 0x80:
            return bytes(len(data))
        value = self._reading(data[1] >> 4 & CHANNELS - 1)
        return bytes((0, value >> 8, value & 0xFF))

    def close(self) -> None:
        """Refuse further transfers."""
        self.closed = True

    def _reading(self, channel: int) -> int:
        now = self._clock()
        forces = [
            blow.peak * math.sin(math.pi * (now - blow.t) / LASTS)
            for blow in self._blows
            if blow.channel == channel and 0 <= now - blow.t <= LASTS
        ]
        return max(self._rest, round(FULL * max(forces, default=0.0)))
