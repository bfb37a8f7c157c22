"""Cards followed through a stream (sightings, readings, confidence), and the pile that they form.

Readings of one card in several frames are votes. A reading of confidence c weighs -ln(1 - c), limited to `_HEAVIEST`.
The frames of one card resemble each other, so their errors are not independent: the best reading of a name counts in
full, each further one less (`ECHO`), and from the third on only if it is sure. The belief rests on the lead of the best
name over the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.eye.classes import SURE_READING, UNREAD, look_alike
from models.eye.eye import CardSeen
from models.eye.geometry import Quad, centre_of, height_of, least_moved, most_moved, moved_by
from models.watch.masks import Mask
from models.watch.measure import HALF, LEARNED, OVER, SLIGHT
from models.watch.motion import Motion
from models.watch.pace import LAID_NS, LONG_AGO, PATIENCE_NS
from models.watch.prior import DOUBT, ECHO, MOST_CONFIDENCE
from models.watch.reasons import Evidence, Look, Reason
from models.watch.stream import Stream
from referee.engine.observations import Observation

_HEAVIEST: Final = -math.log(DOUBT)
"""Greatest weight of one frame: that of confidence 0.985."""
_ONCE_ENOUGH: Final = 0.97
"""Confidence of a reading on top that needs no second one."""
_KEPT_LOOKS: Final = 4
"""Number of looks kept of a card that was reported."""
_MIDDLE_CARDS: Final = 5
"""Number of latest cards that tell the pile's middle; these three were chosen by hand."""
PLAIN_CONFIDENCE: Final = 1 - DOUBT
"""A card read with this confidence from two indices is no misread scrap."""


def double(seen: CardSeen) -> bool:
    """Whether two indices give a card's name beyond doubt, as no scrap of another card does."""
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
    """Whether it lies over known cards of the pile, and on top of them."""
    under: bool
    """Whether it lies at known cards' places, and below them."""
    scrap: bool = False
    """Whether its only index coincides with a known card's index: probably that card, misread."""
    plain: bool = False
    """Whether it was seen whole and read beyond doubt."""
    double: bool = False
    """Whether two indices gave its name beyond doubt."""
    bare: float = 0.0
    """Probability that nothing lies on it."""
    at_rest: bool = False
    """Whether nothing moved there since the previous frame."""
    candidates: tuple[tuple[str, float], ...] = ()
    """The possible names with their probabilities; empty: only its own name."""
    indices: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))
    """Positions of its indices, px."""
    grey: bool = False
    """Whether it was seen without colour, so that its suit is a guess."""


def _index_stays(one: NDArray[np.float64], other: NDArray[np.float64], reach: float) -> bool:
    """Whether an index (px) stayed in place: then a card whose corners are estimated has not moved."""
    return bool((np.linalg.norm(one[:, None] - other[None], axis=2) < reach).any())


def _unread(sighting: Sighting) -> Sighting:
    return replace(sighting, name=UNREAD, confidence=0.0, plain=False, double=False, candidates=())


def _doubt_same(looks: Sequence[Sighting]) -> bool:
    """Whether all looks doubt between the same two names: their error is one, and its repetition proves nothing."""
    return len({s.candidates[1][0] if len(s.candidates) > 1 else "" for s in looks} - {""}) == 1


