"""Estimates another device's clock from exchanges of stamps: a phone's, or a microcontroller's. Pure.

Each exchange bounds one of their instants by two of ours, whatever the delays of its two directions. The estimate is
the interval allowed by all exchanges: its middle, with half its width as the error. So quick exchanges narrow it, slow
ones do no harm, and old ones count less, by the possible drift of the clocks. The idea is that of Marzullo and Owicki,
"Maintaining the time in a distributed system" (1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from referee.units import MS, SECOND

DRIFT: Final = 200e-6
"""Greatest drift between clocks before more is known: crystals are within 100 millionths, and systems that set their
clock by the network's slew it by as much."""
WANDER: Final = 10e-6
"""Greatest change of a drift within the remembered time: crystals warm up."""
LATE_AFTER: Final = 250 * MS
"""Delay, ns, after a touch's claimed instant from which it is late evidence ..."""
WAITED_FOR: Final = 300 * MS
"""... and the longest wait, ns, for a device's promise that it has reported everything."""
STEADY: Final = 2 * SECOND
"""Time, ns, for which a clock must run evenly after a jump before hands are judged by it again."""
_SPELL: Final = 2 * SECOND
"""Exchanges within this time, ns, are merged into one that satisfies them all ..."""
_KEPT: Final = 120
"""... and this many of those are kept."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """At ``theirs`` (ns) our clock was ahead of theirs by ``least`` to ``most``, ns."""

    theirs: int
    least: int
    most: int


class RemoteClock:
    """Another device's clock, with arbitrary offset and drift."""

    def __init__(self) -> None:
        """Start without knowledge of the clock."""
        self._kept: list[_Exchange] = []
        self._slowest, self._fastest = -DRIFT, DRIFT
        self.jumps = 0
        """Number of times it was found where drift could not explain it: set anew, or after sleep."""

    @property
    def is_known(self) -> bool:
        """Whether there has been an exchange."""
        return bool(self._kept)

    def note_question(self, sent: int, theirs: int, received: int) -> bool:
        """Note an exchange: we asked at ``sent``, they stamped ``theirs``, we had the answer at ``received``, ns.

        Returns whether the clock ran on normally; otherwise all knowledge of it is discarded.
        """
        return self._note(_Exchange(theirs, sent - theirs, received - theirs))

    def note_echo(self, given: int, received: int, sent: int, came: int) -> bool:
        """Note an echo, ns: we sent the stamp ``given``, they received it at ``received`` and echoed it at ``sent``,
        and the echo arrived at ``came``; see `note_question`.

        Only two facts are used, and each by our own clock: they cannot have received our stamp before we gave it, and
        we cannot have received the echo before they sent it. So the width is the round trip that we measured, less the
        time for which they claim to have held the stamp.
        """
        slack = round(max(0, sent - received) * DRIFT) + 1
        return self._note(_Exchange((received + sent) // 2, given - received - slack, came - sent + slack))

    def translate(self, theirs: int) -> tuple[int, int]:
        """Return our instant for one of theirs, and the half-width of its uncertainty, ns.

        Raises:
            ValueError: the clock is unknown.
        """
        earliest, latest = self.bounds(theirs)
        return (earliest + latest) // 2, (latest - earliest + 1) // 2 if latest > earliest else 0

    def bounds(self, theirs: int) -> tuple[int, int]:
        """Return the two instants of ours between which one of theirs lies, ns.

        Raises:
            ValueError: the clock is unknown.
        """
        least, most = self._offset(theirs)
        return theirs + least, theirs + most

    def _offset(self, theirs: int) -> tuple[int, int]:
        if not self._kept:
            raise ValueError("nothing is known of that clock")
        bounds = [self._carried(exchange, theirs - exchange.theirs) for exchange in self._kept]
        return max(least for least, _ in bounds), min(most for _, most in bounds)

    def _carried(self, one: _Exchange, since: int) -> tuple[int, int]:
        """Return the offset's bounds from an exchange, ``since`` ns after it (or before it, if negative), ns."""
        drifts = (since * self._slowest, since * self._fastest)
        return one.least + int(min(drifts)) - 1, one.most + int(max(drifts)) + 1

    def _note(self, one: _Exchange) -> bool:
        if one.most < one.least:
            # A running clock cannot end an exchange before it began.
            self._forget()
            return False
        fits = True
        if self._kept:
            least, most = self._offset(one.theirs)
            fits = one.theirs >= self._kept[-1].theirs - _SPELL and one.least <= most and least <= one.most
        if not fits:
            self._forget()
        last = self._kept[-1] if self._kept else None
        if last is not None and one.theirs // _SPELL == last.theirs // _SPELL:
            least, most = self._carried(one, last.theirs - one.theirs)
            self._kept[-1] = _Exchange(last.theirs, max(last.least, least), min(last.most, most))
        else:
            self._kept.append(one)
            self._follow()
            del self._kept[:-_KEPT]
        return fits

    def _forget(self) -> None:
        self._kept.clear()
        self._slowest, self._fastest = -DRIFT, DRIFT
        self.jumps += 1

    def _follow(self) -> None:
        """Estimate the drift from exchanges that lie apart."""
        slowest, fastest = -DRIFT, DRIFT
        newest = self._kept[-1]
        for early in self._kept[:-1]:
            between = newest.theirs - early.theirs
            if between > _SPELL:
                slowest = max(slowest, (newest.least - early.most) / between - WANDER)
                fastest = min(fastest, (newest.most - early.least) / between + WANDER)
        if slowest < fastest:
            self._slowest, self._fastest = slowest, fastest
