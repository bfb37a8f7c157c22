"""Cards on one another: their corners, duplicate detections, and the top card of each heap.

A covered card shows one index, which gives its place and orientation but hardly its size: the networks mostly
overestimate it. Cards of one heap belong to one pack and lie in one plane. A card with both indices in sight determines
how the plane is seen (a 2 x 2 matrix from millimetres to pixels: scale, turn and shear) and where an index sits on
cards of its pack; with that, the covered card's corners follow from its one index.
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
"""Distance, in card heights, beyond which perspective changes the scale too much."""
_LIKE_SIZE: Final = 2.0
"""Ratio of apparent sizes above which indices belong to other packs, or are not indices."""
_MOST_INDICES: Final = 4
"""Number of indices printed on one card."""
_PARALLEL: Final = 0.9
"""Cosine of the angle between two cards' axes above which they may be one card."""
_ONE_OUTLINE: Final = 0.6
"""Least intersection over union of the outlines derived from two indices of one card."""
_SAME_OUTLINE: Final = 0.85
"""Intersection over union above which two cards lie within 5 mm of each other: no index of the lower one can show."""
_SMALLER: Final = 0.75
"""Ratio of areas below which a card is too small for its heap: cards of one heap have one size."""
_CORNER: Final = 0.3
"""Tolerance, in half widths and heights, of an index's distance from its corner of the estimated outline."""
_ACROSS: Final = (1.56, 1.44)
"""Distance from an index to those in the card's other corners, in half widths and heights, ..."""
_ABOUT_APART: Final = 0.4
"""... with this tolerance: the outline that measures it is derived from an index that may be half hidden ..."""
_ABOUT_PARALLEL: Final = 0.8
"""... and the least cosine of its turn."""
_OFF_RIM: Final = 0.95
"""Share of the way from a card's middle to its edge within which an index is printed; about 0.8 is usual."""
_BARE: Final = 1.0
"""Least mean logit of bareness, over several looks, for a card to count as a heap's top: nearly three to one if a card
without an index lies on every second heap."""
_PLAINLY_BARE: Final = 2.15
"""Logit above which one look is enough; below its negative the card is plainly covered."""
_SURELY_ANOTHER: Final = 0.9
"""Probability from which a card's outline counts as showing another card ..."""
_HOLDS: Final = 0.6
"""... if this share of the smaller outline overlaps the other card."""
_CERTAIN_INDEX: Final = 4.0
"""Least index logit for both the measuring card and the measured card."""


def bareness(card: Candidate) -> float:
    """Return the probability that nothing lies on the card, by the whole-card network."""
    return 0.0 if card.whole is None else sigmoid(card.bare)


def indices(card: Candidate) -> NDArray[np.float64]:
    """Return the middles of its visible indices, (k, 2), px."""
    return np.array([spot.centre for spot in card.spots], np.float64).reshape(-1, 2)


# Corners


def settle(card: Candidate) -> None:
    """Set the corners: the whole-card network's if they are near those of the indices, else the parallelogram's."""
    plain = quad_of(*card.frame)
    card.quad = plain if card.whole is None else nearer(card.whole.quad, plain)
    # Order clockwise from the top left of an index.
    if float(cross(card.quad[1] - card.quad[0], card.quad[2] - card.quad[0])) < 0:
        card.quad = card.quad[[1, 0, 3, 2]]


def nearer(found: Points, shown: Points) -> Points:
    """Return the whole-card network's corners if they are near those it was shown; otherwise the latter."""
    side = float(np.sqrt(max(area(shown), 1.0)))
    return found if float(np.abs(found - shown).max()) < 0.3 * side else shown


@dataclass(frozen=True, slots=True, eq=False)
class PlaneMeasure:
    """The measure that a whole card gives of its plane and pack."""

    centre: Points
    to_px: Points
    """2 x 2, from mm on the card (right, up) to px."""
    index: Points
    """Position of an index's middle, mm right and up of the card's centre in the index's orientation."""
    size: float
    """Height of an index, mm."""


