"""The lights, instant by instant."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from hardware.simulated.devices.simulated_lights import SimulatedLights
from referee.announce import light_show
from referee.announce.light_show import GLOW, Lamps, LampState, count, seat_level, table_colour
from referee.announce.sinks import Notice
from referee.engine.rulings import Ruling
from referee.units import MS, SECOND

STEP = 10 * MS


def course(state: LampState, seat: int, until: int = 4 * SECOND) -> list[float]:
    """Return a seat's levels, every 10 ms."""
    return [seat_level(state, seat, t) for t in range(0, until, STEP)]


def flashes(levels: list[float]) -> int:
    """Return how often a light goes on."""
    return sum(before == 0 and after > 0 for before, after in pairwise([0.0, *levels]))


def ruled(kind: str, **fields: object) -> Ruling:
    return Ruling(kind, f"{kind}@x", 0, ("x",), ("C1",), fields)


STATES = {
    "turn": LampState(4, turn=2),
    "challenge 1": LampState(4, challenged=2, chances=1),
    "challenge 2": LampState(4, challenged=2, chances=2),
    "challenge 3": LampState(4, challenged=2, chances=3),
    "challenge 4": LampState(4, challenged=2, chances=4),
    "first hand": LampState(4, first=2),
    "false slap": LampState(4, false={2: 0}),
    "dead heat": LampState(4, heat=(2, 3)),
    "told": LampState(4, signalled={2: 0}),
    "stuck": LampState(4, benched={2}),
    "paused": LampState(4, paused=True),
    "question": LampState(4, asks=True),
    "out": LampState(4, out={2}),
    "nothing": LampState(4),
}


def test_no_two_states_look_alike_without_colour() -> None:
    seen = {name: tuple(course(state, 2, 6 * SECOND)) for name, state in STATES.items()}
    assert len(set(seen.values())) == len(STATES)


@pytest.mark.parametrize("name", STATES)
def test_nothing_flashes_more_than_three_times_a_second(name: str) -> None:
    levels = course(STATES[name], 2, 8 * SECOND)
    second = SECOND // STEP
    assert max(flashes([1.0, *levels[at : at + second]]) - 1 for at in range(len(levels) - second)) <= 3


@pytest.mark.parametrize("chances", [1, 2, 3, 4])
def test_chances_left_can_be_counted(chances: int) -> None:
    period = chances * 400 * MS + 900 * MS
    levels = [float(count(t, chances)) for t in range(0, period, STEP)]
    assert flashes(levels) == chances
    assert levels[-80:] == [0.0] * 80, "a pause that cannot be taken for a gap"


def test_the_first_hand_comes_before_everything_else() -> None:
    state = LampState(4, turn=2, first=2, paused=True, asks=True, benched={2}, false={2: 0})
    assert set(course(state, 2)) == {1.0}


def test_hands_of_a_dead_heat_blink_in_step_and_then_stop() -> None:
    state = LampState(4, heat=(2, 3))
    assert course(state, 2) == course(state, 3)
    assert flashes(course(state, 2)) == 4
    assert set(course(state, 1)) == {0.0}
    assert seat_level(state, 2, 4 * SECOND) == 0.0


def test_what_only_the_line_tells_is_one_long_flash_and_a_short_one() -> None:
    levels = course(LampState(4, signalled={2: 0}), 2)
    assert flashes(levels) == 2
    assert levels.count(1.0) * STEP == 800 * MS and levels[100:] == [0.0] * len(levels[100:])
    assert set(course(LampState(4, signalled={2: 0}), 3)) == {0.0}
    assert course(LampState(4, signalled={0: 0}), 3) == levels, "a signal about no seat flashes everywhere"
    white = [
        table_colour(LampState(4, signalled={2: 0}, paused=True), t) == (1.0, 1.0, 1.0) for t in range(0, SECOND, STEP)
    ]
    assert sum(white) * STEP == 800 * MS


