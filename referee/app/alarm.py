"""What the referee's loop sleeps on: any thread can wake it, and so can news from another process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait


class Alarm:
    """A bell that any thread may ring: `wait` returns at once then, and no ring is lost."""

    def __init__(self) -> None:
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._closed = False

    def ring(self) -> None:
        """Wake whoever waits, or will."""
        if not self._closed:
            os.eventfd_write(self._bell, 1)

    def wait(self, seconds: float, others: Sequence[Connection] = ()) -> None:
        """Sleep until the bell rings, one of the others can be read, or so many seconds are over."""
        if self._bell in wait([self._bell, *others], seconds):
            os.eventfd_read(self._bell)

    def close(self) -> None:
        """Take the bell down; whoever still rings is not heard."""
        self._closed = True
        os.close(self._bell)
