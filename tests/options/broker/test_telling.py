"""A table's messages, without a broker: payloads, the day's sums, Home Assistant, the queue."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.engine.rulings import Ruling
from referee.engine.view import ChallengeView, View
from referee.options.broker.messages import LONGEST_TOLD, Telling, Topics, announcements, encoded, filters, parsed
from referee.options.broker.service import BEAT, PACE, Outbox, Tally, local_day, tally_of
from referee.record.store import Record
from tests.web.table import BEGAN, Table, demo_lines

NAMES = ("Ana", "Ben", "Cho")
VIEW = View(
    names=NAMES, counts=(17, None, 16), pile=("??", "7h", "7c"), turn=2, challenge=ChallengeView(1, 2, 3),
    locked_out=frozenset({3}), questions=("question@c9",),
)  # fmt: skip
WON = Ruling(
    "slap_won", "slap_won@s1", 5, ("s1",), ("P1",),
    {"seat": 3, "patterns": ["P1"], "cards": ["7h", "7c"], "margin": 14_500_000, "error": 40_000, "runners_up": []},
)  # fmt: skip
ASKED = Ruling("question", "question@c9", 6, ("c9",), ("K1",), {"ask": "unreadable_card", "about": ["c9"]})
TURN = Ruling("turn", "turn@c9", 7, ("c9",), ("S5",), {"seat": 1})


def told() -> Telling:
    telling = Telling("run")
    telling.begin(4, NAMES)
    return telling


def test_the_present_has_its_documented_fields() -> None:
    telling = told()
    telling.ruling(WON)
    telling.ruling(ASKED)
    telling.ruling(TURN)
    state = json.loads(encoded(telling.state(VIEW, troubles={"camera": "no frames"})))
    last = state.pop("last")
    assert state == {
        "version": 1, "session": "run", "n": 3, "game": 4, "on": True, "paused": False,
        "seats": [
            {"name": "Ana", "cards": 17, "locked_out": False},
            {"name": "Ben", "cards": None, "locked_out": False},
            {"name": "Cho", "cards": 16, "locked_out": True},
        ],
        "pile": {"cards": 3, "top": "7c"}, "turn": 2, "turn_name": "Ben",
        "challenge": {"challenger": 1, "challenged": 2, "left": 3}, "owner": None, "winner": None, "winner_name": None,
        "questions": [{"id": "question@c9", "ask": "unreadable_card", "cards": [], "words": "Which card is this?"}],
        "troubles": {"camera": "no frames"},
    }  # fmt: skip
    assert (last["n"], last["ruling"]["ruling"]) == (2, "question"), "a turn is no last ruling"


def test_rulings_are_told_as_the_log_has_them_and_counted() -> None:
    telling = told()
    first, second = telling.ruling(WON), telling.ruling(ASKED)
    assert (first["n"], second["n"], first["session"], first["game"]) == (1, 2, "run", 4)
    assert first["ruling"]["margin"] == 14_500_000 and first["ruling"]["id"] == "slap_won@s1"
    assert first["words"] == "Cho wins the slap, double, by 14.50 ± 0.04 ms"


def test_a_slap_told_before_other_hands_are_known_says_so_and_counts_once() -> None:
    telling, tally = told(), Tally()
    tally.begin("2026-03-14", 1, NAMES)
    alone = replace(WON, fields={**WON.fields, "margin": None, "error": None})
    opened, closed = replace(alone, window="open"), replace(alone, window="closed")
    first, second, logged = (telling.ruling(ruling) for ruling in (opened, closed, alone))
    assert (first["words"], second["words"]) == ("Cho wins the slap, double", "Cho wins the slap, double, alone")
    assert first["ruling"] == {**second["ruling"], "window": "open"}
    assert logged["ruling"] == second["ruling"]
    tally.take([opened])
    tally.take([closed])
    assert [player["slaps"] for player in tally.payload()["players"] if player["name"] == "Cho"] == [1]


def test_a_won_game_is_off_and_an_endless_name_is_cut() -> None:
    telling = Telling("run")
    telling.begin(1, ("x" * 5000, "Ben"))
    state = telling.state(View(names=("Ana", "Ben"), counts=(0, 52), game_over=True, winner=2))
    assert (state["on"], state["winner_name"], state["pile"]) == (False, "Ben", {"cards": 0, "top": None})
    assert len(telling.ruling(TURN)["words"]) == LONGEST_TOLD


def test_no_game_no_view() -> None:
    state = Telling("run").state(View())
    assert (state["on"], state["game"], state["seats"], state["last"]) == (False, None, [], None)


def test_lone_surrogates_do_not_break_the_wire() -> None:
    telling = Telling("run")
    telling.begin(1, ("\ud800",))
    assert json.loads(encoded(telling.ruling(TURN)))["ruling"]["seat"] == 1


def test_the_day_counts_by_player_and_forgets_what_was_replaced() -> None:
    tally = Tally()
    tally.begin("2026-03-14", 1, NAMES)
    pile = Ruling("pile", "pile@t1", 6, ("t1",), (), {"seat": 3, "count": 9})
    false = Ruling("slap_false", "slap_false@s2", 6, ("s2",), (), {"seat": 1, "reason": "no_pattern"})
    assert tally.take([WON, pile, false]) and not tally.take([TURN])
    instead = replace(WON, id="slap_won@s1~1", supersedes=("slap_won@s1",), fields={**WON.fields, "seat": 1})
    tally.take([instead, Ruling("won", "won@t1", 9, ("t1",), (), {"seat": 1})])
    players = {player.pop("name"): player for player in tally.payload()["players"]}
    assert players == {
        "Ana": {"games": 1, "won": 1, "slaps": 1, "false": 1, "cards": 0},
        "Ben": {"games": 1, "won": 0, "slaps": 0, "false": 0, "cards": 0},
        "Cho": {"games": 1, "won": 0, "slaps": 0, "false": 0, "cards": 9},
    }
    tally.begin("2026-03-14", 2, ("Ana", "Dora"))
    assert [player["name"] for player in tally.payload()["players"]] == ["Ana", "Ben", "Cho", "Dora"]
    tally.begin("2026-03-15", 3, ("Ana",))
    assert tally.payload()["players"] == [{"name": "Ana", "games": 0, "won": 0, "slaps": 0, "false": 0, "cards": 0}]


def test_a_table_switched_on_again_knows_its_day(tmp_path: Path) -> None:
    with Record(tmp_path / "games.sqlite") as record:
        lines = demo_lines()
        table = Table(record, lines[0])
        live = Tally()
        live.begin(local_day(BEGAN), table.game, ("Ana", "Ben", "Cho", "Dora"))
        for line in lines[1:]:
            live.take(table.observe(line))
        live.take(table.finish())
        again = tally_of(record, local_day(BEGAN))
        assert again.payload() == live.payload()
        slaps = {player["name"]: player["slaps"] for player in live.payload()["players"]}
        won = [ruling for ruling in table.in_force() if ruling.kind == "slap_won"]
        assert sum(slaps.values()) == len(won) > 0
        assert tally_of(record, "1999-01-01").payload()["players"] == []


def test_home_assistant_finds_four_sensors_and_whether_a_game_is_on() -> None:
    found = announcements(Topics("referee", "table-1"))
    assert set(found) == {
        f"homeassistant/{kind}/referee_table-1_{name}/config"
        for kind, name in (
            ("sensor", "pile"), ("sensor", "turn"), ("sensor", "last_ruling"), ("sensor", "winner"),
            ("binary_sensor", "game"),
        )
    }  # fmt: skip
    assert len({fields["unique_id"] for fields in found.values()}) == 5
    state = told().state(VIEW)
    for fields in found.values():
        assert fields["state_topic"] == "referee/table-1/state"
        assert fields["availability_topic"] == "referee/table-1/available"
        asked = fields["value_template"].partition("value_json.")[2].partition(" ")[0]
        value: Any = state
        for key in asked.split("."):
            value = value[key] if value is not None else None


@pytest.mark.parametrize(
    "topic, expected",
    [
        ("referee/t1/state", ("t1", "state")),
        ("referee/t1/other", None),
        ("referee/t1/state/more", None),
        ("referee/<script>/state", None),
        ("referee/../state", None),
        ("referee//state", None),
        ("referee/" + "t" * 41 + "/state", None),
    ],
)
def test_topics_are_ours_or_nothing(topic: str, expected: tuple[str, str] | None) -> None:
    assert parsed(topic) == expected


@pytest.mark.parametrize("bad", ["", "a/b", "a+", "#", "a b", "ä", "x" * 41])
def test_a_name_that_a_topic_cannot_hold_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="1 to 40"):
        Topics("referee", bad)
    assert filters("referee")[0] == "referee/+/available"


def test_the_queue_is_bounded_and_says_what_it_lost() -> None:
    box = Outbox(most=3)
    for number in range(5):
        box.put("r", {"n": number})
    assert [payload["n"] for _, payload, _ in box.take(0, 2)] == [2, 3]
    assert (box.dropped, len(box)) == (2, 1)


def test_of_what_is_retained_only_the_latest_is_told_and_not_too_often() -> None:
    box = Outbox()
    box.keep("s", {"a": 1})
    box.keep("s", {"a": 2})
    assert box.take(0, 9) == [("s", {"a": 2}, True)]
    box.keep("s", {"a": 3})
    assert box.take(PACE - 1, 9) == []
    assert [payload for _, payload, _ in box.take(PACE, 9)] == [{"a": 3}]
    assert box.take(PACE + BEAT - 1, 9) == []
    assert [payload for _, payload, _ in box.take(PACE + BEAT, 9)] == [{"a": 3}], "a sign of life"
    box.again()
    assert [payload for _, payload, _ in box.take(PACE + BEAT, 9)] == [{"a": 3}], "a new broker holds nothing"
