"""Cards on one another: their corners, those that were found twice, and which of each heap lies on top.

Of a covered card one index is in sight, which says where it lies and how it is turned, but hardly how large it is: the
networks make such cards too large, mostly. Cards of one heap are of one pack and lie in one plane, and a card both of
whose indices are seen tells how its plane is seen (a 2 x 2 matrix from its millimetres to pixels: scale, turn and
shear) and where an index sits on cards of its pack; with that the covered card's corners follow from its one index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.eye.card_join import Candidate, cross, local, same_card
from models.eye.card_name import EvidenceWeights, likeliest
from models.eye.classes import CARD_CLASSES, HEIGHT_MM, WIDTH_MM
from models.eye.finder import Spot
from models.eye.geometry import Points, area, axes_of, iou, overlap, quad_of
from models.eye.reader import card_logs, sigmoid

_NEAR_HEIGHTS: Final = 2.5
"""Farther off, in heights of the card, perspective changes the scale too much."""
_LIKE_SIZE: Final = 2.0
"""Indices that seem to differ in size by more than this factor are of other packs, or are none."""
_MOST_INDICES: Final = 4
"""Printed on one card."""
_PARALLEL: Final = 0.9
"""Cosine of the angle between two cards' axes, up to which they may be one card."""
_ONE_OUTLINE: Final = 0.6
"""Least intersection over union of the outlines that two indices of one card tell."""
_SAME_OUTLINE: Final = 0.85
"""Two cards that share so much of their outlines lie within 5 mm of one another: no index of the lower one shows."""
_SMALLER: Final = 0.75
"""Cards of one heap are of one size: none is by so much smaller than another."""
_CORNER: Final = 0.3
"""So far, in half widths and heights, an index may stand off the corner where it belongs, as the outline is told."""
_ACROSS: Final = (1.56, 1.44)
"""From an index to those in the card's other corners, in half widths and heights, ..."""
_ABOUT_APART: Final = 0.4
"""... so nearly: the outline that measures it is told from an index that may be half hidden ..."""
_ABOUT_PARALLEL: Final = 0.8
"""... and so is its turn; a cosine."""
_OFF_RIM: Final = 0.95
"""An index is printed within this share of the way from its card's middle to the edge; 0.8 or so is usual."""
_BARE: Final = 1.0
"""Least mean logit of nothing lying on a card, over several looks at it, for the card to be told as a heap's top:
nearly three to one, where a card without an index lies on every second heap."""
_PLAINLY_BARE: Final = 2.15
"""Above this logit one look is enough."""
_SURELY_ANOTHER: Final = 0.9
"""What a card's outline shows is another card, from such a probability ..."""
_HOLDS: Final = 0.6
"""... if so much of the smaller of their outlines is shared."""
_CERTAIN_INDEX: Final = 4.0
"""Least logit of being an index, for those of the card that measures and of the card that is measured."""


def bareness(card: Candidate) -> float:
    """The probability that nothing lies on the card, as the whole-card network says."""
    return 0.0 if card.whole is None else sigmoid(card.bare)


def indices(card: Candidate) -> NDArray[np.float64]:
    """Where its indices were seen: their middles, (k, 2), px."""
    return np.array([spot.centre for spot in card.spots], np.float64).reshape(-1, 2)


# Corners


def settle(card: Candidate) -> None:
    """Set the corners: the whole-card network's where they are near the indices' own, else the parallelogram's."""
    plain = quad_of(*card.frame)
    card.quad = plain if card.whole is None else nearer(card.whole.quad, plain)
    # Clockwise from the top left of an index.
    if float(cross(card.quad[1] - card.quad[0], card.quad[2] - card.quad[0])) < 0:
        card.quad = card.quad[[1, 0, 3, 2]]


def nearer(found: Points, shown: Points) -> Points:
    """The corners that the whole-card network found, if they are near those that it was shown; else the latter."""
    side = float(np.sqrt(max(area(shown), 1.0)))
    return found if float(np.abs(found - shown).max()) < 0.3 * side else shown


@dataclass(frozen=True, slots=True, eq=False)
class PlaneMeasure:
    """What a whole card tells of its plane and pack."""

    centre: Points
    to_px: Points
    """2 x 2, from mm on the card (right, up) to px."""
    index: Points
    """Where the middle of an index sits, mm right and up of the card's centre as the index stands."""
    size: float
    """Height of an index, mm."""


