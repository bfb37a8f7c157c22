"""From indices to cards: which indices are of one card, what the card is, and which card lies on top.

Evidence is added as log-probabilities with weights fitted on held-out synthetic scenes (two readings of one card share
its light and blur, so together they are worth less than twice one of them), and the result is turned into a confidence
by a calibration fitted there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.cards import CARDS, RANKS, SUITS, UNREAD
from models.confidence import SIGNS, signs
from models.finder import Spot
from models.geometry import Points, area, overlap, quad_of
from models.reader import CardReading, Logs, Reading, sigmoid

NAMED = 0.01
"""Names less likely than this are left out of a card's alternatives ..."""
MOST_NAMED = 5
"""... and so are all after so many."""

_RANK = np.array([RANKS.index(c[0]) for c in CARDS])
_SUIT = np.array([SUITS.index(c[1]) for c in CARDS])


@dataclass(frozen=True, slots=True)
class Weights:
    """Numbers of `weights/calibration.json`; the defaults are what an unfitted eye would use."""

    #: Least logit of being an index for a spot to count.
    index: float = 0.0
    #: Least logit for one to be told as a card when the finder has doubts too: cloth and print look like half an index.
    alone: float = 2.0
    #: Weight of one index's reading, of each where two agree on the place, and of the whole card's.
    one: float = 0.9
    each: float = 0.7
    card: float = 0.5
    #: confidence = sigmoid(these · `confidence.signs`)
    signs: tuple[float, ...] = (1.0, *(0.0 for _ in SIGNS[1:]))
    #: Below this confidence the card is seen but not read.
    unread: float = 0.3

    @staticmethod
    def of(data: Mapping[str, Any]) -> Weights:
        """Those of the fields that `data` has."""
        names = Weights.__dataclass_fields__
        plain = {k: float(v) for k, v in data.items() if k in names and k != "signs"}
        fitted = replace(Weights(), **plain)  # type: ignore[arg-type]
        return replace(fitted, signs=tuple(float(v) for v in data["signs"])) if "signs" in data else fitted


@dataclass(slots=True)
class Candidate:
    """One card: its indices and what they say, its place, and later what the whole card says."""

    spots: list[Spot]
    readings: list[Reading]
    centre: Points
    up: Points
    right: Points
    whole: CardReading | None = None
    quad: Points = field(default_factory=lambda: np.zeros((4, 2)))

    @property
    def frame(self) -> tuple[Points, Points, Points]:
        """Centre and half axes."""
        return self.centre, self.up, self.right


def joint(rank: Logs, suit: Logs) -> NDArray[np.float64]:
    """Log-probabilities of `CARDS` from those of rank and suit."""
    return np.asarray(rank[_RANK] + suit[_SUIT])


def candidates(spots: Sequence[Spot], readings: Sequence[Reading], weights: Weights) -> list[Candidate]:
    """Group the spots that are indices into cards, surest first."""
    order = [
        i
        for i in np.argsort([-r.index - 2 * s.score for s, r in zip(spots, readings, strict=True)]).tolist()
        if readings[i].index > weights.index
    ]
    cards: list[Candidate] = []
    taken: list[Spot] = []
    for i in order:
        spot, reading = spots[i], readings[i]
        if any(_again(other, spot) for other in taken):
            continue
        taken.append(spot)
        best, fit = None, 1.0
        for card in cards:
            miss = _mismatch(card, spot, reading)
            if miss < fit:
                best, fit = card, miss
        if best is None:
            cards.append(Candidate([spot], [reading], spot.card_centre, spot.card_up, spot.card_right))
        else:
            best.spots.append(spot)
            best.readings.append(reading)
            _place(best)
    return [c for c in cards if area(quad_of(*c.frame)) > 60]


def likely(card: Candidate, weights: Weights) -> bool:
    """The reader holds one of its indices for one, or the finder is sure of the place."""
    return max(r.index for r in card.readings) >= weights.alone or max(s.score for s in card.spots) > 0.6


