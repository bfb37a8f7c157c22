"""Requests generated from the page's own description, and requests outside it: never a 5xx.

`make page-fuzz N=20000` tries more of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.web.api import DESCRIPTION, POSTED
from referee.web.security.sessions import csrf_of
from tests.web.browser import HOST, OWN, House, request

EXAMPLES = int(os.environ.get("PAGE_FUZZ", "40"))
MORE = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
POSTS = sorted(POSTED)
PATHS: dict[str, Any] = json.loads(DESCRIPTION.read_bytes())["paths"]
READS = (
    "/", "/projector", "/control", "/games", "/games/{}", "/games/{}/replay", "/games/{}/steps", "/games/{}/ruling",
    "/games/{}/finish", "/games/{}/finish.svg", "/games/{}/rulings.csv", "/games/{}/log.jsonl", "/games/{}/figures",
    "/figures", "/rules", "/recent.json", "/static/{}", "/api/session", "/api/devices", "/{}",
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=10,
)


def fitting(schema: Any) -> st.SearchStrategy[Any]:
    """Values that a schema allows."""
    if "anyOf" in schema:
        return st.one_of([fitting(choice) for choice in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "string":
        if "pattern" in schema:
            return st.from_regex(re.compile(schema["pattern"], re.ASCII), fullmatch=True)
        return st.text(min_size=schema.get("minLength", 0), max_size=min(40, schema.get("maxLength", 40)))
    if schema["type"] == "integer":
        return st.integers(schema.get("minimum", 0), schema.get("maximum", 2**31))
    if schema["type"] == "array":
        return st.lists(fitting(schema["items"]), min_size=schema["minItems"], max_size=schema["maxItems"])
    return {"boolean": st.booleans(), "null": st.none()}.get(
        schema["type"], st.dictionaries(st.sampled_from(("base", "on", "off", "set")), ANYTHING, max_size=3)
    )


@st.composite
def bodies(draw: st.DrawFn, path: str) -> bytes:
    """Bodies to post: as described, nearly so, or anything at all."""
    schema = PATHS[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    fields = {name: draw(fitting(field)) for name, field in schema["properties"].items() if draw(st.booleans())}
    how = draw(st.sampled_from(("as described", "as described", "a field astray", "any JSON", "any bytes", "cut off")))
    if how == "any bytes":
        return draw(st.binary(max_size=200))
    if how == "any JSON":
        return json.dumps(draw(ANYTHING)).encode()
    if how == "a field astray":
        fields[draw(st.sampled_from([*schema["properties"], "do", "from", "x"]))] = draw(ANYTHING)
    raw = json.dumps(fields).encode()
    return raw[: draw(st.integers(0, len(raw)))] if how == "cut off" else raw


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize("path", POSTS)
def test_a_paired_page_gets_a_yes_or_a_no_in_words(house: House, path: str) -> None:
    """Every post gets one of the described answers."""

    @MORE
    @given(bodies(path))
    def tried(body: bytes) -> None:
        house.main.code()
        token = house.control.sessions.begin("phone", house.clock[0])
        headers = [("cookie", f"referee={token}"), ("x-csrf-token", csrf_of(token))]
        reply = house.post(path, body, headers)
        assert str(reply.status) in PATHS[path]["post"]["responses"]
        assert reply.status < 500
        assert reply.said["words"]
        assert reply.said["accepted"] is (reply.status == 200) or path == "/api/rules/check"

    tried()


@given(
    path=st.sampled_from(POSTS) | st.text(max_size=40).map(lambda text: "/" + text),
    method=st.sampled_from(("GET", "HEAD", "POST", "PUT", "FOO")) | st.text(max_size=8),
    headers=st.lists(
        st.tuples(
            st.sampled_from(
                ("host", "origin", "cookie", "x-csrf-token", "content-type", "content-length", "accept", "referer",
                 "sec-fetch-site", "transfer-encoding", "x-forwarded-for", "x-forwarded-host", "forwarded")
            ),
            st.sampled_from((HOST, OWN, "referee=x", "application/json", "text/event-stream", "0", "null", "http://evil.example"))
            | st.text(st.characters(max_codepoint=255), max_size=30),
        ),
        max_size=8,
    ),
    body=st.lists(st.binary(max_size=50), max_size=3),
    query=st.binary(max_size=60),
)  # fmt: skip
@MORE
def test_whoever_has_not_paired_changes_nothing_whatever_he_sends(
    house: House, path: str, method: str, headers: list[tuple[str, str]], body: list[bytes], query: bytes
) -> None:
    """Any headers, any method, any path: below 500, and the main process hears nothing."""
    before = len(house.main.commands)
    reply = asyncio.run(request(house.app, method, path, headers, body, query=query))
    assert reply.status < 500
    assert len(house.main.commands) == before


@given(
    path=st.sampled_from(READS),
    part=st.sampled_from(("1", "2", "0", "-1", "9" * 30, "page.css", "..", "%", "é", "1.0")) | st.text(max_size=12),
    query=st.lists(
        st.tuples(
            st.sampled_from(("lang", "from", "at", "id", "step", "ruling", "slap", "to", "n", "page", "t", "preset")),
            st.sampled_from(("de", "1", "-1", "9" * 25, "slap_won@s1", "xx", "")) | st.text(max_size=10),
        ),
        max_size=3,
    ),
    language=st.sampled_from(("de", "fr;q=0.5,es", "", "*", "x" * 50))
    | st.text(st.characters(max_codepoint=255), max_size=9),
)  # fmt: skip
@MORE
def test_reading_never_fails_inside(
    whole: tuple[House, Path], path: str, part: str, query: list[tuple[str, str]], language: str
) -> None:
    """Any game, any step, any language."""
    said = urlencode([(key, value.encode("utf-8", "replace").decode()) for key, value in query]).encode()
    house, _ = whole
    reply = house.get(path.format(part), [("accept-language", language)], query=said[:1900])
    assert reply.status < 500, (path, part, said, reply.body[:300])
