"""What goes to a viewer: of every table the facts that changed since the viewer was told last. Pure.

The hall's ear: paho's thread puts messages into a queue, and the event loop takes them out in bunches.

Everybody who looks at the hall: ten times a second, what has changed goes to each of them.

As on a table's own page nothing is queued for anybody: a viewer is sent the difference between what it was sent and
the present, so a slow one skips what lies between.

The hall as an ASGI application. Every route is a GET, and nothing can be changed from it.

The hall's process: an ear at the broker, and an address to be looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import json
import logging
import secrets
import socket
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hardware.clock import Clock, monotonic
from referee.engine.rulings import Ruling
from referee.extras.broker.connection import Broker, Connection, wall_time
from referee.extras.broker.messages import NAME, filters
from referee.extras.hall import pages
from referee.extras.hall.payloads import bounded_sentence
from referee.extras.hall.tables import Hall, Row, Table, league
from referee.text.catalogue import Texts, texts
from referee.text.ruling_lines import RulingWords
from referee.web import layout
from referee.web.layout import language, page_texts
from referee.web.security.guard import Guard, Hosts
from referee.web.security.limits import Patient
from referee.web.security.sessions import Sessions
from referee.web.server import PAGE_SWITCH_INTERVAL, opened


def difference(hall: Hall, since: int, texts: Texts, now: int, only: str | None = None) -> str:
    """An event's data as JSON; empty where nothing has changed.

    Args:
        hall: every table.
        since: the change that the viewer was told last; 0 tells everything.
        texts: the viewer's language.
        now: the present instant, ns; ``quiet`` of a silent table is told on the same line of time.
        only: one table, with its recent rulings; None tells of all without them.
    """
    tables = hall.tables.values() if only is None else [t for t in hall.tables.values() if t.name == only]
    told = {table.name: _facts(table, since, texts, only is not None) for table in tables if table.changed > since}
    gone = [name for name, at in hall.gone.items() if at > since and only in (None, name)] if since else []
    if since and not told and not gone:
        return ""
    event = {"now": now // 1_000_000, "whole": since == 0, "broker": hall.connected, "tables": told, "gone": gone}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _facts(table: Table, since: int, texts: Texts, large: bool) -> dict[str, Any]:
    words = RulingWords(table.state.names if table.state else (), texts)
    return {
        key: _SPOKEN[key](fact, words) if key in _SPOKEN else fact
        for key, (at, fact) in table.facts.items()
        if at > since and (large or key != "recent")
    }


def _said(ruling: Ruling | None, words: RulingWords) -> dict[str, str] | None:
    return None if ruling is None else {"kind": ruling.kind, "words": bounded_sentence(ruling, words)}


_SPOKEN: dict[str, Callable[[Any, RulingWords], Any]] = {
    "said": _said,
    "asks": lambda asks, words: [bounded_sentence(ask, words) for ask in asks],
    "recent": lambda recent, words: [{"n": n, **(_said(ruling, words) or {})} for n, ruling in recent],
}
"""Facts that are put into words only when they are told, in the language of whoever is told."""


ROOM: Final = 50_000
"""Messages that wait at most, some 50 MB; further ones push the oldest out, and are counted."""
Heard = tuple[str, bytes, bool, int, float]
"""Topic, payload, whether it had been retained, when it came (ns), and the wall time then (s)."""


class Ear:
    """See above."""

    def __init__(self, broker: Broker, prefix: str, *, clock: Clock = monotonic) -> None:
        self._queue: deque[Heard] = deque(maxlen=ROOM)
        self._clock = clock
        self.lost = 0
        """Messages that were pushed out."""
        wanted = [(one, 1) for one in filters(prefix)]
        self._connection = Connection(
            broker, f"hall-{secrets.token_hex(4)}", entered=lambda client: client.subscribe(wanted), heard=self._hear
        )

    def _hear(self, topic: str, payload: bytes, retained: bool) -> None:
        if len(self._queue) == ROOM:
            self.lost += 1
        self._queue.append((topic, payload, retained, self._clock(), time.time()))

    @property
    def connected(self) -> bool:
        """Whether the broker is there."""
        return self._connection.connected.is_set()

    @property
    def trouble(self) -> str:
        """What is amiss with the broker, in words; empty while all is well."""
        return self._connection.trouble

    def take(self, to: Callable[[str, bytes, bool, int, float], None], most: int) -> int:
        """Hand over what has come, in order, at most so many messages; returns how many."""
        for count in range(most):
            try:
                heard = self._queue.popleft()
            except IndexError:
                return count
            to(*heard)
        return most

    def start(self) -> bool:
        """Begin to listen; see `Connection.start`."""
        return self._connection.start()

    def stop(self) -> None:
        """Leave."""
        self._connection.stop()


PACE: Final = 0.1
"""Seconds between two looks at what came."""
BUNCH: Final = 2000
"""Messages taken up in one look; viewers get their turn between two."""
QUIET: Final = 10.0
"""Seconds after which a silent stream says that it is still there."""
_LOG: Final = logging.getLogger(__name__)


class Hub:
    """One hall, and everybody who looks at it. Lives in one event loop."""

    def __init__(self, hall: Hall, ear: Ear, *, clock: Clock = monotonic) -> None:
        self.hall, self.ear = hall, ear
        self.viewers = 0
        self._clock = clock
        self._changed = asyncio.Event()
        self.closed = False
        self._encoded: dict[tuple[str, str | None, int], bytes] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to listen."""
        self.ear.start()
        self._task = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """Let every viewer go, and leave the broker."""
        self.close()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self.ear.stop)

    def close(self) -> None:
        """Let every viewer go."""
        self.closed = True
        self._wake()

    async def _forever(self) -> None:
        while True:
            try:
                self.look()
            except Exception:
                # A hall that stops looking would show a room that stands still; better to say so and go on.
                _LOG.exception("looking at what came")
            await asyncio.sleep(PACE)

    def look(self) -> None:
        """Take up what came since the last look."""
        hall = self.hall
        was = hall.connected
        hall.broker(self.ear.connected)
        self.ear.take(hall.hear, BUNCH)
        now = self._clock()
        hall.pass_time(now)
        if hall.settle(now) or was != hall.connected:
            self._wake()

    def _wake(self) -> None:
        self._encoded.clear()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def stream(self, language: str, only: str | None = None, quiet: float = QUIET) -> AsyncIterator[bytes]:
        """Events for one viewer: everything, then what changes."""
        self.viewers += 1
        sent, connected = 0, self.hall.connected
        try:
            yield b"retry: 1500\n\n"
            while not self.closed:
                changed = self._changed
                data = self._event(language, only, sent)
                if connected != self.hall.connected and not data:
                    data = self._event(language, only, 0)
                sent, connected = self.hall.change, self.hall.connected
                if data:
                    yield data
                try:
                    await asyncio.wait_for(changed.wait(), quiet)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.viewers -= 1

    def _event(self, language: str, only: str | None, sent: int) -> bytes:
        """What differs, encoded once for all viewers that were sent the same."""
        key = (language, only, sent)
        if key not in self._encoded:
            data = difference(self.hall, sent, texts(language), self._clock(), only)
            self._encoded[key] = f"event: tables\ndata: {data}\n\n".encode("utf-8", "replace") if data else b""
        return self._encoded[key]


