"""When a picture without a stamp of its own came, as far as reading it shows.

A picture for which the reading thread slept came when the thread woke. One that lay there already came at some time
after the last one that was waited for: a busy machine reads late, at intervals that look quite regular.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from hardware.clock import Clock, monotonic, time_awake
from referee.units import MS

MOST_LATE: Final = 900 * MS
"""A picture that may have come earlier than this is passed over: a card's error may be a second at most."""
_WAITED: Final = 2 * MS
"""A picture for which this thread slept less was there already."""
_MOST_BUFFERS: Final = 32


@dataclass(frozen=True, slots=True)
class Arrival:
    """A picture that was read."""

    image: Any
    """None: there was none."""
    t: int
    """The instant at which it had been read, ns."""
    late: int
    """It came at most this much earlier, ns."""
    was_awaited: bool
    """Whether this thread slept until it came."""


class ArrivalWatch:
    """Reads pictures, and measures for each how much earlier it may have come. For one thread."""

    def __init__(self, clock: Clock = monotonic, awake: Clock = time_awake) -> None:
        """``clock`` returns the present instant, ``awake`` for how long this thread has not slept; ns."""
        self._clock, self._awake = clock, awake
        self._last_awaited = clock()
        self._asked: deque[int] = deque(maxlen=_MOST_BUFFERS)

    def read(self, read: Callable[[], tuple[bool, Any]], buffers: int = 0) -> Arrival:
        """Read the next picture.

        Args:
            read: returns whether there is a picture, and the picture.
            buffers: how many pictures find room before they are read: none came before its buffer was given back. 0 if
                that is unknown.
        """
        asked, awake = self._clock(), self._awake()
        there, image = read()
        now = self._clock()
        worked = self._awake() - awake
        was_awaited = now - asked - worked >= _WAITED
        if was_awaited:
            self._last_awaited = now - worked
        self._asked.append(asked)
        since = self._last_awaited
        if 0 < buffers <= len(self._asked):
            # The buffer that is read now was given back when this many pictures ago another was asked for.
            since = max(since, self._asked[-buffers])
        return Arrival(image if there else None, now, now - since, was_awaited)
