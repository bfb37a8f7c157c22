"""The moments of a simulated game that are too close for the sensors: there a referee may rightly hesitate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from referee.engine.rulings import Ruling

HEAT_NS = 3_200_000
"""Hands nearer than this are a dead heat to pads that are known to 1.5 ms each."""


@dataclass(frozen=True, slots=True)
class Called:
    """A moment that the script knows to be too close for the sensors."""

    t: int
    kind: str
    """``dead_heat``, ``doubt`` (a slap next to a reveal) or ``slap_the_pile``."""
    seats: tuple[int, ...]
    margin: int
    """ns between the two."""


def dead_heats(rulings: Iterable[Ruling]) -> Iterator[Called]:
    """The slaps that were won by less than `HEAT_NS`, each with all that it was won against."""
    for ruling in rulings:
        margin = ruling.fields.get("margin") if ruling.kind == "slap_won" else None
        if margin is not None and margin < HEAT_NS:
            rivals = [r["seat"] for r in ruling.fields["runners_up"] if r["margin"] < HEAT_NS]
            yield Called(ruling.t, "dead_heat", (ruling.fields["seat"], *rivals), margin)
