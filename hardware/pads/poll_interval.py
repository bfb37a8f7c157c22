"""How often a keyboard is asked whether anything was pressed, told by the instants of its answers alone. Pure.

A device on USB tells nothing by itself: the host asks it at a fixed pace, and what was pressed since waits. So answers
lie on a grid, and its width is how much later than the press a stamp may be. Stamps that lie on no grid (another bus,
a radio, a machine too busy to stamp in time) tell nothing, and what is assumed of an unknown device stands.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from referee.units import MS, US

ASSUMED: Final = 10 * MS
"""Until an interval is measured: the slowest that USB's rules let a keyboard of low speed ask for by default, ns."""
_WIDEST: Final = 32
"""Milliseconds between two questions at most: hosts know no longer interval."""
_NEAR: Final = 150 * US
"""An answer is stamped within so much of its place on the grid, ns ..."""
_SHARE: Final = 0.9
"""... but for a few that an idle or busy processor stamped late ..."""
_DOUBTFUL: Final = 0.7
"""... and where so many do on a grid, none that is narrower is believed: late stamps may lie on that by chance."""
_APART: Final = 250 * MS
"""Answers further apart are not held against each other, ns: the device's clock and ours have drifted by then."""
_FEWEST: Final = 24
_KEPT: Final = 64
_EACH: Final = 8
"""The grid is sought anew after so many answers."""


class PollInterval:
    """One device's interval; feed the instants of its answers."""

    def __init__(self, assumed: int = ASSUMED) -> None:
        """``assumed``: what holds until it is measured, ns."""
        self.value = assumed
        """The interval, ns."""
        self.is_measured = False
        self._last: int | None = None
        self._gaps: deque[int] = deque(maxlen=_KEPT)
        self._fed = 0

    def feed(self, t: int) -> None:
        """The device answered at ``t`` (ns)."""
        if self._last is not None and 0 < t - self._last <= _APART:
            self._gaps.append(t - self._last)
            self._fed += 1
            if len(self._gaps) >= _FEWEST and self._fed % _EACH == 0:
                self._seek()
        self._last = t

    def _seek(self) -> None:
        """Take the widest grid on which the answers lie; a narrower one would claim more than is known."""
        for width in range(_WIDEST * MS, 0, -MS):
            share = self._share(width)
            if share >= _DOUBTFUL:
                if share >= _SHARE:
                    self.value, self.is_measured = width, True
                return

    def _share(self, width: int) -> float:
        """Of the gaps that fit to a grid; not counted to the end where it is too few."""
        most = len(self._gaps) * (1 - _DOUBTFUL)
        missed = 0
        for gap in self._gaps:
            missed += abs((gap + width // 2) % width - width // 2) > _NEAR
            if missed > most:
                break
        return 1 - missed / len(self._gaps)
