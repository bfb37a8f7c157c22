"""Which of the kernel's numbered edges have come, which are lost, and which were merged into a later one. Pure.

The kernel stamps and numbers an edge in the hard interrupt, over all lines of a request, and queues it in a thread of
each line, which numbers the line's own. So there are three reasons for a number that was passed over:

- neighbours came in the wrong order: it comes yet;
- the line's next edge came before the thread had run, and its stamp replaced the earlier one: the edges are *merged*,
  and what is told is late by less than the thread was (the line's own numbers have no gap);
- the queue was full and dropped its oldest: the edge is *lost* (the line's own numbers have a gap).
"""

from __future__ import annotations

from dataclasses import dataclass

from hardware.ports import Lost


@dataclass(frozen=True, slots=True)
class _Missing:
    after: int
    before: int
    noticed: int


class LineSequence:
    """The numbers of one request, which count from 1, as do those of each line."""

    def __init__(self, grace: int) -> None:
        """``grace``: how long a number that was passed over is waited for, ns."""
        self._grace = grace
        self._next = 1
        self._next_of: dict[int, int] = {}
        self._latest = 0
        self._missing: dict[int, _Missing] = {}
        self._overflowed = False
        self.merged = 0
        """How many edges were told with the stamp of a later one."""

    def feed(self, line: int, number: int, line_number: int, t: int, now: int) -> None:
        """An edge of this line came with these numbers and this stamp (ns), and was read at ``now`` (ns)."""
        for passed in range(self._next, number):
            self._missing[passed] = _Missing(self._latest, t, now)
        self._missing.pop(number, None)
        # What lacks on the line alone was told with an earlier gap.
        if line_number > self._next_of.get(line, 1) and self._missing:
            self._overflowed = True
        self._next = max(self._next, number + 1)
        self._next_of[line] = line_number + 1
        self._latest = max(self._latest, t)

    def settle(self, now: int) -> Lost | None:
        """What has not come by ``now`` (ns) will not: merged, or lost, which is told once."""
        if not self._missing:
            return None
        gone = [number for number, gap in self._missing.items() if now - gap.noticed > self._grace]
        if not gone:
            return None
        gaps = [self._missing.pop(number) for number in gone]
        if not self._overflowed:
            self.merged += len(gaps)
            return None
        self._overflowed = bool(self._missing)
        return Lost(len(gaps), after=min(gap.after for gap in gaps), before=max(gap.before for gap in gaps))
