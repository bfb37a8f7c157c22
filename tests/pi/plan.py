"""Plans of hands on eight pads: what each does, and who was first in truth. Pure, by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hardware.pads.pinout import PAD_PINS
from tools.pi.board import Contact

US: Final = 1_000
MS: Final = 1_000_000
PINS: Final = dict(enumerate(PAD_PINS, start=1))
SEATS: Final = tuple(PINS)
GAPS: Final = tuple(us * US for us in (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000))
"""Time between the two hands of a pair, ns."""
_HOLD: Final = 25 * MS
_ROUND: Final = 180 * MS
"""Length of a round, ns: the filter's masks are over when the next begins."""
_BLIP: Final = 100 * US
"""Length of a blip of a pad without a hand, ns: far below the shortest contact that counts."""


@dataclass(frozen=True, slots=True)
class Round:
    """Hands that belong together; ``hands`` in their true order, each with the instant of its first contact, ns."""

    kind: str
    hands: tuple[tuple[int, int], ...]
    contacts: tuple[Contact, ...]
    ordered: bool = True
    """Whether the order of the hands is to be ruled: not if all fall at one instant."""

    @property
    def begin(self) -> int:
        return self.contacts[0].t

    @property
    def end(self) -> int:
        return self.contacts[-1].t


def make_rounds(seed: int, pairs: int, begin: int = 0) -> list[Round]:
    """Return rounds in time's order, after ``begin`` (ns): ``pairs`` of each gap, and the other kinds in proportion."""
    rng = random.Random(seed)
    makers: list[tuple[Callable[[random.Random, int, int], Round], int]] = [
        (_pair, gap) for gap in GAPS for _ in range(pairs)
    ]
    makers += [(_bounce, 0), (_chatter, 0), (_eight, 0), (_eight, 200 * US), (_held, 0)] * pairs
    rng.shuffle(makers)
    rounds: list[Round] = []
    t = begin + 100 * MS
    for make, gap in makers:
        made = make(rng, t + rng.randrange(10 * MS), gap)
        rounds.append(made)
        t = made.end + _ROUND
    return rounds


def make_series(seeds: Iterable[int], pairs: int) -> list[Round]:
    """Return the rounds of each seed, one seed after another."""
    rounds: list[Round] = []
    for seed in seeds:
        rounds += make_rounds(seed, pairs, rounds[-1].end + _ROUND if rounds else 0)
    return rounds


def contacts_of(rounds: Iterable[Round]) -> list[Contact]:
    """Return every contact of all rounds, by time."""
    return sorted((contact for one_round in rounds for contact in one_round.contacts), key=lambda contact: contact.t)


def _round(kind: str, hands: Iterable[tuple[int, int]], moves: Iterable[Contact], ordered: bool = True) -> Round:
    return Round(kind, tuple(hands), tuple(sorted(moves, key=lambda contact: contact.t)), ordered)


def _touch(seat: int, t: int, length: int) -> Iterator[Contact]:
    yield Contact(t, PINS[seat], True)
    yield Contact(t + length, PINS[seat], False)


def _pair(rng: random.Random, t: int, gap: int, /) -> Round:
    first, second = rng.sample(SEATS, 2)
    moves = [*_touch(first, t, _HOLD + rng.randrange(5 * MS)), *_touch(second, t + gap, _HOLD + rng.randrange(5 * MS))]
    return _round(f"pair {gap // US} µs apart", [(first, t), (second, t + gap)], moves)


def _eight(rng: random.Random, t: int, gap: int, /) -> Round:
    hands = [(seat, t + place * gap) for place, seat in enumerate(rng.sample(SEATS, len(SEATS)))]
    moves = [move for seat, at in hands for move in _touch(seat, at, _HOLD + rng.randrange(5 * MS))]
    return _round("eight at once" if not gap else f"eight, {gap // US} µs apart", hands, moves, ordered=gap > 0)


def _bounce(rng: random.Random, t: int, _gap: int, /) -> Round:
    """The earlier hand's contact bounces for some 4 ms; the later one closes clean meanwhile."""
    first, second = rng.sample(SEATS, 2)
    moves: list[Contact] = []
    at = t
    while at < t + 4 * MS:
        length, pause = rng.randrange(300 * US, 900 * US), rng.randrange(100 * US, 500 * US)
        moves += _touch(first, at, length)
        at += length + pause
    moves += _touch(first, at, _HOLD)
    later = t + rng.randrange(1 * MS, 3 * MS)
    return _round("bounce", [(first, t), (second, later)], [*moves, *_touch(second, later, _HOLD)])


def _chatter(rng: random.Random, t: int, _gap: int, /) -> Round:
    """A pad without a hand makes short contacts beside two hands."""
    first, second, idle = rng.sample(SEATS, 3)
    later = t + rng.randrange(500 * US, 3 * MS)
    moves = [*_touch(first, t, _HOLD), *_touch(second, later, _HOLD)]
    for number in range(6):
        moves += _touch(idle, t + 150 * US + number * 700 * US + rng.randrange(100 * US), _BLIP)
    return _round("chatter", [(first, t), (second, later)], moves)


def _held(rng: random.Random, t: int, _gap: int, /) -> Round:
    """A hand stays down while two others slap, twice."""
    holding, *others = rng.sample(SEATS, 5)
    hands = [(holding, t)]
    for number, seat in enumerate(others):
        hands.append((seat, t + 120 * MS + number // 2 * 150 * MS + number % 2 * MS))
    moves = [move for seat, at in hands[1:] for move in _touch(seat, at, _HOLD)]
    return _round("held", hands, [*moves, *_touch(holding, t, rng.randrange(400 * MS, 700 * MS))])
