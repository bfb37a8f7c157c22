"""Permissions over the network: one table of routes, credentials and expected answers, on the whole page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.routing import Route

from referee.control.commands import COMMAND_FIELDS
from referee.engine.log import parse_object
from referee.web.api import DESCRIPTION, address
from tests.web.browser import APPLIANCE, HOST, OWN, Headers, House, Reply, filled, request, whole_page

PAIRED_LOOKS = ("/touched.json", "/backup.zip", "/api/devices")
"""Views for paired devices, whatever the settings say."""
ALWAYS_OPEN = ("/control", "/api/session", "/pad", "/static/{name}", "/static/cards/{name}")
"""Views for all, whatever the settings say."""
OWN_CODE = ("/api/pair", "/api/pad")
"""Changes that need no pairing: each asks for its own code."""
CHANGES = {address(do): do for do in COMMAND_FIELDS}
FIELDS: dict[str, dict[str, Any]] = {
    "correct": {"line": "c1", "card": "7h"},
    "void": {"line": "c1"},
    "overrule": {"ruling": "slap_won@s1", "seat": 2},
    "answer": {"question": "question@s1", "value": 2},
    "count": {"seat": 1, "cards": 3},
    "recount": {"cards": [1, None]},
    "contest": {"by": [1], "against": 2},
    "foul": {"seat": 1, "foul": "peek"},
    "say": {"seat": 1, "rank": "7"},
    "draw": {"rank": "7"},
    "join": {"seat": 3},
    "leave": {"seat": 1},
    "missed_card": {"seat": 1, "card": "7h"},
    "missed_slap": {"seat": 1},
    "mark": {"verdict": "good"},
    "take_up": {"line": "c1"},
    "begin": {"seats": ["Ana", "Ben"], "rules": "classic"},
    "keep": {"game": 1, "keep": True},
    "remove": {"game": 1, "confirm": True},
    "power_off": {"confirm": True},
    "seat_code": {"seat": 1, "phones": 2},
    "settings": {"volume": 50},
}
"""Good fields of each command that needs some."""
BODIES = {
    **{path: FIELDS.get(do, {}) for path, do in CHANGES.items()},
    "/api/pair": {"code": "999999"},
    "/api/devices/sign-out": {"all": True},
    "/api/rules/check": {"text": ""},
}
HOSTS = (HOST, "localhost", "192.168.1.2", "evil.example", None)
ORIGINS = (OWN, "http://localhost", "http://192.168.1.2", "http://evil.example", "null", None)


class Credential(NamedTuple):
    """The credentials that a device sends, and the access that they give."""

    headers: Headers
    views: bool
    """Whether it counts as paired where it only views."""
    refused: int | None
    """Status with which a change is refused; None: it is carried out."""
    query: bytes = b""


def credentials(house: House) -> dict[str, Credential]:
    """Return every kind of credential: none, forged, expired, half, or complete."""
    paired, other, gone = house.pair(), house.pair(), house.pair()
    (own,) = (device for device in house.get("/api/devices", gone.headers).said["devices"] if device["own"])
    assert house.post("/api/devices/sign-out", {"device": own["id"]}, gone.headers).status == 200
    cookie, token = ("cookie", paired.cookie), ("x-csrf-token", paired.csrf)
    value = paired.cookie.partition("=")[2]
    return {
        "nothing": Credential([], False, 401),
        "made up": Credential([("cookie", "referee=AAAA"), ("x-csrf-token", "AAAA")], False, 401),
        "empty": Credential([("cookie", "referee="), ("x-csrf-token", "")], False, 401),
        "signed out": Credential(gone.headers, False, 401),
        "token without cookie": Credential([token], False, 401),
        "cookie of another name": Credential([("cookie", f"__Host-referee={value}"), token], False, 401),
        "two cookies": Credential([("cookie", f"{paired.cookie}; referee=x"), token], False, 401),
        "in the address": Credential([], False, 401, f"referee={value}".encode()),
        "no token": Credential([cookie], True, 403),
        "empty token": Credential([cookie, ("x-csrf-token", "")], True, 403),
        "another's token": Credential([cookie, ("x-csrf-token", other.csrf)], True, 403),
        "complete": Credential(paired.headers, True, None),
    }


def expected(path: str, methods: set[str], method: str, held: Credential, *, only_paired: bool) -> set[int]:
    """Return the statuses that a request from the page's own address may get."""
    if method not in ("GET", "HEAD", "POST"):
        return {405}
    if method == "POST":
        if path in OWN_CODE:
            return {400, 409}
        if held.refused is not None:
            return {held.refused}
        return {200, 400} if method in methods else {405}
    if not held.views and (path in PAIRED_LOOKS or (only_paired and path not in ALWAYS_OPEN)):
        return {401}
    return {200, 404} if method in methods else {405}


