"""The page's guard: what every request must be before the app sees it, and what every answer carries.

Whoever is in the network may look, or only who has paired where that is wanted; nobody changes anything who has not
paired. All of it is decided here, before any route: a route that forgets to ask is refused all the same.

Around every request in the page's process (`referee.web.server`) and in the hall's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hardware.clock import Clock, monotonic
from referee.control.page_address import is_loopback
from referee.sentence import Field, Sentence, told
from referee.text.answers import in_language
from referee.units import SECOND
from referee.web.layout import page_texts
from referee.web.security.hosts import Hosts, authority, find_visitor, plain_address, who_asks
from referee.web.security.limits import USUAL_LIMITS, Buckets, Limits
from referee.web.security.sessions import Sessions, csrf_fits
from referee.web.security.turns import ASKER

_ORIGIN: Final = re.compile(r"(https?)://(.{1,270})", re.ASCII)
_SELF: Final = ("script", "style", "img", "font", "connect", "manifest", "media")
_POLICY: Final = (
    "default-src 'none'; "
    + "".join(f"{kind}-src 'self'; " for kind in _SELF)
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Not no-referrer: with that, browsers send "Origin: null" with the page's own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), usb=()"),
)
"""On every answer, whatever the app says."""
_NO_STORE: Final = (b"cache-control", b"no-store")
_STATIC: Final = "/static/"


class Refusal(Exception):  # noqa: N818 - what a visitor reads, and no fault
    """A request that goes no further: its status, and why in a sentence."""

    def __init__(self, status: int, template: str, *headers: tuple[bytes, bytes], **fields: Field) -> None:
        self.status, self.words, self.headers = status, Sentence(template, **fields), headers
        super().__init__(self.words)


_FAULT: Final = Refusal(500, "something went wrong inside the page; the game is not touched by it")


class GuardedAnswer:
    """Sends what the app answers, with our headers in place of its own of these names."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._begun = self._refused = False

    async def __call__(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            if message["status"] == _FAULT.status:
                # The framework's word for what went wrong is none that people read.
                await self.refuse(_FAULT)
                return
            await self._start(message["status"], message.get("headers", ()))
        else:
            await self._send(message)

    async def _start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._begun = True
        path = str(self._scope["path"])
        ours = _HEADERS if path.startswith(_STATIC) else (*_HEADERS, _NO_STORE)
        names = {name for name, _ in ours} | {b"access-control-allow-origin"}
        kept = [(name, value) for name, value in headers if name.lower() not in names]
        await self._send({"type": "http.response.start", "status": status, "headers": [*kept, *ours]})

    async def refuse(self, no: Refusal) -> None:
        """Say why not, in place of all that the app may say; what was begun can only be broken off."""
        if self._begun:
            return
        self._refused = True
        as_json = self._scope["method"] != "GET" or str(self._scope["path"]).startswith("/api/")
        why = in_language(told(no.words), page_texts(Request(self._scope)))
        said: dict[str, Any] = {"accepted": False, **why}
        body = json.dumps(said).encode() if as_json else f"{why['words']}\n".encode()
        kind = b"application/json" if as_json else b"text/plain; charset=utf-8"
        # What else would come on this connection, such as a body that nobody reads, is not waited for.
        ends = (b"connection", b"close")
        await self._start(
            no.status, [(b"content-type", kind), (b"content-length", str(len(body)).encode()), ends, *no.headers]
        )
        await self._send({"type": "http.response.body", "body": b"" if self._scope["method"] == "HEAD" else body})


CSRF_HEADER: Final = "x-csrf-token"
PAIR: Final = "/api/pair"
_FILES: Final = "/static/"
"""Where the pages' styles, scripts and fixed pictures are."""
HANDS: Final = "/api/pad"
"""Where pages that are pads report hands, some times a second."""
OPEN_CHANGES: Final = (PAIR, HANDS)
"""What may be posted without having paired: each asks for a code of its own."""
_PAIRING: Final = "/control"
"""Where a device is paired."""
_OPEN_LOOKS: Final = (_PAIRING, "/api/session", "/pad")
"""What may be looked at without having paired, where only paired devices may look: what pairing needs, and a seat's
pad, which asks for a code of its own."""
_HEAVY: Final = re.compile(
    r"/(?:finish|finish\.svg|what-if|end|shadow|replay|steps|ruling|figures|figures\.csv|rulings\.csv|log\.jsonl"
    r"|games/\d+)$"
)
"""What a game is ruled again for, or drawn: each counts as `Limits.heavy` reads."""
_HEARD_OUT: Final = 0.5
"""Seconds that are given to the rest of a request which is refused."""
_METHODS: Final = ("GET", "HEAD", "POST")
_CHANGES: Final = frozenset(("POST",))
_TRICKS: Final = re.compile(r"//|\\|[\x00-\x1f\x7f]|(?:^|/)\.{1,2}(?:/|$)")
_RAW_TRICKS: Final = re.compile(rb"%(?:2f|5c|00|25)", re.IGNORECASE)
_LOG: Final = logging.getLogger("referee.page")


def _read_head(scope: Scope) -> dict[str, str]:
    """What a request's head says, each header that matters at most once."""
    head: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1")
        if name in head and name in ("host", "origin", "content-length", "content-type", "cookie"):
            raise Refusal(400, "the request has more than one {header} header", header=name)
        head[name] = value.decode("latin-1")
    return head


def cookie_name(*, secure: bool) -> str:
    """The cookie that holds a session's token; bound to this very host where the page is served by https."""
    return "__Host-referee" if secure else "referee"


def _cookie(head: Mapping[str, str], name: str) -> str | None:
    """A cookie's value; None where it is missing, or there twice with different values (somebody planted one)."""
    found = set()
    for part in head.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            found.add(value.strip('"'))
    return found.pop() if len(found) == 1 else None


class Guard:
    """Wraps an app so that only what may pass reaches it.

    Args:
        app: finds the `Device` in ``scope["referee.device"]`` and its token in ``scope["referee.token"]``; None where
            it has not paired.
        sessions: who has paired.
        hosts: by which names the page is asked for.
        limits: sizes and rates.
        clock: the present instant, ns.
        secure: whether the page is served by https only.
        open_changes: paths that may be posted to without having paired.
        proxies: addresses of proxies whose word is taken for who asks (``X-Forwarded-For``); nobody else's is.
        only_paired: let nobody look who has not paired, but for who sits at this machine itself.
    """

    def __init__(
        self, app: ASGIApp, sessions: Sessions, *, hosts: Hosts, limits: Limits = USUAL_LIMITS,
        clock: Clock = monotonic, secure: bool = False, open_changes: Iterable[str] = OPEN_CHANGES,
        proxies: Iterable[str] = (), only_paired: bool = False,
    ) -> None:  # fmt: skip
        self.app, self.sessions, self.hosts, self.limits = app, sessions, hosts, limits
        self._clock, self._secure, self._open_changes = clock, secure, frozenset(open_changes)
        self._proxies = frozenset(plain_address(one) or one for one in proxies)
        self._only_paired = only_paired
        self._reads = Buckets(limits.reads, limits.reads_ns)
        self._files = Buckets(limits.files, limits.reads_ns)
        self._changes = Buckets(limits.changes, limits.changes_ns)
        self._hands = Buckets(limits.hands, limits.hands_ns)
        self._streams: Counter[str] = Counter()
        """Event streams that are open now, by address."""

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
        if self._proxies:
            # From here on who asks is whoever the proxy has heard.
            scope = {**scope, "client": find_visitor(scope, self._proxies)}
        ASKER.set(who_asks(scope))
        answer = GuardedAnswer(scope, send)
        try:
            head = _read_head(scope)
            self._admit(scope, head)
            if scope["method"] in _CHANGES:
                self._admit_change(scope, head)
                try:
                    body = await asyncio.wait_for(self._read(receive), self.limits.body_ns / SECOND)
                except TimeoutError:
                    raise Refusal(408, "the request did not arrive in time") from None
                receive = _replayed(body, receive)
                await self.app(scope, receive, answer)
            elif "text/event-stream" in head.get("accept", "") or scope["path"].endswith("/events"):
                await self._stream(scope, receive, answer)
            else:
                await self.app(scope, receive, answer)
        except Refusal as no:
            if scope["method"] not in ("GET", "HEAD"):
                # A connection that is closed with bytes unread is reset, and the answer lost.
                with contextlib.suppress(Refusal, TimeoutError):
                    await asyncio.wait_for(self._read(receive), _HEARD_OUT)
            await answer.refuse(no)
        except Exception as bad:
            # What went wrong is for the log, without what the request said.
            _LOG.error("%s while answering %s", type(bad).__name__, scope["method"])
            await answer.refuse(_FAULT)

    def _admit(self, scope: Scope, head: Mapping[str, str]) -> None:
        """What every request must be."""
        scheme = "https" if self._secure else scope.get("scheme", "http")
        host = authority(head.get("host", ""), scheme)
        if host is None or not self.hosts.knows(host[0], (scope.get("server") or (None,))[0]):
            raise Refusal(421, "this page is not known by that name; ask for it by the machine's own name or address")
        path, query = scope["path"], scope.get("query_string", b"")
        if len(path) > self.limits.path or len(query) > self.limits.query:
            raise Refusal(414, "the address is too long")
        if not path.startswith("/") or _TRICKS.search(path) or _RAW_TRICKS.search(scope.get("raw_path") or b""):
            raise Refusal(400, "there is no such address")
        if scope["method"] not in _METHODS:
            raise Refusal(405, "this page is only read (GET) and posted to (POST)", (b"allow", b"GET, HEAD, POST"))
        changes = scope["method"] in _CHANGES
        who = who_asks(scope)
        reads = self._files if path.startswith(_FILES) else self._reads
        asked = (self._hands if path == HANDS else self._changes) if changes else reads
        cost = self.limits.heavy if asked is self._reads and _HEAVY.search(path) else 1
        wait = asked.wait(who, self._clock(), cost)
        if wait:
            seconds = -(-wait // SECOND)
            after = (b"retry-after", str(seconds).encode())
            raise Refusal(429, "too many requests; wait {wait} s", after, wait=seconds)
        _check_origin(head, host, scheme, changes=changes)
        if not changes and (head.get("content-length", "0") != "0" or head.get("transfer-encoding")):
            raise Refusal(400, "a request that only reads has no body")
        token = _cookie(head, cookie_name(secure=self._secure))
        device = self.sessions.find(token, self._clock())
        scope["referee.device"] = device
        scope["referee.token"] = token if device is not None else None
        if self._only_paired and device is None and not changes:
            self._admit_look(scope, head)

    def _admit_look(self, scope: Scope, head: Mapping[str, str]) -> None:
        """Where only paired devices may look, what may be looked at by another."""
        path = scope["path"]
        if path in _OPEN_LOOKS or path.startswith(_FILES) or (not self._secure and is_loopback(who_asks(scope))):
            return
        if "text/html" in head.get("accept", ""):
            # Somebody in a browser, who is to be led to where a code is entered.
            raise Refusal(303, "only paired devices may look here; ask for a code at the table",
                          (b"location", _PAIRING.encode()))  # fmt: skip
        raise Refusal(401, "only paired devices may look here; ask for a code at the table")

    def _admit_change(self, scope: Scope, head: Mapping[str, str]) -> None:
        """What a request must be beyond that if it may change something."""
        kind = head.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "what is posted here is JSON (Content-Type: application/json)")
        length = head.get("content-length")
        if length is not None and (not length.isdecimal() or int(length[:12]) > self.limits.body):
            raise Refusal(413, "more than {most} KiB is nothing that this page takes", most=self.limits.body >> 10)
        if scope["path"] in self._open_changes:
            return
        token = scope["referee.token"]
        if token is None:
            raise Refusal(401, "this device is not paired; ask for a code at the table and enter it here")
        if not csrf_fits(token, head.get(CSRF_HEADER, "")):
            raise Refusal(403, "this did not come from the page itself; load the page again")

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

    async def _stream(self, scope: Scope, receive: Receive, answer: GuardedAnswer) -> None:
        who = who_asks(scope)
        known, total = scope["referee.device"] is not None, self._streams.total()
        if self._streams[who] >= self.limits.streams or (not known and total >= self.limits.all_streams):
            raise Refusal(503, "enough pages are open already; close one", (b"retry-after", b"30"))
        self._streams[who] += 1
        try:
            await self.app(scope, receive, answer)
        finally:
            self._streams[who] -= 1
            if self._streams[who] <= 0:
                del self._streams[who]


def _check_origin(head: Mapping[str, str], host: tuple[str, int], scheme: str, *, changes: bool) -> None:
    """A request that another page made is refused; one that changes something must say that it is ours."""
    origin, site = head.get("origin"), head.get("sec-fetch-site")
    foreign = Refusal(403, "another page made this request; open this page itself")
    if origin is not None:
        named = _ORIGIN.fullmatch(origin)
        if named is None or named.group(1) != scheme or authority(named.group(2), scheme) != host:
            raise foreign
    if origin is None and changes:
        raise Refusal(403, "the request does not say which page it comes from (Origin)")
    # A link from elsewhere may open the page; nothing else from elsewhere may.
    followed = not changes and head.get("sec-fetch-mode") == "navigate" and head.get("sec-fetch-dest") == "document"
    if site not in (None, "same-origin", "none") and not followed:
        raise foreign


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that was read, for the app to read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
