"""Hypothesis strategies: generated games, and the orders in which their lines may arrive."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from hypothesis import strategies as st

from referee.engine.observations import Lift, Observation, Slap, Table, Tick
from tests.oracle.games import Game, play

SENSORS = ("camera", "pads")


@lru_cache(maxsize=64)
def _game(seed: int, cards: int) -> Game:
    return play(seed, cards)


def games(cards: int = 40) -> st.SearchStrategy[Game]:
    """Plausible logs of ``classic`` of up to about this many cards."""
    return st.integers(0, 10**6).map(lambda seed: _game(seed, cards))


def sensor_of(one: Observation) -> str:
    """Return the sensor of a line: pads report hands, the camera all else."""
    return "pads" if isinstance(one, Slap | Lift) else "camera"


def told_late(rng: random.Random, lines: Sequence[Observation]) -> list[Observation]:
    """Return these observations in some order of arrival: nearly as they happened, in batches, or shuffled."""
    how = rng.choice(("delays", "delays", "by sensor", "any", "reversed"))
    if how == "any":
        return rng.sample(list(lines), k=len(lines))
    if how == "reversed":
        return list(reversed(lines))
    longest = rng.choice((5, 50, 500, 5000)) * 1_000_000
    lag = dict.fromkeys(SENSORS, 0)
    if how == "by sensor":
        lag[rng.choice(SENSORS)] = 3_000_000_000
    return sorted(lines, key=lambda line: line.t + lag[sensor_of(line)] + rng.randint(0, longest))


def with_ticks(rng: random.Random, arrived: Sequence[Observation], sensors: bool) -> list[Observation]:
    """Put ticks between lines, each after all that it covers: for every sensor by itself, or for all together."""
    groups = SENSORS if sensors else ("",)
    horizon = dict.fromkeys(groups, max((line.t for line in arrived), default=0))
    out: list[Observation] = []
    chance = rng.choice((0.0, 0.1, 0.5, 1.0))
    for number, line in reversed(list(enumerate(arrived))):
        out.append(line)
        group = sensor_of(line) if sensors else ""
        horizon[group] = min(horizon[group], line.t - 1)
        for name in groups:
            if rng.random() < chance:
                upto = horizon[name] - rng.choice((0, 0, rng.randint(0, 10**9)))
                out.append(Tick(t=upto, id=f"tick-{number}-{name}", sensor=name or None))
    return out[::-1]


@st.composite
def arrivals(draw: st.DrawFn, cards: int = 40) -> tuple[list[Observation], list[Observation]]:
    """Return a log in event order, and the same log in an order of arrival."""
    game = draw(games(cards))
    rng = random.Random(draw(st.integers(0, 10**6)))
    sensors = draw(st.booleans())
    end = game.observations[-1]
    lines = [line for line in game.observations[1:-1] if not isinstance(line, Tick)]
    table: Table = replace(game.table, sensors=SENSORS) if sensors else game.table
    arrived = with_ticks(rng, told_late(rng, lines), sensors)
    return [game.table, *lines, end], [table, *arrived, end]
