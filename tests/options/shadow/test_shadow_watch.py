"""Shadow mode at the table: silent, marked by two keys; the seat that takes the pile settles a dead heat."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from hardware.clock import wall_now
from referee.announce.terminal_keys import FALSE_MARK, GOOD_MARK
from referee.cli.play import run_table
from referee.engine.observations import Answer, Slap, Taken
from referee.errors import UserError
from referee.options.shadow.comparison import find_marks
from referee.options.shadow.shadow_watch import ShadowWatch
from referee.record.store import Record
from referee.table.broken_off import find_broken_off
from referee.table.keys import KEYS, Keys
from referee.units import MS
from tests.table.test_keys_and_days import SETTINGS, Bench


def shadowed() -> tuple[Bench, ShadowWatch, Keys]:
    bench, watch = Bench(), ShadowWatch()
    keys = Keys(bench.answers)
    for service in (keys, watch):
        service.begin_game(bench.game)
    return bench, watch, keys


def press(bench: Bench, keys: Keys, *pressed: str) -> None:
    for key in pressed:
        bench.answers._press(key)
    keys.beat(bench.now)


def test_it_is_silent() -> None:
    quiet = ShadowWatch().prepare(SETTINGS)
    assert not (quiet.voice.enabled or quiet.lights.enabled or quiet.pads.roll_call)
    assert quiet.seats == SETTINGS.seats


def test_two_keys_mark_verdicts_with_their_instants_and_show_that_they_were_heard() -> None:
    bench, watch, keys = shadowed()
    bench.lay("7h", 1)
    press(bench, keys, GOOD_MARK)
    bench.go()
    press(bench, keys, FALSE_MARK)
    marks = find_marks(bench.conductor.observations)
    assert [mark.verdict for mark in marks] == ["good", "false"]
    assert [mark.t - bench.now for mark in marks] == [pytest.approx(-1e9, abs=2 * MS), pytest.approx(0, abs=2 * MS)]
    assert "2 marked" in watch.standing
    assert KEYS not in bench.conductor.troubles


def test_in_other_games_the_keys_do_nothing() -> None:
    bench = Bench()
    keys = Keys(bench.answers)
    keys.begin_game(bench.game)
    press(bench, keys, GOOD_MARK)
    assert find_marks(bench.conductor.observations) == [] and KEYS not in bench.conductor.troubles


@pytest.mark.parametrize(("taker", "answers"), [(2, [2]), (3, [3]), (1, []), (None, [])])
def test_who_takes_the_pile_after_a_dead_heat_settles_it(taker: int | None, answers: list[int]) -> None:
    bench, watch, _ = shadowed()
    bench.lay("7h", 1)
    bench.lay("7c", 2)
    for seat in (2, 3):
        bench.conductor.put(Slap(t=bench.now + 100 * MS + seat, id=f"s{seat}", seat=seat))
    bench.go()
    bench.go()
    watch.take_rulings(bench.conductor.rulings)
    watch.beat(bench.now)
    assert not [line for line in bench.conductor.observations if isinstance(line, Answer)]
    bench.go(Taken(t=bench.now + 900 * MS, seat=taker))
    bench.go()
    watch.beat(bench.now)
    assert [line.value for line in bench.conductor.observations if isinstance(line, Answer)] == answers


def test_a_shadowed_game_that_broke_off_does_not_go_on(tmp_path: Path) -> None:
    bench, _, _ = shadowed()
    lines = ['{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}']
    with Record(tmp_path / "record.db") as record:
        record.add_game(wall_now(), list(enumerate([*lines, '{"kind":"shadow","t":1,"id":"x1"}'], start=1)))
        left = find_broken_off(record, bench.conductor.observations[0])  # type: ignore[arg-type]
    assert left is not None and left.past is None and "only shadowed" in left.words


def test_without_a_record_there_is_nothing_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[record]\nfile = ""\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n', encoding="utf-8")
    with pytest.raises(UserError, match="shadow mode compares what is recorded"):
        run_table(Namespace(example=False, settings=path, shadow=True, new=False, log=None))
