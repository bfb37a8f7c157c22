"""Where a clock that is not ours stands, told from exchanges of stamps alone: a phone's, or a microcontroller's. Pure.

Each exchange says between which two instants of ours one of theirs lay, however long its two ways took and however
unlike they were. Only what all exchanges allow is told: the middle of it, and half its width as the error. So quick
exchanges make it narrow, slow ones do no harm, and an old one counts for less, by as much as clocks may drift apart.
The idea is that of Marzullo and Owicki, "Maintaining the time in a distributed system" (1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from referee.units import MS, SECOND

DRIFT: Final = 200e-6
"""How fast clocks may drift apart before more is known: crystals are within 100 millionths, and systems that set their
clock by the network's slew it by as much."""
WANDER: Final = 10e-6
"""How much a drift may change within what is remembered: crystals warm up."""
LATE_AFTER: Final = 250 * MS
"""A touch that comes so long after the instant that its device claims is late evidence, ns ..."""
WAITED_FOR: Final = 300 * MS
"""... and for so long a device is waited for that should say that it has told everything, ns."""
STEADY: Final = 2 * SECOND
"""A clock that has jumped must go evenly for so long before hands are judged by it again, ns."""
_SPELL: Final = 2 * SECOND
"""The exchanges within so long are kept as one that says what they all say, ns ..."""
_KEPT: Final = 120
"""... and of these so many."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """At ``theirs`` (ns) our clock was ahead of theirs by ``least`` to ``most``, ns."""

    theirs: int
    least: int
    most: int


class RemoteClock:
    """Another device's clock; it may stand anywhere, and drift."""

    def __init__(self) -> None:
        """Nothing is known of it."""
        self._kept: list[_Exchange] = []
        self._slowest, self._fastest = -DRIFT, DRIFT
        self.jumps = 0
        """How often it was found elsewhere than it can have drifted to: set anew, or asleep."""

    @property
    def is_known(self) -> bool:
        """Whether there was an exchange."""
        return bool(self._kept)

    def note_question(self, sent: int, theirs: int, received: int) -> bool:
        """We asked at ``sent``, they stamped ``theirs``, and we had the answer at ``received``, ns.

        Returns whether the clock went on as clocks do; else all that was known of it is forgotten.
        """
        return self._note(_Exchange(theirs, sent - theirs, received - theirs))

    def note_echo(self, given: int, received: int, sent: int, came: int) -> bool:
        """We stamped ``given``, they had that stamp at ``received`` and echoed it at ``sent``, and we had the echo at
        ``came``, ns; see `note_question`.

        Two things are believed, and each by our own clock: they cannot have had our stamp before we gave it, and we
        cannot have had the echo before they sent it. So the width is the round trip that we measured, without the time
        for which they say that they kept the stamp.
        """
        slack = round(max(0, sent - received) * DRIFT) + 1
        return self._note(_Exchange((received + sent) // 2, given - received - slack, came - sent + slack))

    def translate(self, theirs: int) -> tuple[int, int]:
        """Our instant of one of theirs, and the half-width of what is known of it, ns.

        Raises:
            ValueError: nothing is known of the clock.
        """
        earliest, latest = self.bounds(theirs)
        return (earliest + latest) // 2, (latest - earliest + 1) // 2 if latest > earliest else 0

    def bounds(self, theirs: int) -> tuple[int, int]:
        """Between which two instants of ours one of theirs lies, ns.

        Raises:
            ValueError: nothing is known of the clock.
        """
        least, most = self._offset(theirs)
        return theirs + least, theirs + most

    def _offset(self, theirs: int) -> tuple[int, int]:
        if not self._kept:
            raise ValueError("nothing is known of that clock")
        bounds = [self._carried(one, theirs - one.theirs) for one in self._kept]
        return max(least for least, _ in bounds), min(most for _, most in bounds)

    def _carried(self, one: _Exchange, since: int) -> tuple[int, int]:
        """What an exchange says of the offset so long after it (or before it, below zero), ns."""
        drifts = (since * self._slowest, since * self._fastest)
        return one.least + int(min(drifts)) - 1, one.most + int(max(drifts)) + 1

    def _note(self, one: _Exchange) -> bool:
        if one.most < one.least:
            # No exchange of a clock that runs ends before it began.
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
        """How fast it drifts, as far as exchanges that lie apart tell."""
        slowest, fastest = -DRIFT, DRIFT
        newest = self._kept[-1]
        for early in self._kept[:-1]:
            between = newest.theirs - early.theirs
            if between > _SPELL:
                slowest = max(slowest, (newest.least - early.most) / between - WANDER)
                fastest = min(fastest, (newest.most - early.least) / between + WANDER)
        if slowest < fastest:
            self._slowest, self._fastest = slowest, fastest