def measures(cards: Sequence[Candidate]) -> list[PlaneMeasure]:
    """Return the measures of cards with two opposite indices in sight."""
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
            continue  # the two disagree on where an index sits
        size = float(np.mean([2 * np.linalg.norm(to_mm @ s.up) for s in (one, other)]))
        out.append(PlaneMeasure(centre, to_px, np.asarray(np.mean(ways, 0)), size))
    return out


def _measured_quad(spot: Spot, by: PlaneMeasure) -> Points | None:
    """Return the corners of an index's card, measured by another card; None if its size does not match."""
    up = np.linalg.solve(by.to_px, spot.up)
    height = 2 * float(np.linalg.norm(up))
    if not 1 / _LIKE_SIZE < height / max(by.size, 1e-6) < _LIKE_SIZE:
        return None
    # Two up-vectors: the index's own, and the finder's estimate for the whole card.
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
    """Set the corners of cards with one visible index from the nearest whole card; return those cards."""
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
    """Leave out cards that almost coincide with a surer one (an index found twice, a figure in a court).

    A card whose two ends agree is the surest: one clear index of a covered card may point to another card's place. Two
    candidates that can only be one card are merged with the indices of both; if these differ, it is no longer sure. The
    outline that shows more of a card determines the whole-card reading.
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
    """Whether two opposite indices of the card were read and agree."""
    opposite = (reading for spot, reading in zip(card.spots, card.readings, strict=True) if _is_opposite(card, spot))
    return any(same_card(card.readings[0], reading) for reading in opposite)


def _is_one_card(weak: Candidate, strong: Candidate, weights: EvidenceWeights) -> bool:
    """Whether the indices of two parallel cards lie in both outlines: an upper card would hide the lower one's index.

    This happens if glare washes out half of a card's index, which is then misread. Two candidates in one place, half
    turned to each other and with one name, are one card, too, even if one index gives a wrong size. Two with an index
    at the same corner are not: the lower card's index shows beside the upper one's.
    """
    if len(weak.spots) + len(strong.spots) > _MOST_INDICES or _at_one_corner(weak, strong):
        return False
    turn = float(weak.up @ strong.up) / max(1e-6, float(np.linalg.norm(weak.up) * np.linalg.norm(strong.up)))
    one_name = likeliest(weak, weights) == likeliest(strong, weights)
    if one_name and (_a_card_apart(weak, strong) or _a_card_apart(strong, weak)):
        return True
    # On a bare card no other card's index can show, whatever name is read.
    if strong.bare >= _BARE and shows_both_ends(strong) and _in_other_corners(strong, weak):
        return True
    outlines = [np.asarray(card.quad, np.float32) for card in (weak, strong)]
    if abs(turn) <= _PARALLEL or iou(*outlines) <= _ONE_OUTLINE:
        return False
    if turn < 0 and one_name:
        return True
    return all(_holds(card.quad, spot.centre) for card in (weak, strong) for spot in (*weak.spots, *strong.spots))


def _in_other_corners(card: Candidate, other: Candidate) -> bool:
    """Whether the indices of ``other`` are at the other corners of a card with four indices."""
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
    """Whether the indices of ``other`` are as far from the card's first index as indices of one card are.

    A single index does not separate left from right: an outline derived from one may lie on its wrong side.
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
        return abs(turn) > _ABOUT_PARALLEL and any(
            float(np.abs(way - expected).max()) < _ABOUT_APART for expected in ways
        )

    return all(is_apart(spot) for spot in other.spots)


def _turn(one: Spot, other: Spot) -> float:
    """Return the cosine of the angle between two indices."""
    return float(one.up @ other.up) / max(1e-6, float(np.linalg.norm(one.up) * np.linalg.norm(other.up)))


