"""A bell that one thread rings and another sleeps on, beside files: the kernel's eventfd, or two sockets elsewhere."""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import suppress


class Bell:
    """Rung from any thread; a ring is not lost, and several that nobody heard are one.

    ``waitable`` can be read while it rings: for select, poll and `multiprocessing.connection.wait`.
    """

    def __init__(self) -> None:
        self.waitable: int | socket.socket
        self._release: weakref.finalize[..., Bell]
        # A bell that nobody closed must not keep a descriptor for ever.
        if hasattr(os, "eventfd"):
            self.waitable = self._file = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            self._release = weakref.finalize(self, os.close, self._file)
        else:
            self._file = -1
            self.waitable, self._rope = socket.socketpair()
            self.waitable.setblocking(False)
            self._rope.setblocking(False)
            self._release = weakref.finalize(self, _close_both, self.waitable, self._rope)

    def ring(self) -> None:
        """Wake whoever sleeps on it, or will; nothing once it is closed."""
        if not self._release.alive:
            return
        with suppress(BlockingIOError):
            if self._file >= 0:
                os.eventfd_write(self._file, 1)
            else:
                self._rope.send(b"\0")

    def hush(self) -> None:
        """It was heard; it rings no longer."""
        with suppress(BlockingIOError):
            if isinstance(self.waitable, int):
                os.eventfd_read(self.waitable)
            else:
                while self.waitable.recv(4096):
                    pass

    def close(self) -> None:
        """Take it down; may be called twice."""
        self._release()


def _close_both(one: socket.socket, other: socket.socket) -> None:
    one.close()
    other.close()
