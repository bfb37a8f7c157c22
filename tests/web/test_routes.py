"""Every route of the app's own list, by every method, host, origin and cookie: nothing changes without pairing."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from referee.control.commands import COMMAND_FIELDS
from referee.control.socket import NO_GAME
from referee.units import MINUTE, SECOND
from referee.web.api import Control, address
from referee.web.security.guard import Guard
from referee.web.security.sessions import csrf_of
from tests.web.browser import HOST, HOSTS, LIMITLESS, OWN, House, Paired, request

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
ASKED_FOR = (HOST, "localhost", "192.168.1.2", "evil.example", None)
ORIGINS = (OWN, "http://localhost", "http://192.168.1.2", "http://evil.example", "null", None)
GOOD: dict[str, dict[str, Any]] = {
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


class Asked(NamedTuple):
    """One of all requests."""

    path: str
    method: str
    host: str | None
    origin: str | None
    state: str


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def routes(house: House) -> list[Route]:
    found = [route for route in house.app.app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
    assert len(found) == len(house.app.app.routes)  # type: ignore[attr-defined]
    return found


def body_for(path: str) -> bytes:
    for do in COMMAND_FIELDS:
        if path == address(do):
            return json.dumps(GOOD.get(do, {})).encode()
    return b'{"code":"999999"}' if path == "/api/pair" else b'{"all":true}' if "sign-out" in path else b'{"text":""}'


def states(house: House) -> dict[str, list[tuple[str, str]]]:
    """Return a client's possible credentials: none, forged, expired, half, or complete."""
    paired, other, gone = house.pair(), house.pair(), house.pair()
    _sign_out(house, gone)
    value = paired.cookie.partition("=")[2]
    return {
        "nothing": [],
        "made up": [("cookie", "referee=AAAA"), ("x-csrf-token", "AAAA")],
        "empty": [("cookie", "referee="), ("x-csrf-token", "")],
        "signed out": gone.headers,
        "no token": [("cookie", paired.cookie)],
        "empty token": [("cookie", paired.cookie), ("x-csrf-token", "")],
        "another's token": [("cookie", paired.cookie), ("x-csrf-token", other.csrf)],
        "token without cookie": [("x-csrf-token", paired.csrf)],
        "cookie of another name": [("cookie", f"__Host-referee={value}"), ("x-csrf-token", paired.csrf)],
        "twice": [("cookie", f"{paired.cookie}; referee=x"), ("x-csrf-token", paired.csrf)],
        "in the address": [],
        "paired": paired.headers,
    }


def _sign_out(house: House, paired: Paired) -> None:
    own = [device for device in house.get("/api/devices", paired.headers).said["devices"] if device["own"]]
    assert house.post("/api/devices/sign-out", {"device": own[0]["id"]}, paired.headers).status == 200


def every(house: House, names: list[str]) -> Iterator[Asked]:
    paths = [route.path for route in routes(house)]
    for path, method, host, origin, state in itertools.product(paths, METHODS, ASKED_FOR, ORIGINS, names):
        yield Asked(path, method, host, origin, state)


def test_nothing_changes_without_pairing_whoever_asks_and_however(house: House) -> None:
    """All combinations; then, as a control, complete credentials do change the state."""
    held = states(house)
    done: list[Asked] = []
    count = 0

    async def run() -> None:
        nonlocal count
        for asked in every(house, list(held)):
            if asked.state == "paired" and asked.path == "/api/devices/sign-out":
                continue
            headers = [("content-type", "application/json"), *held[asked.state]]
            headers += [("host", asked.host)] if asked.host is not None else []
            headers += [("origin", asked.origin)] if asked.origin is not None else []
            secret = held["paired"][0][1].partition("=")[2].encode() if asked.state == "in the address" else b""
            body = [body_for(asked.path)] if asked.method not in ("GET", "HEAD") else []
            before = _state(house)
            reply = await request(house.app, asked.method, asked.path, headers, body, query=b"referee=" + secret)
            count += 1
            assert reply.status < 500, (asked, reply)
            if _state(house) != before:
                done.append(asked)

    asyncio.run(run())
    allowed = {
        Asked(address(do), "POST", host, f"http://{host}", "paired")
        for do in COMMAND_FIELDS
        for host in (HOST, "localhost", "192.168.1.2")
    }
    assert set(done) == allowed
    assert count > 40_000