def _move_to_indices(card: Candidate) -> None:
    """Centre the outline on the card's indices if it does not hold all of them."""
    if all(_holds(card.quad, spot.centre) for spot in card.spots):
        return
    centre, up, right = axes_of(card.quad)
    axes = np.stack([right, up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return
    at = np.array([np.linalg.solve(axes, spot.centre - centre) for spot in card.spots])
    low, high = at.min(0), at.max(0)
    # Shift along an axis only if the indices are far enough apart to show both sides, or both ends.
    way = axes @ np.where(high - low > 1, (low + high) / 2, 0.0)
    card.quad = card.quad + way
    card.centre, card.up, card.right = axes_of(card.quad)


def _at_one_corner(weak: Candidate, strong: Candidate) -> bool:
    """Whether an index of each has the same orientation, closer together than an index is high."""
    return any(
        float(a.up @ b.up) > 0 and float(np.linalg.norm(a.centre - b.centre)) < max(a.height, b.height)
        for a in weak.spots
        for b in strong.spots
    )


def _holds(quad: Points, point: Points) -> bool:
    """Whether a point lies in a quad, away from its rim."""
    centre, up, right = axes_of(quad)
    axes = np.stack([right, up], 1)
    if abs(np.linalg.det(axes)) < 1e-6:
        return False
    return float(np.abs(np.linalg.solve(axes, point - centre)).max()) < _OFF_RIM


def _is_double(weak: Candidate, strong: Candidate, weights: EvidenceWeights) -> bool:
    """Whether two candidates are one card that was not joined, or the weaker is a detail of the stronger.

    One card has the same name in the same place, or turned by half; or it is turned by half and nearly coincides with
    the other. A detail (a pip, or part of a court beside its index) is a doubtful index of a card that would lie
    squarely on a sure one: a card so close under another shows no index. Cards of one heap have one size: a much
    smaller candidate within a sure card is not a card, and a smaller one that seems covered, with its index on a bare
    card, is that card's print.
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
    """Mark a card as covered if it shows one end and its outline holds another card that was read whole.

    A card laid nearly squarely on another lies in both outlines, and the network reports the upper one for both.
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
    """Return groups of cards that lie on one another."""
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
    """Return, for each heap, the top card among those read, and the heap.

    The network's bareness decides, with the indices that show inside another card's area.
    """
    out = []
    for heap in heaps([c.quad for c in cards]):
        score = {i: cards[i].bare for i in heap}
        for i in heap:
            for j in heap:
                if i != j and any(float(np.abs(local(cards[j], s.centre)).max()) < 0.85 for s in cards[i].spots):
                    score[j] -= 2.0  # an index of i shows inside j: j is below i
        out.append((max(heap, key=lambda i: score[i]), heap))
    return out


def shows_both_ends(card: Candidate) -> bool:
    """Whether two opposite indices of the card were read."""
    return any(_is_opposite(card, spot) for spot in card.spots)


def _is_opposite(card: Candidate, spot: Spot) -> bool:
    """Whether an index is turned by half against the card's first."""
    return float(spot.up @ card.spots[0].up) < 0


def is_bare(card: Candidate) -> bool | None:
    """Whether nothing lies on the uppermost card that was read; None if that is uncertain.

    A card without a visible index may lie on it, of which the network saw few examples: both ends of a bare card show.
    """
    if card.bare >= _BARE and shows_both_ends(card):
        return True
    return False if card.bare < 0 else None


def is_doubtful(card: Candidate) -> bool:
    """Whether one look at the whole card leaves its bareness open, so that more looks may help."""
    return card.whole is not None and 0 < card.whole.bare < _PLAINLY_BARE and shows_both_ends(card)


def is_plainly_covered(card: Candidate) -> bool:
    """Whether one look at the whole card leaves no doubt that something lies on it."""
    return card.whole is not None and card.whole.bare < -_PLAINLY_BARE
