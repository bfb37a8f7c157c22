"""The people at the simulated table: speed, care, and ways of laying cards and pressing pads. All seeded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from hardware.simulated.table.acts import CardPose, bearing
from referee.units import MS, SECOND

NAMES = ("Ana", "Ben", "Cho", "Dora", "Emil", "Fay", "Gus", "Hana")

MEAN_MS, SPREAD_MS = 360.0, 67.0
"""Mean and standard deviation, over people, of a person's mean reaction time."""
_SIGMA_MS, _TAU_MS = 28.0, 45.0
"""The ex-Gaussian about a person's own mean: standard deviation of the normal part, mean of the exponential part."""
_SLOWEST_MS = 800.0
_MISHAP_MM = 25.0


@dataclass(frozen=True, slots=True)
class Habits:
    """Frequencies of events, as probabilities per card unless stated otherwise."""

    notice: float = 0.9
    """A player notices a pattern (per player and pattern)."""
    go_on: float = 0.04
    """The next player continues over a pattern (per pattern)."""
    wrong_slap: float = 0.012
    early_slap: float = 0.005
    """A slap on a guess, faster than any reaction."""
    out_of_turn: float = 0.003
    long_hold: float = 0.07
    """A hand stays on its pad for a second or two (per slap)."""
    close_call: float = 0.0
    """A guess comes so close to the next card that no camera can order them."""
    slap_the_pile: float = 0.0
    """A hand comes down on the pile instead of the pad."""
    leisure: float = 1.0
    """Factor on the time until a pile is picked up, and from there until the next card."""


@dataclass(frozen=True, slots=True)
class Contact:
    """A pad's switch closes or opens."""

    t: int
    seat: int
    pressed: bool


@dataclass(frozen=True, slots=True)
class PlayerProfile:
    """One player."""

    name: str
    seat: int
    mean_ms: float
    yaw: float
    """Angle by which this player turns the cards, degrees."""
    sideways: bool
    pace: float
    """Factor on the time between cards, 1 or more."""

    def reaction(self, chance: Random) -> int:
        """Return the time from seeing to hitting, ns: ex-Gaussian."""
        ms = chance.gauss(self.mean_ms - _TAU_MS, _SIGMA_MS) + chance.expovariate(1 / _TAU_MS)
        return int(min(_SLOWEST_MS, max(150.0, ms)) * MS)

    def pose(self, seats: int, chance: Random) -> CardPose:
        """Return the resting place of this player's next card."""
        turn = 270.0 - bearing(self.seat, seats) + self.yaw + chance.gauss(0, 12) - (90 if self.sideways else 0)
        far = min(_MISHAP_MM, abs(chance.gauss(0, 11)))
        way = chance.uniform(0, 2 * math.pi)
        return CardPose(far * math.cos(way), far * math.sin(way), turn % 360)

    def tucked(self, seats: int, chance: Random) -> CardPose:
        """Return the resting place of a penalty card of this player."""
        turn = 270.0 - bearing(self.seat, seats) + chance.gauss(0, 7)
        return CardPose(chance.uniform(-7, 7), chance.uniform(-7, 7), turn % 360)


def seat_people(names: tuple[str, ...], chance: Random) -> tuple[PlayerProfile, ...]:
    """Return players for the seats, each with individual habits."""
    return tuple(
        PlayerProfile(
            name,
            seat,
            min(520.0, max(240.0, chance.gauss(MEAN_MS, SPREAD_MS))),
            max(-40.0, min(40.0, chance.gauss(0, 16))),
            chance.random() < 0.12,
            1.0 + abs(chance.gauss(0, 0.06)),
        )
        for seat, name in enumerate(names, 1)
    )


def seconds(low: float, high: float, chance: Random) -> int:
    """Return a random time within this range of seconds, ns."""
    return int(chance.uniform(low, high) * SECOND)


def press(seat: int, t: int, held: int, chance: Random) -> Iterator[Contact]:
    """Yield a hand's contacts on a pad from ``t`` for ``held`` ns: press and release, with 0 to 6 ms of chatter."""
    yield Contact(t, seat, True)
    yield from _chatter(seat, t, True, chance)
    yield Contact(t + held, seat, False)
    yield from _chatter(seat, t + held, False, chance)


def _chatter(seat: int, t: int, ends: bool, chance: Random) -> Iterator[Contact]:
    """Yield bounces after an edge, in pairs, that leave the switch as ``ends``."""
    at, last = t, t + int(chance.uniform(0.4, 6.0) * MS)
    while chance.random() < 0.55:
        first = at + int(chance.uniform(0.12, 1.1) * MS)
        second = first + int(chance.uniform(0.12, 1.1) * MS)
        if second >= last:
            return
        yield Contact(first, seat, not ends)
        yield Contact(second, seat, ends)
        at = second
