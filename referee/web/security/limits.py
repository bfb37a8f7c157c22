"""Rate limits for each address: token buckets that refill with time. Pure; time is data.

Also limits for connections that take for ever, or that one address takes all of: uvicorn has none for either.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from referee.units import SECOND
from referee.web.security.hosts import plain_address


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one client; the defaults let a phone load the page and a child press every button."""

    body: int = 64 << 10
    """Bytes of a request's body."""
    body_ns: int = 5 * SECOND
    """Time that a body may take to arrive."""
    query: int = 2000
    """Characters of a query string."""
    path: int = 1000
    """Characters of a path."""
    reads: int = 120
    """Reads at once; as many again come back in `reads_ns`."""
    heavy: int = 4
    """Cost in reads of a request for which a game is ruled again, or something is drawn."""
    reads_ns: int = 6 * SECOND
    files: int = 1200
    """Styles, scripts and cards' pictures at once, a dozen for each page and cheap; as many again come back in
    `reads_ns`. A page whose style was refused cannot be read."""
    changes: int = 20
    """Changes at once; as many again come back in `changes_ns`."""
    changes_ns: int = 10 * SECOND
    hands: int = 400
    """Reports at once of pages that are pads, a few a second for each seat; as many again come back in `hands_ns`."""
    hands_ns: int = 10 * SECOND
    streams: int = 8
    """Event streams open at once from one address."""
    all_streams: int = 64
    """Event streams open at once; paired devices are admitted beyond them."""
    connections: int = 32
    """Connections that one address may hold at once: a phone with some tabs open has a dozen."""


USUAL_LIMITS: Final = Limits()


class Buckets:
    """One bucket for each address: full at first; each request takes one drop, an expensive one more.

    Args:
        size: drops in a full bucket.
        period: time in which an empty one fills up, ns.
        most: number of addresses remembered; a forgotten one begins with a full bucket.
    """

    def __init__(self, size: int, period: int, most: int = 1024) -> None:
        self._size, self._drop, self._most = size, period // size, most
        self._empty_until: OrderedDict[str, int] = OrderedDict()
        """By address, the instant at which its bucket is full again."""

    def wait(self, who: str, now: int, cost: int = 1) -> int:
        """Take ``cost`` drops; return 0, or the time until there are enough (ns)."""
        full_at = max(self._empty_until.pop(who, now), now)
        wait = full_at + cost * self._drop - (now + self._size * self._drop)
        self._empty_until[who] = full_at if wait > 0 else full_at + cost * self._drop
        while len(self._empty_until) > self._most:
            self._empty_until.popitem(last=False)
        return max(0, wait)


class HeadTimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 (``Config(http=…)``) with a deadline for each request's head, and a limit for each address."""

    head: float = 10.0
    """Time that a request's head may take to arrive, s."""
    each: int = USUAL_LIMITS.connections
    """Connections that one address may hold at once."""
    proxies: frozenset[str] = frozenset()
    """Addresses that connect for many visitors; no limit applies to them."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the deadline; close at once if this address has too many connections."""
        super().connection_made(transport)  # type: ignore[arg-type]
        shared = _address(self) in self.proxies
        if not shared and sum(_address(connection) == _address(self) for connection in self.connections) > self.each:
            transport.abort() if isinstance(transport, asyncio.Transport) else transport.close()
            return
        self._wait_for_a_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline."""
        self._stop()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Start the deadline anew for the next request on this connection."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait_for_a_head()

    def _wait_for_a_head(self) -> None:
        self._stop()
        self._deadline = self.loop.call_later(self.head, self._look)

    def _look(self) -> None:
        # Any other state: the head has arrived and a body may come, or the answer is on its way.
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.abort()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _address(one: object) -> str | None:
    client = getattr(one, "client", None)
    return (plain_address(str(client[0])) or str(client[0])) if client else None