def measures(cards: Sequence[Candidate]) -> list[PlaneMeasure]:
    """What the cards tell of whom two opposite indices are seen."""
    out = []
    for card in cards:
        if len(card.spots) < 2 or min(r.index for r in card.readings[:2]) < _CERTAIN_INDEX or area(card.quad) < 1:
            continue
        centre, up, right = axes_of(card.quad)
        to_px = np.stack([right / (WIDTH_MM / 2), up / (HEIGHT_MM / 2)], 1)
        if abs(np.linalg.det(to_px)) < 1e-6:
            continue
        to_mm = np.linalg.inv(to_px)
        one, other = card.spots[0], card.spots[1]
        if float(one.up @ other.up) >= 0:
            continue
        ways = [(to_mm @ (s.centre - centre)) * (1 if float(s.up @ up) > 0 else -1) for s in (one, other)]
        if float(np.linalg.norm(ways[0] - ways[1])) > 0.08 * HEIGHT_MM:
            continue  # the two do not agree on where an index sits
        size = float(np.mean([2 * np.linalg.norm(to_mm @ s.up) for s in (one, other)]))
        out.append(PlaneMeasure(centre, to_px, np.asarray(np.mean(ways, 0)), size))
    return out


def _measured_quad(spot: Spot, by: PlaneMeasure) -> Points | None:
    """The corners of the card that an index belongs to, measured by another card; None if it is of other size."""
    up = np.linalg.solve(by.to_px, spot.up)
    height = 2 * float(np.linalg.norm(up))
    if not 1 / _LIKE_SIZE < height / max(by.size, 1e-6) < _LIKE_SIZE:
        return None
    # Two up-vectors: the index's own, and what the finder makes of the whole card's.
    turns = [up / np.linalg.norm(up)]
    whole = np.linalg.solve(by.to_px, spot.card_up)
    if float(np.linalg.norm(whole)) > 1e-6 and float(whole @ up) > 0:
        turns.append(whole / np.linalg.norm(whole))
    along = np.mean(turns, 0)
    along /= np.linalg.norm(along)
    across = np.array([along[1], -along[0]])
    middle = np.linalg.solve(by.to_px, spot.centre) - by.index[0] * across - by.index[1] * along
    half_up, half_right = along * HEIGHT_MM / 2, across * WIDTH_MM / 2
    quad = np.stack([half_up - half_right, half_up + half_right, half_right - half_up, -half_right - half_up]) + middle
    return np.asarray(quad @ by.to_px.T)


def borrow_corners(cards: Sequence[Candidate]) -> list[Candidate]:
    """Give cards of which one index is seen the corners that the nearest whole card tells of; returns those cards."""
    known = measures(cards)
    changed = []
    for card in cards if known else ():
        if len(card.spots) > 1 or card.readings[0].index < _CERTAIN_INDEX:
            continue
        spot = card.spots[0]
        by = min(known, key=lambda m: float(np.linalg.norm(m.centre - spot.centre)))
        height = HEIGHT_MM * float(np.linalg.norm(by.to_px[:, 1]))
        near = float(np.linalg.norm(by.centre - spot.centre)) < _NEAR_HEIGHTS * height
        quad = _measured_quad(spot, by) if near else None
        if quad is not None:
            card.quad = quad
            changed.append(card)
    return changed


# Cards found twice


def without_doubles(cards: Sequence[Candidate], weights: EvidenceWeights) -> list[Candidate]:
    """Leave out a card that all but coincides with a surer one (an index found twice, a figure in a court).

    Surest is one whose two ends say the same: one clear index of a covered card may tell of a place that is another's.
    Two that can only be one card are made one, with the indices of both: where these differ, it is no longer sure. What
    it is as a whole, the outline that shows more of a card tells.
    """
    kept: list[Candidate] = []
    for card in sorted(cards, key=_ends_agree, reverse=True):
        one = next((other for other in kept if _is_one_card(card, other, weights)), None)
        if one is not None:
            one.spots += card.spots
            one.readings += card.readings
            if card.bare > one.bare:  # its outline holds a whole card, the other's only a part or more than one
                one.whole, one.bare, one.quad = card.whole, card.bare, card.quad
            _move_to_indices(one)
        elif not any(_is_double(card, other, weights) for other in kept):
            kept.append(card)
    return kept


def _ends_agree(card: Candidate) -> bool:
    """Whether two opposite indices of the card were read, and alike."""
    opposite = (reading for spot, reading in zip(card.spots, card.readings, strict=True) if _is_opposite(card, spot))
    return any(same_card(card.readings[0], reading) for reading in opposite)


