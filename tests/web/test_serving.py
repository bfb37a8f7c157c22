"""Every site is served by one server: it takes a guarded site, prints its addresses, and ends its streams to stop."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from referee.control.page_address import address_of, listen_at
from referee.web.security.guard import Guard
from referee.web.security.hosts import Hosts
from referee.web.security.limits import USUAL_LIMITS, Limits
from referee.web.security.sessions import Sessions
from referee.web.serving import SiteServer, make_get_routes, send_events


class Streaming:
    """A site with one page, and one stream that lasts until it is ended."""

    def __init__(self, limits: Limits = USUAL_LIMITS) -> None:
        self.ended = asyncio.Event()
        routes = make_get_routes({"/": self.show, "/events": self.stream})
        guard = Guard(Starlette(routes=routes), Sessions(), hosts=Hosts(frozenset(("localhost",))), limits=limits)
        self.listening = listen_at("127.0.0.1", 0)
        self.port = self.listening.getsockname()[1]
        self.server = SiteServer(guard, self.ended.set)

    async def show(self, _request: Request) -> Response:
        return PlainTextResponse(str(sys.getswitchinterval()))

    async def stream(self, _request: Request) -> Response:
        return send_events(self._events())

    async def _events(self) -> AsyncIterator[bytes]:
        yield b"data: begun\n\n"
        await self.ended.wait()
        yield b"data: ended\n\n"

    async def ask(self, path: str, host: str = "localhost", method: str = "GET") -> bytes:
        """Return the whole answer, once the server has closed the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: {host}:{self.port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer


def test_every_request_meets_the_guard_and_threads_take_quick_turns_meanwhile() -> None:
    usual = sys.getswitchinterval()

    async def visit() -> list[bytes]:
        site = Streaming()
        serving = asyncio.create_task(site.server.listen(site.listening, quiet=True))
        answers = [await site.ask("/"), await site.ask("/", host="evil.example"), await site.ask("/", method="POST")]
        site.server.stop()
        await serving
        return answers

    shown, foreign, posted = asyncio.run(visit())
    assert shown.startswith(b"HTTP/1.1 200") and b"content-security-policy" in shown.lower()
    assert float(shown.rpartition(b"\r\n\r\n")[2]) < usual
    assert foreign.startswith(b"HTTP/1.1 421")
    assert posted.startswith(b"HTTP/1.1 403")
    assert sys.getswitchinterval() == pytest.approx(usual), "a game in this process begins as if nothing was served"


@pytest.mark.parametrize(("most", "answered"), [(2, False), (3, True)])
def test_a_site_says_how_many_connections_one_address_may_hold(most: int, answered: bool) -> None:
    async def visit() -> bytes:
        site = Streaming(Limits(connections=most))
        serving = asyncio.create_task(site.server.listen(site.listening, quiet=True))
        held = [await asyncio.open_connection("127.0.0.1", site.port) for _ in range(2)]
        try:
            answer = await site.ask("/")
        except ConnectionError:
            answer = b""
        for _, writer in held:
            writer.close()
        site.server.stop()
        await serving
        return answer

    assert asyncio.run(visit()).startswith(b"HTTP/1.1 200") == answered


def test_a_thread_may_stop_it_and_open_streams_end_in_an_orderly_way(capsys: pytest.CaptureFixture[str]) -> None:
    async def visit() -> tuple[str, bytes]:
        site = Streaming()
        address = address_of(site.listening).here
        serving = asyncio.create_task(site.server.listen(site.listening))
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.write(f"GET /events HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode())
        await reader.readuntil(b"begun")
        threading.Thread(target=site.server.stop).start()
        await serving
        rest = await reader.read()
        writer.close()
        return address, rest

    address, rest = asyncio.run(visit())
    assert b"ended" in rest
    assert capsys.readouterr().out.splitlines()[0] == address
