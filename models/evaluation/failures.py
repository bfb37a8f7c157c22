"""What went wrong on a photograph, failure by failure, in a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.evaluation.photo_score import MARGIN, Box, Judged, Label, inside
from models.evaluation.reliability import SURE
from models.eye.classes import UNREAD
from models.eye.eye import CardSeen
from models.eye.geometry import Points, overlap

COURTS = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
SUIT_NAMES = dict(zip("cdhs", ("clubs", "diamonds", "hearts", "spades"), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """One label that no reading met, or one sure reading that met none; ``weight`` orders them, the worst highest."""

    photo: str
    label: Label | None
    reading: CardSeen | None
    kind: str
    """``wrong``, ``false``, ``unread``, ``missed`` or ``misplaced``."""
    sentence: str
    weight: float


def spoken(card: str) -> str:
    """A card in words: "7 of hearts"."""
    return f"{COURTS.get(card[0], card[0])} of {SUIT_NAMES[card[1]]}" if card[1] in SUIT_NAMES else "joker"


def failures(judged: Judged) -> list[Failure]:
    """What went wrong on one photograph, worst first."""
    left = list(judged.over)
    out = []
    for label, hit in judged.met:
        if hit is None:
            one = _missed(judged.photo, label, left)
            left = [r for r in left if r is not one.reading]
            out.append(one)
    for reading in left:
        if reading.confidence >= SURE:
            sentence = f"The {spoken(reading.card)} is read with {reading.confidence:.3f} where no label names it."
            out.append(Failure(judged.photo, None, reading, "false", sentence, 4 + reading.confidence))
    return sorted(out, key=lambda f: -f.weight)


def _missed(photo: str, label: Label, left: Sequence[CardSeen]) -> Failure:
    """Why a label was not met: its card is read elsewhere, something else is read in its place, or nothing is."""
    name = spoken(label.card)
    same = [r for r in left if r.card == label.card]
    if same and label.box is not None:
        reading = max(same, key=lambda r: r.confidence)
        out = beyond(label.box, reading.corners.mean(0))
        sentence = (
            f"The {name} is read rightly with {reading.confidence:.3f}, but the centre of its corners lies "
            f"{out:.0f} px outside the label's box and margin."
        )
        return Failure(photo, label, reading, "misplaced", sentence, 1 + min(1.0, out / 100))
    there = [(_meeting(label.box, r), r) for r in left]
    share, other = max(there, key=lambda item: item[0], default=(0.0, None))
    if other is None or share < 0.25:
        return Failure(photo, label, None, "missed", f"The {name} is not found.", 2.0)
    if other.card == UNREAD:
        sentence = f"The {name} is found but not read: the best guess was believed with {other.confidence:.2f} only."
        return Failure(photo, label, other, "unread", sentence, 2.0)
    sentence = f"The {name} is read as the {spoken(other.card)}, with {other.confidence:.3f}."
    return Failure(photo, label, other, "wrong", sentence, (5 if other.confidence >= SURE else 3) + other.confidence)


def beyond(box: Box, point: Points) -> float:
    """How far a point lies outside a box and its margin, px; 0 inside."""
    x, y = (float(v) for v in point)
    if inside(box, x, y):
        return 0.0
    mx, my = (box[2] - box[0]) * MARGIN, (box[3] - box[1]) * MARGIN
    dx = max(box[0] - mx - x, 0.0, x - box[2] - mx)
    dy = max(box[1] - my - y, 0.0, y - box[3] - my)
    return float(np.hypot(dx, dy))


def _meeting(box: Box | None, reading: CardSeen) -> float:
    """Share of the smaller of box and reading that the two have in common; an index in the box counts as whole."""
    if box is None:
        return 0.0
    if any(inside(box, float(x), float(y)) for x, y in reading.indices) and inside(box, *reading.corners.mean(0)):
        return 1.0
    x0, y0, x1, y1 = box
    return overlap(reading.corners, np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64))
