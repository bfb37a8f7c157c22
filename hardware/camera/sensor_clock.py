"""On which clock a camera's sensor stamps count: measured, not believed.

libcamera documents ``SensorTimestamp`` as CLOCK_BOOTTIME, a Pi 5 driver counts on CLOCK_MONOTONIC. The two part while a
machine sleeps and never come together again. A frame arrives a little after its stamp: a clock on which the stamp
would lie in the future, or long ago, is not the one.
"""

from __future__ import annotations

from typing import Final

from hardware.clock import Clock, Offset, boottime, measure_offset, monotonic
from referee.units import MS

MONOTONIC: Final = "CLOCK_MONOTONIC"
_BOOTTIME: Final = "CLOCK_BOOTTIME"
ARRIVAL: Final = "arrival"
"""The stamps fit no clock: a frame's arrival is all that is known."""
UNKNOWN: Final = "unknown"

_PROMPT: Final = 200 * MS
"""A frame is here by then, ns: a clock on which it would have taken longer is not the one that it was stamped on."""
_TOGETHER: Final = MS
"""Clocks that stand no further apart than this are one clock for a camera, ns."""
_STRANGE: Final = 5
"""Frames that fit no clock before the stamps are given up."""
_EARLY: Final = MS
"""So far in the future a stamp may lie before its clock is ruled out: offsets are measured, not exact, ns."""


class SensorClock:
    """Turns a sensor's stamps into instants on CLOCK_MONOTONIC."""

    def __init__(self, mono: Clock = monotonic, boot: Clock = boottime) -> None:
        self._mono = mono
        self.offset: Offset = measure_offset(boot, mono)
        """How far BOOTTIME ran ahead of MONOTONIC at the start."""
        self._votes = {_BOOTTIME: 0, MONOTONIC: 0}
        self._misses = 0

    def judge(self, stamp: int, arrived: int) -> None:
        """Learn from a frame that came just now. One old frame does not outvote the others.

        Args:
            stamp: the sensor's, ns on a clock of its choice.
            arrived: CLOCK_MONOTONIC, ns.
        """
        ages = {_BOOTTIME: arrived + self.offset.ahead - stamp, MONOTONIC: arrived - stamp}
        fresh = [clock for clock, age in ages.items() if -_EARLY <= age < _PROMPT]
        for clock in fresh:
            self._votes[clock] += 1
        self._misses += not fresh

    @property
    def name(self) -> str:
        """The clock that the stamps fit. Where both fit, the documentation decides."""
        if not any(self._votes.values()):
            return ARRIVAL if self._misses >= _STRANGE else UNKNOWN
        return max(self._votes, key=lambda clock: self._votes[clock])

    @property
    def certain(self) -> bool:
        """Whether stamps have ruled the other clock out, or the two are one."""
        boot, mono = self._votes.values()
        return boot != mono or abs(self.offset.ahead) <= _TOGETHER

    def to_monotonic(self, stamp: int) -> int | None:
        """The stamp's instant, ns; None if the stamps fit no clock."""
        name = self.name
        if name in (ARRIVAL, UNKNOWN):
            return None
        return stamp - self.offset.ahead if name == _BOOTTIME else stamp

    @property
    def error(self) -> int:
        """Half-width of what is known about an instant that `to_monotonic` gives, ns."""
        if self.name == MONOTONIC and self.certain:
            return 0
        return self.offset.error + (0 if self.certain else abs(self.offset.ahead))
