"""Joins indices into cards: which indices belong to one card, and where that card lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from models.eye.finder import Spot
from models.eye.geometry import Points, area, quad_of
from models.eye.reader import CardReading, Reading, card_logs

#: Tangent of 10 degrees, the largest error of the finder's up direction.
_TURNED = 0.18


@dataclass(slots=True)
class Candidate:
    """One card: its indices with their readings, its place, and later the whole-card reading."""

    spots: list[Spot]
    readings: list[Reading]
    centre: Points
    up: Points
    right: Points
    whole: CardReading | None = None
    bare: float = 0.0
    """Logit that nothing lies on it, averaged over the looks."""
    quad: Points = field(default_factory=lambda: np.zeros((4, 2)))

    @property
    def frame(self) -> tuple[Points, Points, Points]:
        """Centre and half axes."""
        return self.centre, self.up, self.right


def candidates(spots: Sequence[Spot], readings: Sequence[Reading], least_index: float) -> list[Candidate]:
    """Group the spots that are indices (logit above ``least_index``) into cards, surest first.

    First join indices that may agree. Then join single indices that disagree but can only belong to one card, as when
    glare lies on an index. Agreement comes first because a neighbour's index may fit as well.
    """
    order = [
        i
        for i in np.argsort([-r.index - 2 * s.score for s, r in zip(spots, readings, strict=True)]).tolist()
        if readings[i].index > least_index
    ]
    cards: list[Candidate] = []
    taken: list[Spot] = []
    for i in order:
        spot, reading = spots[i], readings[i]
        if any(_again(other, spot) for other in taken):
            continue
        taken.append(spot)
        fits = [(_mismatch(card, spot, reading), card) for card in cards]
        if not _join(fits, spot, reading):
            cards.append(Candidate([spot], [reading], spot.card_centre, spot.card_up, spot.card_right))
    joined: list[Candidate] = []
    for card in cards:
        alone = (other for other in joined if len(card.spots) == len(other.spots) == 1)
        fits = [(_mismatch(other, card.spots[0], card.readings[0], unlike=True), other) for other in alone]
        if not _join(fits, card.spots[0], card.readings[0]):
            joined.append(card)
    return [c for c in joined if area(quad_of(*c.frame)) > 60]


def _join(fits: Sequence[tuple[float, Candidate]], spot: Spot, reading: Reading) -> bool:
    """Add an index to the best fitting card; return whether one fits. ``fits`` holds mismatches and cards."""
    miss, card = min(fits, key=lambda fit: fit[0], default=(1.0, None))
    if card is None or miss >= 1:
        return False
    card.spots.append(spot)
    card.readings.append(reading)
    _place(card)
    return True


def _may_agree(one: Reading, other: Reading) -> bool:
    """Whether two readings have a likely card in common."""
    a, b = card_logs(one.rank, one.suit), card_logs(other.rank, other.suit)
    return bool((a + b).max() > a.max() + b.max() - 2.0)


def _again(known: Spot, spot: Spot) -> bool:
    """Whether a spot repeats a known index, at any size; a neighbour in a fan is as large but farther off."""
    a, b = known.height, spot.height
    turn = float(known.up @ spot.up) * 4 / max(a * b, 1e-6)
    near = 0.35 if 0.7 < a / max(b, 1e-6) < 1.4 else 0.7
    return turn > 0.7 and float(np.linalg.norm(known.centre - spot.centre)) < near * max(a, b)


def local(card: Candidate, point: Points) -> Points:
    """Return a point in the card's own axes: right and up, ±1 at the edges."""
    m = np.stack([card.right, card.up], 1)
    if abs(np.linalg.det(m)) < 1e-6:
        return np.array([9.0, 9.0])
    return np.asarray(np.linalg.solve(m, point - card.centre))


