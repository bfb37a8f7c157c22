"""The guard's limits: names, origins, methods, paths, sizes and rates; and the headers of every answer."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from referee.units import SECOND
from referee.web.security.hosts import Hosts
from referee.web.security.limits import Buckets, Limits
from tests.web.browser import HOST, HOSTS, OWN, House, request

JSON = ("content-type", "application/json")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def _fails(_: Request) -> PlainTextResponse:
    raise RuntimeError("a secret of the inside")


async def _frames(_: Request) -> PlainTextResponse:
    lax = {"Content-Security-Policy": "default-src *", "Access-Control-Allow-Origin": "*", "Cache-Control": "public"}
    return PlainTextResponse("ok", headers=lax)


async def _breaks(_: Request) -> StreamingResponse:
    async def parts() -> Any:
        yield b"begun"
        raise RuntimeError("half way")

    return StreamingResponse(parts())


def app() -> Starlette:
    return Starlette(
        routes=[
            Route("/fails", _fails, methods=["GET", "POST"]),
            Route("/frames", _frames),
            Route("/static/a.css", _frames),
            Route("/events", _frames),
            Route("/breaks", _breaks),
        ]
    )


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "referee.local.evil.example", "evil.example:80", "", "referee.local@evil.example",
        "192.168.1.3", "127.0.0.1", "[::1]", "referee.local:", "referee.local:0", "referee.local:99999", "a b",
        "REFEREE.LOCAL/x", "0", "3232235778", "0xc0a80102", "xn--referee.local",
    ],
)  # fmt: skip
def test_a_page_that_rebinds_its_name_to_us_is_not_answered(house: House, host: str) -> None:
    """Only known names, and the address at which the connection arrived, are answered."""
    reply = asyncio.run(request(house.app, "GET", "/api/session", [("host", host)]))
    assert reply.status in (400, 421)
    assert host not in reply.body.decode() or host in ("", "0")


@pytest.mark.parametrize(
    ("host", "server"),
    [
        (HOST, "192.168.1.2"),
        ("Referee.Local", "192.168.1.2"),
        ("referee.local.", "192.168.1.2"),
        ("referee.local:8080", "192.168.1.2"),
        ("192.168.1.2", "192.168.1.2"),
        ("192.168.1.2.", "192.168.1.2"),
        ("192.168.1.2:8080", "::ffff:192.168.1.2"),
        ("[fe80::1]:8080", "fe80::1%eth0"),
        ("[FD00::0:1]", "fd00::1"),
    ],
)
def test_the_machines_own_names_and_addresses_are_answered(house: House, host: str, server: str) -> None:
    """In every spelling."""
    assert asyncio.run(request(house.app, "GET", "/api/session", [("host", host)], server=server)).status == 200


def test_two_hosts_or_none_are_refused(house: House) -> None:
    """A proxy in front might read them differently."""
    assert asyncio.run(request(house.app, "GET", "/api/session", [])).status == 421
    two = [("host", HOST), ("host", "evil.example")]
    assert asyncio.run(request(house.app, "GET", "/api/session", two)).status == 400


def test_this_machine_has_names() -> None:
    """Its own, localhost, and those of the settings."""
    hosts = Hosts.of_this_machine(("Table.Example.", "[FD00::0:5]"))
    assert hosts.knows("localhost", None)
    assert hosts.knows(f"{socket.gethostname().partition('.')[0].lower()}.local", None)
    assert hosts.knows("table.example", None)
    assert hosts.knows("fd00::5", None)
    assert not hosts.knows("", None)
    assert not hosts.knows("other", "192.168.1.2")


ORIGINS = [
    "http://evil.example", "null", "", f"https://{HOST}", f"{OWN}.evil.example", f"{OWN}:81", "http://localhost",
    f"{OWN}/", "file://", f"{OWN} {OWN}",
]  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_change_that_another_page_asks_for_is_refused(house: House, origin: str) -> None:
    """Even with cookie and token."""
    paired = house.pair()
    headers = [("host", HOST), ("origin", origin), JSON, *paired.headers]
    reply = asyncio.run(request(house.app, "POST", "/api/control/pause", headers, [b"{}"]))
    assert reply.status == 403
    assert not house.main.commands


def test_a_change_must_say_where_it_comes_from(house: House) -> None:
    """No Origin, no change."""
    headers = [("host", HOST), JSON, *house.pair().headers]
    assert asyncio.run(request(house.app, "POST", "/api/control/pause", headers, [b"{}"])).status == 403
    assert not house.main.commands


@pytest.mark.parametrize("site", ["cross-site", "same-site", "strange"])
def test_what_a_browser_says_of_the_asking_page_is_heeded(house: House, site: str) -> None:
    """Sec-Fetch-Site; a link may open the page, and nothing more."""
    paired = house.pair()
    said = [("sec-fetch-site", site)]
    assert house.post("/api/control/pause", {}, [*paired.headers, *said]).status == 403
    assert house.get("/api/session", said).status == 403
    followed = [*said, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    assert house.get("/api/session", followed).status == 200
    assert (
        house.get("/api/session", [*said, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]).status == 403
    )
    assert house.post("/api/control/pause", {}, [*paired.headers, *followed]).status == 403
    assert not house.main.commands


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_page_itself_may(house: House, site: str) -> None:
    """With the headers that browsers send."""
    assert house.get("/api/session", [("sec-fetch-site", site), ("origin", OWN)]).status == 200


def test_an_event_stream_for_another_page_is_refused(tmp_path: Path) -> None:
    """By its Origin."""
    house = House(tmp_path, app())
    assert house.get("/events", [("origin", "http://evil.example"), ("accept", "text/event-stream")]).status == 403
    assert house.get("/events", [("accept", "text/event-stream")]).status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "FOO", ""])
def test_other_methods_do_not_exist(house: House, method: str) -> None:
    """Preflight requests are not answered either."""
    headers = [("host", HOST), ("origin", OWN), JSON, *house.pair().headers]
    reply = asyncio.run(request(house.app, method, "/api/control/pause", headers, [b"{}"]))
    assert reply.status == 405
    assert reply.header("access-control-allow-origin") is None
    assert not house.main.commands


@pytest.mark.parametrize("path", ["/api/control/pause", "/events", "/", "/nowhere"])
def test_websockets_are_refused_everywhere(house: House, path: str) -> None:
    """From every client."""
    headers = [("host", HOST), ("origin", OWN), *house.pair().headers]
    assert asyncio.run(request(house.app, "GET", path, headers, kind="websocket")).status == 403
    assert not house.main.commands


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("/../etc/passwd", None), ("/static/../control.sock", None), ("//evil.example/", None), ("/a//b", None),
        ("/a\\b", None), ("/a\x00b", None), ("/a\nb", None), ("/static/../../x", b"/static/%2e%2e/%2e%2e/x"),
        ("/static//x", b"/static/%2fx"), ("/a/b", b"/a%2Fb"), ("/a\\b", b"/a%5cb"), ("/%2e", b"/%252e"), ("/.", None),
        ("http://evil.example/", None), ("*", None), ("", None), ("/a/./b", None),
    ],
)  # fmt: skip
def test_paths_with_tricks_are_refused(house: House, path: str, raw: bytes | None) -> None:
    """Before any route sees them."""
    assert house.get(path, raw_path=raw).status == 400


def test_addresses_that_are_too_long_are_refused(house: House) -> None:
    """Path and query."""
    assert house.get("/" + "a" * 1000).status == 414
    assert house.get("/api/session", query=b"a" * 2001).status == 414
    assert house.get("/api/session", query=b"a" * 2000).status == 200


@pytest.mark.parametrize(
    "kind",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "", "application/json5"],
)
def test_a_form_of_another_page_cannot_post(house: House, kind: str) -> None:
    """A form sends cookies where a browser is old; it cannot send JSON."""
    headers = [("host", HOST), ("origin", OWN), ("content-type", kind), *house.pair().headers]
    reply = asyncio.run(request(house.app, "POST", "/api/control/pause", headers, [b"{}"]))
    assert reply.status == 415
    assert not house.main.commands


def test_large_bodies_are_refused_by_what_they_say_and_by_what_they_are(house: House) -> None:
    """Declared: nothing of it is read. Undeclared: no more than the limit."""
    paired, limit = house.pair(), Limits().body
    said = [*paired.headers, ("content-length", str(limit + 1))]
    assert house.post("/api/control/pause", b"", said, endless=True).status == 413
    assert house.post("/api/control/pause", b"", [*paired.headers, ("content-length", "9" * 5000)]).status == 413
    assert house.post("/api/control/pause", b"", [*paired.headers, ("content-length", "-1")]).status == 413
    headers = [("host", HOST), ("origin", OWN), JSON, *paired.headers]
    pieces = [b" " * 1024] * 65
    assert asyncio.run(request(house.app, "POST", "/api/control/pause", headers, pieces)).status == 413
    fits = [b"{}" + b" " * (limit - 2)]
    assert asyncio.run(request(house.app, "POST", "/api/control/pause", headers, fits)).status == 200
    assert len(house.main.commands) == 1


def test_a_body_that_dawdles_is_given_up(tmp_path: Path) -> None:
    """The time limit ends it first."""
    house = House(tmp_path, limits=Limits(body_ns=20_000_000))
    reply = house.post("/api/control/pause", b'{"', house.pair().headers, endless=True)
    assert reply.status == 408
    assert not house.main.commands


def test_a_body_that_breaks_off_changes_nothing(house: House) -> None:
    """Even if the part that arrived would have been enough."""
    assert house.post("/api/control/pause", b"{}", house.pair().headers, breaks_off=True).status == 400
    assert not house.main.commands


def test_a_reading_request_has_no_body(house: House) -> None:
    """Another server might read it as two requests."""
    assert house.get("/api/session", [("content-length", "5")]).status == 400
    assert house.get("/api/session", [("transfer-encoding", "chunked")]).status == 400
    assert house.get("/api/session", [("content-length", "0")]).status == 200


def test_every_answer_carries_the_headers_and_none_of_the_apps_laxer_ones(tmp_path: Path) -> None:
    """Refusals carry them too, whatever the app sets."""
    house = House(tmp_path, app())
    for path in ("/frames", "/static/a.css", "/nowhere", "/fails", "/a//b"):
        reply = house.get(path)
        policy = reply.header("content-security-policy") or ""
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("referrer-policy") == "same-origin"
        assert reply.header("access-control-allow-origin") is None
        assert reply.header("cache-control") == ("public" if path.startswith("/static/") else "no-store")


def test_what_goes_wrong_inside_is_told_in_plain_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the visitor nor the log gets the request's content or the detailed failure."""
    house = House(tmp_path, app())
    with caplog.at_level(logging.DEBUG):
        reply = house.get("/fails", query=b"code=123456")
    assert reply.status == 500
    assert b"secret" not in reply.body
    assert b"Traceback" not in reply.body
    assert b"the game is not affected" in reply.body
    ours = [record.getMessage() for record in caplog.records if record.name == "referee.page"]
    assert ours == ["RuntimeError while answering GET"]
    assert house.get("/breaks").body == b"begun"


