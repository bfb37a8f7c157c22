"""Connections that take for ever, or that one address takes all of: uvicorn has no word on either."""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD: Final = 10.0
"""How long the head of a request may take to arrive, s."""
EACH: Final = 32
"""Connections that one address may hold at once: a phone with some tabs open has a dozen."""


class Patient(H11Protocol):
    """uvicorn's HTTP/1.1 (``Config(http=Patient)``) with a deadline for each request's head, and a bound by address."""

    head: float = HEAD
    each: int = EACH
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count the time; close at once where this address has enough."""
        super().connection_made(transport)  # type: ignore[arg-type]
        if sum(_address(one) == _address(self) for one in self.connections) > self.each:
            transport.abort() if isinstance(transport, asyncio.Transport) else transport.close()
            return
        self._wait_for_a_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting."""
        self._stop()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Count anew for the next request on this connection."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait_for_a_head()

    def _wait_for_a_head(self) -> None:
        self._stop()
        self._deadline = self.loop.call_later(self.head, self._look)

    def _look(self) -> None:
        # Its head has arrived where a body may come, or the answer is on its way.
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.abort()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _address(one: object) -> str | None:
    client = getattr(one, "client", None)
    return str(client[0]) if client else None
