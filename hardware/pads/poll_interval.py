"""Estimates a keyboard's poll interval from the instants of its answers. Pure.

A USB device sends nothing by itself: the host polls it at a fixed rate, and presses wait until then. So answers lie on
a grid, whose width is the greatest delay of a stamp after the press. Stamps without a grid (another bus, a radio, a
machine too busy to stamp in time) say nothing, and the default for an unknown device applies.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from referee.units import MS, US

ASSUMED: Final = 10 * MS
"""Interval, ns, until one is measured: the slowest default that USB allows for a low-speed keyboard."""
_WIDEST: Final = 32
"""Longest interval between polls, ms: hosts use none longer."""
_NEAR: Final = 150 * US
"""Tolerance, ns, of an answer's stamp around its place on the grid ..."""
_SHARE: Final = 0.9
"""... with the share of answers that must lie within it, since an idle or busy CPU stamps a few late ..."""
_DOUBTFUL: Final = 0.7
"""... and the share on a grid from which no narrower grid is accepted: late stamps may lie on that by chance."""
_APART: Final = 250 * MS
"""Longest gap, ns, between compared answers: beyond it the device's clock and ours have drifted."""
_FEWEST: Final = 24
_KEPT: Final = 64
_EACH: Final = 8
"""Number of answers between searches for the grid."""


class PollInterval:
    """One device's poll interval; feed the instants of its answers."""

    def __init__(self, assumed: int = ASSUMED) -> None:
        """``assumed``: interval until it is measured, ns."""
        self.value = assumed
        """The interval, ns."""
        self.is_measured = False
        self._last: int | None = None
        self._gaps: deque[int] = deque(maxlen=_KEPT)
        self._fed = 0

    def feed(self, t: int) -> None:
        """Note an answer of the device at ``t`` (ns)."""
        if self._last is not None and 0 < t - self._last <= _APART:
            self._gaps.append(t - self._last)
            self._fed += 1
            if len(self._gaps) >= _FEWEST and self._fed % _EACH == 0:
                self._seek()
        self._last = t

    def _seek(self) -> None:
        """Choose the widest grid that fits the answers; a narrower one would claim too much precision."""
        for width in range(_WIDEST * MS, 0, -MS):
            share = self._share(width)
            if share >= _DOUBTFUL:
                if share >= _SHARE:
                    self.value, self.is_measured = width, True
                return

    def _share(self, width: int) -> float:
        """Return the share of the gaps that fit a grid; stops early if it is too small."""
        most = len(self._gaps) * (1 - _DOUBTFUL)
        missed = 0
        for gap in self._gaps:
            # Distance to the nearest multiple of the width.
            missed += abs((gap + width // 2) % width - width // 2) > _NEAR
            if missed > most:
                break
        return 1 - missed / len(self._gaps)
