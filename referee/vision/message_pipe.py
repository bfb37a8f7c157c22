"""A pipe between the referee and the process that looks, whose other end may stop in the middle of a message.

`multiprocessing.Pipe` would wait for the rest of it, and the loop with it. Here a message that has begun is not there
until all of it is.
"""

from __future__ import annotations

import pickle
import select
import socket
import struct
import time
from typing import Any, Final

_SIZE: Final = struct.Struct("!Q")
"""Before each message: its bytes."""
_CHUNK: Final = 1 << 18


class MessagePipe:
    """One end: sends objects that can be pickled, and receives those of the other end, each whole.

    For one thread. An end that is not ``patient`` never waits, but for `poll` as long as it is told to: what the
    kernel does not take at once is kept, and goes out with what is done next.
    """

    def __init__(self, link: socket.socket, *, patient: bool) -> None:
        """``link``: a stream socket, which this end owns from now on."""
        link.setblocking(False)
        self._link, self._patient = link, patient
        self._heard, self._unsent = bytearray(), bytearray()
        self._ended = False

    def fileno(self) -> int:
        """What can be waited on."""
        return self._link.fileno()

    def send(self, message: object) -> None:
        """Send one; raises `OSError` where the other end is gone."""
        data = pickle.dumps(message)
        self._unsent += _SIZE.pack(len(data)) + data
        while self._pour() and self._patient:
            select.select([], [self._link], [])

    def poll(self, seconds: float = 0.0) -> bool:
        """Whether a whole message, or the end, is there within so many seconds."""
        until = time.monotonic() + seconds
        while True:
            self._take()
            if self._ended or self._is_whole():
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            select.select([self._link], [], [], left)

    def recv(self) -> Any:
        """The next message, which `poll` has said is there.

        Raises:
            EOFError: the other end is gone.
            pickle.UnpicklingError: it sent what nobody can read.
        """
        while not self._is_whole():
            if self._ended:
                raise EOFError
            self.poll(1.0)
        end = _SIZE.size + _SIZE.unpack_from(self._heard)[0]
        data = bytes(self._heard[_SIZE.size : end])
        del self._heard[:end]
        return pickle.loads(data)

    def close(self) -> None:
        """Hang up; may be called twice."""
        self._link.close()

    def _is_whole(self) -> bool:
        return len(self._heard) >= _SIZE.size and len(self._heard) - _SIZE.size >= _SIZE.unpack_from(self._heard)[0]

    def _take(self) -> None:
        """What the kernel has, as far as a message goes."""
        try:
            self._pour()
            while not (self._ended or self._is_whole()):
                part = self._link.recv(_CHUNK)
                self._ended = not part
                self._heard += part
        except BlockingIOError:
            return
        except OSError:
            self._ended = True

    def _pour(self) -> bool:
        """Send what waits; returns whether some of it still does."""
        try:
            while self._unsent:
                del self._unsent[: self._link.send(self._unsent)]
        except BlockingIOError:
            return True
        return False
