"""The hall's handling of messages, without a broker; invalid ones included."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.engine.rulings import Ruling
from referee.options.broker.messages import LEAVES, LONGEST_PAYLOAD, Telling, encoded
from referee.options.broker.service import TALLIED
from referee.options.hall.app import difference
from referee.options.hall.payloads import (
    LONGEST_PLAYER,
    DayPayload,
    RulingPayload,
    StatePayload,
    known_ruling,
    read_payload,
)
from referee.options.hall.tables import MOST_TABLES, SILENT_AFTER, Hall, rank_players
from referee.text.catalogue import LANGUAGES, texts
from referee.units import SECOND
from tests.options.broker.test_telling import ASKED, NAMES, TURN, VIEW, WON

SCRIPT = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


class Room:
    """A hall with one publishing table."""

    def __init__(self) -> None:
        self.hall = Hall()
        self.hall.broker(True)
        self.telling = Telling("run")
        self.telling.begin(1, NAMES)
        self.now = 0

    def hear(self, leaf: str, payload: dict[str, Any] | bytes, *, retained: bool = False, table: str = "t1") -> None:
        data = payload if isinstance(payload, bytes) else encoded(payload)
        self.hall.hear(f"referee/{table}/{leaf}", data, retained, self.now)
        self.hall.settle(self.now)

    def state(self, **more: Any) -> None:
        self.hear("state", {**self.telling.state(VIEW), **more})

    def ruling(self, ruling: Ruling) -> None:
        self.hear("ruling", self.telling.ruling(ruling))

    def shows(self, language: str = "en", since: int = 0, only: str | None = None) -> dict[str, Any]:
        data = difference(self.hall, since, texts(language), self.now, only)
        found: dict[str, Any] = json.loads(data) if data else {}
        return found

    def facts(self, table: str = "t1", **how: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.shows(**how)["tables"][table]
        return found


@pytest.fixture
def room() -> Room:
    made = Room()
    made.hear("available", b"online")
    return made


def test_a_table_is_shown_with_all_that_it_tells(room: Room) -> None:
    room.ruling(ASKED)
    room.state(troubles={"camera": "no frames"})
    facts = room.facts()
    assert (facts["condition"], facts["names"], facts["cards"]) == ("live", list(NAMES), [17, None, 16])
    assert (facts["pile"], facts["top"], facts["turn"], facts["pays"], facts["locked"]) == (3, "7c", 2, [2, 3], [3])
    assert facts["help"] and facts["asks"] == ["Which card is this?"] and facts["troubles"] == ["camera: no frames"]
    assert facts["said"] == {"kind": "question", "words": "Which card is this?"} and "recent" not in facts
    assert room.facts(language="de")["asks"] == ["Welche Karte ist das?"]
    assert [ruling["n"] for ruling in room.facts(only="t1")["recent"]] == [1]


def test_a_viewer_is_told_only_what_changed(room: Room) -> None:
    room.state()
    since = room.hall.change
    assert room.shows(since=since) == {}
    room.ruling(WON)
    assert set(room.facts(since=since)) == {"n", "said"}
    room.ruling(TURN)
    assert room.facts(since=since)["said"]["kind"] == "slap_won", "a turn is shown by the position"


def test_the_last_will_silences_a_table_at_once_and_its_age_is_told(room: Room) -> None:
    room.now = 5 * SECOND
    room.state()
    room.now = 9 * SECOND
    room.hear("available", b"offline")
    assert (room.facts()["condition"], room.facts()["quiet"], room.shows()["now"]) == ("silent", 5000, 9000)
    assert not room.facts()["asks"], "a silent table asks nothing"
    room.hear("available", b"online")
    assert room.facts()["condition"] == "live"


def test_a_table_that_hangs_is_silent_without_a_last_will(room: Room) -> None:
    room.state()
    for at, condition in ((SILENT_AFTER, "live"), (SILENT_AFTER + 1, "silent")):
        room.now = at
        room.hall.pass_time(at)
        room.hall.settle(at)
        assert room.facts()["condition"] == condition


def test_what_was_retained_is_no_sign_of_life(room: Room) -> None:
    room.state()
    room.now = SILENT_AFTER + 1
    room.hear("state", room.telling.state(VIEW), retained=True)
    assert room.facts()["condition"] == "silent"
    fresh = Room()
    fresh.hear("available", b"offline", retained=True)
    fresh.hear("state", fresh.telling.state(VIEW), retained=True)
    assert fresh.facts()["condition"] == "silent"


def test_nothing_is_live_without_the_broker(room: Room) -> None:
    room.state()
    room.hall.broker(False)
    room.hall.settle(room.now)
    assert (room.facts()["condition"], room.shows()["broker"]) == ("silent", False)


def test_a_retained_state_is_as_old_as_the_table_says() -> None:
    fresh = Room()
    fresh.now = 50 * SECOND
    written = datetime(2026, 3, 14, 18, 5, tzinfo=UTC)
    for name, at in (("t1", written.isoformat()), ("t2", "yesterday"), ("t3", "9999-12-31T23:59:59-23:59")):
        payload = encoded({**fresh.telling.state(VIEW), "at": at})
        fresh.hall.hear(f"referee/{name}/state", payload, True, fresh.now, written.timestamp() + 3600)
    fresh.hall.settle(fresh.now)
    assert fresh.facts("t1")["quiet"] == (50 - 3600) * 1000
    assert fresh.facts("t2")["quiet"] == fresh.facts("t3")["quiet"] == 50_000


@pytest.mark.parametrize(
    "more, condition", [({"paused": True}, "paused"), ({"on": False}, "over"), ({"game": None, "on": False}, "waiting")]
)
def test_conditions(room: Room, more: dict[str, Any], condition: str) -> None:
    room.state(**more)
    assert room.facts()["condition"] == condition


def test_rulings_that_never_came_are_counted_and_repeated_ones_are_not(room: Room) -> None:
    rulings = [room.telling.ruling(WON) for _ in range(6)]
    for place in (2, 2, 3, 5):
        room.hear("ruling", rulings[place])
    assert (room.hall.missed, room.facts()["n"]) == (1, 6)
    room.hear("ruling", {**rulings[0], "session": "switched on again"})
    assert (room.hall.missed, room.facts()["n"]) == (1, 1)


def test_a_table_that_is_cleared_off_the_broker_is_gone(room: Room) -> None:
    room.state()
    since = room.hall.change
    room.hear("state", b"", retained=True)
    assert room.shows(since=since)["gone"] == ["t1"] and room.shows()["tables"] == {}
    room.state()
    assert room.shows(since=since)["gone"] == []


def test_another_game_forgets_the_last_one_s_rulings(room: Room) -> None:
    room.state()
    room.ruling(WON)
    room.telling.begin(2, NAMES)
    room.state()
    assert room.facts()["said"] is None and room.facts(only="t1")["recent"] == []


def day_of(day: str, **players: tuple[int, ...]) -> DayPayload:
    rows = [{"name": name, **dict(zip(TALLIED, counts, strict=True))} for name, counts in players.items()]
    found = read_payload(DayPayload, json.dumps({"day": day, "players": rows}).encode())
    assert found is not None
    return found


def test_the_league_sums_a_day_over_all_tables() -> None:
    days = [
        day_of("2026-03-14", Ana=(2, 1, 9, 1, 50), Ben=(2, 1, 4, 0, 30)),
        day_of("2026-03-14", Ana=(1, 0, 2, 0, 5), Cho=(1, 1, 2, 0, 5)),
        day_of("2026-03-13", Ben=(9, 9, 9, 9, 9)),
    ]
    rows = rank_players(days, "2026-03-14")
    assert [(row.name, row.tables, row.games, row.won, row.slaps, row.false, row.cards) for row in rows] == [
        ("Ana", 2, 3, 1, 11, 1, 55), ("Ben", 1, 2, 1, 4, 0, 30), ("Cho", 1, 1, 1, 2, 0, 5),
    ]  # fmt: skip
    assert rank_players(days, "2026-03-15") == []


GOOD = Telling("run").state(VIEW)
HOSTILE: list[Any] = [
    b"", b"null", b"[]", b"nonsense", b"\xff\xfe", b'"x"', b"[" * 20000, b'{"a":' * 5000, b"9" * 5000, b"{" * 100,
    b" " * (LONGEST_PAYLOAD + 1), b'{"seats": NaN}', b'{"version":1}',
]  # fmt: skip
WRONG: list[dict[str, Any]] = [
    {"seats": "Ana"}, {"seats": [1]}, {"seats": [{}] * 17}, {"seats": [{"name": 5}]}, {"seats": None},
    {"seats": [{"name": "Ana", "cards": -1}]}, {"seats": [{"name": "Ana", "cards": 1.5}]},
    {"seats": [{"name": "Ana", "cards": True}]}, {"seats": [{"name": "Ana", "cards": 10**400}]}, {"pile": 5},
    {"pile": {"cards": "5"}}, {"pile": {"cards": 1, "top": "<b>"}}, {"pile": {"cards": 1, "top": ["7h"]}},
    {"turn": "Ana"}, {"turn": [1]}, {"winner": {}}, {"challenge": []}, {"challenge": {"challenged": 1}},
    {"questions": {}}, {"questions": [5]}, {"questions": [{"id": "q", "ask": 5}]}, {"troubles": []},
    {"troubles": {"camera": 5}}, {"last": 5}, {"on": 1}, {"n": -1}, {"n": None}, {"session": 7}, {"at": {}},
]  # fmt: skip


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_payload_changes_nothing(room: Room, payload: bytes) -> None:
    room.state()
    before = room.shows()
    for leaf in LEAVES[2:]:
        room.hear(leaf, payload)
    if payload:
        room.hear("state", payload)
        room.hear("available", payload)
        assert room.hall.refused == 4
    assert room.shows() == before


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_state_with_a_wrong_field_is_refused(room: Room, wrong: dict[str, Any]) -> None:
    assert read_payload(StatePayload, encoded(GOOD)) is not None
    assert read_payload(StatePayload, json.dumps({**GOOD, **wrong}).encode()) is None


@pytest.mark.parametrize(
    "ruling",
    [
        None, 5, [], {}, {"ruling": ["turn"]}, {"ruling": "turn"}, {"ruling": "turn", "id": "x", "t": "soon"},
        {"ruling": "{name.__class__.__mro__}", "id": "x", "t": 0}, {"ruling": "{name:>999999999}", "id": "x", "t": 0},
        {"ruling": "in_doubt", "id": "x", "t": 0}, {"ruling": "pile", "id": "x", "t": 0, "seat": 1, "count": "many"},
        {"ruling": "pile", "id": "x", "t": 0, "seat": 1, "count": float("inf")},
        {"ruling": "slap_won", "id": "x", "t": 0, "seat": 1}, {"ruling": "turn", "id": "x", "t": 0, "because": 5},
        {"ruling": "slap_won", "id": "x", "t": 0, "seat": 1, "patterns": [], "margin": 10**400, "error": 1},
        {"ruling": "dead_heat", "id": "x", "t": 0, "seats": 5, "margin": 1, "error": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_ruling_that_is_none_is_counted_but_never_said(room: Room, ruling: Any) -> None:
    room.state()
    room.hear("ruling", json.dumps({"session": "run", "n": 1, "ruling": ruling}).encode())
    assert (room.facts()["n"], room.facts()["said"]) == (1, None)


def test_names_and_sentences_are_bounded_and_show_what_they_say(room: Room) -> None:
    long, turned = "x" * 5000, "Ana\u202e\u0000\ud800Ben"
    seats = [{"name": name, "cards": 1} for name in (long, turned, SCRIPT)]
    room.hear("state", json.dumps({**GOOD, "seats": seats}).encode())
    names = room.facts()["names"]
    assert names == ["x" * LONGEST_PLAYER, "Ana Ben", SCRIPT[:LONGEST_PLAYER]]
    foul = {"ruling": "foul", "id": "x", "t": 0, "seat": 1, "foul": "{name}" + SCRIPT * 500}
    room.hear("ruling", {"session": "run", "n": 1, "ruling": foul})
    said = room.facts()["said"]["words"]
    assert said.startswith("Foul") and "{name}" in said and len(said) <= 300


def test_names_that_tell_nothing_keep_no_table_out() -> None:
    """A table that publishes its state is admitted to a hall full of made-up names, of which one makes way."""
    hall = Hall()
    hall.broker(True)
    telling = Telling("run")
    telling.begin(1, NAMES)
    state = encoded(telling.state(VIEW))
    hall.hear("referee/first/state", state, False, 1)
    for number in range(MOST_TABLES - 1):
        hall.hear(f"referee/junk{number}/available", b"online", False, 2)
    hall.hear("referee/late/available", b"online", False, 3)
    assert "late" not in hall.tables, "nor does it tell anything yet"
    hall.hear("referee/late/state", state, False, 4)
    assert {"first", "late"} <= set(hall.tables) and len(hall.tables) == MOST_TABLES
    assert "junk0" in hall.gone
    assert hall.tables["late"].condition(4, True) == "live", "what it said while there was no room is not said again"
    hall.hear("referee/late/available", b"offline", False, 5)
    assert hall.tables["late"].condition(5, True) == "silent"


def test_in_a_hall_full_of_tables_those_that_fell_silent_make_way() -> None:
    hall = Hall()
    telling = Telling("run")
    telling.begin(1, NAMES)
    state = encoded(telling.state(VIEW))
    for number in range(MOST_TABLES):
        hall.hear(f"referee/t{number}/state", state, False, number)
    hall.hear("referee/new/state", state, False, SILENT_AFTER)
    assert "new" not in hall.tables, "all of them tell"
    hall.hear("referee/new/state", state, False, SILENT_AFTER + 1)
    assert "new" in hall.tables and "t0" not in hall.tables


def test_a_flood_of_tables_is_bounded() -> None:
    hall = Hall()
    payload = encoded(GOOD)
    for number in range(MOST_TABLES + 50):
        hall.hear(f"referee/t{number}/state", payload, False, 0)
    assert (len(hall.tables), hall.refused) == (MOST_TABLES, 50)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
_FIELDS = st.dictionaries(st.sampled_from([*GOOD, "day", "players", "ruling"]), _JSON, max_size=4)


@settings(max_examples=300, deadline=None)
@given(more=_FIELDS, ruling=_JSON, kind=st.sampled_from(["turn", "slap_won", "question", "pile", "foul", "remind"]))
def test_made_up_payloads_never_break_the_hall(more: dict[str, Any], ruling: Any, kind: str) -> None:
    room = Room()
    room.state()
    body = ruling if isinstance(ruling, dict) else {"seat": ruling}
    told = {"session": "run", "n": 1, "ruling": {"ruling": kind, "id": "x", "t": 0, **body}}
    for leaf, payload in (("state", {**GOOD, **more}), ("day", {**more}), ("ruling", {**told}), ("ruling", {**more})):
        room.hear(leaf, json.dumps(payload).encode())
    for language in LANGUAGES:
        json.dumps(room.shows(language=language))
    data = json.dumps(more).encode()
    assert read_payload(StatePayload, data) is None
    told_ = read_payload(RulingPayload, data)
    known_ruling(told_ and told_.ruling, NAMES)
    read_payload(DayPayload, data)