def _again(known: Spot, spot: Spot) -> bool:
    """The same index once more, perhaps at another size: a neighbour in a fan is of like size and farther off."""
    a, b = known.height, spot.height
    turn = float(known.up @ spot.up) * 4 / max(a * b, 1e-6)
    near = 0.35 if 0.7 < a / max(b, 1e-6) < 1.4 else 0.7
    return turn > 0.7 and float(np.linalg.norm(known.centre - spot.centre)) < near * max(a, b)


def _local(card: Candidate, point: Points) -> Points:
    """A point in the card's own axes: right and up, ±1 at the edges."""
    m = np.stack([card.right, card.up], 1)
    if abs(np.linalg.det(m)) < 1e-6:
        return np.array([9.0, 9.0])
    return np.asarray(np.linalg.solve(m, point - card.centre))


def _mismatch(card: Candidate, spot: Spot, reading: Reading) -> float:
    """Below 1 if the spot can be an index of the card; the smaller the better.

    Either it is where one of the card's corners is to be, turned as it should be there, or both say the same card
    and lie nearly so. Two cards of one heap that differ must not be joined, so unlike readings need a far better fit.
    """
    first = card.spots[0]
    height = float(np.linalg.norm(card.up))
    if height < 1 or len(card.spots) >= 4 or not 0.55 < spot.height / max(first.height, 1e-6) < 1.8:
        return 9.0
    turn = float(spot.up @ first.up) / max(float(np.linalg.norm(spot.up) * np.linalg.norm(first.up)), 1e-6)
    if turn < -0.85 and _opposed(first, spot) and _same_card(card.readings[0], reading):
        return 0.5
    apart = float(np.linalg.norm(spot.card_centre - card.centre)) / height
    if turn < -0.4 and apart < 0.25 and _same_card(card.readings[0], reading):
        return 0.6  # both name the same card and the same centre: an up-vector is off
    a, b = _local(card, first.centre), _local(card, spot.centre)
    # An index is in one of the four corners; its opposite is turned, its neighbours are mirrored.
    places = [(-a, -1.0), (np.array([-a[0], a[1]]), 1.0), (np.array([a[0], -a[1]]), -1.0)]
    off = min(float(np.hypot((b - p)[0] * 0.7, (b - p)[1])) for p, way in places) if abs(turn) > 0.8 else 9.0
    way_fits = any(way * turn > 0.8 and float(np.hypot((b - p)[0] * 0.7, (b - p)[1])) < off + 0.05 for p, way in places)
    if not way_fits:
        return 9.0
    same = _agree(card.readings[0], reading)
    centres = float(np.linalg.norm(spot.card_centre - card.centre)) / height
    limit = 0.45 if same else 0.16
    return max(off / limit, centres / (limit * 1.6))


def _opposed(a: Spot, b: Spot) -> bool:
    """b is where the index opposite to a can be on a card of any size: across the diagonal, and so many heights off.

    Indices sit about 25 mm and 35 mm from a poker card's centre, so the way to the opposite one makes 36° with the
    index's own axis; indices are 10 to 35 mm high. A card's size told from one index is not that sure.
    """
    height = (a.height + b.height) / 2
    for one, other in ((a, b), (b, a)):
        down = -one.up / max(float(np.linalg.norm(one.up)), 1e-6)
        way = other.centre - one.centre
        angle = float(np.degrees(np.arctan2(abs(_cross(down, way)), float(down @ way))))
        if not 17.0 < angle < 56.0:
            return False
    return 2.0 < float(np.linalg.norm(a.centre - b.centre)) / max(height, 1e-6) < 11.0


def _same_card(a: Reading, b: Reading) -> bool:
    return int(joint(a.rank, a.suit).argmax()) == int(joint(b.rank, b.suit).argmax())


def _agree(a: Reading, b: Reading) -> bool:
    """The two readings have a likely card in common."""
    both = joint(a.rank, a.suit) + joint(b.rank, b.suit)
    apart = joint(a.rank, a.suit).max() + joint(b.rank, b.suit).max()
    return bool(both.max() > apart - 2.0)


