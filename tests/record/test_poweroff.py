"""Switching off: asked, confirmed, paused, closed, and only then the command."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from referee.table.power_off import ANSWER, STEP, PowerOff, PowerOrder, PowerState, PowerStep, switch_off


def _dos(said: Sequence[PowerOrder]) -> list[PowerStep]:
    return [order.do for order in said]


def test_by_the_page_during_a_game() -> None:
    off = PowerOff()
    assert _dos(off.ask(0, confirmed=True, playing=True)) == [PowerStep.PAUSE]
    assert _dos(off.closed(1)) == [], "not before it was paused"
    assert _dos(off.paused(2)) == [PowerStep.CLOSE]
    assert _dos(off.closed(3)) == [PowerStep.SWITCH_OFF]
    assert off.ask(4, confirmed=True, playing=True) == []


def test_by_the_pads_between_games() -> None:
    off = PowerOff()
    assert _dos(off.ask(0, confirmed=False, playing=False)) == [PowerStep.ASK]
    assert _dos(off.answer(5, True, playing=False)) == [PowerStep.CLOSE]
    assert _dos(off.closed(6)) == [PowerStep.SWITCH_OFF]


def test_a_no_and_silence_leave_it_on() -> None:
    off = PowerOff()
    off.ask(0, confirmed=False, playing=True)
    assert _dos(off.answer(5, False, playing=True)) == [PowerStep.STAY]
    off.ask(10, confirmed=False, playing=True)
    assert off.advance(10 + ANSWER - 1) == []
    assert "No answer" in off.advance(10 + ANSWER)[0].words
    assert off.answer(10 + ANSWER + 1, True, playing=True) == [], "a yes that comes too late switches nothing off"
    assert off.state is PowerState.ON


def test_a_step_that_takes_too_long_leaves_it_on() -> None:
    off = PowerOff()
    off.ask(0, confirmed=True, playing=True)
    assert "paused" in off.advance(STEP)[0].words
    off.ask(0, confirmed=True, playing=False)
    assert "closed" in off.advance(STEP)[0].words
    assert off.closed(STEP + 1) == []


def test_whatever_comes_in_whatever_order_it_never_switches_off_an_open_record() -> None:
    calls: tuple[Callable[[PowerOff, int], list[PowerOrder]], ...] = (
        lambda off, t: off.ask(t, confirmed=False, playing=True),
        lambda off, t: off.ask(t, confirmed=True, playing=True),
        lambda off, t: off.answer(t, True, playing=True),
        lambda off, t: off.answer(t, False, playing=True),
        lambda off, t: off.paused(t),
        lambda off, t: off.closed(t),
        lambda off, t: off.failed(t, "the disk is full"),
    )
    reached = 0
    for order in itertools.product(range(len(calls)), repeat=5):
        off = PowerOff()
        seen: list[PowerStep] = []
        for t, which in enumerate(order):
            seen += _dos(calls[which](off, t))
        if PowerStep.SWITCH_OFF in seen:
            reached += 1
            before = seen[: seen.index(PowerStep.SWITCH_OFF)]
            assert before[-2:] == [PowerStep.PAUSE, PowerStep.CLOSE]
    assert reached > 0


def _script(folder: Path, body: str) -> str:
    file = folder / "off"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return str(file)


def test_the_command_is_run_as_it_stands(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    assert switch_off((_script(tmp_path, f'echo "$1" > {mark}'), "power off; now")) == ""
    assert mark.read_text() == "power off; now\n"


@pytest.mark.parametrize(
    ("body", "said"), [("echo 'not allowed' >&2; exit 1", "refused (not allowed)"), ("exec sleep 5", "does not answer")]
)
def test_a_command_that_refuses_or_hangs_is_told(tmp_path: Path, body: str, said: str) -> None:
    assert said in switch_off((_script(tmp_path, body),), patience=0.3)


def test_a_command_that_is_not_here(tmp_path: Path) -> None:
    assert "there is no" in switch_off((str(tmp_path / "none"),))
