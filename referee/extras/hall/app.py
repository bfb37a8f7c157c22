"""The hall as an ASGI application. Every route is a GET, and nothing can be changed from it."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from referee.app.hall import pages
from referee.app.hall.hub import QUIET, Hub
from referee.app.hall.league import Row, league
from referee.app.mqtt.topics import NAME
from referee.app.page import staticfiles
from referee.app.page.shell import language, spoken

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
        return await staticfiles.static(request)
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
    return pages.told(request, spoken(request)("error.not_found"), 404)
