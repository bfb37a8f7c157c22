"""Raw requests to an app, byte for byte: a browser would correct the malformed ones under test."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Message

from referee.cli.serve import page_options
from referee.control.commands import Command
from referee.control.facts import Accepted, Outcome
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher
from referee.record.export import import_game
from referee.record.store import Record
from referee.web.api import Ask, Control
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.security.guard import Guard
from referee.web.security.hosts import Hosts
from referee.web.security.limits import Limits
from referee.web.server import build
from referee.web.site import Site

APPLIANCE = Path(__file__).parent / "appliance.jsonl"
HOST = "referee.local"
OWN = f"http://{HOST}"
HOSTS = Hosts(frozenset({HOST, "localhost"}))
LIMITLESS = Limits(reads=10**6, changes=10**6, reads_ns=10**6, changes_ns=10**6, streams=10**6, all_streams=10**6)
Headers = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, f"{name} twice"
        return found[0] if found else None

    @property
    def said(self) -> dict[str, Any]:
        fields = json.loads(self.body)
        assert isinstance(fields, dict)
        return fields


async def request(
    app: ASGIApp, method: str, path: str, headers: Headers = (), body: Iterable[bytes] = (), *, query: bytes = b"",
    raw_path: bytes | None = None, client: str = "192.168.1.9", server: str = "192.168.1.2", scheme: str = "http",
    kind: str = "http", breaks_off: bool = False, endless: bool = False,
) -> Reply:  # fmt: skip
    """Send one request; ``body`` in the pieces in which it arrives, ``endless``: and then silence for ever."""
    scope = {
        "type": kind, "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode("utf-8", "surrogateescape") if raw_path is None else raw_path, "query_string": query,
        "root_path": "", "scheme": scheme, "client": (client, 50000), "server": (server, 80),
        "headers": [(key.lower().encode("latin-1"), value.encode("latin-1", "replace")) for key, value in headers],
    }  # fmt: skip
    pieces = list(body) or [b""]
    out: list[Message] = []

    async def receive() -> Message:
        if kind == "websocket":
            return {"type": "websocket.connect"}
        if not pieces:
            if endless:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces) or endless or breaks_off}

    async def send(message: Message) -> None:
        out.append(message)

    await app(scope, receive, send)
    if kind == "websocket":
        assert [message["type"] for message in out] == ["websocket.close"]
        return Reply(403, [], b"")
    start = out[0]
    headers_back = [(key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in start["headers"]]
    return Reply(start["status"], headers_back, b"".join(message.get("body", b"") for message in out[1:]))


class Main:
    """A main process that counts its commands, and does nothing."""

    def __init__(self, clock: list[int]) -> None:
        self.commands: list[Command] = []
        self.attempts = 0
        self._clock = clock
        self.desk = CommandDispatcher(Pairing(), self._obey, lambda: clock[0])

    def _obey(self, command: Command) -> Outcome:
        self.commands.append(command)
        return Accepted("done")

    async def ask(self, record: Mapping[str, Any]) -> dict[str, Any]:
        self.attempts += record["do"] == "pair"
        return dict(self.desk(json.loads(json.dumps(dict(record)))))

    def code(self) -> str:
        """Request a code at the table."""
        return self.desk.pairing.show(self._clock[0])


class House:
    """The page's control, guarded, with a counting main process and its own clock."""

    def __init__(
        self, folder: Path, app: ASGIApp | None = None, *, limits: Limits = LIMITLESS, secure: bool = False,
        around: Callable[[list[Route]], ASGIApp] = lambda routes: Starlette(routes=routes), ask: Ask | None = None,
        names: Callable[[], Sequence[str]] = tuple, proxies: Sequence[str] = (), only_paired: bool = False,
    ) -> None:  # fmt: skip
        self.clock = [10**12]
        self.main = Main(self.clock)
        self.secure = secure
        self.control = Control(
            folder, ask=ask or self.main.ask, clock=lambda: self.clock[0], secure=secure, names=names
        )
        inside = app if app is not None else around(self.control.routes())
        self.app: Guard = Guard(
            inside, self.control.sessions, hosts=HOSTS, limits=limits, clock=lambda: self.clock[0], secure=secure,
            proxies=proxies, only_paired=only_paired,
        )  # fmt: skip

    def get(self, path: str, headers: Headers = (), **more: Any) -> Reply:
        return asyncio.run(request(self.app, "GET", path, [("host", HOST), *headers], **more))

    def post(self, path: str, said: Any, headers: Headers | None = None, **more: Any) -> Reply:
        """Post as this page's own script would, unless headers are given."""
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        own = [("origin", "https://" + HOST if self.secure else OWN), ("content-type", "application/json")]
        return asyncio.run(request(self.app, "POST", path, [("host", HOST), *own, *(headers or ())], [body], **more))

    def pair(self, name: str = "a phone", **more: Any) -> Paired:
        """Pair a device with the code that the table shows."""
        reply = self.post("/api/pair", {"code": self.main.code(), "device": name}, **more)
        assert reply.status == 200, reply
        cookie = reply.header("set-cookie")
        assert cookie is not None
        return Paired(cookie.partition(";")[0], reply.said["csrf"], cookie)


@dataclass(frozen=True)
class Paired:
    """Headers that a paired browser sends."""

    cookie: str
    csrf: str
    set_cookie: str

    @property
    def headers(self) -> list[tuple[str, str]]:
        return [("cookie", self.cookie), ("x-csrf-token", self.csrf)]


def whole_page(folder: Path, **options: Any) -> tuple[House, Path]:
    """Return the whole page, scoreboard and all, and its record, which holds one game."""
    path = folder / "games.sqlite"
    with Record(path) as record:
        import_game(record, APPLIANCE, "2026-01-01T20:00")
    site = Site(GameCache(path), Hub(Board()), controlled=True)
    site.hub.close()
    return House(folder / "run", around=lambda routes: build(site, routes, page_options()), **options), path


def filled(path: str) -> str:
    """Return an address for a route's pattern, with the existing game."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: {"game": "1", "name": "page.css"}.get(found.group(1), "5"), path)
