"""A wake-up signal between threads, waited on beside files: the kernel's eventfd, or two sockets elsewhere."""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import suppress


class Waker:
    """A wake-up signal. Any thread may ring it; rings are never lost, and several unheard rings count as one.

    ``waitable`` is readable while it rings: for select, poll and `multiprocessing.connection.wait`.
    """

    def __init__(self) -> None:
        self.waitable: int | socket.socket
        self._release: weakref.finalize[..., Waker]
        # Release the descriptor of a bell that was never closed.
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
        """Wake the thread that sleeps on it, now or later; a no-op once it is closed."""
        if not self._release.alive:
            return
        with suppress(BlockingIOError):
            if self._file >= 0:
                os.eventfd_write(self._file, 1)
            else:
                self._rope.send(b"\0")

    def hush(self) -> None:
        """Stop ringing."""
        with suppress(BlockingIOError):
            if isinstance(self.waitable, int):
                os.eventfd_read(self.waitable)
            else:
                while self.waitable.recv(4096):
                    pass

    def close(self) -> None:
        """Close it; may be called twice."""
        self._release()


def _close_both(one: socket.socket, other: socket.socket) -> None:
    one.close()
    other.close()