def test_too_many_requests_wait_and_others_do_not(tmp_path: Path) -> None:
    """Each address separately, changes apart from reads; the allowance is refilled with time."""
    house = House(tmp_path, limits=Limits(reads=5, reads_ns=5 * SECOND, changes=3, changes_ns=3 * SECOND))
    assert [house.get("/api/session").status for _ in range(6)] == [200] * 5 + [429]
    assert house.get("/api/session", client="192.168.1.77").status == 200
    refused = house.get("/api/session")
    assert int(refused.header("retry-after") or 0) == 1
    house.clock[0] += SECOND
    assert [house.get("/api/session").status for _ in range(2)] == [200, 429]
    assert [house.post("/api/pair", {"code": "000000"}).status for _ in range(4)] == [409] * 3 + [429]


def test_a_page_that_may_be_read_gets_its_styles_too(tmp_path: Path) -> None:
    """A visitor who turns pages quickly still gets styled ones; but styles are limited, too."""
    house = House(tmp_path, limits=Limits(reads=5, reads_ns=5 * SECOND, files=40))
    for _ in range(5):
        assert house.get("/api/session").status == 200
        assert 429 not in {house.get(f"/static/{name}").status for name in ("palette.css", "page.css", "theme.js")}
    assert house.get("/api/session").status == 429
    assert [house.get("/static/page.css").status == 429 for _ in range(26)] == [False] * 25 + [True]