def _mismatch(card: Candidate, spot: Spot, reading: Reading, unlike: bool = False) -> float:
    """Return how badly a spot fits as an index of the card; below 1 it fits.

    Either the spot is at another corner of the card with the orientation expected there, or both indices name the same
    card and lie nearly so. Two different cards of one heap must not be joined, so readings without a likely card in
    common fit only if ``unlike`` is set, and then must fit far better.
    """
    first = card.spots[0]
    height = float(np.linalg.norm(card.up))
    if height < 1 or len(card.spots) >= 4 or not 0.55 < spot.height / max(first.height, 1e-6) < 1.8:
        return 9.0
    turn = float(spot.up @ first.up) / max(float(np.linalg.norm(spot.up) * np.linalg.norm(first.up)), 1e-6)
    if turn < -0.85 and _opposed(first, spot) and same_card(card.readings[0], reading):
        return 0.5
    apart = float(np.linalg.norm(spot.card_centre - card.centre)) / height
    if turn < -0.4 and apart < 0.25 and same_card(card.readings[0], reading):
        return 0.6  # both name the same card and the same centre: one up-vector is wrong
    a, b = local(card, first.centre), local(card, spot.centre)
    # An index is in one of the four corners; the opposite one is turned, the adjacent ones are mirrored.
    places = [(-a, -1.0), (np.array([-a[0], a[1]]), 1.0), (np.array([a[0], -a[1]]), -1.0)]
    off = min(float(np.hypot((b - p)[0] * 0.7, (b - p)[1])) for p, way in places) if abs(turn) > 0.8 else 9.0
    way_fits = any(way * turn > 0.8 and float(np.hypot((b - p)[0] * 0.7, (b - p)[1])) < off + 0.05 for p, way in places)
    if not way_fits:
        return 9.0
    agree = _may_agree(card.readings[0], reading)
    if not (agree or unlike):
        return 9.0
    centres = float(np.linalg.norm(spot.card_centre - card.centre)) / height
    limit = 0.45 if agree else 0.16
    return max(off / limit, centres / (limit * 1.6))


def _opposed(a: Spot, b: Spot) -> bool:
    """Whether b can be the index opposite to a on a card of any size: across the diagonal at a plausible distance.

    Indices sit about 25 mm and 35 mm from a poker card's centre, so the line to the opposite one makes 36° with the
    index's own axis, and up to 66° when seen far aslant; indices are 10 to 35 mm high. A card's size estimated from one
    index is less certain than that.
    """
    height = (a.height + b.height) / 2
    for one, other in ((a, b), (b, a)):
        down = -one.up / max(float(np.linalg.norm(one.up)), 1e-6)
        way = other.centre - one.centre
        angle = float(np.degrees(np.arctan2(abs(cross(down, way)), float(down @ way))))
        if not 17.0 < angle < 66.0:
            return False
    return 2.0 < float(np.linalg.norm(a.centre - b.centre)) / max(height, 1e-6) < 11.0


def same_card(a: Reading, b: Reading) -> bool:
    """Whether two readings name the same card."""
    return int(card_logs(a.rank, a.suit).argmax()) == int(card_logs(b.rank, b.suit).argmax())


def _place(card: Candidate) -> None:
    """Set centre and axes from all indices; two opposite ones fix centre, turn and size."""
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
        if float(s.up @ base.up) < 0 and float(local(card, s.centre)[0] * local(card, base.centre)[0]) < 0
    ]
    if not opposite:
        return
    other = opposite[0]
    card.centre = (base.centre + other.centre) / 2
    # Turn and stretch the axes so that the diagonal between the indices matches the one seen.
    said = (base.centre - base.card_centre) - (other.centre - other.card_centre)
    true = base.centre - other.centre
    n = float(said @ said)
    if n > 1:
        c, s = float(said @ true) / n, float(said[0] * true[1] - said[1] * true[0]) / n
        turn = np.array([[c, -s], [s, c]])
        if abs(s) > _TURNED * abs(c):
            _stretch(card, said, true)
        elif 0.4 < float(np.hypot(c, s)) < 2.5:
            card.up, card.right = turn @ card.up, turn @ card.right


def _stretch(card: Candidate, said: Points, true: Points) -> None:
    """Stretch each axis separately so that the diagonal ``said`` becomes the ``true`` one.

    The up direction of both indices is more accurate than this turn, so the card is seen aslant, and thus shorter one
    way.
    """
    axes = np.stack([card.right, card.up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return
    was, is_now = np.linalg.solve(axes, said), np.linalg.solve(axes, true)
    right, up = is_now / np.where(np.abs(was) < 1e-6, 1e-6, was)
    if 0.4 < right < 2.5 and 0.4 < up < 2.5:
        card.right, card.up = right * card.right, up * card.up


def cross(a: Points, b: Points) -> float:
    return float(a[0] * b[1] - a[1] * b[0])
