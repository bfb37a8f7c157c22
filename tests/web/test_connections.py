"""Arbitrary bytes over a real connection: torn, forged and endless requests."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from referee.web.security.limits import HeadTimeoutProtocol, Limits
from referee.web.security.sessions import csrf_of
from tests.support.patience import PATIENCE
from tests.web.browser import HOSTS, House

Say = Callable[[bytes], Awaitable[bytes]]


async def _session(
    app: Any, talk: Callable[[str, int], Awaitable[None]], protocol: type[HeadTimeoutProtocol] = HeadTimeoutProtocol
) -> None:
    """Serve an app at a real port while ``talk`` runs."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http=protocol, ws="none", lifespan="off", log_level="critical", access_log=False, loop="asyncio",
        h11_max_incomplete_event_size=16384,
    )  # fmt: skip
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    try:
        await talk(*listening.getsockname())
    finally:
        server.should_exit = True
        await serving


async def _send(address: tuple[str, int], raw: bytes, *, end: bool = True) -> bytes:
    """Send bytes on a new connection; return the response until it closed."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(raw)
        await writer.drain()
        if end:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), PATIENCE)
    except OSError:
        # Closed from the other side before everything was sent.
        return b""
    finally:
        writer.close()


def guarded_house(folder: Path) -> House:
    async def length(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    house = House(folder, around=lambda routes: Starlette(routes=[Route("/", length), *routes]))
    assert HOSTS.knows("localhost", None)
    return house


RAW = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET /\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET http://localhost/api/session HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40000 + b"\r\n\r\n",
    b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    b"POST /api/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456",
    b"POST /api/pair HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x00" * 1000,
    b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n",
]


def test_whatever_comes_in_the_page_goes_on(tmp_path: Path) -> None:
    """Torn, forged and foreign requests over a real connection: refused or closed, never a 5xx, and no change."""
    house = guarded_house(tmp_path)

    async def talk(*address: Any) -> None:
        for raw in RAW:
            back = await _send(address, raw)
            assert not re.match(rb"HTTP/1.[01] 5", back), (raw[:60], back[:200])
        fine = await _send(address, b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"200 OK" in fine

    asyncio.run(_session(house.app, talk))
    assert not house.main.commands


def test_a_request_hidden_behind_another_is_guarded_too(tmp_path: Path) -> None:
    """Two length headers that disagree are refused; bytes after a body are a new request, and unpaired."""
    house = guarded_house(tmp_path)
    rest = b"Host: localhost\r\nContent-Type: application/json\r\nOrigin: http://localhost\r\n"
    hidden = b"POST /api/control/power-off HTTP/1.1\r\n" + rest + b'Content-Length: 16\r\n\r\n{"confirm":true}'
    both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    smuggled = b"POST /api/pair HTTP/1.1\r\n" + rest + both

    async def talk(*address: Any) -> None:
        back = await _send(address, smuggled + hidden)
        assert b"200 OK" not in back

    asyncio.run(_session(house.app, talk))
    assert not house.main.commands
    assert not house.main.attempts


def test_a_head_that_dawdles_is_closed_and_others_are_served_meanwhile(tmp_path: Path) -> None:
    """A byte now and then keeps no connection open."""

    class Hasty(HeadTimeoutProtocol):
        head: float = PATIENCE

    house = guarded_house(tmp_path)

    async def talk(*address: Any) -> None:
        _, waiting = await asyncio.open_connection(*address)
        waiting.write(b"GET / HT")
        fine = await _send(address, b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"200 OK" in fine
        waiting.close()
        Hasty.head = 0.05
        reader, writer = await asyncio.open_connection(*address)
        closed = asyncio.create_task(reader.read())
        writer.write(b"GET / HT")
        # The deadline is the head's, however many bytes still come.
        for _ in range(PATIENCE * 100):
            if (await asyncio.wait({closed}, timeout=0.01))[0]:
                break
            writer.write(b"x")
        assert closed.done()
        assert closed.exception() is not None or closed.result() == b""
        writer.close()

    asyncio.run(_session(house.app, talk, Hasty))


def test_one_address_cannot_take_all_connections(tmp_path: Path) -> None:
    """Those beyond its share are closed at once."""

    class Strict(HeadTimeoutProtocol):
        each = 3

    house = guarded_house(tmp_path)

    async def talk(*address: Any) -> None:
        open_ = [await asyncio.open_connection(*address) for _ in range(3)]
        assert await _send(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") == b""
        for _, writer in open_:
            writer.write(b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answers = [await asyncio.wait_for(reader.read(), PATIENCE) for reader, _ in open_]
        assert all(b"200 OK" in answer for answer in answers)
        for _, writer in open_:
            writer.close()

    asyncio.run(_session(house.app, talk, Strict))


def test_a_body_over_a_real_connection_is_bounded_and_timed(tmp_path: Path) -> None:
    """Too long, chunked without end, and never finished: refused, and the connection closed."""
    house = guarded_house(tmp_path)
    token = house.control.sessions.begin("phone", house.clock[0])
    rest = f"Content-Type: application/json\r\nCookie: referee={token}\r\nX-CSRF-Token: {csrf_of(token)}\r\n"

    async def talk(*address: Any) -> None:
        host = f"localhost:{address[1]}"
        first = f"POST /api/control/pause HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
        here = (first + rest).encode()
        assert b" 413 " in await _send(address, here + b"Content-Length: 99999999\r\n\r\n", end=False)
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        # If it closes while more is under way, the answer may be lost.
        back = await _send(address, here + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk, end=False)
        assert b" 413 " in back or not back
        assert b" 200 " in await _send(address, here + b"Content-Length: 2\r\nConnection: close\r\n\r\n{}", end=False)
        house.app.limits = Limits(body_ns=50_000_000)
        assert b" 408 " in await _send(address, here + b"Content-Length: 10\r\n\r\n{", end=False)

    asyncio.run(_session(house.app, talk))
    assert [command.do for command in house.main.commands] == ["pause"]
