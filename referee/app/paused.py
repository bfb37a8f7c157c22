"""A table that is paused since nobody looks at it: hands meanwhile are named, and not judged. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from referee.adjudication.observations import Slap

TOGETHER: Final = 300_000_000
"""Hands that follow the first within so long are at the same card, ns: four people take 360 ms ± 67 to react."""


@dataclass(frozen=True, slots=True)
class First:
    """Who was first in a pause: information only, for the people to settle it with."""

    t: int
    slaps: tuple[Slap, ...]
    """The hands, the first one first."""

    @property
    def margin(self) -> int | None:
        """By how much, ns; None if nobody else slapped."""
        return self.slaps[1].t - self.slaps[0].t if len(self.slaps) > 1 else None

    @property
    def error(self) -> int:
        """The sum of the two hands' errors, ns."""
        return sum(slap.t_error for slap in self.slaps[:2]) if len(self.slaps) > 1 else 0

    @property
    def sure(self) -> bool:
        """Whether the pads can tell them apart."""
        return self.margin is None or self.margin > self.error

    @property
    def words(self) -> str:
        """In English."""
        seat = self.slaps[0].seat
        if self.margin is None:
            return f"first hand: seat {seat}, not judged"
        if not self.sure:
            return f"seats {seat} and {self.slaps[1].seat} at once, not judged"
        return f"first hand: seat {seat}, by {self.margin / 1e6:.1f} ms, not judged"


@dataclass(slots=True)
class Hands:
    """Collects the hands of a pause."""

    since: int
    """The pause's instant, ns."""
    _slaps: list[Slap] = field(default_factory=list)

    def add(self, slap: Slap) -> None:
        """A hand, in any order; one from before the pause is none of its own."""
        if slap.t >= self.since:
            self._slaps.append(slap)

    def told(self, t: int) -> list[First]:
        """Every pad has reported up to ``t`` (ns): those hands that can be told now."""
        out: list[First] = []
        self._slaps.sort(key=lambda slap: (slap.t, slap.seat))
        while self._slaps and self._slaps[0].t + TOGETHER <= t:
            first = self._slaps[0]
            near = [slap for slap in self._slaps if slap.t <= first.t + TOGETHER]
            others = [slap for slap in near[1:] if slap.seat != first.seat]
            out.append(First(first.t, (first, *others)))
            del self._slaps[: len(near)]
        return out
