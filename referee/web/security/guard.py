"""The page's guard: what every request must be before the app sees it, and what every answer carries.

Whoever is in the network may look; nobody changes anything who has not paired. Both are decided here, before any route:
a route that forgets to ask is refused all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hardware.clock import Clock, monotonic
from referee.app.page.answers import FAULT, Answer, Refusal
from referee.app.page.hosts import Hosts, authority, same_origin
from referee.app.page.limits import SECOND, USUAL, Buckets, Limits, Streams
from referee.app.page.sessions import Sessions, csrf_fits, csrf_of

CSRF_HEADER: Final = "x-csrf-token"
OPEN_CHANGES: Final = frozenset(("/api/pair",))
"""What may be asked to change without having paired."""
HEARD_OUT: Final = 0.5
"""Seconds that are given to the rest of a request which is refused."""
METHODS: Final = ("GET", "HEAD", "POST")
_CHANGES: Final = frozenset(("POST",))
_TRICKS: Final = re.compile(r"//|\\|[\x00-\x1f\x7f]|(?:^|/)\.{1,2}(?:/|$)")
_RAW_TRICKS: Final = re.compile(rb"%(?:2f|5c|00|25)", re.IGNORECASE)
_LOG: Final = logging.getLogger("referee.page")


@dataclass(frozen=True, slots=True)
class _Head:
    """What a request's head says, each header at most once."""

    fields: dict[bytes, bytes]

    @classmethod
    def of(cls, scope: Scope) -> _Head:
        fields: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in fields and name in (b"host", b"origin", b"content-length", b"content-type", b"cookie"):
                raise Refusal(400, "the request has more than one {header} header", header=name.decode("ascii"))
            fields[name] = value
        return cls(fields)

    def text(self, name: str) -> str | None:
        value = self.fields.get(name.encode())
        return None if value is None else value.decode("latin-1")


def cookie_name(*, secure: bool) -> str:
    """The cookie that holds a session's token; bound to this very host where the page is served by https."""
    return "__Host-referee" if secure else "referee"