LEAGUE: Final = 1.0
"""Seconds between two looks at the league."""
RANKED: Final = 200
_FOLDER: Final = Path(__file__).parent / "static"
_OWN: Final = {"hall.css": "text/css", "hall.js": "text/javascript", "league.js": "text/javascript"}
_STREAM: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def build(hub: Hub, today: Callable[[], str]) -> Starlette:
    """The application.

    Args:
        hub: the tables and the viewers.
        today: the date that the league counts, ISO 8601.
    """
    routes: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "/": functools.partial(_grid, False),
        "/projector": functools.partial(_grid, True),
        "/tables/{name}": _large,
        "/league": functools.partial(_league, hub, today),
        "/league/events": functools.partial(_league_events, hub, today),
        "/events": functools.partial(_events, hub),
        "/healthz": functools.partial(_health, hub),
        "/static/{name}": _static,
    }
    return Starlette(
        routes=[Route(path, handler, methods=["GET"]) for path, handler in routes.items()],
        exception_handlers={404: _not_found},
    )


async def _grid(projector: bool, request: Request) -> Response:
    return pages.grid(request, projector=projector)


async def _large(request: Request) -> Response:
    return pages.large(request, _name(request.path_params["name"]))


async def _league(hub: Hub, today: Callable[[], str], request: Request) -> Response:
    return pages.league(request, today(), _rows(hub, today()))


def _rows(hub: Hub, day: str) -> list[Row]:
    days = ((table.name, table.day) for table in hub.hall.tables.values() if table.day is not None)
    return league(((name, one) for name, one in days), day)[:RANKED]


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise HTTPException(404)
    return text


async def _events(hub: Hub, request: Request) -> Response:
    only = request.query_params.get("table")
    stream = hub.stream(language(request), None if only is None else _name(only))
    return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAM)


async def _league_events(hub: Hub, today: Callable[[], str], request: Request) -> Response:
    return StreamingResponse(_league_stream(hub, today), media_type="text/event-stream", headers=_STREAM)


async def _league_stream(hub: Hub, today: Callable[[], str]) -> AsyncIterator[bytes]:
    """The rows whenever they have changed."""
    sent: tuple[bool, list[Row]] | None = None
    looks = 0
    hub.viewers += 1
    try:
        yield b"retry: 1500\n\n"
        while not hub.closed:
            now = (hub.hall.connected, _rows(hub, today()))
            looks += 1
            if now != sent:
                sent = now
                rows = [dataclasses.astuple(row) for row in now[1]]
                text = json.dumps({"broker": now[0], "rows": rows}, ensure_ascii=False, separators=(",", ":"))
                yield f"event: league\ndata: {text}\n\n".encode()
            elif looks % int(QUIET / LEAGUE) == 0:
                yield b": still here\n\n"
            await asyncio.sleep(LEAGUE)
    finally:
        hub.viewers -= 1


async def _health(hub: Hub, request: Request) -> Response:
    hall = hub.hall
    return JSONResponse(
        {
            "well": hall.connected, "trouble": hub.ear.trouble, "tables": len(hall.tables), "viewers": hub.viewers,
            "messages": hall.messages, "refused": hall.refused, "missed": hall.missed, "lost": hub.ear.lost,
        }
    )  # fmt: skip


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _OWN:
        return await layout.send_static(request)
    data, mark = _content(name)
    headers = {"Cache-Control": "no-cache", "ETag": mark}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_OWN[name], headers=headers)


@cache
def _content(name: str) -> tuple[bytes, str]:
    data = (_FOLDER / name).read_bytes()
    return data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'


async def _not_found(request: Request, _bad: Exception) -> Response:
    return pages.told(request, page_texts(request)("error.not_found"), 404)


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
    sys.setswitchinterval(PAGE_SWITCH_INTERVAL)
    listening = opened(options.host, options.port)
    hub = Hub(Hall(), Ear(options.broker, options.prefix))
    app = Guard(build(hub, lambda: wall_time()[:10]), Sessions(), hosts=Hosts.of_this_machine(options.names))
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
