"""By which names the page is answered, and who asks.

A page elsewhere can make a name of its own point at this machine (DNS rebinding) and then read and write as if it were
ours; only names that we know are answered. A number instead of a name is answered where it is the very address at
which the connection arrived: such a page can only have come from here.
Who asks is who connects; or, where a trusted proxy does, whom that has heard.
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
"""What routers put behind a machine's name; nobody can own such a name outside."""
_AUTHORITY: Final = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::(\d{1,5}))?", re.ASCII)
_PORTS: Final = {"http": 80, "https": 443}


def plain_address(text: str) -> str | None:
    """An IP address in its shortest form, one of IPv4 inside IPv6 as IPv4; None where the text is no address."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        return None
    inside = getattr(address, "ipv4_mapped", None)
    return str(inside or address)


def authority(text: str, scheme: str) -> tuple[str, int] | None:
    """Host and port of a ``Host`` header or of an origin; None where it is malformed."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    host, port = found.group(1).lower(), int(found.group(2) or _PORTS[scheme])
    if not 0 < port < 65536:
        return None
    return plain_address(host) or host.removesuffix("."), port


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names that are answered, in lower case; addresses are known by the connection."""

    names: frozenset[str]

    @classmethod
    def of_this_machine(cls, more: Iterable[str] = ()) -> Self:
        """The machine's own name, alone and as a home network may call it, ``localhost``, and what the settings add."""
        own = socket.gethostname().lower().partition(".")[0] or "localhost"
        given = (plain_address(name) or name.lower().removesuffix(".") for name in more)
        return cls(frozenset(("localhost", own, *(f"{own}.{network}" for network in _NETWORKS), *given)) - {""})

    def knows(self, host: str, arrived_at: str | None) -> bool:
        """Whether ``host`` (as `authority` gives it) is one of ours, for a connection to ``arrived_at``."""
        if host in self.names:
            return True
        address = plain_address(host)
        return address is not None and arrived_at is not None and address == plain_address(arrived_at)


_FORWARDED: Final = b"x-forwarded-for"
_LONGEST_CHAIN: Final = 8
"""Addresses of a proxy's header that are looked at."""


def find_visitor(scope: Scope, proxies: Collection[str]) -> tuple[str, int] | None:
    """Who asks: the last address that a trusted proxy names and that is none itself; who connects, if that is no proxy.

    The last one, since a visitor may have written what stands before it. What cannot be read is not believed, and then
    it is the proxy who asks.
    """
    client: tuple[str, int] | None = scope.get("client")
    if client is None or plain_address(str(client[0])) not in proxies:
        return client
    told = b",".join(value for name, value in scope["headers"] if name.lower() == _FORWARDED)
    for one in told.decode("latin-1").split(",")[: -_LONGEST_CHAIN - 1 : -1]:
        address = plain_address(one.strip())
        if address is None:
            return client
        if address not in proxies:
            return address, 0
    return client


def who_asks(scope: Scope) -> str:
    """The address of a request; ``local`` where it has none."""
    client = scope.get("client")
    return str(client[0]) if client else "local"
