"""One card followed through a stream: where it was seen, what it was read as, and how sure that is.

Readings of one card in several frames are votes. A reading of confidence c weighs -ln(1 - c), cut at `HEAVIEST`, and
the frames of one card resemble each other, so their mistakes are not independent: the best reading of a name counts in
full, the next by `ECHO`, the others not at all. The lead of the best name over the next is what the belief rests on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from models.quads import Quad, height, moved

UNREAD = "??"
HEAVIEST = 4.0
"""The most that one frame may weigh: as much as confidence 0.982."""
ECHO = 0.5
"""What a second reading of the same name adds."""
SURE = 0.9
"""Below this a card is reported as not read."""
LATELY = 4
"""Frames within which a card on its way may be taken for another; later the other is one that was laid since."""
LIGHT = 0.35
"""Readings of less confidence are no vote."""


class Seen(Protocol):
    """A card that an eye found in one picture."""

    @property
    def card(self) -> str: ...
    @property
    def confidence(self) -> float: ...
    @property
    def corners(self) -> NDArray[np.float64]: ...
    @property
    def top(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Sighting:
    """A card in one frame."""

    index: int
    t: int
    name: str
    confidence: float
    quad: Quad
    top: bool
    on_pile: bool
    """It lies over known cards of the pile, and on top of them."""
    under: bool
    """It lies over known cards' places, and below them."""


@dataclass(slots=True, eq=False)
class Track:
    """A card of the pile, or one that may become one."""

    quad: Quad
    """Where it was seen last."""
    first: int
    """Index of the first frame in which it was seen."""
    low: int = 0
    """Its face was first seen after this instant, ns ..."""
    high: int = 0
    """... and before this one."""
    sightings: list[Sighting] = field(default_factory=list)
    name: str | None = None
    """As reported."""
    rest: Quad | None = None
    """Where it came to rest."""
    still: int = 0
    """In how many sightings in a row it had not moved."""
    bearings: list[tuple[float, float]] = field(default_factory=list)
    """Where the hand came from, each with its weight."""

    @property
    def last(self) -> Sighting:
        return self.sightings[-1]

    def add(self, sighting: Sighting) -> None:
        """Note one more sighting."""
        if self.sightings and moved(self.quad, sighting.quad) < 0.1 * height(self.quad):
            self.still += 1
        else:
            self.still = 0
        self.quad = sighting.quad
        if self.still:
            self.rest = sighting.quad
        self.sightings.append(sighting)

    def weights(self) -> dict[str, float]:
        """What speaks for each name."""
        votes: dict[str, list[float]] = {}
        for s in self.sightings:
            if s.name != UNREAD and s.confidence >= LIGHT:
                votes.setdefault(s.name, []).append(min(HEAVIEST, -math.log(max(1e-6, 1 - s.confidence))))
        ranked = {name: sorted(each, reverse=True) for name, each in votes.items()}
        return {name: each[0] + ECHO * sum(each[1:2]) for name, each in ranked.items()}

    def belief(self) -> tuple[str, float]:
        """The leading name and its confidence, or ``??`` and 0."""
        ranked = sorted(self.weights().items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            return UNREAD, 0.0
        rival = ranked[1][1] if len(ranked) > 1 else 0.0
        best = max(s.confidence for s in self.sightings if s.name == ranked[0][0])
        lead = 1 - math.exp(-(ranked[0][1] - rival))
        return ranked[0][0], round(min(lead, 0.999) if rival == 0 or lead < best else best, 4)

    def more_than_a_glimpse(self, name: str) -> bool:
        """Whether it was read so twice, or once beyond doubt on top of all."""
        alike = [s for s in self.sightings if s.name == name]
        return len(alike) >= 2 or any(s.top and s.confidence >= 0.97 for s in alike)

    def came_over(self) -> bool:
        """Whether, when it first met the pile, it lay over it."""
        return next((s.on_pile for s in self.sightings if s.on_pile or s.under), False)

    def fleeting(self, index: int) -> bool:
        """Whether it was a single unsure look, some frames ago: a misreading of something else, most likely."""
        return len(self.sightings) == 1 and index - self.first > 2 and self.belief()[1] < SURE

    def scrap(self) -> bool:
        """Whether it was only ever seen under the pile, and never read for sure."""
        return all(s.under and not s.on_pile for s in self.sightings) and self.belief()[1] < SURE

    def may_still_be(self, name: str, index: int) -> bool:
        """Whether a reading of this name belongs here: it was read so lately, or it is what it is believed to be."""
        if name not in self.weights():
            return False
        return self.belief()[0] == name or max(s.index for s in self.sightings if s.name == name) >= index - LATELY

    def reads(self, name: str) -> int:
        """In how many frames it was read so."""
        return sum(1 for s in self.sightings if s.name == name)

    def seen_on_pile(self) -> int:
        return sum(s.on_pile for s in self.sightings)

    def seen_under(self) -> int:
        return sum(s.under for s in self.sightings)
