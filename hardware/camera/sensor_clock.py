"""Measures which clock a camera's sensor stamps use.

libcamera documents ``SensorTimestamp`` as CLOCK_BOOTTIME; a Pi 5 driver uses CLOCK_MONOTONIC. The two diverge
permanently while a machine sleeps. A frame arrives shortly after its stamp, so a clock on which the stamp lies in the
future, or long ago, is ruled out.
"""

from __future__ import annotations

from typing import Final

from hardware.clock import Clock, Offset, boottime, measure_offset, monotonic
from referee.units import MS

MONOTONIC: Final = "CLOCK_MONOTONIC"
_BOOTTIME: Final = "CLOCK_BOOTTIME"
ARRIVAL: Final = "arrival"
"""The stamps fit no clock: only a frame's arrival is known."""
UNKNOWN: Final = "unknown"

_PROMPT: Final = 200 * MS
"""Longest delivery time of a frame, ns: a clock that implies a longer one is ruled out."""
_TOGETHER: Final = MS
"""Offset, ns, below which two clocks count as one for a camera."""
_STRANGE: Final = 5
"""Number of frames that fit no clock after which the stamps are ignored."""
_EARLY: Final = MS
"""Lead, ns, by which a stamp may lie in the future, since offsets are measured and not exact."""


class SensorClock:
    """Converts a sensor's stamps into instants on CLOCK_MONOTONIC."""

    def __init__(self, mono: Clock = monotonic, boot: Clock = boottime) -> None:
        self._mono = mono
        self.offset: Offset = measure_offset(boot, mono)
        """BOOTTIME's lead over MONOTONIC at the start."""
        self._votes = {_BOOTTIME: 0, MONOTONIC: 0}
        self._misses = 0

    def judge(self, stamp: int, arrived: int) -> None:
        """Learn from a frame that has just arrived. A single stale frame does not outvote the others.

        Args:
            stamp: the sensor's, ns on an unknown clock.
            arrived: CLOCK_MONOTONIC, ns.
        """
        ages = {_BOOTTIME: arrived + self.offset.ahead - stamp, MONOTONIC: arrived - stamp}
        fresh = [clock for clock, age in ages.items() if -_EARLY <= age < _PROMPT]
        for clock in fresh:
            self._votes[clock] += 1
        self._misses += not fresh

    @property
    def name(self) -> str:
        """The clock that fits the stamps; if both fit, the documented one."""
        if not any(self._votes.values()):
            return ARRIVAL if self._misses >= _STRANGE else UNKNOWN
        return max(self._votes, key=lambda clock: self._votes[clock])

    @property
    def certain(self) -> bool:
        """Whether stamps have ruled out the other clock, or the two agree."""
        boot, mono = self._votes.values()
        return boot != mono or abs(self.offset.ahead) <= _TOGETHER

    def to_monotonic(self, stamp: int) -> int | None:
        """Return the stamp's instant, ns; None if the stamps fit no clock."""
        name = self.name
        if name in (ARRIVAL, UNKNOWN):
            return None
        return stamp - self.offset.ahead if name == _BOOTTIME else stamp

    @property
    def error(self) -> int:
        """Half-width of the uncertainty of an instant from `to_monotonic`, ns."""
        if self.name == MONOTONIC and self.certain:
            return 0
        return self.offset.error + (0 if self.certain else abs(self.offset.ahead))
