"""A stored log read twice: the results of the first pass, and a game kept line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from referee.engine.log import from_fields
from referee.engine.observations import Lift, LogError, Observation
from referee.engine.replay import (
    LONGEST_GAME,
    Outline,
    ReplayedGame,
    StoredLog,
    TooLong,
    adjudicator_for,
    judge_log,
    outline_log,
    replay_log,
)
from referee.engine.rulings import encode_ruling

S = 1_000_000_000
TABLE: dict[str, Any] = {"kind": "table", "t": 0, "id": "t", "seats": ["Ana", "Ben", "Cho"], "dealer": 3}
GAME: tuple[dict[str, Any], ...] = (
    TABLE,
    {"kind": "card", "t": S, "id": "c1", "card": "7h", "seat": 1},
    {"kind": "card", "t": 2 * S, "id": "c2", "card": "8c", "seat": 2},
    {"kind": "slap", "t": 2 * S + S // 3, "id": "s1", "seat": 3},
    {"kind": "card", "t": 4 * S, "id": "c3", "card": "9d", "seat": 3},
)
LAST = 2**63 - 1


def outline(*lines: dict[str, Any], find: str = "") -> Outline:
    return outline_log([(n, from_fields(line, n)) for n, line in enumerate(lines, start=1)], find)


def tick(t: int) -> dict[str, Any]:
    return {"kind": "tick", "t": t}


def card(t: int, **more: Any) -> dict[str, Any]:
    return {"kind": "card", "t": t, "card": "7h", **more}


def test_of_each_line_the_least_instant_of_those_after_it_is_known() -> None:
    found = outline(TABLE, card(9), card(3), card(5), card(5), card(7))
    assert list(found.least_after) == [3, 3, 5, 5, 7, LAST]
    assert found.table.seats == ("Ana", "Ben", "Cho")
    assert [number for number, _ in found.first] == [1, 2, 3, 4, 5, 6]


def test_a_line_that_was_asked_for_is_found_by_its_id() -> None:
    assert outline(TABLE, card(9, id="x"), card(3), find="x").found == 9
    assert outline(TABLE, card(9, id="x"), card(3), find="3").found == 3
    assert outline(TABLE, card(9, id="x"), find="y").found is None
    for name in ("x", "~"):
        assert outline(TABLE, card(9, id=name)).found is None, "nothing was asked for"


@pytest.mark.parametrize(
    ("lines", "settled", "amended"),
    [
        ((card(5), tick(5), card(6)), True, False),
        ((card(5), tick(5), card(5)), False, False),
        ((tick(7), tick(3), card(6)), False, False),
        ((card(5), {"kind": "foul", "t": 9, "seat": 1, "foul": "peek"}), True, False),
        ((card(5), {"kind": "foul", "t": 9, "seat": 1, "foul": "double_draw"}), False, False),
        ((card(5), {"kind": "foul", "t": 9, "seat": 1, "foul": "out_of_turn"}), False, False),
        ((card(5), {"kind": "leave", "t": 9, "seat": 1}), False, False),
        ((card(5), {"kind": "answer", "t": 9, "to": "question@2", "value": 1}), False, True),
        ((card(5), {"kind": "correct", "t": 9, "line": "2", "void": True}), False, True),
    ],
)
def test_a_log_is_settled_where_nothing_comes_late_and_nothing_is_amended(
    lines: Sequence[dict[str, Any]], settled: bool, amended: bool
) -> None:
    found = outline(TABLE, *lines)
    assert (found.settled, found.amended) == (settled, amended)


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ((), 1, 'the log is empty; its first line must be a "table"'),
        ((card(1),), 1, 'the first line of a log must be its "table" (seats, dealer, rules)'),
        ((TABLE, card(1, id="x"), card(2, id="x")), 3, 'the id "x" was used before'),
        ((TABLE, card(1, id="3"), card(2)), 3, 'the id "3" was used before'),
        ((TABLE, card(1), card(2, id="2")), 3, 'the id "2" was used before'),
        ((TABLE, card(1), card(2), card(3, id="2")), 4, 'the id "2" was used before'),
    ],
)
def test_a_log_that_cannot_be_one_is_refused_by_its_line(
    lines: Sequence[dict[str, Any]], line: int, words: str
) -> None:
    with pytest.raises(LogError) as refusal:
        outline(*lines)
    assert (refusal.value.line, refusal.value.problem.partition(";")[0]) == (line, words.partition(";")[0])


def test_ids_that_look_like_numbers_of_other_lines_clash_with_none() -> None:
    """A line with an id is not called by its number; leading zeros and other digits make other texts."""
    for name in ("3", "9", "1", "03", "٣", "3" * 19):
        assert outline({**TABLE, "id": "t"}, card(1, id=name), card(2, id="y")).found is None
    numbered = [(5, from_fields({**TABLE, "id": "t"}, 5)), (9, from_fields(card(1), 9)), (12, from_fields(card(2), 12))]
    assert len(outline_log([*numbered, (13, from_fields(card(3, id="10"), 13))]).least_after) == 4
    with pytest.raises(LogError, match='line 13: the id "9" was used before'):
        outline_log([*numbered, (13, from_fields(card(3, id="9"), 13))])


def rows(*lines: dict[str, Any]) -> list[tuple[int, Observation]]:
    return [(number, from_fields(line, number)) for number, line in enumerate(lines, start=1)]


def test_a_game_is_stepped_through_line_by_line() -> None:
    game = ReplayedGame(rows(*GAME))
    assert [step.observation.id for step in game.steps] == ["t", "c1", "c2", "s1", "c3"]
    assert [step.rulings for step in game.steps][2:] == [("turn@c2",), ("slap_false@s1", "burn@s1"), ("turn@c3",)]
    assert [len(game.view(place).pile) for place in range(5)] == [0, 1, 2, 3, 4]
    assert [game.view(place).turn for place in range(5)] == [1, 2, 3, 3, 1]
    assert [line.id for line in game.lines()] == ["t", "c1", "c2", "s1", "c3"]
    second, nothing = game.line("c2"), game.line("c9")
    assert second is not None and second.t == 2 * S
    assert nothing is None
    assert [ruling.id for ruling in game.slaps()] == ["slap_false@s1"]
    assert game.explain(game.by_id["slap_false@s1"])


def test_what_an_amendment_changed_was_ruled_when_it_came() -> None:
    game = ReplayedGame(rows(*GAME, {"kind": "correct", "t": 9 * S, "id": "x1", "line": "s1", "seat": 2}))
    by_line = {step.observation.id: step.rulings for step in game.steps}
    assert by_line["s1"] == ("slap_false@s1", "burn@s1")
    assert by_line["x1"] == ("slap_false@s1~x1", "burn@s1~x1")
    assert game.replaced_by["slap_false@s1"] == "slap_false@s1~x1"
    assert [(ruling.id, ruling["seat"]) for ruling in game.slaps()] == [("slap_false@s1~x1", 2)]


def test_each_of_two_amendments_has_what_it_changed() -> None:
    said = ({"kind": "correct", "t": (9 + n) * S, "id": f"x{n}", "line": "s1", "seat": 3 - n} for n in (1, 2))
    game = ReplayedGame(rows(*GAME, *said))
    by_line = {step.observation.id: step.rulings for step in game.steps}
    assert {name: [ruling_id.partition("@")[0] for ruling_id in by_line[name]] for name in ("s1", "x1", "x2")} == {
        "s1": ["slap_false", "burn"],
        "x1": ["slap_false", "burn"],
        "x2": ["slap_false", "burn"],
    }


def test_rulings_of_the_log_are_made_again_or_they_are_not() -> None:
    made = ReplayedGame(rows(*GAME)).rulings
    assert ReplayedGame(rows(*GAME), made).agrees == (len(made), 0)
    other = [
        replace(ruling, fields={**ruling.fields, "seat": 1}) if ruling.kind == "slap_false" else ruling
        for ruling in made
    ]
    assert ReplayedGame(rows(*GAME), other).agrees == (len(made) - 1, 1)
    assert ReplayedGame(rows(*GAME)).agrees == (0, 0)


def test_a_game_of_more_lines_than_are_kept_is_too_long_and_ticks_do_not_count() -> None:
    few = rows(TABLE, *([{"kind": "lift", "t": 5, "seat": 1}] * (LONGEST_GAME - 1)))
    assert len(few) == LONGEST_GAME
    with pytest.raises(TooLong):
        ReplayedGame([*few, (LONGEST_GAME + 1, Lift(t=5, id="late", seat=1))])
    ReplayedGame(rows(TABLE, *([{"kind": "tick", "t": 1}] * (LONGEST_GAME + 3))))


def test_a_line_that_does_not_fit_is_left_out_where_that_is_asked_for() -> None:
    lines = rows(*GAME, {**TABLE, "t": 9 * S, "id": "t2"})
    with pytest.raises(LogError, match="line 6"):
        ReplayedGame(lines)
    left_out: list[tuple[int, str]] = []
    game = ReplayedGame(lines, leave_out=lambda number, bad: left_out.append((number, bad.problem)))
    assert [number for number, _ in left_out] == [6]
    assert game.rulings == ReplayedGame(rows(*GAME)).rulings
    with pytest.raises(LogError, match="line 1"):
        ReplayedGame(rows({**TABLE, "dealer": 7}), leave_out=lambda number, bad: None)


def stored(*lines: dict[str, Any]) -> BytesIO:
    return BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())


def test_a_long_log_is_ruled_as_it_is_read() -> None:
    """Its first rulings come long before its last line was read."""
    lines = [(n, from_fields(card(n * S, id=f"c{n}", seat=n % 3 + 1), n)) for n in range(2, 400)]
    lines.insert(0, (1, from_fields(TABLE, 1)))
    read: list[int] = []

    def told() -> Iterator[tuple[int, Observation]]:
        for number, line in lines:
            read.append(number)
            yield number, line

    outlined = outline_log(lines)
    rulings = judge_log(adjudicator_for(outlined), told(), outlined)
    assert next(rulings).id == "lead@t"
    assert len(read) == 64
    assert len(list(rulings)) > 64
    assert len(read) == 399


def test_superseded_rulings_are_left_out_unless_all_are_asked_for() -> None:
    """A log without amendments and late lines has none."""
    amended = (*GAME, {"kind": "correct", "t": 9 * S, "id": "x1", "line": "s1", "seat": 2})
    all_ = [ruling.id for ruling in replay_log(stored(*amended), everything=True)]
    assert {"slap_false@s1", "slap_false@s1~x1"} <= set(all_)
    kept = [ruling.id for ruling in replay_log(stored(*amended))]
    assert kept == [name for name in all_ if name not in ("slap_false@s1", "burn@s1")]
    assert [ruling.id for ruling in replay_log(stored(*GAME))] == [
        ruling.id for ruling in replay_log(stored(*GAME), everything=True)
    ]


def test_a_log_that_stands_behind_something_else_is_read_from_where_it_stands() -> None:
    stream = BytesIO(b"some words\n" + stored(*GAME).getvalue())
    stream.readline()
    log = StoredLog(stream)
    first = [encode_ruling(ruling) for ruling in log.rulings()]
    assert first == [encode_ruling(ruling) for ruling in log.rulings()], "and as often as one likes"
    assert first == [encode_ruling(ruling) for ruling in replay_log(stored(*GAME))]


def test_a_line_that_does_not_fit_the_log_is_refused_by_its_number() -> None:
    with pytest.raises(LogError) as refusal:
        list(replay_log(stored(*GAME, {"kind": "table", "t": 9 * S, "seats": ["A", "B"]})))
    assert refusal.value.line == 6
