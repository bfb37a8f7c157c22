"""The page's routes that change something: each sends a command to the main process and returns its answer.

Nothing is decided here. The guard has checked that the device is paired; the main process decides whether a command
fits the game.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hardware.clock import Clock, monotonic
from referee.control.commands import (
    CHECKING,
    COMMAND_FIELDS,
    INVITING,
    PAIRING,
    REPORTING,
    SIGNING_OUT,
    CommandError,
    CommandFields,
    check_fields,
)
from referee.control.seat_codes import HANDS_SOCKET, read_seat_codes, why_ended
from referee.control.socket import (
    NO_GAME,
    NOT_JSON,
    SOCKET_NAME,
    STARTING,
    ControlError,
    ask_referee,
    private_folder,
)
from referee.sentence import Sentence, to_json
from referee.text.answers import in_language
from referee.units import SECOND
from referee.web.layout import page_texts
from referee.web.rules_editor import house_check
from referee.web.security.guard import CSRF_HEADER, HANDS, PAIR, cookie_name
from referee.web.security.joined_phones import JoinedPhones
from referee.web.security.sessions import LIVES, Sessions, csrf_of

Ask = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a command to the main process; raises `ControlError`."""
Act = Callable[[Request, Mapping[str, Any]], Awaitable[JSONResponse]]
"""Carries out a request, once its fields are checked."""
DESCRIPTION: Final = Path(__file__).with_name("openapi.json")
"""Description of every route; `tools/describe_api.py` makes it."""
_SESSIONS: Final = "sessions.json"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_ANOTHER_PHONE: Final = (
    "another phone is {seat}'s pad; to use this one, replace the code on the control page, and scan the new one"
)
_ONE_SEAT: Final = Sentence("a phone is the pad of one seat; scan one code alone")
_NOT_PAIRED: Final = Sentence("this device is not paired; ask for a code at the table and enter it here")


def address(do: str) -> str:
    """Return the address to which a command is posted."""
    return f"/api/control/{do.replace('_', '-')}"


POSTED: Final[Mapping[str, type[CommandFields]]] = {
    PAIR: PAIRING,
    HANDS: REPORTING,
    "/api/devices/invite": INVITING,
    "/api/devices/sign-out": SIGNING_OUT,
    "/api/rules/check": CHECKING,
    **{address(do): fields for do, fields in COMMAND_FIELDS.items()},
}
"""The fields of each request that changes something, by address."""


