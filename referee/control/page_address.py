"""A table's page: its listening socket, and its addresses for this machine and for phones.

The referee listens before the page's process exists, and passes the socket on: so the address is known from the start,
and stays the same when that process is restarted.
"""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Final, NamedTuple

from referee.errors import UserError
from referee.sentence import Sentence

_BACKLOG: Final = 64
_NEXT_PORTS: Final = 10
"""Number of ports tried after the wished one, if any will do."""
_EVERYBODY: Final = ("0.0.0.0", "::")
_ELSEWHERE: Final = ("192.0.2.1", 9)
"""A documentation address (RFC 5737) that reaches no machine; nothing is sent there."""
ALONE: Final = Sentence("phones cannot open it: it is served to this machine alone")
NO_NETWORK: Final = Sentence("phones cannot open it: this machine is in no network")


class PageAddress(NamedTuple):
    """The addresses of a page."""

    here: str
    """On this machine."""
    room: str
    """From phones and other machines in the network; empty if they cannot reach it."""
    why: str
    """Why they cannot, as a `Sentence`; empty if they can."""

    @property
    def words(self) -> Sentence:
        """All of it in one line."""
        if self.room:
            return Sentence("{room}  (here: {here})", room=self.room, here=self.here)
        return Sentence("{here}  ({why})", here=self.here, why=self.why_and_how)

    @property
    def why_and_how(self) -> str:
        """Why phones cannot open it, for a terminal: with the option that lets them."""
        return Sentence("{why}; begin with --host 0.0.0.0 to let them", why=self.why) if self.why == ALONE else self.why

    def __str__(self) -> str:
        return str(self.words)


def own_address() -> str:
    """Return this machine's address as phones in its network see it; empty if it is in no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Connecting a datagram socket sends nothing: it only looks up the route.
            probe.connect(_ELSEWHERE)
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def page_address(host: str, port: int, network: Callable[[], str] = own_address) -> PageAddress:
    """Return the addresses of a page.

    Args:
        host: its listening address; ``0.0.0.0`` or ``::`` for every network.
        port: the actual port.
        network: finds this machine's address in its network.
    """
    here = f"http://localhost:{port}/"
    if is_loopback(host):
        return PageAddress(here, "", ALONE)
    if host not in _EVERYBODY:
        there = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        return PageAddress(there, there, "")
    found = network()
    if not found or is_loopback(found):
        return PageAddress(here, "", NO_NETWORK)
    return PageAddress(here, f"http://{found}:{port}/", "")


def address_of(listening: socket.socket) -> PageAddress:
    """Return the addresses of the page at a listening socket."""
    return page_address(*listening.getsockname()[:2])


def open_browser(address: str) -> None:
    """Open this machine's browser; returns at once, since a text browser blocks its caller.

    A listening socket is enough: the browser waits for the page.
    """
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def is_loopback(host: str) -> bool:
    """Return whether an address or name means this machine alone."""
    return host in ("localhost", "::1") or host.startswith("127.")


def listen_at(host: str, port: int, *, any_near: bool = False) -> socket.socket:
    """Return a listening socket.

    Args:
        host: address to listen at.
        port: 0 for any free one.
        any_near: use one of the next ports if this one is taken.

    Raises:
        UserError: that address cannot be used.
    """
    ports = range(port, min(port + _NEXT_PORTS, 65_535) + 1) if any_near and port else (port,)
    why = ""
    for each in ports:
        listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, each))
            listening.listen(_BACKLOG)
        except OSError as error:
            listening.close()
            why = why or str(error.strerror)
            continue
        return listening
    raise UserError(
        "the page cannot be served at {host}:{port} ({why}); try another --port", host=host, port=port, why=why
    )
