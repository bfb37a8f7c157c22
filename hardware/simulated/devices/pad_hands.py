"""Simulated pads that are hit one at a time, with known properties: bounce, echoes, delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from hardware.simulated.table.players import Contact
from referee.units import MS


@dataclass(frozen=True, slots=True)
class Nature:
    """Properties of a table's pads, by seat; ns."""

    bounce: tuple[int, ...]
    """The longest bounce."""
    echo: tuple[tuple[int, ...], ...]
    """The longest contact that a hand on the row's pad causes on the column's pad."""
    answer: tuple[int, ...]
    """Half-width of a pad's delay about the mean."""
    dead: tuple[int, ...] = ()
    """Seats whose wire is cut."""


def example(seats: int) -> Nature:
    """Return a plausible table: neighbours hear each other, and the third pad is sometimes slow."""
    near = [[0 if abs(a - b) % seats not in (1, seats - 1) else 1_200_000 + 400_000 * ((a + b) % 3)
             for b in range(seats)] for a in range(seats)]  # fmt: skip
    return Nature(
        tuple(1_500_000 + 600_000 * (seat % 4) for seat in range(seats)),
        tuple(map(tuple, near)),
        tuple(2_400_000 if seat == 2 else 1_000_000 for seat in range(seats)),
    )


class SimulatedHands:
    """Hands that hit these pads; the same seed gives the same hits."""

    def __init__(self, nature: Nature, seed: int = 1) -> None:
        self.nature = nature
        self._chance = Random(seed)

    def hit(self, seats: Sequence[int], t: int) -> list[Contact]:
        """Return the contacts of one blow at ``t`` (ns) on these seats' pads, in order, with echoes on other pads."""
        nature, chance = self.nature, self._chance
        closed: dict[int, list[tuple[int, int]]] = {}
        for seat in seats:
            answer = nature.answer[seat - 1]
            edge = t + answer + (chance.randint(-answer, answer) if answer else 0)
            bounce = chance.randrange(nature.bounce[seat - 1] // 3, nature.bounce[seat - 1] + 1)
            leaves = edge + chance.randrange(40 * MS, 120 * MS)
            closed.setdefault(seat, []).extend(ragged_span(edge, leaves, bounce, bounce, chance))
            for other, longest in enumerate(nature.echo[seat - 1], start=1):
                if longest and other not in seats:
                    begin = edge + chance.randrange(0, MS)
                    closed.setdefault(other, []).append((begin, begin + chance.randrange(longest // 2, longest + 1)))
        made = [
            pulse for seat, spans in closed.items() if seat not in nature.dead for pulse in contacts_of(seat, spans)
        ]
        return sorted(made, key=lambda pulse: (pulse.t, pulse.seat))


def ragged_span(start: int, end: int, before: int, after: int, chance: Random) -> list[tuple[int, int]]:
    """Return closed spans from ``start`` to ``end``, with chatter for ``before`` ns after ``start`` and for ``after``
    ns after ``end``.
    """
    cuts = [start, *_cuts(start, before, chance), end, *_cuts(end, after, chance)]
    return list(zip(cuts[::2], cuts[1::2], strict=True))


def _cuts(t: int, lasts: int, chance: Random) -> list[int]:
    """Return instants after ``t``, alternately opening and closing, the last of them ``lasts`` ns later."""
    if not lasts:
        return []
    return [*sorted(chance.sample(range(t + 1, t + lasts), 2 * chance.randrange(4) + 1)), t + lasts]


def contacts_of(seat: int, spans: Sequence[tuple[int, int]]) -> list[Contact]:
    """Return one pad's contacts from overlapping closed spans."""
    joined: list[list[int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return [Contact(t, seat, place == 0) for span in joined for place, t in enumerate(span)]