def test_a_penalty_flashes_once_its_false_slap_has_blinked() -> None:
    lights = SimulatedLights(3, lambda: 0)
    lamps = Lamps(lights, 3)
    lamps([ruled("slap_false", seat=3, reason="no_pattern"), ruled("burn", seat=3, count=1, where="bottom")])
    seen = []
    for t in range(0, 3 * SECOND, STEP):
        lamps.touch((), t)
        seen.append(lights.levels["seat 3"])
    assert flashes(seen[: 1500 * MS // STEP]) == 5, "three times a second, for one and a half"
    assert flashes(seen[1500 * MS // STEP :]) == 2
    lights.close()


def test_a_void_hand_that_nobody_is_told_of_flashes_nothing() -> None:
    """Late hands are many, and silent."""
    lights = SimulatedLights(3, lambda: 0)
    lamps = Lamps(lights, 3)
    lamps([ruled("slap_void", seat=3, reason="late")])
    assert lights.levels["seat 3"] == 0.0
    lamps([ruled("slap_void", seat=3, reason="mashing")])
    assert lights.levels["seat 3"] == 1.0
    lights.close()


def test_a_pause_goes_round_the_table() -> None:
    state = LampState(3, paused=True)
    lit = [[seat for seat in (1, 2, 3) if seat_level(state, seat, t) > 0] for t in range(0, 3 * SECOND, SECOND // 2)]
    assert lit == [[1], [2], [3], [1], [2], [3]]


def test_the_table_blinks_a_false_slap_and_breathes_a_question() -> None:
    red = [table_colour(LampState(4, false={1: 0}), t)[0] for t in range(0, SECOND, STEP)]
    assert flashes(red) == 3
    amber = [table_colour(LampState(4, asks=True), t)[0] for t in range(0, 2 * SECOND, STEP)]
    assert max(amber) > 0.95
    assert max(abs(a - b) for a, b in pairwise(amber)) < 0.05


def test_rulings_and_notices_become_patterns() -> None:
    lights = SimulatedLights(3, lambda: 0)
    asks = [False]
    lamps = Lamps(lights, 3, asks=lambda: asks[0])
    lamps([ruled("turn", seat=1)])
    assert lights.levels["seat 1"] == GLOW
    lamps([ruled("challenge", seat=1, challenged=2, card="Qd", chances=2)])
    lamps.touch((), 0)
    assert lights.levels["seat 2"] > 0.5
    lamps([ruled("challenge_won", seat=1)])
    assert lights.levels["seat 2"] == 0.0
    lamps([ruled("slap_false", seat=3, reason="no_pattern")])
    assert lights.levels["seat 3"] == 1.0
    lamps.touch((), 200 * MS)
    assert lights.levels["seat 3"] == 0.0
    lamps.touch((), 3 * SECOND)
    lamps.tell(Notice("paused", 0, ""))
    lamps.touch((), 3 * SECOND)
    assert sum(lights.levels[f"seat {seat}"] > 0 for seat in (1, 2, 3)) == 1
    lamps.tell(Notice("resumed", 0, ""))
    lamps.tell(Notice("pad_stuck", 0, "", {"seat": 3}))
    lamps.touch((), 2600 * MS)
    assert lights.levels["seat 3"] > 0.5
    lamps.tell(Notice("pad_works", 0, "", {"seat": 3}))
    asks[0] = True
    lamps.touch((), 3 * SECOND)
    assert lights.levels["seat 1"] == lights.levels["seat 3"] > 0.5
    lights.close()


def test_a_slap_that_is_told_again_lights_no_seat() -> None:
    """Its pile may be gone by then."""
    lights = SimulatedLights(3, lambda: 0)
    lamps = Lamps(lights, 3)
    won = ruled("slap_won", seat=3)
    lamps([replace(won, window="open")])
    assert lights.levels["seat 3"] == 1.0
    lamps([ruled("pile", seat=3, count=4), ruled("turn", seat=2)])
    lamps([replace(won, window="closed")])
    assert (lights.levels["seat 3"], lights.levels["seat 2"]) == (0.0, GLOW)
    lights.close()


def test_lights_are_told_no_more_than_changes() -> None:
    lights = SimulatedLights(3, lambda: 0)
    lamps = Lamps(lights, 3)
    lamps([ruled("turn", seat=1)])
    before = len(lights.changes)
    for t in range(0, SECOND, MS):
        lamps.touch((), t)
    assert len(lights.changes) == before
    lights.close()


def test_the_table_of_patterns_names_every_state() -> None:
    documented = {line.split("|")[1].strip() for line in (light_show.__doc__ or "").splitlines() if "|" in line}
    for name in STATES:
        word = re.sub(r" \d", "", name)
        assert name == "nothing" or any(word in row for row in documented), name
