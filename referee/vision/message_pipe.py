"""A pipe between the referee and the vision process, whose other end may stop in the middle of a message.

`multiprocessing.Pipe` would block until the rest arrives, and the loop with it. Here a message becomes available only
when it is complete.
"""

from __future__ import annotations

import pickle
import select
import socket
import struct
import time
from typing import Any, Final

_SIZE: Final = struct.Struct("!Q")
"""Header of each message: its length in bytes."""
_CHUNK: Final = 1 << 18


class MessagePipe:
    """One end of the pipe: sends picklable objects and receives those of the other end, each complete.

    For one thread. Unless ``patient``, it never blocks except in `poll` for the given time: bytes that the kernel does
    not accept at once are kept and sent with the next call.
    """

    def __init__(self, link: socket.socket, *, patient: bool) -> None:
        """``link``: a stream socket, which this end owns from now on."""
        link.setblocking(False)
        self._link, self._patient = link, patient
        self._heard, self._unsent = bytearray(), bytearray()
        self._ended = False

    def fileno(self) -> int:
        """Return the file descriptor, for `select`."""
        return self._link.fileno()

    def send(self, message: object) -> None:
        """Send a message; raises `OSError` if the other end is gone."""
        data = pickle.dumps(message)
        self._unsent += _SIZE.pack(len(data)) + data
        while self._pour() and self._patient:
            select.select([], [self._link], [])

    def poll(self, seconds: float = 0.0) -> bool:
        """Return whether a complete message, or the end of the stream, is available within this time."""
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
        """Return the next message, after `poll` has returned true.

        Raises:
            EOFError: the other end is gone.
            pickle.UnpicklingError: the message cannot be unpickled.
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
        """Close this end; may be called twice."""
        self._link.close()

    def _is_whole(self) -> bool:
        return len(self._heard) >= _SIZE.size and len(self._heard) - _SIZE.size >= _SIZE.unpack_from(self._heard)[0]

    def _take(self) -> None:
        """Receive what the kernel has, up to the end of one message."""
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
        """Send the waiting bytes; return whether some are left."""
        try:
            while self._unsent:
                del self._unsent[: self._link.send(self._unsent)]
        except BlockingIOError:
            return True
        return False