def _state(house: House) -> tuple[int, list[str]]:
    devices = [device.id for device in house.control.sessions.devices(house.clock[0])]
    return len(house.main.commands), devices


def test_everything_that_can_be_asked_reaches_the_table_as_it_was_asked(house: House) -> None:
    """Each command, by a paired page."""
    paired = house.pair()
    for do in COMMAND_FIELDS:
        reply = house.post(address(do), GOOD.get(do, {}), paired.headers)
        assert (reply.status, reply.said) == (200, {"accepted": True, "words": "done"}), do
    assert [command.record() for command in house.main.commands] == [
        {"do": do, **GOOD.get(do, {})} for do in COMMAND_FIELDS
    ]


NO_COMMANDS = [
    b"", b"[]", b"null", b"{", b'{"nope":1}', b'{"do":"power_off","confirm":true}', b"\xff", b"[" * 30000,
    b'{"line":"\\ud800","card":"7h"}', b'{"seats":1e400}',
]  # fmt: skip


@pytest.mark.parametrize("do", COMMAND_FIELDS)
@pytest.mark.parametrize("said", NO_COMMANDS)
def test_what_is_no_such_command_is_refused_in_words(house: House, do: str, said: bytes) -> None:
    """The page refuses it before the main process; a field cannot make it another command."""
    reply = house.post(address(do), said, house.pair().headers)
    assert reply.status == 400
    assert reply.said["words"]
    assert not house.main.commands


def test_a_wrong_code_an_old_code_and_a_used_code(house: House) -> None:
    """None of them pairs, and each gets its reason."""
    assert "no code" in house.post("/api/pair", {"code": "123456"}).said["words"]
    code = house.main.code()
    wrong = house.post("/api/pair", {"code": f"{(int(code) + 1) % 10**6:06d}"})
    assert wrong.status == 429
    assert wrong.header("retry-after") == "1"
    assert house.post("/api/pair", {"code": code}, client="192.168.1.50").status == 200
    assert house.post("/api/pair", {"code": code}, client="192.168.1.51").status == 409
    code = house.main.code()
    house.clock[0] += 120 * SECOND
    assert house.post("/api/pair", {"code": code}, client="192.168.1.52").status == 409
    assert len(house.control.sessions.devices(house.clock[0])) == 1


@pytest.mark.parametrize("code", ["12345", "1234567", "12345a", "١٢٣٤٥٦", "", 123456, None, ["123456"], "123456\n"])
def test_what_is_no_code_is_not_even_tried(house: House, code: Any) -> None:
    """Six digits, nothing else."""
    house.main.code()
    assert house.post("/api/pair", {"code": code}).status == 400
    assert house.main.attempts == 0


def test_a_session_ends_by_itself(house: House) -> None:
    """Its cookie opens nothing any more."""
    paired = house.pair()
    house.clock[0] += 4 * 60 * MINUTE
    assert house.post("/api/control/pause", {}, paired.headers).status == 401
    assert not house.main.commands


def test_pairing_again_ends_the_session_before(house: House) -> None:
    """A device has one; and what it had is worth nothing."""
    first = house.pair()
    code = house.main.code()
    again = house.post("/api/pair", {"code": code}, first.headers)
    assert again.status == 200
    assert len(house.control.sessions.devices(house.clock[0])) == 1
    assert house.post("/api/control/pause", {}, first.headers).status == 401


