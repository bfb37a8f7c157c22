"""The hands' moves in each check: pairs, eight at once, chatter."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.vm.hands import Move
from tests.vm.rig import MS, PINS

SEATS = tuple(PINS)
BETWEEN = 110 * MS
"""Interval between rounds: the filter's masks are over by then, and no pad closes tens of times a second."""
HOLD = 15 * MS


@dataclass(frozen=True, slots=True)
class Round:
    """Moves that belong together, and the seats whose hands they are, in their true order."""

    moves: tuple[Move, ...]
    hands: tuple[int, ...]


def pair_rounds(gaps: Sequence[int], rng: random.Random) -> list[Round]:
    """Return every ordered pair of seats at each gap (ns, from the end of one write to the next's begin)."""
    pairs = [(a, b, gap) for gap in gaps for a, b in itertools.permutations(SEATS, 2)]
    rng.shuffle(pairs)
    return [
        Round((Move(a, True, BETWEEN), Move(b, True, gap), Move(a, False, HOLD), Move(b, False)), (a, b))
        for a, b, gap in pairs
    ]


def eight_rounds(times: int, rng: random.Random) -> list[Round]:
    """Return all eight pads, each write right after the one before, in random order."""
    rounds = []
    for _ in range(times):
        order = tuple(rng.sample(SEATS, len(SEATS)))
        close = [Move(seat, True) for seat in order]
        close[0] = Move(order[0], True, BETWEEN)
        opened = [Move(seat, False, HOLD if place == 0 else 0) for place, seat in enumerate(order)]
        rounds.append(Round((*close, *opened), order))
    return rounds


def bounce_rounds(times: int, rng: random.Random) -> list[Round]:
    """Return an earlier hand that bounces for 4 ms; the later one, 1 ms after it, closes clean."""
    rounds = []
    for _ in range(times):
        a, b = rng.sample(SEATS, 2)
        moves = (
            Move(a, True, BETWEEN), Move(a, False, 4 * MS // 10), Move(a, True, 4 * MS // 10), Move(b, True, MS // 5),
            Move(a, False, MS // 2), Move(a, True, 4 * MS // 10), Move(a, False, MS), Move(a, True, MS),
            Move(a, False, HOLD), Move(b, False),
        )  # fmt: skip
        rounds.append(Round(moves, (a, b)))
    return rounds


def neighbour_rounds(times: int, rng: random.Random) -> list[Round]:
    """Return a pad without a hand that chatters as soon as the first hand is down, and again after the second."""
    rounds = []
    for _ in range(times):
        a, b, c = rng.sample(SEATS, 3)
        blip = (Move(c, True, MS // 10), Move(c, False, MS // 10))
        moves = (Move(a, True, BETWEEN), *blip, Move(b, True, MS), *blip, Move(a, False, HOLD), Move(b, False))
        rounds.append(Round(moves, (a, b)))
    return rounds
