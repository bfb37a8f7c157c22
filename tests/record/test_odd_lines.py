"""Odd lines among those of a game are left out, counted and reported, and stop nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.cli import main
from referee.engine.log import encode_observation
from referee.engine.observations import Card
from referee.engine.rulings import encode_ruling
from referee.record.people import People
from referee.record.store import Record
from referee.record.stored_lines import LineReader, OddLine, replay_rows, tell_odd_lines
from tests.record.odd_lines import WHOLE, try_odd_lines
from tests.support.wild_games import wild_game

KINDS = 60
AT = "2026-01-02T03:04:05+00:00"


def test_odd_lines_of_many_kinds_stop_nothing() -> None:
    found = try_odd_lines(KINDS)
    assert found.wrong == []
    assert found.odd > KINDS // 3, "most kinds are no lines at all"
    assert found.refused


def test_a_game_that_is_whole_loses_no_line() -> None:
    for seed in range(12):
        rows = [(n, encode_observation(line)) for n, line in enumerate(wild_game(seed), start=1)]
        game, odd = replay_rows(rows)
        made = [(len(rows) + n, encode_ruling(ruling)) for n, ruling in enumerate(game.rulings, start=1)]
        again, odd_too = replay_rows([*rows, *made])
        assert (odd, odd_too, again.agrees) == ([], [], (len(made), 0))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ('{"kind":"slap","t":1}', 'no "seat"'),
        ('{"kind":"card","t":1,"card":"7h","seat":1,"id":"c1"}', "used before"),
        ('{"kind":"card","t":1,"card":"7h","seat":7,"id":"c9"}', "2 seats"),
        ('{"kind":"card","t":-1,"card":"7h","seat":1,"id":"c9"}', "before its table"),
        ('{"kind":"pause","t":40000000000000000,"id":"c9"}', "outside this game"),
        ('{"kind":"odd","t":1,"x":"\\ud800"}', "neither text nor number"),
        ('{"kind":"answer","t":1,"to":"q","value":NaN}', "neither text nor number"),
        ('{"kind":"odd","t":1,"x":"' + "x" * (1 << 20) + '"}', "longer than"),
        (WHOLE[0], "second table"),
        ('{"ruling":"applause","id":"x","t":1}', "not known here"),
        ('{"ruling":"won","id":"won@x","t":1}', 'no "seat"'),
        ('{"ruling":"won","id":"won@x","t":1,"seat":"Ana"}', '"seat" of this won'),
        ('{"ruling":"repeated","id":"x","t":1,"cards":["7h"]}', '"cards" of this repeated'),
    ],
)
def test_each_sort_is_told_with_its_line(line: str, why: str) -> None:
    rows = list(enumerate([*WHOLE[:3], line, *WHOLE[3:]], start=1))
    game, odd = replay_rows(rows)
    assert [number for number, _ in odd] == [4]
    assert why in odd[0].why and why in tell_odd_lines(odd)
    whole, none = replay_rows(list(enumerate(WHOLE, start=1)))
    assert game.rulings == whole.rulings and none == []


def test_observations_and_rulings_are_told_apart_and_keep_their_numbers() -> None:
    """A line that has a kind is an observation, whatever else it says; ticks are given on request."""
    ruling = '{"ruling":"turn","id":"turn@c1","t":1,"seat":1,"because":["c1"],"rule":["S5"]}'
    rows = [(3, WHOLE[0]), (4, '{"kind":"tick","t":2}'), (7, ruling), (8, '{"t":3,"kind":"tick"}'),
            (9, '{"kind":"sneeze","t":4,"ruling":"loud"}')]  # fmt: skip
    lines, rulings = LineReader().read(rows)
    assert [(number, line.kind) for number, line in lines] == [(3, "table"), (4, "tick"), (8, "tick"), (9, "")]
    assert [encode_ruling(ruling) for ruling in rulings] == [ruling]
    assert [number for number, _ in LineReader().read(rows, ticks=False)[0]] == [3, 9]


def test_a_game_is_read_some_lines_at_a_time() -> None:
    reader = LineReader()
    for row in enumerate(WHOLE, start=1):
        reader.read([row])
    reader.read([(8, encode_observation(Card(t=1, id="c1", card="7h")))])
    assert reader.odd == [OddLine(8, 'the id "c1" was used before')]


def test_what_was_left_out_is_told_by_league_import_and_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, record = tmp_path / "log.jsonl", tmp_path / "record.db"
    won = json.dumps({"ruling": "won", "id": "won@p1", "t": 1, "seat": "=Ana"})
    log.write_text("\n".join([*WHOLE, won]) + "\n", encoding="utf-8")
    Record(record).close()
    with People(record) as people:
        people.remember("Ana", AT)
    words = 'line 8, "seat" of this won is not what it should be'
    for command, status in (("games --import", 0), ("league", 0), ("games --check", 1)):
        name, *options = command.split()
        file = [str(log)] if "--import" in options else []
        assert main([name, *options, *file, "--record", str(record)]) == status
        told = capsys.readouterr()
        assert words.replace("line 8, ", "") in told.out + told.err, command
    assert main(["games", "--record", str(record), "--csv", "1"]) == 0
    assert "=Ana" not in capsys.readouterr().out
