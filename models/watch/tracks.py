"""Cards followed through a stream: where each was seen, what it was read as, how sure that is; and the pile of them.

Readings of one card in several frames are votes. A reading of confidence c weighs -ln(1 - c), cut at `_HEAVIEST`, and
the frames of one card resemble each other, so their mistakes are not independent: the best reading of a name counts in
full, each further one less (`ECHO`), and from the third on only if it is sure. The lead of the best name over the next
is what the belief rests on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.eye.classes import SURE_READING, UNREAD, look_alike
from models.eye.eye import CardSeen
from models.eye.geometry import Quad, centre_of, height_of, least_moved, most_moved
from models.watch.measure import HALF, OVER, SLIGHT
from models.watch.motion import Mask, Motion
from models.watch.pace import LAID_NS
from models.watch.prior import DOUBT, ECHO
from models.watch.stream import LONG_AGO

_HEAVIEST: Final = -math.log(DOUBT)
"""The most that one frame may weigh: as much as confidence 0.985."""
PLAIN_CONFIDENCE: Final = 1 - DOUBT
"""A card read with so much confidence is no misread scrap, if two of its indices show."""


def double(seen: CardSeen) -> bool:
    """Whether two indices say a card's name beyond doubt: no scrap of another does."""
    return seen.confidence >= PLAIN_CONFIDENCE and len(seen.indices) >= 2


def plain(seen: CardSeen) -> bool:
    """Whether a card was seen whole and read beyond doubt."""
    return double(seen) and seen.bare >= HALF


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
    scrap: bool = False
    """Its only index shows where a known card's does: likely that card's own, misread."""
    plain: bool = False
    """It was seen whole and read beyond doubt."""
    double: bool = False
    """Two indices said its name beyond doubt."""
    bare: float = 0.0
    """How likely nothing lies on it."""
    at_rest: bool = False
    """Nothing moved there since the frame before."""
    candidates: tuple[tuple[str, float], ...] = ()
    """The names that it may have, with their probabilities; empty: only its own."""
    indices: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))
    """Where its indices showed, px."""
    grey: bool = False
    """Without colour: its suit is a guess."""


def _index_stays(one: NDArray[np.float64], other: NDArray[np.float64], reach: float) -> bool:
    """Whether an index (px) shows where one did: then a card whose corners are guessed has not moved."""
    return bool((np.linalg.norm(one[:, None] - other[None], axis=2) < reach).any())


