"""The description of the routes that change something (OpenAPI 3.1), made from the table of commands."""

from __future__ import annotations

from typing import Any, Final

from referee.app.commands import CHECKING, KINDS, PAIRING, SIGNING_OUT, Kind

_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["accepted", "words"],
    "properties": {"accepted": {"type": "boolean"}, "words": {"type": "string"}},
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


def description() -> dict[str, Any]:
    """The whole description."""
    from referee.app.page.control import address

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
        },
    }
