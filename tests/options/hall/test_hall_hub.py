"""The hall without broker and socket: messages as paho would hand them over, requests straight to the app."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from starlette.types import ASGIApp

from referee.options.broker.connection import Broker
from referee.options.broker.messages import LONGEST_PAYLOAD, Telling, encoded, wall_time
from referee.options.broker.service import Tally
from referee.options.hall.app import HallHub, build
from referee.options.hall.tables import Hall
from tests.options.broker.fake_broker import MQTT_3_1_1, MQTT_5, FakeBroker
from tests.options.broker.test_telling import NAMES, VIEW, WON
from tests.support.patience import PATIENCE
from tests.web.browser import HOST, Reply, request

NOBODY = Broker("")
"""A host that cannot exist: no connection is tried, and the hall's own loop goes on all the same."""


class Room:
    """A hall with messages and views driven by the test."""

    def __init__(self) -> None:
        self.hub = HallHub(NOBODY, "referee")
        self.app: ASGIApp = build(self.hub)
        self.telling = Telling("run")
        self.telling.begin(1, NAMES)

    def hear(self, leaf: str, payload: dict[str, Any] | bytes, *, table: str = "t1", retained: bool = False) -> None:
        """Deliver a message; the hub processes it at its next look."""
        data = payload if isinstance(payload, bytes) else encoded(payload)
        paho: Any = self.hub.connection.client
        paho.on_message(None, None, _Message(f"referee/{table}/{leaf}", data, retained))

    def state(self, table: str = "t1", **more: Any) -> None:
        self.hear("available", b"online", table=table)
        self.hear("state", {**self.telling.state(VIEW), **more}, table=table)

    async def get(self, path: str, *, query: bytes = b"") -> Reply:
        return await request(self.app, "GET", path, [("host", HOST)], query=query)


class _Message:
    """A message in paho's form."""

    def __init__(self, topic: str, payload: bytes, retain: bool) -> None:
        self.topic, self.payload, self.retain = topic, payload, retain


class FailsOnce(Hall):
    """Fails to process messages, the first time."""

    failed = False

    def settle(self, now: int) -> bool:
        if not self.failed:
            self.failed = True
            raise RuntimeError("an unforeseen fault")
        return super().settle(now)


async def _event(stream: AsyncIterator[bytes]) -> dict[str, Any]:
    """Return the next event's data; keep-alives are skipped."""
    async for part in stream:
        if b"data: " in part:
            found: dict[str, Any] = json.loads(part.split(b"data: ")[1])
            return found
    raise AssertionError("the stream has ended")


async def _leave(stream: AsyncIterator[bytes]) -> None:
    """Close the viewer's page."""
    assert isinstance(stream, AsyncGenerator)
    await stream.aclose()


def played(evening: Callable[[Room], Awaitable[None]]) -> None:
    """Run a room that listens during the action; then close all connections."""

    async def whole() -> None:
        room = Room()
        room.hub.connection.connected.set()
        await room.hub.start()
        try:
            await evening(room)
        finally:
            await room.hub.stop()
        assert room.hub.closed

    asyncio.run(asyncio.wait_for(whole(), PATIENCE))


def test_a_viewer_is_told_everything_and_then_what_changes() -> None:
    async def evening(room: Room) -> None:
        room.state()
        stream = room.hub.stream("de")
        assert await anext(stream) == b"retry: 1500\n\n"
        while not (told := await _event(stream))["tables"]:
            pass
        assert room.hub.viewers == 1
        assert told["tables"]["t1"]["condition"] == "live"
        assert told["tables"]["t1"]["names"] == list(NAMES)
        room.hear("ruling", room.telling.ruling(WON))
        said = await _event(stream)
        assert said["whole"] is False
        assert said["tables"]["t1"]["said"]["words"].startswith("Cho gewinnt den Schlag")
        assert "names" not in said["tables"]["t1"], "only what differs"
        await _leave(stream)
        assert room.hub.viewers == 0

    played(evening)


def test_one_table_is_told_with_its_recent_rulings_and_no_other_table() -> None:
    async def evening(room: Room) -> None:
        room.state()
        room.state("t2")
        room.hear("ruling", room.telling.ruling(WON))
        stream = room.hub.stream("en", "t1")
        while "recent" not in (told := await _event(stream))["tables"].get("t1", {}):
            pass
        assert set(told["tables"]) == {"t1"}
        assert [ruling["kind"] for ruling in told["tables"]["t1"]["recent"]] in ([], ["slap_won"])
        await _leave(stream)

    played(evening)


def test_a_broker_that_is_gone_is_told_to_everybody() -> None:
    async def evening(room: Room) -> None:
        stream = room.hub.stream("en")
        await anext(stream)
        while not (await _event(stream))["broker"]:
            pass
        room.hub.connection.connected.clear()
        assert (await _event(stream))["broker"] is False
        await _leave(stream)

    played(evening)


