"""Write the description of the page's routes (OpenAPI 3.1), which the page serves as ``/api/openapi.json``.

``python -m tools.describe_api`` makes it from the routes of the whole page and the models of the posted fields, and
stores it as ``referee/web/openapi.json``. A test fails if that file differs from this tool's output.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema
from starlette.routing import BaseRoute, Route

from referee.cli.serve import page_options
from referee.text.catalogue import LANGUAGES
from referee.web.api import DESCRIPTION, POSTED, Control
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.security.guard import OPEN_CHANGES
from referee.web.server import build
from referee.web.site import Site

_LANGUAGE: Final = {"type": "string", "enum": list(LANGUAGES)}
_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["accepted", "words"],
    "properties": {"accepted": {"type": "boolean"}, "words": {"type": "string"}, "lang": _LANGUAGE},
}
_REFUSALS: Final = {
    400: "the fields are not what they should be, or there is no such address",
    401: "this device is not paired",
    403: "the request does not come from the page itself",
    404: "there is no such game, hand, ruling or file",
    408: "the request did not arrive in time",
    409: "the table refuses, and says why",
    413: "too large",
    414: "the address is too long",
    415: "not JSON",
    422: "the game's lines are damaged, or too many to be shown",
    429: "too often",
    503: "no game is running, the record cannot be read, or too many pages are open",
}
_OF_A_CHANGE: Final = (400, 401, 403, 408, 409, 413, 415, 429, 503)
_OF_A_PAGE: Final = (400, 401, 403, 404, 414, 422, 429, 503)
_NUMBER: Final = {"type": "integer", "minimum": 0}
_QUERY: Final[dict[str, dict[str, Any]]] = {
    "lang": _LANGUAGE,
    "from": _NUMBER,
    "at": _NUMBER,
    "id": {"type": "string", "description": "the id of a ruling"},
    "slap": {"type": "string", "description": "the id of a hand"},
    "width": _NUMBER,
    "theme": {"type": "string", "enum": ["light", "dark"]},
    "all": {"type": "string", "enum": ["1"]},
}
"""Query parameters; a route ignores those that it does not know."""
_MEDIA: Final = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".zip": "application/zip",
    "JSONResponse": "application/json",
    "StreamingResponse": "text/event-stream",
}
"""Content type by the end of a route's address, or by its handler's return type; a page is HTML."""
_STATIC: Final = ("text/css", "text/javascript", "image/svg+xml", "font/ttf")
_PLACE: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")


class _Schema(GenerateJsonSchema):
    """A model's schema without generated titles and without the null of optional fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])


def describe(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Return the description of these routes."""
    paths: dict[str, Any] = {}
    for route in routes:
        if isinstance(route, Route):
            operation = {"post": _post(route.path)} if route.path in POSTED else {"get": _get(route)}
            paths.setdefault(_PLACE.sub(r"{\1}", route.path), {}).update(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Table Referee", "version": "1", "description": "Control of the table; see docs/control.md."},
        "components": {
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "referee"},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            }
        },
        "paths": paths,
    }


def as_text(description: dict[str, Any]) -> str:
    """Return the file's text: one line for each address."""
    lines = [f"{json.dumps(path)}:{_compact(operations)}" for path, operations in description["paths"].items()]
    head = _compact({name: value for name, value in description.items() if name != "paths"})
    return head.removesuffix("}") + ',"paths":{\n' + ",\n".join(lines) + "\n}}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _post(path: str) -> dict[str, Any]:
    kind = POSTED[path]
    schema = kind.model_json_schema(schema_generator=_Schema)
    if kind.needs_one:
        schema["anyOf"] = [{"required": [name]} for name in kind.needs_one]
    answer = {"application/json": {"schema": _ANSWER}}
    return {
        "operationId": _name(path),
        "summary": kind.__doc__,
        "security": [] if path in OPEN_CHANGES else [{"session": [], "csrf": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"description": "done", "content": answer}}
        | {str(status): {"description": _REFUSALS[status], "content": answer} for status in _OF_A_CHANGE},
    }


def _get(route: Route) -> dict[str, Any]:
    handler: Any = route.endpoint
    while isinstance(handler, functools.partial):
        handler = handler.func
    returned = str(inspect.signature(handler).return_annotation).rpartition(".")[2]
    media = _MEDIA.get(PurePosixPath(route.path).suffix) or _MEDIA.get(returned, "text/html")
    kinds = _STATIC if route.path.startswith("/static/") else (media,)
    in_api = route.path.startswith("/api/")
    refusal: dict[str, Any] = (
        {"application/json": {"schema": _ANSWER}}
        if in_api
        else {"text/html": {}, "text/plain": {}} | ({media: {}} if media == "application/json" else {})
    )
    statuses = (401, 403, 429) if in_api else _OF_A_PAGE
    places = [
        {"name": name, "in": "path", "required": True, "schema": _NUMBER if kind == "int" else {"type": "string"}}
        for name, kind in _PLACE.findall(route.path)
    ]
    query = [] if in_api else [{"name": name, "in": "query", "schema": schema} for name, schema in _QUERY.items()]
    return {
        "operationId": f"get_{_name(route.path)}",
        "summary": (inspect.getdoc(handler) or route.path).partition("\n")[0],
        "parameters": [*places, *query],
        "responses": {
            "200": {"description": "what was asked for", "content": {kind: {} for kind in kinds}},
            "303": {"description": "it is elsewhere"},
            "304": {"description": "as it was"},
        }
        | {str(status): {"description": _REFUSALS[status], "content": refusal} for status in statuses},
    }


def _name(path: str) -> str:
    path = _PLACE.sub(r"\1", path).removeprefix("/api/control").removeprefix("/api")
    return re.sub(r"\W+", "_", path).strip("_")


def main() -> None:
    """Describe the whole page."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Site(GameCache(Path(folder) / "record.db"), Hub(Board()))) as site,
    ):
        routes = build(site, Control(Path(folder) / "run").routes(), page_options()).routes
        DESCRIPTION.write_text(as_text(describe(routes)), encoding="utf-8")


if __name__ == "__main__":
    main()