def _is_one_card(weak: Candidate, strong: Candidate, weights: EvidenceWeights) -> bool:
    """Whether the indices of two parallel cards lie in both outlines: the card above would hide that of the one below.

    So it goes with a card one of whose indices is half washed out by glare, and read as another's. Two that lie in one
    place, are half turned and have one name are one card, too, though its size be told wrongly from one index. Two with
    an index at one corner are not: the lower one's looks out beside the upper one's.
    """
    if len(weak.spots) + len(strong.spots) > _MOST_INDICES or _at_one_corner(weak, strong):
        return False
    turn = float(weak.up @ strong.up) / max(1e-6, float(np.linalg.norm(weak.up) * np.linalg.norm(strong.up)))
    one_name = likeliest(weak, weights) == likeliest(strong, weights)
    if one_name and (_a_card_apart(weak, strong) or _a_card_apart(strong, weak)):
        return True
    # On a bare card no other's index shows, whatever it is read as.
    if strong.bare >= _BARE and shows_both_ends(strong) and _in_other_corners(strong, weak):
        return True
    outlines = [np.asarray(card.quad, np.float32) for card in (weak, strong)]
    if abs(turn) <= _PARALLEL or iou(*outlines) <= _ONE_OUTLINE:
        return False
    if turn < 0 and one_name:
        return True
    return all(_holds(card.quad, spot.centre) for card in (weak, strong) for spot in (*weak.spots, *strong.spots))