def test_all_viewers_go_when_the_hall_closes() -> None:
    async def evening(room: Room) -> None:
        streams = room.hub.stream("en"), room.hub.league_stream()
        for stream in streams:
            await anext(stream)
        assert room.hub.viewers == 2
        room.hub.close()
        for stream in streams:
            async for _ in stream:
                pass
        assert room.hub.viewers == 0

    played(evening)


def test_a_look_that_fails_is_told_in_the_log_and_the_next_one_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    async def evening(room: Room) -> None:
        room.hub.hall = FailsOnce()
        room.state()
        stream = room.hub.stream("en")
        while "t1" not in (await _event(stream))["tables"]:
            pass
        await _leave(stream)

    played(evening)
    assert "processing the broker's messages" in caplog.text


def test_messages_that_find_no_room_are_counted() -> None:
    room = Room()
    for _ in range(50_003):
        room.hear("available", b"online")
    assert room.hub.lost == 3


def test_the_league_shows_the_day_as_the_tables_tell_it() -> None:
    async def evening(room: Room) -> None:
        tally = Tally()
        tally.begin(wall_time()[:10], 1, NAMES)
        tally.take([WON])
        room.hear("day", tally.payload())
        stream = room.hub.league_stream()
        while not (told := await _event(stream))["rows"]:
            pass
        assert told["broker"] is True
        assert any("Cho" in row for row in told["rows"])
        shown = await room.get("/league")
        assert shown.status == 200 and b"Cho" in shown.body
        await _leave(stream)

    played(evening)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/", 200, b'id="tables"'),
        ("/projector", 200, b'class="projector hall"'),
        ("/tables/kitchen", 200, b'data-only="kitchen"'),
        ("/league", 200, b'id="league"'),
        ("/tables/a b", 404, b""),
        ("/nothing-here", 404, b""),
        ("/static/hall.js", 200, b"EventSource"),
        ("/static/none.js", 404, b""),
    ],
)
def test_each_page_is_there_and_every_other_is_not(path: str, status: int, words: bytes) -> None:
    reply = asyncio.run(Room().get(path))
    assert reply.status == status
    assert words in reply.body


def test_a_stream_of_a_table_that_cannot_be_is_not_there() -> None:
    reply = asyncio.run(Room().get("/events", query=b"table=%3Cscript%3E"))
    assert reply.status == 404


@pytest.mark.parametrize("path", ["/events", "/league/events"])
def test_a_stream_is_never_kept_by_anybody_in_between(path: str) -> None:
    room = Room()
    room.hub.close()
    reply = asyncio.run(room.get(path))
    assert (reply.status, reply.header("content-type")) == (200, "text/event-stream; charset=utf-8")
    assert reply.header("cache-control") == "no-store"


def test_a_host_that_cannot_be_is_told_in_words() -> None:
    async def evening(room: Room) -> None:
        trouble = (await room.get("/healthz")).said["trouble"]
        assert "no connection to the broker can be made" in trouble
        assert "look at password file, host and TLS" in trouble

    played(evening)


def test_its_health_says_what_is_amiss() -> None:
    health = asyncio.run(Room().get("/healthz")).said
    assert health["well"] is False
    assert "has not answered yet" in health["trouble"]
    assert (health["tables"], health["viewers"], health["lost"]) == (0, 0, 0)


def test_a_message_that_is_too_large_takes_up_no_room() -> None:
    room = Room()
    for size in (LONGEST_PAYLOAD, LONGEST_PAYLOAD + 1):
        room.hear("state", b" " * size)
    assert [len(payload) < 20 for _, payload, *_ in room.hub._heard] == [False, True]


@pytest.mark.parametrize(
    ("newest", "levels", "heard"), [(MQTT_5, [MQTT_5], [2]), (MQTT_3_1_1, [MQTT_5, MQTT_3_1_1], [9, 2])]
)
def test_a_message_that_is_too_large_is_not_even_sent_where_the_broker_speaks_mqtt_5(
    newest: int, levels: list[int], heard: list[int]
) -> None:
    messages = [("referee/t1/state", b"x" * (LONGEST_PAYLOAD + 1)), ("referee/t1/state", b"{}")]
    with FakeBroker(newest, messages) as fake:
        hub = HallHub(Broker("127.0.0.1", fake.port), "referee")
        hub.connection.start()
        assert fake.taken.wait(PATIENCE), hub.connection.trouble
        assert hub.connection.trouble == ""
        hub.connection.stop()
    assert fake.levels == levels
    assert [len(payload) for _, payload, *_ in hub._heard] == heard
