"""Host names under which the page answers, and the address of a request's sender.

A foreign page can make its own host name point at this machine (DNS rebinding) and then read and write as if it were
ours; so only known names are answered. An IP address instead of a name is answered if it is the one at which the
connection arrived: such a page can only have come from here.
The sender of a request is the peer of its connection or, behind a trusted proxy, the address that the proxy reports.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Self

from starlette.types import Scope

_NETWORKS: Final = ("local", "lan", "home", "home.arpa", "internal", "localdomain")
"""Domains that routers append to a machine's name; they cannot be registered on the internet."""
_AUTHORITY: Final = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::(\d{1,5}))?", re.ASCII)
_PORTS: Final = {"http": 80, "https": 443}


def plain_address(text: str) -> str | None:
    """Return an IP address in its shortest form, IPv4 inside IPv6 as IPv4; None if the text is no address."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        return None
    inside = getattr(address, "ipv4_mapped", None)
    return str(inside or address)


def authority(text: str, scheme: str) -> tuple[str, int] | None:
    """Return host and port of a ``Host`` header or of an origin; None if it is malformed."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    host, port = found.group(1).lower(), int(found.group(2) or _PORTS[scheme])
    if not 0 < port < 65536:
        return None
    return plain_address(host) or host.removesuffix("."), port


@dataclass(frozen=True, slots=True)
class Hosts:
    """Names that are answered, in lower case; addresses are known by the connection."""

    names: frozenset[str]

    @classmethod
    def of_this_machine(cls, more: Iterable[str] = ()) -> Self:
        """Return the machine's own name, alone and with home-network domains, ``localhost``, and the settings'
        names."""
        own = socket.gethostname().lower().partition(".")[0] or "localhost"
        given = (plain_address(name) or name.lower().removesuffix(".") for name in more)
        return cls(frozenset(("localhost", own, *(f"{own}.{network}" for network in _NETWORKS), *given)) - {""})

    def knows(self, host: str, arrived_at: str | None) -> bool:
        """Return whether ``host`` (as `authority` returns it) is one of ours, for a connection to ``arrived_at``."""
        if host in self.names:
            return True
        address = plain_address(host)
        return address is not None and arrived_at is not None and address == plain_address(arrived_at)


_FORWARDED: Final = b"x-forwarded-for"
_LONGEST_CHAIN: Final = 8
"""Most addresses of a proxy's header that are read."""


def find_visitor(scope: Scope, proxies: Collection[str]) -> tuple[str, int] | None:
    """Return the sender: the last address in a trusted proxy's header that is no proxy; the peer if it is no proxy.

    The last one, since the visitor may have written those before it. An unreadable entry is not trusted: the proxy then
    counts as the sender.
    """
    client: tuple[str, int] | None = scope.get("client")
    if client is None or plain_address(str(client[0])) not in proxies:
        return client
    told = b",".join(value for name, value in scope["headers"] if name.lower() == _FORWARDED)
    for hop in told.decode("latin-1").split(",")[: -_LONGEST_CHAIN - 1 : -1]:
        address = plain_address(hop.strip())
        if address is None:
            return client
        if address not in proxies:
            return address, 0
    return client


def who_asks(scope: Scope) -> str:
    """Return the sender's address of a request; ``local`` if it has none."""
    client = scope.get("client")
    return str(client[0]) if client else "local"
