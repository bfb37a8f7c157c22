"""Simulated pads that are hit one at a time, of which everything is known: bounce, echoes, how late each answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from hardware.simulated.devices.pulses import MS, contacts, hand
from hardware.simulated.table.players import Contact

_NEVER: Final = 0


@dataclass(frozen=True, slots=True)
class Nature:
    """What the pads of a table are like, by seat; ns."""

    bounce: tuple[int, ...]
    """The longest."""
    echo: tuple[tuple[int, ...], ...]
    """The longest contact that a hand on the row's pad makes at the column's."""
    answer: tuple[int, ...]
    """Half-width of how much sooner or later than on average a pad answers."""
    dead: tuple[int, ...] = ()
    """Seats whose wire is cut."""


def example(seats: int) -> Nature:
    """A table as one might build it: neighbours hear each other, and the third pad is slow at times."""
    near = [[0 if abs(a - b) % seats not in (1, seats - 1) else 1_200_000 + 400_000 * ((a + b) % 3)
             for b in range(seats)] for a in range(seats)]  # fmt: skip
    return Nature(
        tuple(1_500_000 + 600_000 * (seat % 4) for seat in range(seats)),
        tuple(map(tuple, near)),
        tuple(2_400_000 if seat == 2 else 1_000_000 for seat in range(seats)),
    )


class SimulatedHands:
    """Hands that hit these pads; the same seed hits them in the same way."""

    def __init__(self, nature: Nature, seed: int = 1) -> None:
        self.nature = nature
        self._chance = Random(seed)

    def hit(self, seats: Sequence[int], t: int) -> list[Contact]:
        """One blow at ``t`` (ns) on these seats' pads: their contacts, in order, and what other pads hear."""
        nature, chance = self.nature, self._chance
        closed: dict[int, list[tuple[int, int]]] = {}
        for seat in seats:
            edge = t + nature.answer[seat - 1] + self._spread(nature.answer[seat - 1])
            bounce = chance.randrange(nature.bounce[seat - 1] // 3, nature.bounce[seat - 1] + 1)
            closed.setdefault(seat, []).extend(hand(edge, chance.randrange(40 * MS, 120 * MS), bounce, chance))
            for other, longest in enumerate(nature.echo[seat - 1], start=1):
                if longest and other not in seats:
                    begin = edge + chance.randrange(0, MS)
                    closed.setdefault(other, []).append((begin, begin + chance.randrange(longest // 2, longest + 1)))
        made = [pulse for seat, spans in closed.items() if seat not in nature.dead for pulse in contacts(seat, spans)]
        return sorted(made, key=lambda pulse: (pulse.t, pulse.seat))

    def _spread(self, half: int) -> int:
        return self._chance.randint(-half, half) if half else _NEVER