def _place(card: Candidate) -> None:
    """Centre and axes from all indices; two opposite ones fix centre, turn and size."""
    base = card.spots[0]
    centres, ups, rights = [], [], []
    for spot in card.spots:
        sign = 1.0 if float(spot.up @ base.up) > 0 else -1.0
        centres.append(spot.card_centre)
        ups.append(sign * spot.card_up)
        rights.append(sign * spot.card_right)
    card.centre, card.up, card.right = np.mean(centres, 0), np.mean(ups, 0), np.mean(rights, 0)
    opposite = [
        s
        for s in card.spots[1:]
        if float(s.up @ base.up) < 0 and float(_local(card, s.centre)[0] * _local(card, base.centre)[0]) < 0
    ]
    if not opposite:
        return
    other = opposite[0]
    card.centre = (base.centre + other.centre) / 2
    # Turn and stretch the axes so that the diagonal between the indices is the one seen.
    said = (base.centre - base.card_centre) - (other.centre - other.card_centre)
    true = base.centre - other.centre
    n = float(said @ said)
    if n > 1:
        c, s = float(said @ true) / n, float(said[0] * true[1] - said[1] * true[0]) / n
        turn = np.array([[c, -s], [s, c]])
        if 0.4 < float(np.hypot(c, s)) < 2.5:
            card.up, card.right = turn @ card.up, turn @ card.right


def evidence(card: Candidate, weights: Weights) -> NDArray[np.float64]:
    """Weighted log-probabilities of `CARDS`, normalised."""
    each = weights.one if len(card.readings) == 1 else weights.each
    total = np.zeros(len(CARDS))
    for reading in card.readings:
        # An index that may be none says less.
        total += each * sigmoid(reading.index) * joint(reading.rank, reading.suit)
    if card.whole is not None:
        total += weights.card * sigmoid(card.whole.bare) * joint(card.whole.rank, card.whole.suit)
    total -= total.max()
    return np.asarray(total - np.log(np.exp(total).sum()))


def certainty(card: Candidate, logs: NDArray[np.float64], weights: Weights) -> float:
    """The confidence in the likeliest card of `logs`, which is the card's `evidence`."""
    return sigmoid(float(np.dot(weights.signs, signs(card, logs))))


def judged(card: Candidate, weights: Weights) -> tuple[str, float]:
    """The card's name, or `??`, and the confidence in it (of a refused reading, where it is not read)."""
    logs = evidence(card, weights)
    return told(CARDS[int(logs.argmax())], certainty(card, logs, weights), weights)


def told(name: str, confidence: float, weights: Weights) -> tuple[str, float]:
    """The name with its confidence, or `??` where that is too little to count as read."""
    return (name, confidence) if confidence >= weights.unread else (UNREAD, confidence)


def alternatives(card: Candidate, weights: Weights) -> tuple[tuple[str, float], ...]:
    """The names that the card may have and their probabilities, the likeliest first, whether it counts as read or not.

    The first has the calibrated confidence; the others are to it as the evidence says, as far as the rest of 1 reaches.
    """
    logs = evidence(card, weights)
    best, confidence = int(logs.argmax()), certainty(card, logs, weights)
    shares = confidence * np.exp(logs - logs[best])
    shares[best] = 0.0
    shares *= min(1.0, (1 - confidence) / max(float(shares.sum()), 1e-9))
    shares[best] = confidence
    order = [best, *(int(i) for i in np.argsort(-shares, kind="stable") if i != best and shares[i] >= NAMED)]
    return tuple((CARDS[i], float(shares[i])) for i in order[:MOST_NAMED])


def bareness(card: Candidate) -> float:
    """The probability that nothing lies on the card, as the whole-card network says."""
    return 0.0 if card.whole is None else sigmoid(card.whole.bare)


def indices(card: Candidate) -> NDArray[np.float64]:
    """Where its indices were seen: their middles, (k, 2), px."""
    return np.array([spot.centre for spot in card.spots], np.float64).reshape(-1, 2)


