"""The description of the page's routes (OpenAPI 3.1).

Those that change something are made from the table of commands, those that are only read from the app's own table of
routes: whatever is served there is described here.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final

from starlette.routing import BaseRoute, Route

from referee.control.commands import CHECKING, KINDS, PAIRING, SIGNING_OUT, Kind
from referee.text.catalogue import LANGUAGES

_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["accepted", "words"],
    "properties": {
        "accepted": {"type": "boolean"},
        "words": {"type": "string"},
        "lang": {
            "type": "string",
            "enum": list(LANGUAGES),
            "description": "the language of the words, which is that of the request where they are known in it",
        },
    },
}
_REFUSALS: Final = {
    "400": "the fields are not what they should be",
    "401": "this device is not paired",
    "403": "the request does not come from the page itself",
    "408": "the request did not arrive in time",
    "409": "the table refuses, and says why",
    "413": "too large",
    "415": "not JSON",
    "429": "too often",
    "503": "no game is running",
}

_UNREAD: Final = {
    "400": "there is no such address",
    "403": "another page made this request",
    "404": "there is no such game, hand, ruling or file",
    "414": "the address is too long",
    "422": "the game's lines are damaged, or too many to be shown",
    "429": "too often",
    "503": "the record cannot be read, or too many pages are open",
}
_NUMBER: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
_ASKED: Final[dict[str, dict[str, Any]]] = {
    "lang": {"type": "string", "enum": list(LANGUAGES)},
    "from": _NUMBER,
    "at": _NUMBER,
    "id": {"type": "string", "description": "the id of a ruling"},
    "slap": {"type": "string", "description": "the id of a hand"},
    "width": _NUMBER,
    "theme": {"type": "string", "enum": ["light", "dark"]},
    "all": {"type": "string", "enum": ["1"]},
}
"""What addresses may carry behind the question mark; what a route does not know it does not look at."""
_MEDIA: Final = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
}
_RETURNS: Final = {"JSONResponse": "application/json", "StreamingResponse": "text/event-stream"}
_PLACE: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _body(kind: Kind) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "required": list(kind.required),
        "properties": {name: dict(field) for name, field in kind.fields.items()},
    }
    if kind.at_least_one:
        schema["anyOf"] = [{"required": [name]} for name in kind.optional]
    return schema


def _change(name: str, kind: Kind, *, open_: bool = False) -> dict[str, Any]:
    answers = {"200": {"description": "done", "content": _content(_ANSWER)}}
    for status, words in _REFUSALS.items():
        answers[status] = {"description": words, "content": _content(_ANSWER)}
    return {
        "post": {
            "operationId": name,
            "summary": kind.title,
            "security": [] if open_ else [{"session": [], "csrf": []}],
            "requestBody": {"required": True, "content": _content(_body(kind))},
            "responses": answers,
        }
    }


def _read(name: str, words: str, *refusals: str) -> dict[str, Any]:
    answers: dict[str, Any] = {"200": {"description": words, "content": _content({"type": "object"})}}
    for status in ("403", "429", *refusals):
        answers[status] = {"description": _REFUSALS[status], "content": _content(_ANSWER)}
    return {"get": {"operationId": name, "summary": words, "responses": answers}}


def _media(path: str, handler: Any) -> list[str]:
    """Of a route's answer: by its name, else by what its handler says that it returns; a page is HTML."""
    if path.startswith("/static/"):
        return ["text/css", "text/javascript", "image/svg+xml", "font/ttf"]
    returned = str(inspect.signature(handler).return_annotation).rpartition(".")[2]
    return [_MEDIA.get(PurePosixPath(path).suffix) or _RETURNS.get(returned, "text/html")]


def _parameters(path: str) -> list[dict[str, Any]]:
    places = [
        {"name": name, "in": "path", "required": True, "schema": _NUMBER if kind == "int" else {"type": "string"}}
        for name, kind in _PLACE.findall(path)
    ]
    return places + [{"name": name, "in": "query", "schema": schema} for name, schema in _ASKED.items()]


def _look(route: Route) -> dict[str, Any]:
    """A route that is only read, as the table of routes has it."""
    handler = route.endpoint
    while isinstance(handler, functools.partial):
        handler = handler.func
    refusal: dict[str, Any] = {"text/html": {}, "text/plain": {}}
    answers: dict[str, Any] = {
        "200": {"description": "what was asked for", "content": {kind: {} for kind in _media(route.path, handler)}},
        "303": {"description": "it is elsewhere"},
        "304": {"description": "as it was"},
    }
    for status, words in _UNREAD.items():
        answers[status] = {"description": words, "content": refusal}
    return {
        "get": {
            "operationId": "get" + (re.sub(r"\W+", "_", _PLACE.sub(r"\1", route.path)).rstrip("_") or "_"),
            "summary": (inspect.getdoc(handler) or route.path).partition("\n")[0],
            "parameters": _parameters(route.path),
            "responses": answers,
        }
    }


def _looks(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    return {
        _PLACE.sub(r"{\1}", route.path): _look(route)
        for route in routes
        if isinstance(route, Route) and "GET" in (route.methods or ()) and not route.path.startswith("/api/")
    }


def description(routes: Iterable[BaseRoute] = ()) -> dict[str, Any]:
    """The whole description.

    Args:
        routes: of the app; those that are only read, and lie outside ``/api``, are described from them.
    """
    from referee.web.api import address

    return {
        "openapi": "3.1.0",
        "info": {"title": "Table Referee", "version": "1", "description": "Control of the table; see docs/control.md."},
        "components": {
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "referee"},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            }
        },
        "paths": {
            "/api/session": _read("session", "whether this device is paired"),
            "/api/devices": _read("devices", "the devices that are paired", "401"),
            "/api/openapi.json": _read("openapi", "this description"),
            "/api/pair": _change("pair", PAIRING, open_=True),
            "/api/devices/sign-out": _change("sign_out", SIGNING_OUT),
            "/api/rules/check": _change("check", CHECKING),
            **{address(do): _change(do, kind) for do, kind in KINDS.items()},
            **_looks(routes),
        },
    }
