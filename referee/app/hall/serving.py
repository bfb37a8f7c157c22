"""The hall's process: an ear at the broker, and an address to be looked at."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import uvicorn

from referee.app.hall.app import build
from referee.app.hall.hub import Hub
from referee.app.hall.listening import Ear
from referee.app.hall.tables import Hall
from referee.app.mqtt.client import Broker
from referee.app.mqtt.shell import wall_time
from referee.app.page.guard import guarded
from referee.app.page.hosts import Hosts
from referee.app.page.patience import Patient
from referee.app.page.serving import SWITCH, opened
from referee.app.page.sessions import Sessions

_GRACE: Final = 2
"""Seconds that open answers may take when the hall is stopped."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the hall is served."""

    broker: Broker
    prefix: str = "referee"
    host: str = "127.0.0.1"
    port: int = 8090
    names: tuple[str, ...] = ()
    """Further names under which the page may be called."""


class _Server(uvicorn.Server):
    """Lets the viewers go as soon as it is asked to stop; they would hold it up."""

    hub: Hub

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.hub.close()
        await super().shutdown(sockets)


async def serve(options: Options, told: Callable[[str], None]) -> int:
    """Serve until told to stop; returns the exit status.

    Args:
        options: what and where.
        told: is told the address once it can be reached.

    Raises:
        UserError: the address cannot be used.
    """
    # As for a table's page: the broker's thread is not to hold up the viewers.
    sys.setswitchinterval(SWITCH)
    listening = opened(options.host, options.port)
    hub = Hub(Hall(), Ear(options.broker, options.prefix))
    app = guarded(build(hub, lambda: wall_time()[:10]), Sessions(), hosts=Hosts.of_this_machine(options.names))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=_GRACE,
        server_header=False, proxy_headers=False, ws="none", http=Patient, loop="asyncio", timeout_keep_alive=15,
        limit_concurrency=256, h11_max_incomplete_event_size=16384,
    )  # fmt: skip
    server = _Server(config)
    server.hub = hub
    await hub.start()
    try:
        host, port = listening.getsockname()[:2]
        told(f"http://{'localhost' if host in ('127.0.0.1', '0.0.0.0') else host}:{port}/")
        await server.serve([listening])
    finally:
        await hub.stop()
    return 0
