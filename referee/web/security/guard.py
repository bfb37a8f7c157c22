"""The page's guard: checks every request before the app sees it, and adds headers to every answer.

Anyone on the network may view; if so configured, only paired devices. Only paired devices may change anything. All of
it is decided here, before any route: a route that forgets to check is protected all the same.

Around every request of every site (`referee.web.serving`).
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
from referee.sentence import Field, Sentence, to_json
from referee.text.answers import in_language
from referee.units import SECOND
from referee.web.layout import page_texts
from referee.web.security.fair_turns import ASKER
from referee.web.security.hosts import Hosts, authority, find_visitor, plain_address, who_asks
from referee.web.security.limits import USUAL_LIMITS, Buckets, Limits
from referee.web.security.sessions import Sessions, csrf_fits

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
"""On every answer, whatever the app sets."""
_NO_STORE: Final = (b"cache-control", b"no-store")
_STATIC: Final = "/static/"


class Refusal(Exception):  # noqa: N818 - what a visitor reads, and no fault
    """A request that is refused: its status, and the reason in a sentence."""

    def __init__(self, status: int, template: str, *headers: tuple[bytes, bytes], **fields: Field) -> None:
        self.status, self.words, self.headers = status, Sentence(template, **fields), headers
        super().__init__(self.words)


_FAULT: Final = Refusal(500, "something went wrong inside the page; the game is not affected")


class GuardedAnswer:
    """Sends the app's answer, with our headers in place of its own ones of the same names."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._begun = self._refused = False

    async def __call__(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            if message["status"] == _FAULT.status:
                # Replace the framework's own message, which is not meant for people.
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
        """Send the refusal in place of the app's answer; an answer that has begun can only be cut off."""
        if self._begun:
            return
        self._refused = True
        as_json = self._scope["method"] != "GET" or str(self._scope["path"]).startswith("/api/")
        why = in_language(to_json(no.words), page_texts(Request(self._scope)))
        said: dict[str, Any] = {"accepted": False, **why}
        body = json.dumps(said).encode() if as_json else f"{why['words']}\n".encode()
        kind = b"application/json" if as_json else b"text/plain; charset=utf-8"
        # Close the connection: the rest of it, such as an unread body, is not waited for.
        ends = (b"connection", b"close")
        await self._start(
            no.status, [(b"content-type", kind), (b"content-length", str(len(body)).encode()), ends, *no.headers]
        )
        await self._send({"type": "http.response.body", "body": b"" if self._scope["method"] == "HEAD" else body})


CSRF_HEADER: Final = "x-csrf-token"
PAIR: Final = "/api/pair"
_FILES: Final = "/static/"
"""Path of the pages' styles, scripts and fixed pictures."""
HANDS: Final = "/api/pad"
"""Path to which pages that are pads report hands, several times a second."""
OPEN_CHANGES: Final = (PAIR, HANDS)
"""Requests that need no pairing: each asks for its own code."""
_PAIRING: Final = "/control"
"""Path of the page that pairs a device."""
_OPEN_LOOKS: Final = (_PAIRING, "/api/session", "/pad")
"""Pages that need no pairing even if only paired devices may view: those for pairing, and a seat's pad, which asks for
its own code."""
_HEAVY: Final = re.compile(
    r"/(?:finish|finish\.svg|instant-replay|what-if|end|shadow|replay|steps|ruling|figures|figures\.csv|rulings\.csv|log\.jsonl"
    r"|backup\.zip|games/\d+)$"
)
"""Pages for which a game is ruled again, or drawn: each counts as `Limits.heavy` reads."""
_HEARD_OUT: Final = 0.5
"""Seconds given to the rest of a refused request."""
_METHODS: Final = ("GET", "HEAD", "POST")
_CHANGES: Final = frozenset(("POST",))
_TRICKS: Final = re.compile(r"//|\\|[\x00-\x1f\x7f]|(?:^|/)\.{1,2}(?:/|$)")
_RAW_TRICKS: Final = re.compile(rb"%(?:2f|5c|00|25)", re.IGNORECASE)
_LOG: Final = logging.getLogger("referee.page")


def _read_head(scope: Scope) -> dict[str, str]:
    """Return a request's headers; each that matters may occur only once."""
    head: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1")
        if name in head and name in ("host", "origin", "content-length", "content-type", "cookie"):
            raise Refusal(400, "the request has more than one {header} header", header=name)
        head[name] = value.decode("latin-1")
    return head


def cookie_name(*, secure: bool) -> str:
    """Return the name of the session cookie; bound to this very host if the page is served by https."""
    return "__Host-referee" if secure else "referee"


def _cookie(head: Mapping[str, str], name: str) -> str | None:
    """Return a cookie's value; None if it is missing, or occurs twice with different values (one was planted)."""
    found = set()
    for part in head.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            found.add(value.strip('"'))
    return found.pop() if len(found) == 1 else None


class Guard:
    """Wraps an app so that only permitted requests reach it.

    Args:
        app: finds the `Device` in ``scope["referee.device"]`` and its token in ``scope["referee.token"]``; both None if
            it has not paired.
        sessions: the paired devices.
        hosts: the page's host names.
        limits: sizes and rates.
        clock: returns the present instant, ns.
        secure: whether the page is served by https only.
        open_changes: paths to which unpaired devices may post.
        proxies: addresses of proxies whose ``X-Forwarded-For`` is trusted; no other's is.
        only_paired: only paired devices may view, and this machine itself.
    """

    def __init__(
        self, app: ASGIApp, sessions: Sessions, *, hosts: Hosts, limits: Limits = USUAL_LIMITS,
        clock: Clock = monotonic, secure: bool = False, open_changes: Iterable[str] = OPEN_CHANGES,
        proxies: Iterable[str] = (), only_paired: bool = False,
    ) -> None:  # fmt: skip
        self.app, self.sessions, self.hosts, self.limits = app, sessions, hosts, limits
        self._clock, self._secure, self._open_changes = clock, secure, frozenset(open_changes)
        self.proxies = frozenset(plain_address(proxy) or proxy for proxy in proxies)
        self._only_paired = only_paired
        self._reads = Buckets(limits.reads, limits.reads_ns)
        self._files = Buckets(limits.files, limits.reads_ns)
        self._changes = Buckets(limits.changes, limits.changes_ns)
        self._hands = Buckets(limits.hands, limits.hands_ns)
        self._streams: Counter[str] = Counter()
        """Number of open event streams by address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "this page has no WebSockets"})
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.proxies:
            # From here on the sender is the address that the proxy reports.
            scope = {**scope, "client": find_visitor(scope, self.proxies)}
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
        except Refusal as error:
            if scope["method"] not in ("GET", "HEAD"):
                # Closing a connection with unread bytes resets it, and the answer is lost.
                with contextlib.suppress(Refusal, TimeoutError):
                    await asyncio.wait_for(self._read(receive), _HEARD_OUT)
            await answer.refuse(error)
        except Exception as error:
            # Log the fault, but nothing of the request's content.
            _LOG.error("%s while answering %s", type(error).__name__, scope["method"])
            await answer.refuse(_FAULT)

    def _admit(self, scope: Scope, head: Mapping[str, str]) -> None:
        """Check what every request must fulfil."""
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
            raise Refusal(405, "this page answers only GET and POST", (b"allow", b"GET, HEAD, POST"))
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
        """If only paired devices may view, check whether another may view this."""
        path = scope["path"]
        if path in _OPEN_LOOKS or path.startswith(_FILES) or (not self._secure and is_loopback(who_asks(scope))):
            return
        if "text/html" in head.get("accept", ""):
            # A person with a browser: redirect to the page where a code is entered.
            raise Refusal(303, "only paired devices may look here; ask for a code at the table",
                          (b"location", _PAIRING.encode()))  # fmt: skip
        raise Refusal(401, "only paired devices may look here; ask for a code at the table")

    def _admit_change(self, scope: Scope, head: Mapping[str, str]) -> None:
        """Check what a request must fulfil further if it may change something."""
        kind = head.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "post JSON here (Content-Type: application/json)")
        length = head.get("content-length")
        if length is not None and (not length.isdecimal() or int(length[:12]) > self.limits.body):
            raise Refusal(413, "this page accepts at most {most} KiB", most=self.limits.body >> 10)
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
                raise Refusal(413, "this page accepts at most {most} KiB", most=self.limits.body >> 10)
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
    """Refuse a request that another page made; one that changes something must state our origin."""
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
    """Return a ``receive`` that gives the app the body that was read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
