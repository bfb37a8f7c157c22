"""Notifies systemd, and finds how often its watchdog must be fed: sd_notify(3).

Sends datagrams of ``KEY=value`` to the socket named by ``NOTIFY_SOCKET``. Outside systemd this is a no-op.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping

from referee.units import SECOND

Send = Callable[[str], None]


def sender(environ: Mapping[str, str]) -> Send:
    """Return a function that sends to systemd's socket, or a no-op without one; failed datagrams are dropped."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return lambda _text: None
    # A leading @ denotes the kernel's abstract namespace.
    where = "\0" + address[1:] if address.startswith("@") else address
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    channel.setblocking(False)

    def send(text: str) -> None:
        with contextlib.suppress(OSError):
            channel.sendto(text.encode(), where)

    return send


def watched_for(environ: Mapping[str, str], own: int) -> int:
    """Return the watchdog timeout of the process ``own``, µs; 0 if systemd does not watch it."""
    if environ.get("WATCHDOG_PID", str(own)) != str(own):
        return 0
    told = environ.get("WATCHDOG_USEC", "")
    return int(told) if told.isdecimal() else 0


def feeding_interval(environ: Mapping[str, str], own: int) -> int:
    """Return the interval between watchdog feedings, ns: a third of the timeout, so that one may be late; or 1 s."""
    return watched_for(environ, own) * 1000 // 3 or SECOND