def test_devices_are_listed_and_signed_out(house: House) -> None:
    """Only to paired devices."""
    one = house.pair("Ana's phone")
    house.clock[0] += SECOND
    other = house.pair("Ben <b>")
    assert house.get("/api/devices").status == 401
    listed = house.get("/api/devices", one.headers).said["devices"]
    assert [(device["name"], device["own"]) for device in listed] == [("Ana's phone", True), ("Ben <b>", False)]
    assert house.post("/api/devices/sign-out", {"device": listed[1]["id"]}, one.headers).status == 200
    assert house.get("/api/devices", other.headers).status == 401
    assert house.post("/api/devices/sign-out", {"device": listed[1]["id"]}, one.headers).status == 409
    assert house.post("/api/devices/sign-out", {"all": True}, one.headers).status == 200
    assert house.post("/api/control/pause", {}, one.headers).status == 401


def test_a_page_learns_its_own_token_and_nobody_elses(house: House) -> None:
    """Without pairing there is none."""
    paired = house.pair("Ana's phone")
    said = house.get("/api/session", paired.headers).said
    assert (said["paired"], said["device"], said["csrf"]) == (True, "Ana's phone", paired.csrf)
    assert house.get("/api/session").said["csrf"] is None


def test_secrets_are_in_no_answer_but_the_cookie(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Neither token nor code appears in an answer or a log."""
    caplog.set_level(0)
    code = house.main.code()
    reply = house.post("/api/pair", {"code": code})
    cookie = (reply.header("set-cookie") or "").partition(";")[0]
    token = cookie.partition("=")[2]
    paired = Paired(cookie, reply.said["csrf"], "")
    read = (house.get(path, paired.headers).body for path in ("/api/session", "/api/devices", "/api/openapi.json"))
    answers = [reply.body, *read]
    answers.append(house.post("/api/control/pause", {}, paired.headers).body)
    assert not any(token.encode() in body or code.encode() in body for body in answers)
    assert token not in caplog.text
    assert code not in caplog.text


def test_house_rules_are_checked_as_they_are_typed(house: House) -> None:
    """Mistakes with their place, or the rules in words."""
    paired = house.pair()
    text = 'title = "Ours"\non = ["P8"]\n[patterns]\ntwins = "rank(1) = rank(2)"\n'
    good = house.post("/api/rules/check", {"text": text}, paired.headers)
    assert good.status == 200
    assert (good.said["accepted"], good.said["title"]) == (True, "Ours")
    assert any(row["row"] == "P8" for row in good.said["rows"])
    bad = house.post(
        "/api/rules/check", {"text": 'on = ["P8"]\n[patterns]\ntwins = "rank(1) = = rank(2)"\n'}, paired.headers
    )
    assert bad.said["accepted"] is False
    assert bad.said["mistakes"][0]["line"] == 3
    assert house.post("/api/rules/check", {"text": "x" * 9000}, paired.headers).status == 400
    long = house.post("/api/rules/check", {"text": "a" + ".a" * 3000 + " = 1"}, paired.headers)
    assert "break the line" in long.said["mistakes"][0]["words"]
    assert not house.main.commands


def test_rules_that_were_checked_are_rules_to_begin_with(house: House) -> None:
    """The check returns the form that begin takes."""
    paired = house.pair()
    rules = house.post("/api/rules/check", {"text": 'on = ["P8"]'}, paired.headers).said["rules"]
    begun = house.post("/api/control/begin", {"seats": ["A", "B"], "rules": rules}, paired.headers)
    assert begun.status == 200


def test_without_a_main_process_the_page_says_so(tmp_path: Path) -> None:
    """Pairing is impossible, because no table can show a code."""

    control = Control(tmp_path, clock=lambda: 5)
    token = control.sessions.begin("phone", 5)
    app = Guard(Starlette(routes=control.routes()), control.sessions, hosts=HOSTS, limits=LIMITLESS, clock=lambda: 5)
    headers = [("host", HOST), ("origin", OWN), ("content-type", "application/json"), ("cookie", f"referee={token}"),
               ("x-csrf-token", csrf_of(token))]  # fmt: skip
    for path, body in (("/api/pair", b'{"code":"123456"}'), ("/api/control/pause", b"{}")):
        reply = asyncio.run(request(app, "POST", path, headers, [body]))
        assert (reply.status, reply.said["words"]) == (503, NO_GAME)
