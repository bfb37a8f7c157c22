"""The start of children, and their waiting times."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hardware.child import RESTS, STEADY, BackOff, child_environment, python_command
from hardware.orphans import MARK
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def test_rests_grow_and_never_end() -> None:
    back_off = BackOff()
    assert [back_off.fall(5) - 5 for _ in range(len(RESTS) + 20)] == [*RESTS, *[RESTS[-1]] * 20]
    assert list(RESTS) == sorted(RESTS)


def test_a_child_that_worked_for_long_is_started_again_at_once() -> None:
    back_off, now = BackOff(), 0
    for _ in range(4):
        now = back_off.fall(now)
    back_off.works(now)
    back_off.works(now + STEADY + 1)
    assert back_off.fall(now + STEADY + 1) == now + STEADY + 1 + RESTS[0]


def test_a_child_that_falls_again_and_again_after_a_sign_of_life_rests_longer_and_longer() -> None:
    back_off, now, rests = BackOff(), 0, []
    for _ in RESTS:
        back_off.works(now)
        back_off.works(now + STEADY)
        due = back_off.fall(now + STEADY)
        rests.append(due - now - STEADY)
        now = due
    assert rests == list(RESTS)


def test_the_next_start_is_due_from_a_fall_until_it_begins() -> None:
    back_off = BackOff(rests=(0, 50))
    assert not back_off.is_due(10**12), "a child that never fell is not started again"
    back_off.fall(10)
    assert back_off.is_due(10)
    back_off.begin()
    assert not back_off.is_due(10**12)
    assert back_off.fall(20) == 70
    assert (back_off.is_due(69), back_off.is_due(70)) == (False, True)


def test_time_between_two_lives_is_none_of_either() -> None:
    back_off = BackOff(rests=(1, 2, 3), steady=10)
    back_off.works(0)
    assert back_off.fall(5) == 6
    back_off.works(100)
    assert back_off.fall(101) == 103


@pytest.mark.parametrize("inherited", ["", "elsewhere", f"one{os.pathsep}two"])
def test_a_child_finds_our_modules_after_all_others(inherited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", inherited)
    environment = child_environment()
    assert environment["PYTHONPATH"].split(os.pathsep) == [*filter(None, inherited.split(os.pathsep)), str(ROOT)]
    assert environment[MARK].startswith(f"{os.getpid()}:")


def test_a_folder_in_which_a_program_is_started_lends_its_children_no_modules(tmp_path: Path) -> None:
    (tmp_path / "typing.py").write_text("raise ImportError('this is another typing')")
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").write_text("raise ImportError('this is another json')")
    command = python_command("referee", "--version")
    said = subprocess.run(
        command, cwd=tmp_path, env=child_environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert command[0] == sys.executable
