"""The hall's process: it listens to a broker and serves one page for all its tables. Every route is a GET.

paho's thread puts messages into a queue, and the event loop takes them ten times a second. As on a table's own page
there is no queue for a viewer: each event is the difference between the last one sent and the present, so a slow viewer
skips the states in between.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hardware.clock import monotonic
from referee.control.page_address import listen_at
from referee.options.broker.connection import Broker, Connection
from referee.options.broker.messages import LONGEST_PAYLOAD, TABLE_NAME, filters, wall_time
from referee.options.hall import pages
from referee.options.hall.payloads import bounded_sentence
from referee.options.hall.tables import Hall, HallTable, PlayerDay, rank_players
from referee.text.catalogue import Texts, texts
from referee.text.ruling_lines import RulingWords
from referee.units import MS
from referee.web import layout
from referee.web.layout import page_texts
from referee.web.security.guard import Guard
from referee.web.security.hosts import Hosts
from referee.web.security.sessions import Sessions
from referee.web.serving import EventStreams, SiteServer, make_get_routes, send_events

_ROOM: Final = 50_000
"""Maximum number of waiting messages, some 50 MB; beyond it the oldest are dropped and counted."""
_PACE: Final = 0.1
"""Seconds between two checks for messages."""
_BUNCH: Final = 2000
"""Messages processed in one check; viewers get their turn between checks."""
_SILENT: Final = 10.0
"""Seconds without events after which a stream sends a sign of life."""
_LEAGUE_PACE: Final = 1.0
"""Seconds between two checks of the league."""
_RANKED: Final = 200
_FOLDER: Final = Path(__file__).parent / "static"
_LOG: Final = logging.getLogger(__name__)


def difference(hall: Hall, since: int, texts: Texts, now: int, only: str | None = None) -> str:
    """Return the changes since a viewer's last event as JSON; empty if there are none.

    Args:
        hall: every table.
        since: the last change sent to the viewer; 0: send everything.
        texts: the viewer's language.
        now: the present instant, ns, on the clock by which a table counts as silent.
        only: one table, with its recent rulings; None: all tables without them.
    """
    tables = hall.tables.values() if only is None else [t for t in hall.tables.values() if t.name == only]
    told = {table.name: _facts(table, since, texts, only is not None) for table in tables if table.changed > since}
    gone = [name for name, at in hall.gone.items() if at > since and only in (None, name)] if since else []
    if since and not told and not gone:
        return ""
    return _json({"now": now // MS, "whole": since == 0, "broker": hall.connected, "tables": told, "gone": gone})


def _facts(table: HallTable, since: int, texts: Texts, large: bool) -> dict[str, Any]:
    words = RulingWords(table.state.names if table.state else (), texts)
    out: dict[str, Any] = {key: fact for key, (at, fact) in table.facts.items() if at > since}
    recent = out.pop("recent", None)
    if large and recent is not None:
        out["recent"] = [{"n": n, "kind": said.kind, "words": bounded_sentence(said, words)} for n, said in recent]
    if (last := out.get("said")) is not None:
        out["said"] = {"kind": last.kind, "words": bounded_sentence(last, words)}
    if "asks" in out:
        out["asks"] = [bounded_sentence(ask, words) for ask in out["asks"]]
    return out


def _json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


_TOO_LARGE: Final = b"too large"
"""Replaces a payload longer than any table sends; it is refused as malformed."""


class HallHub(EventStreams):
    """A hall, its connection to the broker, and its viewers. Lives in one event loop."""

    def __init__(self, broker: Broker, prefix: str) -> None:
        super().__init__()
        self.hall = Hall()
        self.lost = 0
        """Messages dropped because the queue was full."""
        self._heard: deque[tuple[str, bytes, bool, int, float]] = deque(maxlen=_ROOM)
        """Topic, payload, whether it had been retained, arrival (ns), and the wall time then (s)."""
        self._encoded: dict[tuple[str, str | None, int], bytes] = {}
        self._task: asyncio.Task[None] | None = None
        wanted = [(topic, 1) for topic in filters(prefix)]
        self.connection = Connection(
            broker, f"hall-{secrets.token_hex(4)}", entered=lambda client: client.subscribe(wanted), heard=self._hear
        )

    def _hear(self, topic: str, payload: bytes, retained: bool) -> None:
        if len(payload) > LONGEST_PAYLOAD:
            # A broker may deliver anything: do not keep a long payload in memory until it is refused.
            payload = _TOO_LARGE
        self.lost += len(self._heard) == _ROOM
        self._heard.append((topic, payload, retained, monotonic(), time.time()))

    async def start(self) -> None:
        """Start to listen."""
        self.connection.start()
        self._task = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """End all streams, and leave the broker."""
        self.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await asyncio.to_thread(self.connection.stop)

    async def _forever(self) -> None:
        """Process new messages repeatedly."""
        hall = self.hall
        while True:
            try:
                was = hall.connected
                hall.broker(self.connection.connected.is_set())
                for _ in range(min(_BUNCH, len(self._heard))):
                    hall.hear(*self._heard.popleft())
                now = monotonic()
                hall.pass_time(now)
                if hall.settle(now) or was != hall.connected:
                    self._wake()
            except Exception:
                # Without checks the page would freeze; so log the error and go on.
                _LOG.exception("processing the broker's messages")
            await asyncio.sleep(_PACE)

    def _wake(self) -> None:
        self._encoded.clear()
        self.wake_streams()

    def stream(self, language: str, only: str | None = None) -> AsyncIterator[bytes]:
        """Return the events for one viewer: everything, then the changes."""
        sent, connected = 0, self.hall.connected

        def draw() -> bytes:
            nonlocal sent, connected
            data = self._event(language, only, sent)
            if connected != self.hall.connected and not data:
                data = self._event(language, only, 0)
            sent, connected = self.hall.change, self.hall.connected
            return data

        return self.follow(draw, _SILENT)

    def _event(self, language: str, only: str | None, sent: int) -> bytes:
        """Return the encoded difference, shared by all viewers in the same state."""
        key = (language, only, sent)
        if key not in self._encoded:
            data = difference(self.hall, sent, texts(language), monotonic(), only)
            self._encoded[key] = f"event: tables\ndata: {data}\n\n".encode("utf-8", "replace") if data else b""
        return self._encoded[key]

    async def league_stream(self) -> AsyncIterator[bytes]:
        """Yield the league's rows for one viewer, whenever they change."""
        sent: tuple[bool, list[PlayerDay]] | None = None
        looks = 0
        self.viewers += 1
        try:
            yield b"retry: 1500\n\n"
            while not self.closed:
                now = (self.hall.connected, self.league(_today()))
                looks += 1
                if now != sent:
                    sent = now
                    text = _json({"broker": now[0], "rows": [dataclasses.astuple(row) for row in now[1]]})
                    yield f"event: league\ndata: {text}\n\n".encode()
                elif looks % int(_SILENT / _LEAGUE_PACE) == 0:
                    yield b": still here\n\n"
                await asyncio.sleep(_LEAGUE_PACE)
        finally:
            self.viewers -= 1

    def league(self, day: str) -> list[PlayerDay]:
        """Return the best players of a day, ISO 8601."""
        return rank_players((table.day for table in self.hall.tables.values() if table.day is not None), day)[:_RANKED]