@dataclass(slots=True, eq=False)
class Track:
    """A card of the pile, or a candidate for it."""

    quad: Quad
    """Its last seen place."""
    first: int
    """Index of the first frame in which it was seen."""
    low: int = 0
    """Its face was first seen after this instant, ns ..."""
    high: int = 0
    """... and before this one."""
    way: dict[int, Quad] = field(default_factory=dict)
    """Its places before it was read, px, by frame index."""
    sightings: list[Sighting] = field(default_factory=list)
    name: str | None = None
    """The reported name; None while unreported."""
    rest: Quad | None = None
    """The place where it came to rest."""
    still: int = 0
    """Number of sightings in a row in which it had not moved."""
    rested: int | None = None
    """The instant at which it was first seen at rest, ns."""
    missed: bool = False
    """Whether the latest look did not find it."""
    noted: int = -1
    """Index of the last frame in which the arms reaching to it were noted."""
    indices: NDArray[np.float64] | None = None
    """Positions of its indices when most of them showed, px."""
    bearings: list[tuple[float, float]] = field(default_factory=list)
    """Bearings of the hands near it, each with its weight."""
    first_arms: int = 0
    """Number of bearings from the first frame in which an arm reached to it."""
    reached: int | None = None
    """The instant at which an arm was first seen to reach to it on its way, ns."""

    @property
    def earliest(self) -> Sighting:
        return self.sightings[0]

    @property
    def last(self) -> Sighting:
        return self.sightings[-1]

    def age(self, t: int) -> int:
        """Return the time since it was first seen, ns."""
        return t - self.earliest.t

    def add(self, sighting: Sighting) -> None:
        """Add a sighting."""
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
        if self.indices is None or len(sighting.indices) >= len(self.indices):
            self.indices = sighting.indices

    def add_again(self, sighting: Sighting) -> None:
        """Add a sighting of the card that was reported long ago: only its latest ones matter."""
        self.add(sighting)
        del self.sightings[:-_KEPT_LOOKS]

    def _holds(self, earlier: Sighting, name: str) -> bool:
        """Whether an earlier reading still counts: in motion a suit is easily mistaken for the other of its colour."""
        moved = self.rested is not None and earlier.t < self.rested
        return not (moved and look_alike(earlier.name, name))

    def note_missed(self) -> None:
        """Note that the latest look did not find it."""
        self.missed = True

    def note_arms(self, index: int, arms: Sequence[tuple[float, float]], on_way: int | None) -> None:
        """Note the arms (bearing, weight) that reach to it in a frame; ``on_way``: its instant, before the card lay."""
        self.noted = index
        if not arms:
            return
        if not self.bearings:
            self.first_arms = len(arms)
        self.bearings += arms
        if self.reached is None:
            self.reached = on_way

    def widen_span(self, low: int, high: int) -> None:
        """Note that its face may have come up as early as after ``low``, and as late as before ``high``, ns."""
        self.low, self.high = min(self.low, low), max(self.high, high)

    def precede(self, upper: Track) -> None:
        """Note that it came up together with another card, which lies on it: the lower one is the earlier."""
        self.low, self.high = min(self.low, upper.low), min(self.high, upper.high) - 1

    def carry(self, matrix: NDArray[np.float64]) -> None:
        """Move its place with the picture, by a 2 x 3 matrix in px."""
        self.quad = self.rest = moved_by(matrix, self.quad)
        if self.indices is not None and len(self.indices):
            self.indices = self.indices @ matrix[:, :2].T + matrix[:, 2]

    def weights(self) -> dict[str, float]:
        """Return the weight of the evidence for each name."""
        votes: dict[str, list[float]] = {}
        for s in self._own():
            if s.name != UNREAD:
                votes.setdefault(s.name, []).append(min(_HEAVIEST, -math.log(max(1e-6, 1 - s.confidence))))
        weights = {}
        for name, each in votes.items():
            best, *others = sorted(each, reverse=True)
            sure = [vote for vote in others[1:] if vote >= -math.log(1 - SURE_READING)]
            weights[name] = sum(share * vote for share, vote in zip(ECHO, [best, *others[:1], *sure], strict=False))
        return weights

    def belief(self) -> tuple[str, float]:
        """Return the leading name and its confidence, or ``??`` and 0."""
        ranked = sorted(self.weights().items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            return UNREAD, 0.0
        rival = ranked[1][1] if len(ranked) > 1 else 0.0
        alike = [s for s in self._own() if s.name == ranked[0][0]]
        best = max(s.confidence for s in alike)
        # The inverse of a vote's weight, -ln(1 - c).
        lead = 1 - math.exp(-(ranked[0][1] - rival))
        adds_up = rival == 0 and not (best < SURE_READING and _doubt_same(alike))
        return ranked[0][0], round(min(lead, MOST_CONFIDENCE) if adds_up or lead < best else best, 4)

    def is_sure(self) -> bool:
        """Whether its name is sure."""
        return self.belief()[1] >= SURE_READING

    @property
    def suit_open(self) -> bool:
        """Whether every look that gave it a name was without colour."""
        named = [s for s in self.sightings if s.name != UNREAD]
        return bool(named) and all(s.grey for s in named)

    def looks(self) -> list[tuple[tuple[str, float], ...]]:
        """Return each sighting's candidates (names with probabilities), without sightings that may be of a scrap."""
        named = (s.candidates or (((s.name, s.confidence),) if s.name != UNREAD else ()) for s in self._own())
        return [look for look in named if look]

    def more_than_a_glimpse(self, name: str) -> bool:
        """Whether this name was read twice, or once beyond doubt: on top, or by two indices over the pile."""
        alike = [s for s in self.sightings if s.name == name]
        return len(alike) >= 2 or any(
            (s.top and s.confidence >= _ONCE_ENOUGH) or (s.double and s.on_pile) for s in alike
        )

    def came_under(self) -> bool:
        """Whether it was seen under the pile, or at a known card's index, more often than over it.

        A card that is laid comes from a hand and lies over the others from the first; a card that a hand uncovers does
        not.
        """
        sure = (s for s in self.sightings if s.top and len(s.indices) > 1 and s.confidence >= SURE_READING)
        if any(s.on_pile for s in sure) or any(s.plain and s.on_pile for s in self.sightings):
            return False
        whole = sum(s.plain for s in self.sightings)
        if whole:
            return self.seen_under() > 2 * whole
        own = self._own()
        scraps = len(self.sightings) - len(own)
        return scraps + sum(s.under for s in own) > sum(s.on_pile for s in own)

    def _own(self) -> list[Sighting]:
        """Return the sightings that are not of a scrap, as far as is known."""
        passing = self.may_be_scrap()
        return [s for s in self.sightings if not (s.scrap and passing)]

    def may_be_scrap(self) -> bool:
        """Whether it has never shown two indices that agree, which a scrap of an old card never does."""
        return not any(s.double for s in self.sightings)

    def plainly_laid(self) -> bool:
        """Whether it was seen whole over the pile's cards twice, or once and has not moved since."""
        whole = sum(s.plain and s.on_pile for s in self.sightings)
        return whole >= 2 or (whole == 1 and self.still > 0 and self.last.on_pile)

    def travelled(self) -> bool:
        """Whether it has been seen to move, as a card in a hand does."""
        first = self.earliest
        tall = height_of(first.quad)
        return any(
            least_moved(first.quad, s.quad) >= OVER * tall and not _index_stays(first.indices, s.indices, SLIGHT * tall)
            for s in self.sightings
        )

    def came_over(self) -> bool:
        """Whether it lay over the pile when it first met it."""
        return next((s.on_pile for s in self.sightings if s.on_pile or s.under), False)

    def fleeting(self, index: int) -> bool:
        """Whether it was a single uncertain look some frames ago, probably a misreading."""
        return self.missed and len(self.sightings) == 1 and index - self.first > 2 and not self.is_sure()

    def scrap(self) -> bool:
        """Whether it was only ever seen under the pile, and never read with certainty."""
        under = all(s.under and not s.on_pile for s in self.sightings) and not self.is_sure()
        return under or self.came_under()

    def may_still_be(self, name: str, t: int) -> bool:
        """Whether a reading of this name belongs here: it was read lately, or it is the current belief."""
        if name not in self.weights():
            return False
        # A card on its way may be mistaken for another; later that name belongs to a card laid since.
        return self.belief()[0] == name or max(s.t for s in self.sightings if s.name == name) >= t - LAID_NS

    def reads(self, name: str) -> int:
        """Number of frames in which it was read as this name."""
        return sum(1 for s in self.sightings if s.name == name)

    def doubles(self, name: str) -> int:
        """Number of frames in which two indices gave this name beyond doubt."""
        return sum(s.double and s.name == name for s in self.sightings)

    def likely(self, name: str) -> int:
        """Number of frames whose candidates include this card."""
        return sum(any(read_name == name for read_name, p in look) for look in self.looks())

    def seen_on_pile(self) -> int:
        return sum(s.on_pile for s in self.sightings)

    def seen_under(self) -> int:
        return sum(s.under for s in self.sightings)


class Reasons:
    """Records why something was reported or dropped; nothing if ``stream``, which gives the instants, is None."""

    def __init__(self, stream: Stream | None = None) -> None:
        self._stream = stream
        self._noted: list[Evidence] = []
        self._repeated: dict[tuple[Reason, str], int] = {}
        """When each reason that every look finds again was last found, ns, by the card's name."""

    def note(self, reason: Reason, **evidence: Any) -> None:
        """Record a reason; ``evidence``: fields of `Evidence`."""
        if self._stream is not None:
            self._noted.append(Evidence(reason, self._stream.moments[-1].t, **evidence))

    def note_card(self, track: Track, reason: Reason, **evidence: Any) -> None:
        """Record why a card was reported or dropped."""
        if self._stream is None:
            return
        moments = {moment.index: moment for moment in self._stream.moments}
        looks = tuple(
            Look(
                s.t, s.name, s.confidence, "on" if s.on_pile else "under" if s.under else "beside", s.at_rest,
                moments[s.index].occasion if s.index in moments else None, tuple((x, y) for x, y in s.quad.tolist()),
            )
            for s in track.sightings
        )  # fmt: skip
        read = {s.index for s in track.sightings if s.name != UNREAD}
        name, confidence = track.belief()
        self.note(
            reason, name=name, confidence=confidence, looks=looks, arm=track.reached, low=track.low, high=track.high,
            white=min((moments[index].t for index in track.way if index in moments), default=None),
            frames=tuple(self._stream.span_frames(track.low, track.high, track.way, read)),
            **evidence,
        )  # fmt: skip

    def note_once(self, reason: Reason, name: str = "", **evidence: Any) -> None:
        """Record a reason that each look finds again, such as why a reading begins no card."""
        if self._stream is None:
            return
        t, before = self._stream.moments[-1].t, self._repeated.get((reason, name), LONG_AGO)
        if t - before > PATIENCE_NS:
            self.note(reason, name=name, **evidence)
        self._repeated[reason, name] = t

    def take_all(self, told: Sequence[Observation]) -> list[Evidence]:
        """Return what was recorded since the last call, one for each observation told, and forget it."""
        if self._stream is None:
            return []
        noted, self._noted = self._noted, []
        ids = {line.id for line in told}
        explained = {evidence.observation.id for evidence in noted if evidence.observation is not None}
        noted = [
            evidence
            if evidence.observation is None or evidence.observation.id in ids
            else replace(evidence, observation=None, reason=Reason.UNSEEN_IN_GAP)
            for evidence in noted
        ]
        rest = (line for line in told if line.id not in explained)
        return noted + [Evidence(Reason.SEEN, self._stream.moments[-1].t, line) for line in rest]


@dataclass(slots=True, eq=False)
class Pile:
    """One pile and the cards that may join it."""

    packs: int = 1
    """Packs in play; with one, a card lies in a pile only once."""
    laid: list[Track] = field(default_factory=list)
    """The reported cards, oldest first."""
    open: list[Track] = field(default_factory=list)
    """The cards under way: neither reported nor dropped yet."""
    burned: dict[str, Quad] = field(default_factory=dict)
    """The last seen places of cards slid under the pile, by name."""
    doubles: list[tuple[Track, Track]] = field(default_factory=list)
    """Pairs of cards drawn at once, the lower first, until they are reported."""
    card_height: float = 0.0
    """Height of a card in the picture, px; 0 until one has been seen."""
    left: int = LONG_AGO
    """The instant at which the previous pile left the table, ns."""
    told: int = 0
    """Number of cards reported so far, of this pile and the earlier ones."""
    reasons: Reasons = field(default_factory=Reasons)
    _mask: Mask | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cards laid, oldest first."""
        return tuple(track.name or UNREAD for track in self.laid)

    @property
    def cards(self) -> list[Track]:
        """The cards laid and those under way."""
        return [*self.laid, *self.open]

    @property
    def rests(self) -> list[Quad]:
        """Resting places of the laid cards."""
        return [track.rest for track in self.laid if track.rest is not None]

    @property
    def latest(self) -> int:
        """Latest possible reveal, ns, of the newest card, laid or under way; scraps under the pile do not count."""
        coming = (track for track in self.open if not track.scrap())
        return max((track.high for track in (*coming, *self.laid)), default=LONG_AGO)

    def middle(self, shape: tuple[int, int]) -> tuple[float, float]:
        """Return the pile's middle, or the middle of a picture of ``shape`` (rows, columns), px."""
        if self.laid:
            x, y = np.mean([centre_of(track.quad) for track in self.laid[-_MIDDLE_CARDS:]], axis=0)
            return float(x), float(y)
        return shape[1] / 2, shape[0] / 2

    def mask(self, motion: Motion) -> Mask | None:
        """Return a mask of the laid cards, in reduced pixels; None if there are none."""
        if not self.laid or motion.table is None:
            return None
        if self._mask is None:
            quads = [track.rest if track.rest is not None else track.quad for track in self.laid]
            self._mask = motion.mask(quads, motion.table.shape, widen=2)
        return self._mask

    def shifted(self) -> None:
        """Discard the mask, since a card was laid or came to rest elsewhere."""
        self._mask = None

    def follow(self, track: Track) -> None:
        """Begin to follow a card."""
        self.open.append(track)

    def lay(self, track: Track, name: str) -> None:
        """Move a card into the pile, in the order of reveals; it is under way no more."""
        self.open = [other for other in self.open if other is not track]
        track.name = name
        if track.rest is None:
            track.rest = track.quad
        place = next((k for k, other in enumerate(self.laid) if other.high > track.high), len(self.laid))
        self.laid.insert(place, track)
        self.shifted()
        self.card_height = (1 - LEARNED) * self.card_height + LEARNED * height_of(track.quad)
        self.told += 1

    def burn(self, track: Track, name: str) -> None:
        """Move a card under way under the pile."""
        self.open.remove(track)
        self.burned[name] = track.quad

    def note_burned(self, name: str, quad: Quad) -> None:
        """Note where a card under the pile was seen again."""
        self.burned[name] = quad

    def learn_height(self, quads: Sequence[Quad]) -> None:
        """Learn a card's height from the first cards."""
        self.card_height = float(np.median([height_of(quad) for quad in quads]))

    def note_pair(self, lower: Track, upper: Track) -> None:
        """Note that two cards were drawn at once."""
        self.doubles.append((lower, upper))

    def take_named_pairs(self) -> list[tuple[Track, Track]]:
        """Return, once, the pairs of cards drawn at once of which both are reported."""
        named = [pair for pair in self.doubles if all(track.name is not None for track in pair)]
        self.doubles = [pair for pair in self.doubles if pair not in named]
        return named

    def carry(self, matrix: NDArray[np.float64], stays: Callable[[Track], bool]) -> None:
        """Move the places of cards with the picture, by a 2 x 3 matrix in px: those under the pile, and some laid."""
        for track in filter(stays, self.laid):
            track.carry(matrix)
        self.burned = {name: moved_by(matrix, quad) for name, quad in self.burned.items()}
        self.shifted()

    def drop(self, track: Track, reason: Reason, other: str = "") -> None:
        """Stop following a card under way that is not reported; ``other``: the card that decided it."""
        self.open.remove(track)
        self.reasons.note_card(track, reason, other=other)

    def keep_open(self, keep: Callable[[Track], bool], reason: Reason) -> None:
        """Drop all cards under way but some."""
        for track in [track for track in self.open if not keep(track)]:
            self.drop(track, reason)

    def clear(self, since: int) -> None:
        """Clear the taken pile; cards first seen after ``since`` (ns) are under way to the next one."""
        self.left = since
        self.laid.clear()
        self.burned.clear()
        self.shifted()
        self.keep_open(lambda track: track.earliest.t > since, Reason.WENT_WITH_PILE)
