"""The page's process: a record, a socket to listen at, and an address to be reached at."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from referee.app.page.app import build
from referee.app.page.board import Board
from referee.app.page.events import Hub
from referee.app.page.following import Follower
from referee.app.page.patience import Patient
from referee.app.page.publishing import Receiver
from referee.app.page.shelf import Shelf
from referee.app.page.site import Site
from referee.app.problems import UserError

BACKLOG: Final = 64
SWITCH: Final = 0.0003
"""Seconds that a thread may go on working while another waits."""
_GRACE: Final = 2
"""Seconds that open answers may take when the page is stopped."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the page is served."""

    record: Path
    host: str = "127.0.0.1"
    port: int = 8080
    pictures: Path | None = None
    """The file of frames, which is there once pictures are switched on."""
    listen: Path | None = None
    """Where the main process tells its news."""
    runtime: Path | None = None
    """Folder of the control's socket and sessions; without one the page is for watching alone."""
    names: tuple[str, ...] = ()
    """Further names under which the page may be called."""
    secure: bool = False
    """Whether a proxy in front serves it by https, and nobody reaches it otherwise."""


class Page:
    """The application with everything behind it."""

    def __init__(self, options: Options) -> None:
        controlled = options.runtime is not None
        self.hub = Hub(Board(), controlled=controlled)
        self.site = Site(Shelf(options.record, options.pictures), self.hub, controlled=controlled)
        self._receiver = Receiver(options.listen) if options.listen is not None else None
        self.follower = Follower(self.site, self._receiver)
        self.app: ASGIApp = _guarded(self.site, options)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While this is open, the board follows the game."""
        await self.follower.start()
        try:
            yield
        finally:
            await self.follower.stop()
            self.hub.close()
            self.site.close()
            if self._receiver is not None:
                self._receiver.close()


def _guarded(site: Site, options: Options) -> ASGIApp:
    from hardware.clock import monotonic
    from referee.app.page.control import Control
    from referee.app.page.guard import guarded
    from referee.app.page.hosts import Hosts
    from referee.app.page.sessions import Sessions

    hosts = Hosts.of_this_machine(options.names)
    if options.runtime is None:
        return guarded(build(site), Sessions(), hosts=hosts, clock=monotonic, secure=options.secure)
    control = Control(options.runtime, secure=options.secure, clock=monotonic, names=lambda: site.hub.board.names)
    app = build(site, control.routes())
    return guarded(app, control.sessions, hosts=hosts, clock=monotonic, secure=options.secure)


class _Server(uvicorn.Server):
    """Lets the viewers go as soon as it is asked to stop; they would hold it up."""

    hub: Hub

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Be told to stop; uvicorn's own way raises the signal again and so skips everybody's tidying up."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.hub.close()
        await super().shutdown(sockets)


async def serve(options: Options, told: Callable[[str], None]) -> int:
    """Serve until told to stop; returns the exit status.

    Args:
        options: what and where.
        told: is told the address once it can be reached.

    Raises:
        UserError: the address or the socket cannot be used.
    """
    # Each write to a viewer's socket lets a working thread in, and waits this long to get its turn back; with the usual
    # 5 ms, forty viewers would wait 200 ms while somebody opens a photo-finish.
    sys.setswitchinterval(SWITCH)
    listening = opened(options.host, options.port)
    try:
        page = Page(options)
    except OSError as bad:
        listening.close()
        raise UserError(f"{options.listen}: no socket can be made there ({bad.strerror})") from None
    config = uvicorn.Config(
        page.app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=_GRACE,
        server_header=False, proxy_headers=False, ws="none", http=Patient, loop="asyncio", timeout_keep_alive=15,
        limit_concurrency=256, h11_max_incomplete_event_size=16384,
    )  # fmt: skip
    server = _Server(config)
    server.hub = page.hub
    async with page.running():
        host, port = listening.getsockname()[:2]
        told(f"http://{'localhost' if host in ('127.0.0.1', '0.0.0.0') else host}:{port}/")
        await server.serve([listening])
    return 0


def opened(host: str, port: int) -> socket.socket:
    """A socket that listens; raises `UserError` where that address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as bad:
        listening.close()
        raise UserError(f"the page cannot be served at {host}:{port} ({bad.strerror}); try another --port") from None
    return listening
