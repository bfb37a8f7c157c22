"""Looks at one card of a deck being learned: the places of its indices, and the patches cut there.

The card's name is given, so its indices need only be found, not read. The reader may refuse an index of a deck it was
not trained on, so only the finder's score and the geometry of two opposite corners count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from models.eye.finder import Spot
from models.eye.geometry import PATCH_H, PATCH_W, Image, Points, area, cut_card, cut_patch, quad_of

#: A look keeps more round the patch than the reader sees, to allow shifts, turns and scaling.
LOOK_W, LOOK_H = 72, 96
WHOLE_W, WHOLE_H = 84, 116
#: Finder score below which a spot is no index of the card laid.
_FAINT_INDEX = 0.3
#: Opposite indices have opposite up-vectors, and the centre that each one estimates is at most this share of half a
#: card's height from the middle between them: huge indices make a card seem larger than it is.
_OPPOSITE, _SAME_CENTRE = -0.85, 0.7


@dataclass(frozen=True, slots=True)
class CardLook:
    """One look at a card: patches of its indices (k, LOOK_H, LOOK_W, 3) and other spots (n, …), and the card."""

    card: str
    indices: Image
    others: Image
    whole: Image | None
    sharpness: float


@dataclass(frozen=True, slots=True)
class CardPlace:
    """The place of a card, by its indices."""

    spots: tuple[Spot, ...]
    score: float

    @property
    def frame(self) -> tuple[Points, Points, Points]:
        """Centre and half axes (up, right) from the finder, at the middle between two opposite indices."""
        base = self.spots[0]
        up, right, centre = base.card_up, base.card_right, base.card_centre
        if len(self.spots) > 1:
            other = self.spots[1]
            up, right = (up - other.card_up) / 2, (right - other.card_right) / 2
            centre = (base.centre + other.centre) / 2
        return centre, up, right


def places(spots: Sequence[Spot], index: Sequence[float]) -> list[CardPlace]:
    """Return the possible cards of the spots, best first: pairs of opposite indices, and single indices.

    Args:
        spots: candidates of the finder.
        index: the reader's index logit of each.

    Each spot is used in one place only.
    """
    known = [(s, s.score + 0.8 / (1 + np.exp(-np.clip(i, -20, 20) / 2))) for s, i in zip(spots, index, strict=True)]
    known = [(s, float(trust)) for s, trust in known if s.score > _FAINT_INDEX]
    found = [CardPlace((s,), trust - 0.5) for s, trust in known]
    for i, (a, one) in enumerate(known):
        for b, other in known[:i]:
            apart = _discord(a, b)
            if apart < _SAME_CENTRE:
                found.append(CardPlace((a, b), one + other - 0.8 * apart))
    kept: list[CardPlace] = []
    used: set[int] = set()
    for place in sorted(found, key=lambda p: -p.score):
        if area(quad_of(*place.frame)) > 60 and not used & {id(s) for s in place.spots}:
            kept.append(place)
            used |= {id(s) for s in place.spots}
    return kept


def _discord(a: Spot, b: Spot) -> float:
    """Return how badly two spots fit as opposite indices of one card, in half heights of it; 9 if impossible."""
    norm = float(np.linalg.norm(a.up) * np.linalg.norm(b.up))
    if float(a.up @ b.up) > _OPPOSITE * max(norm, 1e-6) or not 0.7 < a.height / max(b.height, 1e-6) < 1.4:
        return 9.0
    half = float(np.linalg.norm(a.card_up) + np.linalg.norm(b.card_up)) / 2
    middle = (a.centre + b.centre) / 2
    # In its own orientation, each index lies above the middle.
    if min(float((a.centre - middle) @ a.up), float((b.centre - middle) @ b.up)) <= 0:
        return 9.0
    off = [float(np.linalg.norm(s.card_centre - middle)) for s in (a, b)]
    return max(off) / max(half, 1e-6)


def look_at(card: str, levels: Sequence[Image], place: CardPlace, rest: Sequence[Spot]) -> CardLook:
    """Cut a look's patches; ``rest``: spots of the same card that are no index (pips, courts)."""
    size = (LOOK_W, LOOK_H)
    indices = np.stack([cut_patch(levels, s.centre, s.up, size) for s in place.spots])
    others = [cut_patch(levels, s.centre, s.up, size) for s in rest]
    whole = cut_card(levels, *place.frame, (WHOLE_W, WHOLE_H))
    empty = np.zeros((0, LOOK_H, LOOK_W, 3), np.uint8)
    sharp = float(np.mean([sharpness(patch) for patch in indices]))
    return CardLook(card, indices, np.stack(others) if others else empty, whole, sharp)


