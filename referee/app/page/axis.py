"""A time axis: from instants to pixels, and round numbers for its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """Instants from ``start`` to ``stop`` (ns, after the zero) on pixels from ``left`` to ``right``."""

    start: float
    stop: float
    left: float
    right: float

    def x(self, t: float) -> float:
        """Where an instant lies, wherever that is."""
        return self.left + (t - self.start) / (self.stop - self.start) * (self.right - self.left)

    def inside(self, t: float) -> float:
        """The same, kept within the axis."""
        return min(max(self.x(t), self.left), self.right)

    def holds(self, t: float) -> bool:
        """Whether an instant lies on it."""
        return self.start <= t <= self.stop

    def ticks(self, about: int) -> Iterator[int]:
        """Round instants, about so many of them, ns."""
        step = nice((self.stop - self.start) / about)
        first = math.ceil(self.start / step)
        for place in range(first, math.floor(self.stop / step) + 1):
            yield round(place * step)

    def digits(self, about: int) -> int:
        """Decimals that a tick needs in milliseconds."""
        step = nice((self.stop - self.start) / about) / 1e6
        return max(0, -math.floor(math.log10(step) + 1e-9))


def nice(rough: float) -> float:
    """The next of 1, 2, 5, 10, 20, … that is not less."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
