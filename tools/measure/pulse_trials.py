"""Scripted pulses for pads, in the manner of a machine that tests fencing apparatus, and their truth.

A `Trial` is one scene of half a second or so on the pads of eight seats: two hands at a known distance, each bouncing
as it lands and as it leaves, with sparks on untouched pads. In the section ``hands`` each pad answers its
hand late or early, by less than the error that it states; the hand's own instant is then what counts, and no edge shows
it. In ``crosstalk`` other pads hear each hand besides, and in ``chatter`` one of them has a broken cable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from random import Random
from typing import Final

from hardware.simulated.devices.pad_hands import contacts_of, ragged_span
from hardware.simulated.table.players import Contact
from referee.units import MS, US

SEATS: Final = 8
GAPS: Final = tuple(round(gap * MS) for gap in (0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20))
"""Intervals between two hands, ns."""
ERROR: Final = 1_500_000
"""Stated error of a real pad's stamp, ns: its answer is off by less."""
BOUNCE: Final = 6_000_000
_SPARK: Final = 1_400_000
"""Total time for which sparks of a trial close a pad, ns: less than any hand, by more than the sampling leaves open."""
_COMING: Final = 300_000_000
"""Time from a trial's beginning to its first hand, ns."""
_APART: Final = 600_000_000
"""Time from one trial's beginning to the next, ns."""
_CHATTERING: Final = 1_500_000_000
"""Time for which another pad chatters before the hands of a trial with chatter, ns: long enough to bench it."""
_ECHOES: Final = (0, 1_000 * US, 2_500 * US, 4_000 * US, 6_000 * US)
"""How long pads hear a hand on another, ns: by their distance in seats, modulo this list's length."""


@dataclass(frozen=True, slots=True)
class TrialHand:
    """A hand comes down."""

    seat: int
    t: int
    """When it truly came, ns."""
    edge: int
    """When its pad first closed, ns; as if nothing else closed that pad."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One scene; all instants in ns on the script's own clock."""

    section: str
    """``pins``, ``hands``, ``crosstalk`` or ``chatter``."""
    start: int
    end: int
    gap: int
    """Interval between the hands."""
    hands: tuple[TrialHand, TrialHand]
    """The first hand first; of simultaneous hands, the one drawn first."""
    pulses: tuple[Contact, ...]
    """Every closing and opening, in order."""


def echo(a: int, b: int) -> int:
    """Return how long a hand on pad ``a`` closes pad ``b`` at most, ns, in the section ``crosstalk``."""
    return 0 if a == b else _ECHOES[(b - a) % SEATS % len(_ECHOES)]


Part = tuple[str, Sequence[int], int]
"""A section, the interval of its hands (ns), and the number of trials of each interval and each order of each pair."""


def script(seed: int, parts: Sequence[Part]) -> Iterator[Trial]:
    """Yield the trials of a whole table; the same seed and parts give the same pulses."""
    start = _APART
    for number, (section, gaps, count) in enumerate(parts):
        chance = Random(f"{seed} {number} {section}")
        for gap, _ in product(gaps, range(count)):
            for seats in permutations(range(1, SEATS + 1), 2):
                trial = _trial(section, start, gap, seats, chance)
                start = trial.end
                yield trial


def _trial(section: str, start: int, gap: int, seats: tuple[int, int], chance: Random) -> Trial:
    lead = _CHATTERING if section == "chatter" else 0
    begins = start + lead + _COMING + chance.randrange(MS)
    exact = section in ("pins", "chatter")
    hands = []
    closed: dict[int, list[tuple[int, int]]] = {seat: [] for seat in range(1, SEATS + 1)}
    for seat, t in zip(seats, (begins, begins + gap), strict=True):
        edge = t if exact else t + ERROR + _answer(chance)
        hands.append(TrialHand(seat, t if exact else t + ERROR, edge))
        leaves, bounce = edge + chance.randrange(30 * MS, 120 * MS), _bounce(chance)
        closed[seat] += ragged_span(edge, leaves, bounce, bounce, chance)
        if section == "crosstalk":
            for other in closed:
                closed[other] += _echo_of(seat, other, hands[-1].t, chance)
    idle = [seat for seat in closed if seat not in seats]
    if section == "chatter":
        closed[idle[0]] += _chatter(start + MS, lead + _COMING + 100 * MS, chance)
        idle = idle[1:]
    if section != "crosstalk":
        closed[chance.choice(idle)] += _sparks(begins, chance.randrange(3), chance)
    pulses = [pulse for seat, spans in closed.items() for pulse in contacts_of(seat, spans)]
    pulses.sort(key=lambda pulse: (pulse.t, pulse.seat, pulse.pressed))
    # After chatter the benched pad gets time to be freed again.
    end = start + lead + _APART + (1_000 * MS if section == "chatter" else 0)
    return Trial(section, start, end, gap, (hands[0], hands[1]), tuple(pulses))


def _answer(chance: Random) -> int:
    """Return a pad's delay beyond its mean, ns: sometimes as long, or as short, as its error allows."""
    extreme = ERROR - 1
    return chance.choice((-extreme, extreme, chance.randint(-extreme, extreme), chance.randint(-extreme, extreme)))


def _bounce(chance: Random) -> int:
    return chance.choice((0, BOUNCE, chance.randrange(100 * US, BOUNCE), chance.randrange(100 * US, BOUNCE)))


def _sparks(near: int, count: int, chance: Random) -> list[tuple[int, int]]:
    begins = [near + chance.randrange(-40 * MS, 40 * MS) for _ in range(count)]
    return [(begin, begin + chance.randrange(1 * US, _SPARK // count)) for begin in begins]


def _echo_of(a: int, b: int, t: int, chance: Random) -> list[tuple[int, int]]:
    longest = echo(a, b)
    if not longest or chance.random() < 0.2:
        return []
    begin = t + chance.randint(1 - ERROR, ERROR - 1)
    lasts = chance.randrange(longest // 8, longest - 600 * US)
    return ragged_span(begin, begin + lasts, min(lasts // 2, MS), 0, chance)


def _chatter(start: int, lasts: int, chance: Random) -> list[tuple[int, int]]:
    period = round(1_000 * MS / chance.uniform(20, 400))
    return [(t, t + period // 2) for t in range(start, start + lasts, period)]