def sharpness(patch: Image) -> float:
    """Return the steepness of the patch's edges relative to its contrast, about 0 (a blur) to 1."""
    grey = cv2.cvtColor(patch, cv2.COLOR_BGR2GRAY).astype(np.float32)
    contrast = float(np.percentile(grey, 98) - np.percentile(grey, 2))
    steep = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)) / 8
    return float(np.percentile(steep, 98)) / max(contrast, 20.0)


def varied(patches: Image, size: tuple[int, int], copies: int, rng: np.random.Generator, hard: float = 1.0) -> Image:
    """Return copies (N · copies, height, width, 3) of patches as other pictures would show them, the first unchanged.

    The copies are slightly shifted, turned, scaled and squeezed, blurred, in other light and colour, and noisy: the
    usual variation between looks. ``size``: width, height; ``hard`` scales the variation.
    """
    out = np.empty((len(patches) * copies, size[1], size[0], 3), np.uint8)
    for i, patch in enumerate(patches):
        for k in range(copies):
            out[i * copies + k] = _varied(patch, size, rng, hard) if k else middle_of(patch, size)
    return out


def middle_of(patches: Image, size: tuple[int, int]) -> Image:
    """Return the middle, ``size`` (width, height) px, of a patch (H, W, 3) or of each of several (N, H, W, 3)."""
    y, x = (patches.shape[-3] - size[1]) // 2, (patches.shape[-2] - size[0]) // 2
    return np.ascontiguousarray(patches[..., y : y + size[1], x : x + size[0], :])


def _varied(patch: Image, size: tuple[int, int], rng: np.random.Generator, hard: float) -> Image:
    h, w = patch.shape[:2]
    turn, grow = rng.normal(0, 4 * hard), np.exp(rng.normal(0, 0.05 * hard, 2))
    a = np.radians(turn)
    m = np.array([[np.cos(a) * grow[0], -np.sin(a) * grow[1], 0], [np.sin(a) * grow[0], np.cos(a) * grow[1], 0]])
    shift = rng.normal(0, 0.025 * hard, 2) * size
    m[:, 2] = np.array([(w - 1) / 2, (h - 1) / 2]) + shift - m[:, :2] @ np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    out = cv2.warpAffine(patch, m, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    if rng.random() < 0.6:
        out = cv2.GaussianBlur(out, (0, 0), float(rng.uniform(0.3, 0.4 + 1.2 * hard)))
    light = np.arange(256)[:, None] * (np.exp(rng.normal(0, 0.22 * hard)) * np.exp(rng.normal(0, 0.1 * hard, 3)))
    light += rng.normal(0, 8 * hard)
    out = cv2.LUT(out, np.clip(light, 0, 255).astype(np.uint8)[:, None, :])
    noisy = out.astype(np.float32) + rng.normal(0, rng.uniform(0, 7 * hard), out.shape)
    return np.asarray(np.clip(noisy, 0, 255), np.uint8)


def off_index(look: CardLook, rng: np.random.Generator) -> list[Image]:
    """Return patches (PATCH_H, PATCH_W, 3) that are no upright index: other spots of the finder, and distorted indices.

    The distortions: upside down, too large or too small, shifted so that a part is cut, and half covered by another
    card.
    """
    size = (PATCH_W, PATCH_H)
    out = [*varied(look.others, size, 2, rng)] if len(look.others) else []
    for patch in look.indices:
        middle = np.array([LOOK_W - 1, LOOK_H - 1]) / 2
        out.append(middle_of(np.ascontiguousarray(patch[::-1, ::-1]), size))
        grow = float(rng.choice([0.6, 1.6]))
        m = cv2.getRotationMatrix2D((float(middle[0]), float(middle[1])), 0, grow)
        out.append(middle_of(np.asarray(cv2.warpAffine(patch, m, (LOOK_W, LOOK_H), borderMode=1), np.uint8), size))
        way = rng.uniform(0, 2 * np.pi)
        off = 0.45 * np.array([np.cos(way), np.sin(way)]) * size
        m = np.array([[1, 0, off[0]], [0, 1, off[1]]])
        out.append(middle_of(np.asarray(cv2.warpAffine(patch, m, (LOOK_W, LOOK_H), borderMode=1), np.uint8), size))
        if look.whole is not None:
            # Another card's edge hides about half.
            shown = middle_of(patch, size)
            over = cv2.resize(look.whole[8:-8, 8:-8], size, interpolation=cv2.INTER_AREA)
            ys, xs = np.mgrid[:PATCH_H, :PATCH_W]
            way = rng.uniform(0, 2 * np.pi)
            beyond = (xs - PATCH_W / 2) * np.cos(way) + (ys - PATCH_H / 2) * np.sin(way) > rng.uniform(-3, 6)
            out.append(np.where(beyond[..., None], over, shown))
    return [np.ascontiguousarray(p) for p in out]
