"""Looks at cards whose names are given in advance: finds them in a picture, or reports why it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.decks.enrolment import Knowledge, Progress, learn
from models.decks.looks import WHOLE_H, WHOLE_W, CardLook, CardPlace, look_at, middle_of, places
from models.eye.classes import RANK_CLASSES
from models.eye.finder import Finder, Spot
from models.eye.geometry import CROP_H, CROP_W, PATCH_H, PATCH_W, Image, cut_card, pyramid
from models.eye.networks import WEIGHTS, Network, open_networks
from models.eye.reader import ClassScores, Reader

#: Edge steepness below which a picture is out of focus or moving; see `looks.sharpness`.
_BLURRED = 0.085
#: Likeness above which two looks show one card: three of four cards laid again. Two cards hardly ever reach it.
_SAME_CARD = 0.62
#: Trust below which a place holds no card.
_DOUBTFUL_PLACE = 0.2
#: Number of places from which the topmost is chosen.
_LIKELY_PLACES = 6
#: Least changed share of the middle of a newly laid index; a neighbour's index changes less.
_CHANGED = 0.2
_NUMBERS = frozenset("23456789T")


class NoLook(Exception):  # noqa: N818 - a state of the table
    """The cards cannot be looked at; ``kind`` is "none", "blurred" or "count", and the message says what to do."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _Sign:
    """A card's features, to distinguish it from others."""

    indices: NDArray[np.float32]
    whole: NDArray[np.float32]


class Lookout:
    """Applies the finder and the features to cards with given names."""

    def __init__(self, finder: Network, reader: Network, card: Network) -> None:
        self._finder, self._ordinary = Finder(finder), Reader(reader)
        self._reader, self._card = reader, card
        self._signs: dict[str, _Sign] = {}

    @classmethod
    def load(cls, weights: Path | None = None, threads: int = 1) -> Lookout:
        """Load the weights from a folder (None: the package); raises `WeightsMissing`, `WeightsBroken`."""
        return cls(*open_networks(WEIGHTS if weights is None else weights, threads))

    def look(self, image: Image, cards: Sequence[str], changed: NDArray[np.bool_] | None = None) -> list[CardLook]:
        """Return one look at each card, from left to right in the picture.

        Args:
            image: B,G,R.
            cards: their names in that order.
            changed: (height, width), where the picture has changed; cards elsewhere are ignored.

        Raises:
            NoLook: some cards are missing or blurred.
        """
        levels = pyramid(image)
        spots = [s for s in self._finder.find(image) if changed is None or _touched(s, changed)]
        index = [r.index for r in self._ordinary.read(levels, spots)]
        found = [p for p in places(spots, index) if p.score > _DOUBTFUL_PLACE]
        if len(cards) == 1:
            found = self._topmost(levels, found)
        if not found:
            raise NoLook("none", "no index is found on the card")
        if len(cards) > 1 and len(found) < len(cards):
            advice = "spread them so that each index shows"
            raise NoLook("count", f"{len(found)} of the {len(cards)} cards are found: {advice}")
        best = sorted(found[: len(cards)], key=lambda p: float(p.spots[0].centre[0]))
        rest: list[Spot] = []
        if len(cards) == 1:
            # Keep spots that are neither the card's own indices nor accepted by the ordinary reader.
            own = {id(s) for place in best for s in place.spots}
            rest = [s for s, logit in zip(spots, index, strict=True) if id(s) not in own and logit < 4.0]
        looks = [look_at(card, levels, place, rest) for card, place in zip(cards, best, strict=True)]
        if min(look.sharpness for look in looks) < _BLURRED:
            raise NoLook("blurred", "the picture is blurred")
        return looks

    def _topmost(self, levels: Sequence[Image], found: Sequence[CardPlace]) -> list[CardPlace]:
        """Return the best places, uncovered ones first: the card was laid last."""
        best = sorted(found, key=lambda p: -p.score)[:_LIKELY_PLACES]
        best = [p for p in best if len(p.spots) > 1] or list(found[:_LIKELY_PLACES])
        if len(best) < 2:
            return best
        out = ClassScores.of(self._card(np.stack([cut_card(levels, *p.frame) for p in best])))
        bare = 1 / (1 + np.exp(-np.clip(out.rest[:, 0] / 2, -20, 20)))
        order = np.argsort([-p.score - 1.5 * float(b) for p, b in zip(best, bare, strict=True)])
        return [best[i] for i in order]

    def read_rank(self, look: CardLook) -> tuple[str, float]:
        """Return the rank that the ordinary eye reads, and its probability."""
        out = self._reader(middle_of(look.indices, (PATCH_W, PATCH_H)))
        p = np.exp(ClassScores.of(out).ranks()).mean(0)
        return RANK_CLASSES[int(p.argmax())], float(p.max())

    def contradicts(self, look: CardLook) -> str | None:
        """Return the number surely read in place of the named one; None if the reading agrees with the name."""
        rank, p = self.read_rank(look)
        named = look.card[0]
        return rank if p > 0.97 and rank != named and {rank, named} <= _NUMBERS else None

    def note(self, card: str, look: CardLook) -> None:
        """Remember a card's appearance."""
        self._signs[card] = self._sign(look)

    def forget(self, card: str) -> None:
        """Forget a card's appearance."""
        self._signs.pop(card, None)

    def known_as(self, look: CardLook) -> str | None:
        """Return the earlier card that this look nearly repeats; needs a few known cards."""
        if len(self._signs) < 4:
            return None
        mine = self._sign(look)
        noted = {c: s for c, s in self._signs.items() if c != look.card}
        indices = np.concatenate([s.indices for s in self._signs.values()])
        wholes = np.stack([s.whole for s in self._signs.values()])
        alike = {c: 0.67 * _cosine(mine.indices, s.indices, indices) for c, s in noted.items()}
        for card, sign in noted.items():
            alike[card] += 0.33 * _cosine(mine.whole[None], sign.whole[None], wholes)
        best = max(alike, key=lambda c: alike[c], default=None)
        return best if best is not None and alike[best] > _SAME_CARD else None

    def learn(self, looks: Sequence[CardLook], report: Progress = lambda _: None) -> Knowledge:
        """Run `enrolment.learn` with these networks."""
        return learn(looks, self._reader, self._card, report)

    def _sign(self, look: CardLook) -> _Sign:
        _, indices = self._reader.with_features(middle_of(look.indices, (PATCH_W, PATCH_H)))
        whole = np.zeros((WHOLE_H, WHOLE_W, 3), np.uint8) if look.whole is None else look.whole
        return _Sign(indices, self._card.with_features(middle_of(whole[None], (CROP_W, CROP_H)))[1][0])


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32], all_: NDArray[np.float32]) -> float:
    """Return the best likeness of any of a with any of b, -1 to 1, about the mean of all known."""
    centre, scale = all_.mean(0), all_.std(0) + 0.1 * all_.std() + 1e-6
    x, y = (a - centre) / scale, (b - centre) / scale
    x /= np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
    y /= np.linalg.norm(y, axis=1, keepdims=True) + 1e-6
    return float((x @ y.T).max())


def _touched(spot: Spot, changed: NDArray[np.bool_]) -> bool:
    """Whether the picture changed in the middle of the spot."""
    r = 0.3 * spot.height
    x0, y0 = (max(0, int(v - r)) for v in spot.centre)
    part = changed[y0 : int(spot.centre[1] + r) + 1, x0 : int(spot.centre[0] + r) + 1]
    return part.size > 0 and float(part.mean()) > _CHANGED
