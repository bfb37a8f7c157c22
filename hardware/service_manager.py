"""What a process of ours tells systemd, and how often systemd wants to hear that it lives: sd_notify(3).

Datagrams of ``KEY=value`` to the socket that ``NOTIFY_SOCKET`` names. Outside systemd all of this says nothing to
nobody.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping

from referee.units import SECOND

Send = Callable[[str], None]


def sender(environ: Mapping[str, str]) -> Send:
    """What sends to systemd's socket; to nobody where there is none. A datagram that cannot be sent is dropped."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return lambda _text: None
    # A name that begins with @ is one in the kernel's abstract namespace.
    where = "\0" + address[1:] if address.startswith("@") else address
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    channel.setblocking(False)

    def send(text: str) -> None:
        with contextlib.suppress(OSError):
            channel.sendto(text.encode(), where)

    return send


def watched_for(environ: Mapping[str, str], own: int) -> int:
    """How long systemd waits to be fed by the process ``own``, µs; 0 where it does not watch."""
    if environ.get("WATCHDOG_PID", str(own)) != str(own):
        return 0
    told = environ.get("WATCHDOG_USEC", "")
    return int(told) if told.isdecimal() else 0


def feeding_interval(environ: Mapping[str, str], own: int) -> int:
    """Nanoseconds between feedings: a third of what systemd waits, so that one may be late; 1 s where it waits not."""
    return watched_for(environ, own) * 1000 // 3 or SECOND
