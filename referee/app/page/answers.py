"""What every answer of the page carries, and how one says no."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from starlette.requests import Request
from starlette.types import Message, Scope, Send

from referee.app.page.answerwords import in_language
from referee.app.page.shell import spoken
from referee.app.sentences import Field, Sentence, told

_SELF: Final = ("script", "style", "img", "font", "connect", "manifest", "media")
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in _SELF),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = (
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


FAULT: Final = Refusal(500, "something went wrong inside the page; the game is not touched by it")


class Answer:
    """Sends what the app answers, with our headers in place of its own of these names."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._begun = self._refused = False

    async def __call__(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            if message["status"] == FAULT.status:
                # The framework's word for what went wrong is none that people read.
                await self.refuse(FAULT)
                return
            await self._start(message["status"], message.get("headers", ()))
        else:
            await self._send(message)

    async def _start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._begun = True
        path = str(self._scope["path"])
        ours = HEADERS if path.startswith(_STATIC) else (*HEADERS, _NO_STORE)
        names = {name for name, _ in ours} | {b"access-control-allow-origin"}
        kept = [(name, value) for name, value in headers if name.lower() not in names]
        await self._send({"type": "http.response.start", "status": status, "headers": [*kept, *ours]})

    async def refuse(self, no: Refusal) -> None:
        """Say why not, in place of all that the app may say; what was begun can only be broken off."""
        if self._begun:
            return
        self._refused = True
        as_json = self._scope["method"] != "GET" or str(self._scope["path"]).startswith("/api/")
        why = in_language(told(no.words), spoken(Request(self._scope)))
        said: dict[str, Any] = {"accepted": False, **why}
        body = json.dumps(said).encode() if as_json else f"{why['words']}\n".encode()
        kind = b"application/json" if as_json else b"text/plain; charset=utf-8"
        # What else would come on this connection, such as a body that nobody reads, is not waited for.
        ends = (b"connection", b"close")
        await self._start(
            no.status, [(b"content-type", kind), (b"content-length", str(len(body)).encode()), ends, *no.headers]
        )
        await self._send({"type": "http.response.body", "body": b"" if self._scope["method"] == "HEAD" else body})
