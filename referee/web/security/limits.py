"""How often one address may ask: buckets that fill with time. Pure; time is data."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Final

SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may do; the defaults let a phone load the page and a child press every button."""

    body: int = 64 << 10
    """Bytes of a request's body."""
    body_ns: int = 5 * SECOND
    """How long a body may take to arrive."""
    query: int = 2000
    """Characters of a query string."""
    path: int = 1000
    """Characters of a path."""
    reads: int = 120
    """Reads at once; as many again come back in `reads_ns`."""
    reads_ns: int = 6 * SECOND
    changes: int = 20
    """Changes at once; as many again come back in `changes_ns`."""
    changes_ns: int = 10 * SECOND
    streams: int = 8
    """Event streams open at once from one address."""
    all_streams: int = 64
    """Event streams open at once; who has paired is let in beyond them."""


USUAL: Final = Limits()


class Buckets:
    """One bucket for each address: full at first, one drop a request.

    Args:
        size: drops in a full bucket.
        period: in how long an empty one is full again, ns.
        most: addresses remembered; whose bucket is forgotten has a full one.
    """

    def __init__(self, size: int, period: int, most: int = 1024) -> None:
        self._size, self._drop, self._most = size, period // size, most
        self._empty_until: OrderedDict[str, int] = OrderedDict()
        """By address, the instant at which its bucket is full again."""

    def wait(self, who: str, now: int) -> int:
        """Take a drop; returns 0, or for how long there is none (ns)."""
        full_at = max(self._empty_until.pop(who, now), now)
        wait = full_at + self._drop - (now + self._size * self._drop)
        self._empty_until[who] = full_at if wait > 0 else full_at + self._drop
        while len(self._empty_until) > self._most:
            self._empty_until.popitem(last=False)
        return max(0, wait)


class Streams:
    """Event streams that are open now."""

    def __init__(self, each: int, together: int) -> None:
        self._each, self._together = each, together
        self._open: Counter[str] = Counter()

    def enter(self, who: str, *, known: bool) -> bool:
        """One more stream for this address; false where it, or the machine, has enough. Then `leave` is not due."""
        if self._open[who] >= self._each or (not known and self._open.total() >= self._together):
            return False
        self._open[who] += 1
        return True

    def leave(self, who: str) -> None:
        """A stream has ended."""
        self._open[who] -= 1
        if self._open[who] <= 0:
            del self._open[who]
