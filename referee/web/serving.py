"""Serves a site to browsers, on one socket, until it is stopped. Every site of ours is served this way.

A site brings its routes inside a `Guard`, and a listening socket (`referee.control.page_address`).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Final

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from referee.control.page_address import address_of
from referee.text.terminal_language import translate
from referee.web.security.guard import Guard
from referee.web.security.limits import HeadTimeoutProtocol

_SWITCH_INTERVAL: Final = 0.0003
"""Seconds that a thread may go on working while another waits."""
_GRACE: Final = 2
"""Seconds that open answers may take when the site is stopped."""
_STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def make_get_routes(handlers: Mapping[str, Callable[[Request], Awaitable[Response]]]) -> list[Route]:
    """Return a route for each path, which answers GET by its handler."""
    return [Route(path, handler, methods=["GET"]) for path, handler in handlers.items()]


def send_events(events: AsyncIterator[bytes]) -> StreamingResponse:
    """Send encoded server-sent events as they come; no proxy may hold them back."""
    return StreamingResponse(events, media_type="text/event-stream", headers=_STREAM_HEADERS)


class EventStreams:
    """The open event streams of a site: a change wakes all of them, and closing ends them. Lives in one event loop."""

    def __init__(self) -> None:
        self.viewers = 0
        self.closed = False
        self._changed = asyncio.Event()

    def wake_streams(self) -> None:
        """Let each stream look for something to send."""
        # Swap before setting: each stream waits on the event that it read.
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def close(self) -> None:
        """End all streams."""
        self.closed = True
        self.wake_streams()

    async def follow(self, draw: Callable[[], bytes], quiet: float) -> AsyncIterator[bytes]:
        """Yield what ``draw`` returns for one viewer, at first and after each change, unless it is empty.

        After ``quiet`` seconds without a change it yields a sign of life.
        """
        self.viewers += 1
        try:
            yield b"retry: 1500\n\n"
            while not self.closed:
                # Read before drawing, so that a change between the two is not missed.
                changed = self._changed
                data = draw()
                if data:
                    yield data
                try:
                    await asyncio.wait_for(changed.wait(), quiet)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.viewers -= 1


class SiteServer(uvicorn.Server):
    """Serves many viewers, and ends their streams as soon as it is asked to stop; they would delay it."""

    def __init__(self, guard: Guard, end_streams: Callable[[], None] = lambda: None) -> None:
        """``end_streams`` ends every viewer's stream; the guard's proxies may hold more connections than a visitor."""
        allowed = {"proxies": guard.proxies, "each": guard.limits.connections}
        protocol = type(HeadTimeoutProtocol.__name__, (HeadTimeoutProtocol,), allowed)
        config = uvicorn.Config(
            guard, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=_GRACE,
            server_header=False, proxy_headers=False, ws="none", http=protocol, loop="asyncio", timeout_keep_alive=15,
            limit_concurrency=256, h11_max_incomplete_event_size=16384,
        )  # fmt: skip
        super().__init__(config)
        self._end_streams = end_streams

    async def listen(self, listening: socket.socket, *, quiet: bool = False) -> None:
        """Print the addresses, unless ``quiet``, and serve until asked to stop."""
        if not quiet:
            address = address_of(listening)
            print(address.here)
            print(
                translate("for phones: {room}", room=address.room) if address.room else translate(address.why_and_how),
                flush=True,
            )
        with _short_switch_interval():
            await self.serve([listening])

    def stop(self) -> None:
        """Tell it to stop; any thread may call this."""
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals without uvicorn's own way, which raises the signal again and so skips all clean-up."""
        if sys.platform == "win32":
            # Event loops on Windows cannot handle signals.
            with super().capture_signals():
                yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        await super().shutdown(sockets)


@contextlib.contextmanager
def _short_switch_interval() -> Iterator[None]:
    """Let threads take turns quickly.

    Each write to a viewer's socket lets a working thread in, and waits this long to get its turn back; with the usual
    5 ms, forty viewers would wait 200 ms while one of them opens a photo-finish.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
