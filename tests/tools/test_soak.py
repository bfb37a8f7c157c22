"""The evaluation of `make soak`, and that a stopped day resumes; the day itself takes minutes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.measure.soak_day import RECORD_CAP, Day, Game
from tools.measure.soak_memory import FEWEST, children, held, rise

MB = 1_000_000


def game(referee: int, page: int = 45 * MB, record: int = 8 * MB) -> Game:
    return Game(250, 2500, 1, 9, record, 16 * MB, {"referee": referee, "page": page})


def test_memory_that_climbs_is_found_under_its_noise() -> None:
    """A leak of a tenth over the day, games that need a fifth more now and then."""
    spikes = [20 * MB if n % 7 == 0 else 0 for n in range(100)]
    assert rise([90 * MB + spike for spike in spikes]) == pytest.approx(0, abs=0.005)
    climbing = rise([90 * MB + n * 90_000 + spike for n, spike in enumerate(spikes)])
    assert climbing is not None
    assert climbing > 0.05


def test_settling_is_no_climbing_and_few_samples_tell_nothing() -> None:
    assert rise([50 * MB] * 10 + [90 * MB] * 90) == 0
    assert rise([90 * MB] * (FEWEST - 1)) is None


def test_a_process_knows_what_it_holds_and_whom_it_started() -> None:
    assert held() == pytest.approx(held(os.getpid()), rel=0.05)
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert "input()" in children(os.getpid())[child.pid]
        child.communicate(b"\n")
    with pytest.raises(OSError):
        held(child.pid)


def test_a_day_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    day = Day.kept(tmp_path / "day.jsonl")
    day.begin_segment()
    for _ in range(20):
        day.add(game(90 * MB), 0.5)
    again = Day.kept(tmp_path / "day.jsonl")
    assert (again.games, again.cards, again.seconds) == (20, 5000, 10.0)
    again.begin_segment()
    for _ in range(20):
        again.add(game(60 * MB), 0.5)
    # Another process holds less: each is compared with itself.
    assert again.rises("referee") == [0, 0]
    checks = {what: ok for what, _, _, ok in again.checks(10_000)}
    assert set(checks.values()) == {True}
    assert dict.fromkeys(checks) == dict.fromkeys(what for what, *_ in again.checks(20_000))
    assert again.checks(20_000)[0][3] is None


def test_what_is_not_kept_is_told(tmp_path: Path) -> None:
    day = Day(tmp_path / "day.jsonl")
    day.begin_segment()
    for number in range(60):
        day.add(game(90 * MB + number * MB, page=45 * MB - number, record=RECORD_CAP * 2), 0.5)
    missed = [what for what, _, _, ok in day.checks(1000) if ok is False]
    assert missed == ["the day: memory of the referee rises", "record stays under"]
