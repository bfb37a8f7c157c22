"""Frames that wait to be looked at: a slow eye is late, and misses nothing, as long as there is room.

The room is a share of the machine's free memory. When it is used up, all that wait are given up at once, for what the
eye would still find in them is long over: whoever looks is told that there is a gap before the next frame.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.units import SECOND

if TYPE_CHECKING:
    from hardware.ports import Frame

_SHARE: Final = 4
"""One in so many bytes of free memory may hold frames that wait ..."""
_LEAST_ROOM: Final = 64 * 2**20
"""... but never less than this ..."""
_MOST_ROOM: Final = 2**30
"""... or more than that, bytes."""
_BEHIND: Final = 3 * SECOND
"""An eye that is so far behind the newest frame is told of, ns ..."""
_FOLLOWS: Final = SECOND
"""... until it is no further behind than this."""


def free_memory() -> int:
    """Bytes of memory that nobody uses at present, 0 where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
    except OSError:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def room_for_frames() -> int:
    """Bytes that waiting frames may take on this machine."""
    return max(_LEAST_ROOM, min(_MOST_ROOM, free_memory() // _SHARE))


class Backlog:
    """Frames in their order, given by one thread and taken by another.

    Args:
        room: bytes that they may take; None: as much as this machine has to spare.
        drop: give frames up where there is no room; else whoever gives one waits until there is.
    """

    def __init__(self, room: int | None = None, *, drop: bool = True) -> None:
        self._room, self._drop = room_for_frames() if room is None else room, drop
        self._frames: deque[Frame] = deque()
        self._bytes = self._newest = 0
        self._given_up = False
        self._change = threading.Condition()
        self.after_gap = False
        """Whether frames were given up before the one that was taken last."""
        self.is_behind = False
        """Whether the frame that was taken last was seconds older than the newest."""

    def put(self, frame: Frame) -> None:
        """One more frame."""
        size = int(frame.image.nbytes)
        with self._change:
            while self._frames and self._bytes + size > self._room:
                if self._drop:
                    self._frames.clear()
                    self._bytes, self._given_up = 0, True
                else:
                    self._change.wait()
            self._frames.append(frame)
            self._bytes += size
            self._newest = frame.t
            self._change.notify_all()

    def next(self, seconds: float) -> Frame | None:
        """The oldest frame, or None if none comes within so many seconds."""
        with self._change:
            if not self._frames and seconds > 0:
                self._change.wait_for(lambda: bool(self._frames), seconds)
            if not self._frames:
                return None
            frame = self._frames.popleft()
            self._bytes -= int(frame.image.nbytes)
            self.after_gap, self._given_up = self._given_up, False
            late = self._newest - frame.t
            self.is_behind = late > (_FOLLOWS if self.is_behind else _BEHIND)
            self._change.notify_all()
            return frame
