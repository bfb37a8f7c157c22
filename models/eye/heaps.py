"""Cards on one another: their corners, those that were found twice, and which of each heap lies on top."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.eye.card_join import Candidate, cross, local, same_card
from models.eye.geometry import Points, area, overlap, quad_of
from models.eye.reader import sigmoid


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
    if float(cross(card.quad[1] - card.quad[0], card.quad[2] - card.quad[0])) < 0:
        card.quad = card.quad[[1, 0, 3, 2]]


def nearer(told: Points, plain: Points) -> Points:
    """The corners told by the whole-card network, if they are near those that it was shown; else the latter."""
    side = float(np.sqrt(max(area(plain), 1.0)))
    return told if float(np.abs(told - plain).max()) < 0.3 * side else plain


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
    if not same_card(a.readings[0], b.readings[0]):
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
    return any(float(np.abs(local(b, s.centre)).max()) < 0.85 for s in a.spots)