def _today() -> str:
    return wall_time()[:10]


def build(hub: HallHub) -> Starlette:
    """Build the application."""
    routes = {
        "/": _show_grid, "/projector": _show_grid, "/tables/{name}": _show_table, "/league": _show_league,
        "/league/events": _stream_league, "/events": _stream_events, "/healthz": _show_health,
        "/static/{name}": _send_file,
    }  # fmt: skip
    app = Starlette(routes=make_get_routes(routes), exception_handlers={404: _not_found})
    app.state.hub = hub
    return app


def _hub(request: Request) -> HallHub:
    hub: HallHub = request.app.state.hub
    return hub


def _checked_name(text: str) -> str:
    if not TABLE_NAME.fullmatch(text):
        raise HTTPException(404)
    return text


async def _show_grid(request: Request) -> Response:
    return pages.draw_grid(request, projector=request.url.path == "/projector")


async def _show_table(request: Request) -> Response:
    return pages.draw_table(request, _checked_name(request.path_params["name"]))


async def _show_league(request: Request) -> Response:
    return pages.draw_league(request, _today(), _hub(request).league(_today()))


async def _stream_events(request: Request) -> Response:
    only = request.query_params.get("table")
    return send_events(
        _hub(request).stream(page_texts(request).language, None if only is None else _checked_name(only))
    )


async def _stream_league(request: Request) -> Response:
    return send_events(_hub(request).league_stream())


async def _show_health(request: Request) -> Response:
    hub = _hub(request)
    hall = hub.hall
    return JSONResponse(
        {
            "well": hall.connected, "trouble": hub.connection.trouble, "tables": len(hall.tables),
            "viewers": hub.viewers, "messages": hall.messages, "refused": hall.refused, "missed": hall.missed,
            "lost": hub.lost,
        }
    )  # fmt: skip


async def _send_file(request: Request) -> Response:
    return await layout.send_static(request, [_FOLDER])


async def _not_found(request: Request, _error: Exception) -> Response:
    return pages.draw_message(request, page_texts(request)("error.not_found"), 404)


async def serve(broker: Broker, prefix: str, host: str, port: int, names: Sequence[str]) -> int:
    """Serve until stopped, and print the address once it is reachable; return the exit status.

    Args:
        broker: source of the tables' messages.
        prefix: of their topics.
        host: address to listen at.
        port: 0: any free one.
        names: further host names of the page.

    Raises:
        UserError: the address cannot be used.
    """
    listening = listen_at(host, port)
    hub = HallHub(broker, prefix)
    guard = Guard(build(hub), Sessions(), hosts=Hosts.of_this_machine(names))
    await hub.start()
    try:
        await SiteServer(guard, hub.close).listen(listening)
    finally:
        await hub.stop()
    return 0