class Control:
    """The part of the page through which people control the table.

    Args:
        folder: of this boot (`referee.control.socket.runtime_folder`): the main process' socket, and the paired
            devices.
        secure: whether the page is served by https only.
        clock: returns the present instant, ns.
        ask: replaces the socket to the main process.
        names: returns the players, from the first seat on.

    Raises:
        ControlError: the folder cannot be used.
    """

    def __init__(
        self, folder: Path, *, secure: bool = False, clock: Clock = monotonic,
        ask: Ask | None = None, names: Callable[[], Sequence[str]] = tuple,
    ) -> None:  # fmt: skip
        self._clock, self._secure, self._names = clock, secure, names
        self._ask: Ask = ask if ask is not None else partial(ask_referee, private_folder(folder) / SOCKET_NAME)
        kept = _SessionFile(private_folder(folder) / _SESSIONS)
        self.sessions = Sessions(changed=kept.write)
        self.sessions.restore(kept.read(), clock())
        self._folder = folder
        self._phones = JoinedPhones(folder)
        self._hands = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._hands.setblocking(False)
        self._checking = asyncio.Semaphore(1)

    def routes(self) -> list[Route]:
        """Return the routes for an app that a `Guard` wraps."""
        acts: dict[str, Act] = {
            PAIR: self._pair,
            HANDS: self._report,
            "/api/devices/invite": self._invite,
            "/api/devices/sign-out": self._sign_out,
            "/api/rules/check": self._check,
            **{address(do): partial(self._command, do) for do in COMMAND_FIELDS},
        }
        return [
            Route("/api/session", self._session, methods=["GET"]),
            Route("/api/devices", self._devices, methods=["GET"]),
            Route("/api/openapi.json", self._openapi, methods=["GET"]),
            *(Route(path, partial(self._post, POSTED[path], act), methods=["POST"]) for path, act in acts.items()),
        ]

    async def _post(self, kind: type[CommandFields], act: Act, request: Request) -> JSONResponse:
        """Check a request's fields, and carry it out."""
        try:
            fields = check_fields(kind, json.loads(await request.body()))
        except CommandError as error:
            return self._refused(request, 400, error.sentence)
        except (ValueError, RecursionError):
            return self._refused(request, 400, NOT_JSON)
        return await act(request, fields)

    async def _session(self, request: Request) -> JSONResponse:
        """Whether this device is paired."""
        device, token = request.scope["referee.device"], request.scope["referee.token"]
        return JSONResponse(
            {
                "paired": device is not None,
                "device": device.name if device is not None else None,
                "csrf": csrf_of(token) if device is not None and token else None,
                "csrf_header": CSRF_HEADER,
            }
        )

    async def _devices(self, request: Request) -> JSONResponse:
        """The devices that are paired."""
        own = request.scope["referee.device"]
        if own is None:
            return self._refused(request, 401, _NOT_PAIRED)
        now = self._clock()
        shown = [
            {
                "id": device.id,
                "name": device.name,
                "paired_s": (now - device.paired) // SECOND,
                "idle_s": (now - device.used) // SECOND,
                "own": device.id == own.id,
            }
            for device in self.sessions.devices(now)
        ]
        return JSONResponse({"devices": shown})

    async def _openapi(self, request: Request) -> Response:
        """This description."""
        return Response(DESCRIPTION.read_bytes(), media_type="application/json")

    async def _pair(self, request: Request, said: Mapping[str, Any]) -> JSONResponse:
        who = request.client.host if request.client is not None else "local"
        answer = await self._asked({"do": "pair", "code": said["code"], "from": who})
        if not answer.get("accepted"):
            return self._answered(request, answer)
        before = request.scope["referee.device"]
        if before is not None:
            # The same device has paired again: end its old session.
            self.sessions.sign_out(before.id)
        token = self.sessions.begin(said.get("device"), self._clock())
        response = self._done(request, Sentence("paired"), csrf=csrf_of(token))
        self._remember(response, token)
        return response

    def admit(self, response: Response, name: str) -> None:
        """Pair the receiver of this answer without a code: for the browser of the table's own machine."""
        self._remember(response, self.sessions.begin(name, self._clock()))

    def _remember(self, response: Response, token: str) -> None:
        response.set_cookie(
            cookie_name(secure=self._secure), token, max_age=LIVES.absolute // SECOND, path="/",
            secure=self._secure, httponly=True, samesite="strict",
        )  # fmt: skip

    async def _invite(self, request: Request, _said: Mapping[str, Any]) -> JSONResponse:
        return self._answered(request, await self._asked({"do": "code"}))

    async def _sign_out(self, request: Request, said: Mapping[str, Any]) -> JSONResponse:
        if said.get("all"):
            self.sessions.sign_out_all()
            return self._done(request, Sentence("every device is signed out"))
        if not self.sessions.sign_out(said["device"]):
            return self._refused(request, 409, Sentence("there is no such device; it may have been signed out already"))
        return self._done(request, Sentence("that device is signed out"))

    async def _report(self, request: Request, said: Mapping[str, Any]) -> JSONResponse:
        """Stamp the touches that a page reports, and pass them on at once (`hardware.pads.page_pads`)."""
        at = self._clock()
        codes, phone = read_seat_codes(self._folder), said.get("phone") or said["page"]
        used = [code for code in codes if code.code in said["hands"]]
        if not used:
            words, seat = why_ended(self._folder, next(iter(said["hands"])))
            return self._turn_away(request, "code", words, seat, at)
        self._phones.keep(codes)
        own = self._phones.find_joined(codes, phone)
        is_keyboard = all(pad.key for pad in used)
        if len(used) > 1 and not is_keyboard:
            return self._turn_away(request, "seats", _ONE_SEAT, (own or used[0]).seat, at)
        full = self._phones.find_full(used, phone)
        if full is not None:
            words = Sentence(_ANOTHER_PHONE, seat=full.seat)
            return self._turn_away(request, "seats" if own else "phone", words, (own or full).seat, at)
        seats, hands = {pad.code: pad.seat for pad in used}, {pad.code: said["hands"][pad.code] for pad in used}
        # The code decides what stamps the touches: a phone is no keyboard, whatever it claims.
        kind = "key" if is_keyboard else "touch"
        report = {**said, "at": at, "kind": kind, "hands": {seats[code]: touches for code, touches in hands.items()}}
        try:
            self._hand_on(report)
        except OSError:
            # The referee does not listen, or its queue is full; the page reports the touches again.
            is_starting = (self._folder / SOCKET_NAME).is_socket()
            return self._refused(request, 503, STARTING if is_starting else NO_GAME)
        names = self._names()
        heard = {
            code: {
                "seat": seats[code],
                "name": names[seats[code] - 1] if seats[code] <= len(names) else "",
                "heard": max((touch[0] for touch in touches), default=0),
            }
            for code, touches in hands.items()
        }
        return self._done(request, Sentence("the table hears this page"), at=at, seats=heard)

    def _turn_away(self, request: Request, why: str, words: str, seat: int | None, at: int) -> JSONResponse:
        """Tell a page why it is no seat's pad, and tell the table, too, if a seat is concerned."""
        if seat is not None:
            with contextlib.suppress(OSError):
                self._hand_on({"refused": seat, "why": why, "at": at})
        return self._refused(request, 409, words)

    def _hand_on(self, report: Mapping[str, Any]) -> None:
        """Send a report to the referee; raises `OSError` if it does not listen."""
        self._hands.sendto(json.dumps(report).encode(), str(self._folder / HANDS_SOCKET))

    async def _check(self, request: Request, said: Mapping[str, Any]) -> JSONResponse:
        if self._checking.locked():
            return self._refused(request, 429, Sentence("another text is being checked; try again"), wait=1)
        async with self._checking:
            return JSONResponse(await asyncio.to_thread(house_check, said["text"]))

    async def _command(self, do: str, request: Request, said: Mapping[str, Any]) -> JSONResponse:
        return self._answered(request, await self._asked({"do": do, **said}))

    async def _asked(self, command: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await self._ask(command)
        except ControlError as error:
            return {"accepted": False, **to_json(error.words), "status": 503}

    def _answered(self, request: Request, answer: Mapping[str, Any]) -> JSONResponse:
        """Return the main process' answer to the device that asked."""
        if answer.get("accepted") is True:
            return self._done(request, answer)
        status = answer.get("status", 409)
        return self._refused(request, status if status in (409, 429, 503) else 409, answer, wait=answer.get("wait"))

    def _done(self, request: Request, words: str | Mapping[str, Any], **more: Any) -> JSONResponse:
        return JSONResponse({"accepted": True, **self._spoken(request, words), **more})

    def _refused(
        self, request: Request, status: int, why: str | Mapping[str, Any], wait: object = None
    ) -> JSONResponse:
        headers = {"Retry-After": str(wait)} if type(wait) is int and wait > 0 else None
        return JSONResponse({"accepted": False, **self._spoken(request, why)}, status, headers)

    def _spoken(self, request: Request, words: str | Mapping[str, Any]) -> dict[str, str]:
        return in_language(to_json(words) if isinstance(words, str) else words, page_texts(request), self._names())


class _SessionFile:
    """File of the paired devices, for the next start of the page in this boot: hashes only, for this user only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._boot = _BOOT.read_text().strip()
        except OSError:
            self._boot = ""

    def read(self) -> object:
        """Return the sessions written in this boot of the machine; None if there are none or they are unreadable."""
        try:
            said = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return said.get("sessions") if isinstance(said, dict) and said.get("boot") == self._boot else None

    def write(self, sessions: list[dict[str, Any]]) -> None:
        """Write atomically; if it cannot be written, a restart of the page signs every device out."""
        beside = self._path.with_name(f".{_SESSIONS}.{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                json.dump({"boot": self._boot, "sessions": sessions}, out)
            beside.replace(self._path)