def test_buckets_forget_addresses_that_are_many() -> None:
    """Memory is bounded, whatever the number of clients."""
    buckets = Buckets(2, 2 * SECOND, most=10)
    for number in range(1000):
        assert buckets.wait(f"a{number}", 0) == 0
    assert len(buckets._empty_until) == 10
    assert [buckets.wait("a999", 0) for _ in range(2)] == [0, SECOND]
    assert buckets.wait("a999", SECOND) == 0


def test_streams_are_counted_by_address_and_together(tmp_path: Path) -> None:
    """One address cannot take all streams, all together cannot take everything; paired devices get in."""
    going = asyncio.Event()

    async def stream(_: Request) -> StreamingResponse:
        async def parts() -> Any:
            yield b"x"
            await going.wait()

        return StreamingResponse(parts(), media_type="text/event-stream")

    house = House(tmp_path, Starlette(routes=[Route("/events", stream)]), limits=Limits(streams=2, all_streams=3))
    token = house.control.sessions.begin("phone", house.clock[0])

    async def run() -> list[int]:
        headers = [("host", HOST), ("accept", "text/event-stream")]
        open_: list[asyncio.Task[Any]] = []
        refused = []
        for client in ("a", "a", "a", "b", "c"):
            task = asyncio.create_task(request(house.app, "GET", "/events", headers, client=client, endless=True))
            open_.append(task)
            for _ in range(20):
                await asyncio.sleep(0)
            if task.done():
                refused.append(task.result().status)
        known = [*headers, ("cookie", f"referee={token}")]
        task = asyncio.create_task(request(house.app, "GET", "/events", known, client="d", endless=True))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not task.done()
        going.set()
        await asyncio.gather(*open_, task)
        assert house.app._streams.total() == 0
        return refused

    assert asyncio.run(run()) == [503, 503]


def test_the_cookie_is_kept_from_scripts_and_other_sites(tmp_path: Path) -> None:
    """HttpOnly, SameSite=Strict; over https bound to this host."""
    plain = House(tmp_path / "a").pair().set_cookie.lower()
    assert "httponly" in plain
    assert "samesite=strict" in plain
    assert "path=/" in plain
    assert "secure" not in plain
    assert "domain" not in plain
    secure = House(tmp_path / "b", secure=True).pair().set_cookie
    assert secure.startswith("__Host-referee=")
    assert "secure" in secure.lower()


def test_a_cookie_that_is_there_twice_opens_nothing(house: House) -> None:
    """The other may be planted; two equal ones count as one."""
    paired = house.pair()
    for number in range(10):
        planted = [f"referee=planted{number}", paired.cookie]
        for both in ("; ".join(planted), "; ".join(reversed(planted))):
            assert not house.get("/api/session", [("cookie", both)]).said["paired"]
    assert house.get("/api/session", [("cookie", f"lang=de; {paired.cookie}; {paired.cookie}")]).said["paired"]


def test_hosts_are_those_of_these_tests() -> None:
    """The names above are known, so that each refusal has another reason."""
    assert HOSTS.knows(HOST, None)