def settle(card: Candidate) -> None:
    """The corners: the whole-card network's where they are near the indices' own, else the parallelogram's."""
    plain = quad_of(*card.frame)
    card.quad = plain if card.whole is None else nearer(card.whole.quad, plain)
    # Clockwise from the top left of an index.
    if float(_cross(card.quad[1] - card.quad[0], card.quad[2] - card.quad[0])) < 0:
        card.quad = card.quad[[1, 0, 3, 2]]


def nearer(told: Points, plain: Points) -> Points:
    """The corners told by the whole-card network, if they are near those that it was shown; else the latter."""
    side = float(np.sqrt(max(area(plain), 1.0)))
    return told if float(np.abs(told - plain).max()) < 0.3 * side else plain


def _cross(a: Points, b: Points) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def without_doubles(cards: Sequence[Candidate]) -> list[Candidate]:
    """Leave out a card that all but coincides with a surer one (an index found twice, a figure in a court)."""
    kept: list[Candidate] = []
    for card in cards:
        twin = any(_twins(card, other) or _figment(card, other) for other in kept)
        if not twin:
            kept.append(card)
    return kept


def _twins(a: Candidate, b: Candidate) -> bool:
    """The same name in the same place, or one turned by half against the other: one card that was not joined."""
    if not _same_card(a.readings[0], b.readings[0]):
        return False
    shared = overlap(a.quad, b.quad)
    off = float(np.linalg.norm(a.centre - b.centre)) / max(1.0, float(np.linalg.norm(b.up)))
    turn = float(a.up @ b.up) / max(1e-6, float(np.linalg.norm(a.up) * np.linalg.norm(b.up)))
    return (shared > 0.9 and off < 0.12) or (shared > 0.3 and turn < -0.8)


def _figment(weak: Candidate, strong: Candidate) -> bool:
    """A doubtful index, of a card that would lie square on a sure one: a pip or a court's detail beside its index.

    A card so near under another shows no index. Nor is there a card that lies in a sure one's area and is far smaller:
    cards of one heap are of one size.
    """
    doubtful, sure = max(r.index for r in weak.readings), max(r.index for r in strong.readings)
    if doubtful > 4.0 or sure < 8.0:
        return False
    if area(weak.quad) < 0.5 * area(strong.quad) and overlap(weak.quad, strong.quad) > 0.6:
        return True
    off = float(np.linalg.norm(weak.centre - strong.centre)) / max(1.0, float(np.linalg.norm(strong.up)))
    turn = float(weak.up @ strong.up) / max(1e-6, float(np.linalg.norm(weak.up) * np.linalg.norm(strong.up)))
    return off < 0.3 and abs(turn) > 0.95


def heaps(quads: Sequence[Points]) -> list[list[int]]:
    """Groups of cards that lie on one another."""
    group = list(range(len(quads)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for i in range(len(quads)):
        for j in range(i):
            if overlap(quads[i], quads[j]) > 0.015:
                group[root(i)] = root(j)
    out: dict[int, list[int]] = {}
    for i in range(len(quads)):
        out.setdefault(root(i), []).append(i)
    return list(out.values())


def tops(cards: Sequence[Candidate]) -> set[int]:
    """Of each heap the card on which nothing lies: the network's word, and whose indices show inside whose area."""
    out = set()
    for heap in heaps([c.quad for c in cards]):
        score = {i: (cards[i].whole.bare if cards[i].whole is not None else 0.0) for i in heap}  # type: ignore[union-attr]
        for i in heap:
            for j in heap:
                if i != j and _shows_inside(cards[i], cards[j]):
                    score[j] -= 3.0  # an index of i shows where j lies: j is below i
        out.add(max(heap, key=lambda i: score[i]))
    return out


def _shows_inside(a: Candidate, b: Candidate) -> bool:
    """An index of a lies well inside b's area."""
    return any(float(np.abs(_local(b, s.centre)).max()) < 0.85 for s in a.spots)