def _unread(sighting: Sighting) -> Sighting:
    return replace(sighting, name=UNREAD, confidence=0.0, plain=False, double=False, candidates=())


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
    way: dict[int, Quad] = field(default_factory=dict)
    """Where it was before it was read, by the frame's index, px."""
    sightings: list[Sighting] = field(default_factory=list)
    name: str | None = None
    """As reported."""
    rest: Quad | None = None
    """Where it came to rest."""
    still: int = 0
    """In how many sightings in a row it had not moved."""
    rested: int | None = None
    """When it was first seen at rest, ns."""
    missed: bool = False
    """The latest look did not find it."""
    noted: int = -1
    """Index of the last frame in which the arms that reach to it were noted."""
    indices: NDArray[np.float64] | None = None
    """Where its indices showed when most of them did, px."""
    bearings: list[tuple[float, float]] = field(default_factory=list)
    """Where the hand came from, each with its weight."""
    first_arms: int = 0
    """How many of them are of the first frame in which an arm reached to it."""
    reached: int | None = None
    """When an arm was first seen that reached to it on its way, ns."""

    @property
    def last(self) -> Sighting:
        return self.sightings[-1]

    def add(self, sighting: Sighting) -> None:
        """Note one more sighting."""
        if self.sightings and most_moved(self.quad, sighting.quad) < SLIGHT * height_of(self.quad):
            self.still += 1
        else:
            self.still = 0
        if sighting.at_rest:
            self.still = max(1, self.still)
        self.missed = False
        self.quad = sighting.quad
        if self.still:
            self.rest = sighting.quad
            self.rested = self.rested if self.rested is not None else sighting.t
        else:
            self.rested = None
        if sighting.confidence >= SURE_READING:
            self.sightings = [s if self._holds(s, sighting.name) else _unread(s) for s in self.sightings]
        self.sightings.append(sighting)

    def _holds(self, earlier: Sighting, name: str) -> bool:
        """Whether what was read earlier still counts: in motion a suit is soon mistaken for the other of its colour."""
        moved = self.rested is not None and earlier.t < self.rested
        return not (moved and look_alike(earlier.name, name))

    def note_indices(self, seen: CardSeen) -> None:
        """Remember where its indices are."""
        if self.indices is None or len(seen.indices) >= len(self.indices):
            self.indices = seen.indices

    def weights(self) -> dict[str, float]:
        """What speaks for each name."""
        votes: dict[str, list[float]] = {}
        passing = self.may_be_scrap()
        for s in self.sightings:
            if s.name != UNREAD and not (s.scrap and passing):
                votes.setdefault(s.name, []).append(min(_HEAVIEST, -math.log(max(1e-6, 1 - s.confidence))))
        weights = {}
        for name, each in votes.items():
            best, *others = sorted(each, reverse=True)
            sure = [vote for vote in others[1:] if vote >= -math.log(1 - SURE_READING)]
            weights[name] = sum(share * vote for share, vote in zip(ECHO, [best, *others[:1], *sure], strict=False))
        return weights

    def belief(self) -> tuple[str, float]:
        """The leading name and its confidence, or ``??`` and 0."""
        ranked = sorted(self.weights().items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            return UNREAD, 0.0
        rival = ranked[1][1] if len(ranked) > 1 else 0.0
        passing = self.may_be_scrap()
        best = max(s.confidence for s in self.sightings if s.name == ranked[0][0] and not (s.scrap and passing))
        lead = 1 - math.exp(-(ranked[0][1] - rival))
        return ranked[0][0], round(min(lead, 0.999) if rival == 0 or lead < best else best, 4)

    @property
    def suit_open(self) -> bool:
        """Whether every look that named it was without colour."""
        named = [s for s in self.sightings if s.name != UNREAD]
        return bool(named) and all(s.grey for s in named)

    def looks(self) -> list[tuple[tuple[str, float], ...]]:
        """What each sighting made of it: names and their probabilities. Nothing of those that may be a scrap's."""
        passing = self.may_be_scrap()
        own = [s for s in self.sightings if not (s.scrap and passing)]
        named = (s.candidates or (((s.name, s.confidence),) if s.name != UNREAD else ()) for s in own)
        return [look for look in named if look]

    def more_than_a_glimpse(self, name: str) -> bool:
        """Whether it was read so twice, or once beyond doubt: on top of all, or by two indices over the pile."""
        alike = [s for s in self.sightings if s.name == name]
        return len(alike) >= 2 or any((s.top and s.confidence >= 0.97) or (s.double and s.on_pile) for s in alike)

    def came_under(self) -> bool:
        """Whether it was seen under the pile, or at a known card's index, more often than over it.

        A card that is laid comes from a hand, and lies over the others from the first; what a hand uncovers does not.
        """
        sure = (s for s in self.sightings if s.top and len(s.indices) > 1 and s.confidence >= SURE_READING)
        if any(s.on_pile for s in sure) or any(s.plain and s.on_pile for s in self.sightings):
            return False
        whole = sum(s.plain for s in self.sightings)
        if whole:
            return self.seen_under() > 2 * whole
        passing = self.may_be_scrap()
        over = sum(s.on_pile and not (s.scrap and passing) for s in self.sightings)
        return sum(s.under or (s.scrap and passing) for s in self.sightings) > over

    def may_be_scrap(self) -> bool:
        """Whether it has never shown two indices that agree, as a scrap of an old card never does."""
        return not any(s.double for s in self.sightings)

    def plainly_laid(self) -> bool:
        """Whether it was seen whole over the pile's cards twice, or once and has not moved since."""
        whole = sum(s.plain and s.on_pile for s in self.sightings)
        return whole >= 2 or (whole == 1 and self.still > 0 and self.last.on_pile)

    def travelled(self) -> bool:
        """Whether it has been seen to move, as what comes in a hand does."""
        first = self.sightings[0]
        tall = height_of(first.quad)
        return any(
            least_moved(first.quad, s.quad) >= OVER * tall and not _index_stays(first.indices, s.indices, SLIGHT * tall)
            for s in self.sightings
        )

    def came_over(self) -> bool:
        """Whether, when it first met the pile, it lay over it."""
        return next((s.on_pile for s in self.sightings if s.on_pile or s.under), False)

    def fleeting(self, index: int) -> bool:
        """Whether it was a single unsure look, some frames ago: a misreading of something else, most likely."""
        return self.missed and len(self.sightings) == 1 and index - self.first > 2 and self.belief()[1] < SURE_READING

    def scrap(self) -> bool:
        """Whether it was only ever seen under the pile, and never read for sure."""
        under = all(s.under and not s.on_pile for s in self.sightings) and self.belief()[1] < SURE_READING
        return under or self.came_under()

    def may_still_be(self, name: str, t: int) -> bool:
        """Whether a reading of this name belongs here: it was read so lately, or it is what it is believed to be."""
        if name not in self.weights():
            return False
        # A card on its way may be taken for another; later the other is one that was laid since.
        return self.belief()[0] == name or max(s.t for s in self.sightings if s.name == name) >= t - LAID_NS

    def reads(self, name: str) -> int:
        """In how many frames it was read so."""
        return sum(1 for s in self.sightings if s.name == name)

    def doubles(self, name: str) -> int:
        """In how many frames two indices said this name beyond doubt."""
        return sum(s.double and s.name == name for s in self.sightings)

    def likely(self, name: str) -> int:
        """In how many frames it may have been this card."""
        return sum(any(one == name for one, p in look) for look in self.looks())

    def seen_on_pile(self) -> int:
        return sum(s.on_pile for s in self.sightings)

    def seen_under(self) -> int:
        return sum(s.under for s in self.sightings)


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
    left: int = LONG_AGO
    """When the pile before this one left the table, ns."""
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
        """When the newest card, laid or under way, came up at the latest, ns; a scrap that shows under them is none."""
        coming = (track for track in self.open if not track.scrap())
        return max((track.high for track in (*coming, *self.laid)), default=LONG_AGO)

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
        self.left = since
        self.laid.clear()
        self.burned.clear()
        self.shifted()
        self.open = [track for track in self.open if track.sightings[0].t > since]