def refused_elsewhere(host: str | None, origin: str | None, method: str) -> int | None:
    """Return the status with which a complete request to this host from this origin is refused; None: it is not."""
    if host in ("evil.example", None):
        return 421
    if origin is None:
        return 403 if method == "POST" else None
    return None if origin == f"http://{host}" else 403


class Page:
    """The whole page, asked for every route; nothing but a permitted change alters its state."""

    def __init__(self, folder: Path, *, only_paired: bool = False) -> None:
        self.house, self._record = whole_page(folder, only_paired=only_paired)
        self.held = credentials(self.house)
        self._digest = self._read()
        self.asked = 0

    def routes(self) -> Iterator[tuple[str, set[str]]]:
        """Yield every route's pattern with its methods."""
        found = [route for route in self.house.app.app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
        assert len(found) == len(self.house.app.app.routes) > 60  # type: ignore[attr-defined]
        yield from ((route.path, set(route.methods or ())) for route in found)

    async def ask(
        self, path: str, method: str, held: Credential, more: Headers = (("host", HOST), ("origin", OWN))
    ) -> tuple[Reply, bool]:
        """Send a request; return its answer, and whether the page's state changed."""
        before = self._state()
        headers = [("content-type", "application/json"), *held.headers, *more]
        body = [json.dumps(BODIES.get(path, {})).encode()] if method not in ("GET", "HEAD") else []
        reply = await request(self.house.app, method, filled(path), headers, body, query=held.query)
        self.asked += 1
        assert "referee" not in (reply.header("set-cookie") or ""), (path, method)
        return reply, self._state() != before

    def is_as_before(self) -> bool:
        """Return whether the record's bytes are unchanged."""
        return self._read() == self._digest

    def _read(self) -> bytes:
        return hashlib.sha256(self._record.read_bytes()).digest()

    def _state(self) -> tuple[int, list[str]]:
        devices = self.house.control.sessions.devices(self.house.clock[0])
        return len(self.house.main.commands), [device.id for device in devices]


@pytest.mark.parametrize("only_paired", [False, True])
def test_each_credential_opens_what_the_table_says(tmp_path: Path, only_paired: bool) -> None:
    page = Page(tmp_path, only_paired=only_paired)
    described = json.loads(DESCRIPTION.read_bytes())["paths"]

    async def run() -> None:
        for path, methods in page.routes():
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
                for name, held in page.held.items():
                    if (path, name) == ("/api/devices/sign-out", "complete"):
                        continue
                    reply, changed = await page.ask(path, method, held)
                    allowed = expected(path, methods, method, held, only_paired=only_paired)
                    assert reply.status in allowed, (path, method, name, reply)
                    operation = described[path.replace(":int", "")].get(method.lower())
                    assert operation is None or str(reply.status) in operation["responses"], (path, name, reply)
                    assert changed == (path in CHANGES and method == "POST" and name == "complete"), (path, name)

    asyncio.run(run())
    assert page.asked > 6000 and page.is_as_before()


def test_complete_credentials_are_worth_nothing_under_another_name_or_from_another_page(tmp_path: Path) -> None:
    page = Page(tmp_path)

    async def run() -> None:
        for path, methods in page.routes():
            for method in methods - {"HEAD"}:
                for host in HOSTS:
                    for origin in ORIGINS:
                        refused = refused_elsewhere(host, origin, method)
                        if path == "/api/devices/sign-out" and refused is None:
                            continue
                        here = [
                            (key, value) for key, value in (("host", host), ("origin", origin)) if value is not None
                        ]
                        reply, changed = await page.ask(path, method, page.held["complete"], here)
                        assert (reply.status == refused) if refused else (reply.status not in (401, 403, 421)), reply
                        assert changed == (path in CHANGES and refused is None), (path, host, origin)

    asyncio.run(run())
    assert page.asked > 2000 and page.is_as_before()


def test_where_only_paired_devices_may_view_others_see_no_name_and_are_led_to_pairing(tmp_path: Path) -> None:
    page = Page(tmp_path, only_paired=True)
    names = parse_object(APPLIANCE.read_text(encoding="utf-8").splitlines()[0], 1)["seats"]
    secrets = re.compile(rb"slap_won@|" + b"|".join(rb"\b" + re.escape(name.encode()) + rb"\b" for name in names))

    async def run() -> None:
        for path, methods in page.routes():
            if "GET" not in methods or path.startswith("/static/"):
                continue
            for name in ("nothing", "made up"):
                reply, _ = await page.ask(path, "GET", page.held[name])
                assert not secrets.search(reply.body), path
            reply, _ = await page.ask(path, "GET", page.held["nothing"], [("host", HOST), ("accept", "text/html")])
            if path not in ALWAYS_OPEN:
                assert (reply.status, reply.header("location")) == (303, "/control"), (path, reply)
            assert not secrets.search(reply.body), path

    asyncio.run(run())
