"""Every route is described, and every answer is as described: a small sample of `make page-fuzz`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.routing import Route

from referee.web.api import DESCRIPTION
from tests.web.browser import HOST, OWN, House
from tools.describe_api import as_text, describe
from tools.measure.page_fuzz import tried


def test_every_route_of_the_whole_page_is_described(whole: tuple[House, Path]) -> None:
    """The page serves this description itself, and it holds no route that does not exist."""
    house, _ = whole
    routes = [route for route in house.app.app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
    there = {(route.path.replace(":int", ""), method.lower()) for route in routes for method in route.methods or ()}
    paths: dict[str, Any] = house.get("/api/openapi.json").said["paths"]
    assert {(path, method) for path, methods in paths.items() for method in methods} == {
        (path, method) for path, method in there if method != "head"
    }
    assert DESCRIPTION.read_text(encoding="utf-8") == as_text(describe(routes)), "run python -m tools.describe_api"
    names = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(set(names)) == len(names)


def test_answers_are_of_the_kind_that_is_described(whole: tuple[House, Path]) -> None:
    """Each read-only route, with an existing target."""
    house, _ = whole
    paths: dict[str, Any] = house.get("/api/openapi.json").said["paths"]
    tried_ = 0
    for path, methods in paths.items():
        if "get" not in methods or "{t}" in path:
            continue
        reply = house.get(path.replace("{game}", "1").replace("{name}", "page.css"))
        described = methods["get"]["responses"][str(reply.status)]
        kind = (reply.header("content-type") or "").partition(";")[0]
        assert kind in described.get("content", {kind: {}}), (path, reply.status, kind)
        tried_ += reply.status == 200
    assert tried_ > 15


def test_made_up_requests_of_a_paired_device_meet_the_description(tmp_path: Path) -> None:
    done, desk = tried(tmp_path, "--phases", "fuzzing", paired=True, examples=1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert desk.accepted > 0


def test_a_refusal_waits_for_the_rest_of_the_request(whole: tuple[House, Path]) -> None:
    """A connection closed with unread bytes is reset, and the client never learns the reason of the refusal."""
    house, _ = whole
    order: list[str] = []
    pieces = [b'{"line"', b':"c1"}']

    async def receive() -> dict[str, Any]:
        order.append("heard")
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: dict[str, Any]) -> None:
        order.append(message["type"])

    headers = {"host": HOST, "origin": OWN, "content-type": "text/plain"}
    scope = {
        "type": "http", "method": "POST", "path": "/api/control/void", "raw_path": b"/api/control/void",
        "scheme": "http", "query_string": b"", "client": ("192.168.1.9", 5), "server": ("192.168.1.2", 80),
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
    }  # fmt: skip
    asyncio.run(house.app(scope, receive, send))  # type: ignore[arg-type]
    assert order == ["heard", "heard", "http.response.start", "http.response.body"]