def _in_other_corners(card: Candidate, other: Candidate) -> bool:
    """Whether the indices of ``other`` stand where a card with indices in all four corners shows its others."""
    centre, up, right = axes_of(card.quad)
    axes = np.stack([right, up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return False
    shown = [np.linalg.solve(axes, spot.centre - centre) for spot in card.spots]
    own = np.sign(shown[0]) * np.mean(np.abs(shown), axis=0)

    def in_a_corner(spot: Spot) -> bool:
        at, turn = np.linalg.solve(axes, spot.centre - centre), _turn(spot, card.spots[0])
        corners = [own * (-1, 1)] if turn > 0 else [own * (1, -1), -own]
        return abs(turn) > _PARALLEL and any(float(np.abs(at - corner).max()) < _CORNER for corner in corners)

    return all(in_a_corner(spot) for spot in other.spots)


def _a_card_apart(card: Candidate, other: Candidate) -> bool:
    """Whether the indices of ``other`` stand as far from the card's first as indices of one card do.

    An index alone does not tell left from right: an outline told from one may lie on its wrong side.
    """
    _, up, right = axes_of(card.quad)
    axes = np.stack([right, up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return False
    first = card.spots[0]
    along = np.sign(float(first.up @ up)) * _ACROSS[1]

    def is_apart(spot: Spot) -> bool:
        way, turn = np.linalg.solve(axes, spot.centre - first.centre), _turn(spot, first)
        ways = [(0.0, -along)] if turn < 0 else []
        ways += [(side * _ACROSS[0], -along if turn < 0 else 0.0) for side in (-1, 1)]
        return abs(turn) > _ABOUT_PARALLEL and any(float(np.abs(way - one).max()) < _ABOUT_APART for one in ways)

    return all(is_apart(spot) for spot in other.spots)


def _turn(one: Spot, other: Spot) -> float:
    """Cosine of the angle between two indices."""
    return float(one.up @ other.up) / max(1e-6, float(np.linalg.norm(one.up) * np.linalg.norm(other.up)))


def _move_to_indices(card: Candidate) -> None:
    """Move the outline so that its indices stand evenly about its middle, where it does not hold all of them."""
    if all(_holds(card.quad, spot.centre) for spot in card.spots):
        return
    centre, up, right = axes_of(card.quad)
    axes = np.stack([right, up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return
    at = np.array([np.linalg.solve(axes, spot.centre - centre) for spot in card.spots])
    low, high = at.min(0), at.max(0)
    # Both sides, or both ends, show where the indices are so far apart.
    way = axes @ np.where(high - low > 1, (low + high) / 2, 0.0)
    card.quad = card.quad + way
    card.centre, card.up, card.right = axes_of(card.quad)


def _at_one_corner(weak: Candidate, strong: Candidate) -> bool:
    """Whether an index of each stands the same way up, nearer to one another than an index is high."""
    return any(
        float(a.up @ b.up) > 0 and float(np.linalg.norm(a.centre - b.centre)) < max(a.height, b.height)
        for a in weak.spots
        for b in strong.spots
    )


def _holds(quad: Points, point: Points) -> bool:
    """Whether a point lies in a quad, off its rim."""
    centre, up, right = axes_of(quad)
    axes = np.stack([right, up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return False
    return float(np.abs(np.linalg.solve(axes, point - centre)).max()) < _OFF_RIM


def _is_double(weak: Candidate, strong: Candidate, weights: EvidenceWeights) -> bool:
    """Whether two candidates are one card that was not joined, or the weaker is a detail of the stronger.

    One card has the same name in the same place, or is turned by half against the other; or it is so turned and all
    but coincides with the other. A detail (a pip, or a court's detail beside its index) is a doubtful index of a card
    that would lie square on a sure one: a card so near under another shows no index. Cards of one heap are of one size:
    what lies in a sure card's area and is far smaller is none, and a smaller one that seems covered, with its index on
    a bare card, is that card's print.
    """
    off = float(np.linalg.norm(weak.centre - strong.centre)) / max(1.0, float(np.linalg.norm(strong.up)))
    turn = float(weak.up @ strong.up) / max(1e-6, float(np.linalg.norm(weak.up) * np.linalg.norm(strong.up)))
    shared = overlap(weak.quad, strong.quad)
    one_name = same_card(weak.readings[0], strong.readings[0]) or likeliest(weak, weights) == likeliest(strong, weights)
    if one_name and ((shared > 0.9 and off < 0.12) or (shared > 0.3 and turn < -0.8)):
        return True
    if (
        turn < -_PARALLEL
        and iou(np.asarray(weak.quad, np.float32), np.asarray(strong.quad, np.float32)) > _SAME_OUTLINE
    ):
        return True
    smaller = area(weak.quad) < _SMALLER * area(strong.quad)
    if smaller and weak.bare < 0 < strong.bare and all(_holds(strong.quad, spot.centre) for spot in weak.spots):
        return True
    doubtful, sure = max(r.index for r in weak.readings), max(r.index for r in strong.readings)
    if doubtful > 4.0 or sure < 8.0:
        return False
    inside = area(weak.quad) < 0.5 * area(strong.quad) and shared > 0.6
    return inside or (off < 0.3 and abs(turn) > _PARALLEL)


def correct_bareness(cards: Sequence[Candidate], weights: EvidenceWeights) -> None:
    """Where one end of a card shows, and its outline holds another that was read whole, it is not the bare one.

    A card that is laid nearly square on another lies in both outlines, and the network tells of what it sees there.
    """
    whole_ones = [(card, likeliest(card, weights)) for card in cards if shows_both_ends(card)]
    for card in cards:
        if card.whole is None or card.bare <= 0 or shows_both_ends(card):
            continue
        logs = card_logs(card.whole.rank, card.whole.suit)
        own = card_logs(card.readings[0].rank, card.readings[0].suit)
        shown = CARD_CLASSES[int(logs.argmax())]
        if np.exp(logs.max()) < _SURELY_ANOTHER or shown == CARD_CLASSES[int(own.argmax())]:
            continue
        if any(name == shown and overlap(card.quad, other.quad) > _HOLDS for other, name in whole_ones):
            card.bare = -card.bare
            card.whole = replace(card.whole, bare=card.bare)


# Heaps


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


def uppermost(cards: Sequence[Candidate]) -> list[tuple[int, list[int]]]:
    """Of each heap the card that lies on the others that were read, and the heap.

    By the network's word, and by whose indices show inside whose area.
    """
    out = []
    for heap in heaps([c.quad for c in cards]):
        score = {i: cards[i].bare for i in heap}
        for i in heap:
            for j in heap:
                if i != j and any(float(np.abs(local(cards[j], s.centre)).max()) < 0.85 for s in cards[i].spots):
                    score[j] -= 2.0  # an index of i shows where j lies: j is below i
        out.append((max(heap, key=lambda i: score[i]), heap))
    return out


def shows_both_ends(card: Candidate) -> bool:
    """Whether two opposite indices of the card were read."""
    return any(_is_opposite(card, spot) for spot in card.spots)


def _is_opposite(card: Candidate, spot: Spot) -> bool:
    """Whether an index stands the other way up than the card's first."""
    return float(spot.up @ card.spots[0].up) < 0


def is_bare(card: Candidate) -> bool | None:
    """Whether nothing lies on the uppermost of the cards that were read; None where it cannot be told.

    A card without an index may lie on it, which the network was shown seldom: both ends of a bare card show.
    """
    if card.bare >= _BARE and shows_both_ends(card):
        return True
    return False if card.bare < 0 else None


def is_doubtful(card: Candidate) -> bool:
    """Whether one look at the whole card leaves open that it is bare, and more looks may tell."""
    return card.whole is not None and 0 < card.whole.bare < _PLAINLY_BARE and shows_both_ends(card)