def _cookie(head: _Head, name: str) -> str | None:
    """A cookie's value; None where it is missing, or there twice with different values (somebody planted one)."""
    found = set()
    for part in (head.text("cookie") or "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            found.add(value.strip('"'))
    return found.pop() if len(found) == 1 else None


def guarded(
    app: ASGIApp,
    sessions: Sessions,
    *,
    hosts: Hosts,
    limits: Limits = USUAL,
    clock: Clock = monotonic,
    secure: bool = False,
    open_changes: Iterable[str] = OPEN_CHANGES,
) -> Guard:
    """Wrap an app so that only what may pass reaches it.

    Args:
        app: finds ``paired``, ``device`` (its name) and ``token`` (what `CSRF_HEADER` must say) in ``scope["state"]``,
            and the `Device`, or None, in ``scope["referee.device"]``.
        sessions: who has paired.
        hosts: by which names the page is asked for.
        limits: sizes and rates.
        clock: the present instant, ns.
        secure: whether the page is served by https only.
        open_changes: paths that may be posted to without having paired.
    """
    return Guard(app, sessions, hosts, limits, clock, secure, frozenset(open_changes))


class Guard:
    """See `guarded`."""

    def __init__(
        self, app: ASGIApp, sessions: Sessions, hosts: Hosts, limits: Limits, clock: Clock, secure: bool,
        open_changes: frozenset[str],
    ) -> None:  # fmt: skip
        self.app, self.sessions, self.hosts, self.limits = app, sessions, hosts, limits
        self._clock, self._secure, self._open_changes = clock, secure, open_changes
        self._reads = Buckets(limits.reads, limits.reads_ns)
        self._changes = Buckets(limits.changes, limits.changes_ns)
        self._streams = Streams(limits.streams, limits.all_streams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "this page has no WebSockets"})
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = Answer(scope, send)
        try:
            head = _Head.of(scope)
            self._admit(scope, head)
            if scope["method"] in _CHANGES:
                self._admit_change(scope, head)
                receive = _replayed(await self._body(head, receive), receive)
                await self.app(scope, receive, answer)
            elif _is_stream(scope, head):
                await self._stream(scope, receive, answer)
            else:
                await self.app(scope, receive, answer)
        except Refusal as no:
            if scope["method"] not in ("GET", "HEAD"):
                await self._hear_out(receive)
            await answer.refuse(no)
        except Exception as bad:
            # What went wrong is for the log, without what the request said.
            _LOG.error("%s while answering %s", type(bad).__name__, scope["method"])
            await answer.refuse(FAULT)

    def _admit(self, scope: Scope, head: _Head) -> None:
        """What every request must be."""
        scheme = "https" if self._secure else scope.get("scheme", "http")
        host = authority(head.text("host") or "", scheme)
        if host is None or not self.hosts.knows(host[0], (scope.get("server") or (None,))[0]):
            raise Refusal(421, "this page is not known by that name; ask for it by the machine's own name or address")
        _check_path(scope, self.limits)
        if scope["method"] not in METHODS:
            raise Refusal(405, "this page is only read (GET) and posted to (POST)", (b"allow", b"GET, HEAD, POST"))
        changes = scope["method"] in _CHANGES
        who = _address(scope)
        wait = (self._changes if changes else self._reads).wait(who, self._clock())
        if wait:
            seconds = -(-wait // SECOND)
            after = (b"retry-after", str(seconds).encode())
            raise Refusal(429, "too many requests; wait {wait} s", after, wait=seconds)
        _check_origin(head, host, scheme, changes=changes)
        if not changes and (head.text("content-length") not in (None, "0") or head.text("transfer-encoding")):
            raise Refusal(400, "a request that only reads has no body")
        token = _cookie(head, cookie_name(secure=self._secure))
        device = self.sessions.find(token, self._clock())
        scope["referee.device"] = device
        scope["referee.token"] = token if device is not None else None
        scope["state"] = {
            **(scope.get("state") or {}),
            "paired": device is not None,
            "device": device.name if device is not None else None,
            "token": csrf_of(token) if device is not None and token is not None else None,
        }

    def _admit_change(self, scope: Scope, head: _Head) -> None:
        """What a request must be beyond that if it may change something."""
        kind = (head.text("content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "what is posted here is JSON (Content-Type: application/json)")
        length = head.text("content-length")
        if length is not None and (not length.isdecimal() or int(length[:12]) > self.limits.body):
            raise Refusal(413, "more than {most} KiB is nothing that this page takes", most=self.limits.body >> 10)
        if scope["path"] in self._open_changes:
            return
        token = scope["referee.token"]
        if token is None:
            raise Refusal(401, "this device is not paired; ask for a code at the table and enter it here")
        if not csrf_fits(token, head.text(CSRF_HEADER) or ""):
            raise Refusal(403, "this did not come from the page itself; load the page again")

    async def _body(self, head: _Head, receive: Receive) -> bytes:
        try:
            return await asyncio.wait_for(self._read(receive), self.limits.body_ns / SECOND)
        except TimeoutError:
            raise Refusal(408, "the request did not arrive in time") from None

    async def _hear_out(self, receive: Receive) -> None:
        """Take in what is still under way: a connection closed with bytes unread is reset, and the answer lost."""
        with contextlib.suppress(Refusal, TimeoutError):
            await asyncio.wait_for(self._read(receive), HEARD_OUT)

    async def _read(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise Refusal(400, "the request broke off")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.limits.body:
                raise Refusal(413, "more than {most} KiB is nothing that this page takes", most=self.limits.body >> 10)
            more = message.get("more_body", False)
        return b"".join(parts)

    async def _stream(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        who = _address(scope)
        if not self._streams.enter(who, known=scope["referee.device"] is not None):
            raise Refusal(503, "enough pages are open already; close one", (b"retry-after", b"30"))
        try:
            await self.app(scope, receive, answer)
        finally:
            self._streams.leave(who)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "local"


def _check_path(scope: Scope, limits: Limits) -> None:
    path, raw = scope["path"], scope.get("raw_path") or b""
    if len(path) > limits.path or len(scope.get("query_string", b"")) > limits.query:
        raise Refusal(414, "the address is too long")
    if not path.startswith("/") or _TRICKS.search(path) or _RAW_TRICKS.search(raw):
        raise Refusal(400, "there is no such address")


def _check_origin(head: _Head, host: tuple[str, int], scheme: str, *, changes: bool) -> None:
    """A request that another page made is refused; one that changes something must say that it is ours."""
    origin, site = head.text("origin"), head.text("sec-fetch-site")
    foreign = Refusal(403, "another page made this request; open this page itself")
    if origin is not None and not same_origin(origin, host, scheme):
        raise foreign
    if origin is None and changes:
        raise Refusal(403, "the request does not say which page it comes from (Origin)")
    # A link from elsewhere may open the page; nothing else from elsewhere may.
    followed = not changes and head.text("sec-fetch-mode") == "navigate" and head.text("sec-fetch-dest") == "document"
    if site not in (None, "same-origin", "none") and not followed:
        raise foreign


def _is_stream(scope: Scope, head: _Head) -> bool:
    return "text/event-stream" in (head.text("accept") or "") or scope["path"].endswith("/events")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that was read, for the app to read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
