"""The cards a watcher knows: those laid on the pile, those slid under it and those under way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from models.eye.geometry import Quad, centre_of, height_of
from models.watch.motion import Motion
from models.watch.pixels import Mask
from models.watch.stream import LONG_AGO
from models.watch.tracks import UNREAD, Track


@dataclass(slots=True, eq=False)
class Pile:
    """One pile and what may yet come to lie in it."""

    packs: int = 1
    """Packs in play: one pack's card lies in a pile only once."""
    laid: list[Track] = field(default_factory=list)
    """The cards reported, oldest first."""
    open: list[Track] = field(default_factory=list)
    """The cards under way: neither reported nor dropped yet."""
    burned: dict[str, Quad] = field(default_factory=dict)
    """The cards slid under the pile, by name, and where each was seen last."""
    doubles: list[tuple[Track, Track]] = field(default_factory=list)
    """Pairs of cards that were drawn at once, the lower first, until somebody has been told."""
    card_height: float = 0.0
    """How tall a card shows, px; 0 while none has been seen."""
    told: int = 0
    """Cards reported so far, of this pile and of those before it."""
    _mask: Mask | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cards laid, oldest first."""
        return tuple(track.name or UNREAD for track in self.laid)

    @property
    def rests(self) -> list[Quad]:
        """Where the cards laid came to rest."""
        return [track.rest for track in self.laid if track.rest is not None]

    @property
    def latest(self) -> int:
        """When the newest card, laid or under way, came up at the latest, ns."""
        return max((track.high for track in [*self.open, *self.laid]), default=LONG_AGO)

    def middle(self, shape: tuple[int, int]) -> tuple[float, float]:
        """The pile's middle, or that of a picture of so many rows and columns, px."""
        if self.laid:
            x, y = np.mean([centre_of(track.quad) for track in self.laid[-5:]], axis=0)
            return float(x), float(y)
        return shape[1] / 2, shape[0] / 2

    def mask(self, motion: Motion) -> Mask | None:
        """Where the cards laid lie, in reduced pixels; None if none does."""
        if not self.laid or motion.table is None:
            return None
        if self._mask is None:
            quads = [track.rest if track.rest is not None else track.quad for track in self.laid]
            self._mask = motion.mask(quads, motion.table.shape, widen=2)
        return self._mask

    def shifted(self) -> None:
        """A card was laid or came to rest elsewhere: where the pile lies is to be drawn anew."""
        self._mask = None

    def lay(self, track: Track, name: str) -> None:
        """Take a card under way into the pile, in the order in which the faces came up."""
        track.name = name
        if track.rest is None:
            track.rest = track.quad
        place = next((k for k, other in enumerate(self.laid) if other.high > track.high), len(self.laid))
        self.laid.insert(place, track)
        self.shifted()
        self.card_height = 0.8 * self.card_height + 0.2 * height_of(track.quad)
        self.told += 1

    def clear(self, since: int) -> None:
        """The pile was taken; cards first seen after ``since`` (ns) are under way to the next."""
        self.laid.clear()
        self.burned.clear()
        self.shifted()
        self.open = [track for track in self.open if track.sightings[0].t > since]
