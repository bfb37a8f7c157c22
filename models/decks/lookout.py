"""Looks at cards that are named before they are seen: finds them in a picture, and tells why it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.decks.enrolment import Knowledge, Told, learn
from models.decks.looks import WHOLE_H, WHOLE_W, Look, Place, look_at, patches, places
from models.eye.classes import RANKS
from models.eye.finder import Finder, Spot
from models.eye.geometry import CROP_H, CROP_W, Image, cut_card, pyramid
from models.eye.networks import WEIGHTS, Network, require
from models.eye.reader import R, Reader, S, log_softmax

#: Less steep than this are the edges of what is out of focus or moving; see `looks.sharpness`.
BLURRED = 0.085
#: Two looks more alike than this are of one card: three of four that are laid again. Hardly ever are two cards so.
SAME = 0.62
#: A place with less trust than this is no card's.
DOUBTFUL = 0.2
#: Of so many places the topmost is chosen.
LIKELY = 6
#: The middle of an index that was laid anew has changed by at least this share; a neighbour's has not.
CHANGED = 0.2
_NUMBERS = frozenset("23456789T")


class NoLook(Exception):  # noqa: N818 - a state of the table
    """The cards cannot be looked at; ``kind`` is "none", "blurred" or "count", and the message says what to do."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a card looked like, for telling it from others."""

    indices: NDArray[np.float32]
    whole: NDArray[np.float32]


class Lookout:
    """The finder and the features, put to cards whose names are told."""

    def __init__(self, finder: Network, reader: Network, card: Network) -> None:
        self._finder, self._ordinary = Finder(finder), Reader(reader)
        self._reader, self._card = reader, card
        self._signs: dict[str, _Sign] = {}

    @classmethod
    def load(cls, weights: Path | None = None, threads: int = 1) -> Lookout:
        """With the weights in a folder (None: the package); raises `WeightsMissing`, `WeightsBroken`."""
        folder = require(WEIGHTS if weights is None else weights)
        finder, reader, card = (Network(folder / f"{name}.onnx", threads) for name in ("finder", "reader", "card"))
        return cls(finder, reader, card)

    def look(self, image: Image, cards: Sequence[str], changed: NDArray[np.bool_] | None = None) -> list[Look]:
        """One look at each card, from left to right as the picture shows them.

        Args:
            image: B,G,R.
            cards: their names in that order.
            changed: (height, width), where the picture differs from before; cards elsewhere are not looked at.

        Raises:
            NoLook: they are not all there, or blurred.
        """
        levels = pyramid(image)
        spots = [s for s in self._finder.find(image) if changed is None or _touched(s, changed)]
        index = [r.index for r in self._ordinary.read(levels, spots)]
        found = [p for p in places(spots, index) if p.score > DOUBTFUL]
        if len(cards) == 1:
            found = self._topmost(levels, found)
        if not found:
            raise NoLook("none", "no index is found on the card")
        if len(cards) > 1 and len(found) < len(cards):
            raise NoLook(
                "count", f"{len(found)} of the {len(cards)} cards are found: spread them so that each index shows"
            )
        best = sorted(found[: len(cards)], key=lambda p: float(p.spots[0].centre[0]))
        rest = _rest(spots, index, best) if len(cards) == 1 else []
        looks = [look_at(card, levels, place, rest) for card, place in zip(cards, best, strict=True)]
        if min(look.sharpness for look in looks) < BLURRED:
            raise NoLook("blurred", "the picture is blurred")
        return looks

    def _topmost(self, levels: Sequence[Image], found: Sequence[Place]) -> list[Place]:
        """The best places, those first on which nothing seems to lie: the card was laid last."""
        best = [p for p in sorted(found, key=lambda p: -p.score)[:LIKELY] if len(p.spots) > 1] or list(found[:LIKELY])
        if len(best) < 2:
            return best
        out = self._card(np.stack([cut_card(levels, *p.frame) for p in best]))
        bare = 1 / (1 + np.exp(-np.clip(out[:, R + S] / 2, -20, 20)))
        order = np.argsort([-p.score - 1.5 * float(b) for p, b in zip(best, bare, strict=True)])
        return [best[i] for i in order]

    def read_rank(self, look: Look) -> tuple[str, float]:
        """The rank that the ordinary eye reads, and its probability."""
        out = self._reader(patches(look.indices)).astype(np.float64)
        p = np.exp(log_softmax(out[:, :R])).mean(0)
        return RANKS[int(p.argmax())], float(p.max())

    def contradicts(self, look: Look) -> str | None:
        """The number that is read for sure though another was named; None where nothing speaks against the name."""
        rank, p = self.read_rank(look)
        named = look.card[0]
        return rank if p > 0.97 and rank != named and {rank, named} <= _NUMBERS else None

    def note(self, card: str, look: Look) -> None:
        """Remember what a card looks like."""
        self._signs[card] = self._sign(look)

    def forget(self, card: str) -> None:
        """Remember it no more."""
        self._signs.pop(card, None)

    def known_as(self, look: Look) -> str | None:
        """The card noted before that this look all but repeats; told once a few cards are known."""
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
        return best if best is not None and alike[best] > SAME else None

    def learn(self, looks: Sequence[Look], told: Told = lambda _: None) -> Knowledge:
        """`enrolment.learn` with these networks."""
        return learn(looks, self._reader, self._card, told)

    def _sign(self, look: Look) -> _Sign:
        _, indices = self._reader.with_features(patches(look.indices))
        whole = np.zeros((WHOLE_H, WHOLE_W, 3), np.uint8) if look.whole is None else look.whole
        y, x = (WHOLE_H - CROP_H) // 2, (WHOLE_W - CROP_W) // 2
        crop = np.ascontiguousarray(whole[None, y : y + CROP_H, x : x + CROP_W])
        return _Sign(indices, self._card.with_features(crop)[1][0])


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32], all_: NDArray[np.float32]) -> float:
    """The best likeness of any of a with any of b, -1 to 1, about the mean of all that is known."""
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
    return part.size > 0 and float(part.mean()) > CHANGED


def _rest(spots: Sequence[Spot], index: Sequence[float], best: Sequence[Place]) -> list[Spot]:
    """Spots that are no index: neither the card's own, nor what the ordinary reader takes for one."""
    own = {id(s) for place in best for s in place.spots}
    return [s for s, logit in zip(spots, index, strict=True) if id(s) not in own and logit < 4.0]
