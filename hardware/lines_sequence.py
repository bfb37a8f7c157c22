"""Which of the kernel's numbered edges have come, and which are lost. Pure.

The kernel numbers the edges of a request in the hard interrupt, and queues them in a thread of each line, so
neighbours may come in the wrong order; a queue that overflows drops its oldest. A number that was passed over is
therefore waited for, and lost when it has not come in time.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardware.ports import Lost


@dataclass(frozen=True, slots=True)
class _Missing:
    after: int
    before: int
    noticed: int


class Sequence:
    """The numbers of one request, which count from 1."""

    def __init__(self, grace: int) -> None:
        """``grace``: how long a number that was passed over is waited for, ns."""
        self._grace = grace
        self._next = 1
        self._latest = 0
        self._missing: dict[int, _Missing] = {}

    def feed(self, number: int, t: int, now: int) -> None:
        """An edge came with this number and stamp (ns), and was read at ``now`` (ns)."""
        for passed in range(self._next, number):
            self._missing[passed] = _Missing(self._latest, t, now)
        self._missing.pop(number, None)
        self._next = max(self._next, number + 1)
        self._latest = max(self._latest, t)

    def lost(self, now: int) -> Lost | None:
        """What has not come by ``now`` (ns) and will not; told once."""
        if not self._missing:
            return None
        gone = [number for number, gap in self._missing.items() if now - gap.noticed > self._grace]
        if not gone:
            return None
        gaps = [self._missing.pop(number) for number in gone]
        return Lost(len(gaps), after=min(gap.after for gap in gaps), before=max(gap.before for gap in gaps))

    def told(self, t: int) -> int:
        """Up to where everything is told if it is but for the numbers that are waited for, ns."""
        return min([t, *(gap.after for gap in self._missing.values())])
