"""Find indices: a small fully convolutional network over the picture at two or three sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image, Points
from models.eye.networks import Network

#: The longest side the network runs on; a 1280 px frame is halved. Close-ups are found at the smaller sizes.
_LONG_SIDE, _SHORTEST_SIDE = 640, 96
#: Longest side of a second, closer look if the cards' height is unknown and some are smaller than this (picture px).
_CLOSE_SIDE, _SMALL_CARD = 1280, 170.0
#: Step of the output map and unit of its vectors, in px of the network's picture.
STRIDE, VECTOR_UNIT = 4, 16.0
#: Heat below this makes no candidate; the reader judges the others.
_FAINT_HEAT = 0.2
#: Both indices of two packs with jokers; an ordinary picture yields a few dozen.
_MOST_SPOTS = 220
#: Height, px, at which the network sees cards of known size. From 85 to 150 it finds the same cards in drawn heaps and
#: fans; the middle leaves room for cards nearer or farther than the usual one. The cost grows with the square.
_SUITED_HEIGHT = 110.0


@dataclass(frozen=True, slots=True)
class Spot:
    """A candidate index (picture px): its centre and up-vector, and the place of its card by its own estimate."""

    centre: Points
    up: Points
    card_centre: Points
    card_up: Points
    card_right: Points
    score: float

    @property
    def height(self) -> float:
        """Height of the index, px."""
        return 2.0 * float(np.hypot(self.up[0], self.up[1]))

    def seen_otherwise(self, turn: float, size: float) -> Spot:
        """Return the same index turned by ``turn`` degrees and scaled by ``size``."""
        c, s = size * np.cos(np.radians(turn)), size * np.sin(np.radians(turn))
        return replace(self, up=np.array([[c, -s], [s, c]]) @ self.up)


class Finder:
    """The finder network and the decoding of its output map."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def find(self, image: Image, card_height: float | None = None) -> list[Spot]:
        """Return candidates, best first, each index once: at all sizes, or at that for ``card_height`` (px)."""
        longest = max(image.shape[:2])
        scale = min(1.0, _LONG_SIDE / longest)
        if card_height is not None:
            return _distinct(self._at(image, image, min(scale, _SUITED_HEIGHT / max(card_height, 1.0)))[1])
        spots: list[Spot] = []
        level = image
        while True:
            level, found = self._at(image, level, scale)
            spots += found
            scale /= 2
            if longest * scale < _SHORTEST_SIDE:
                break
        likely = [s for s in spots if s.score > 0.4]
        # If no card or a small card was found, others there may be smaller still.
        if longest > _LONG_SIDE and (not likely or any(_small(s) for s in likely)):
            spots += [s for s in self._at(image, image, min(1.0, _CLOSE_SIDE / longest))[1] if _small(s)]
        return _distinct(spots)

    def _at(self, image: Image, source: Image, scale: float) -> tuple[Image, list[Spot]]:
        """Return the picture at a scale, resized from ``source``, and its candidates in px of the full picture."""
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        level = source
        if size != (level.shape[1], level.shape[0]):
            level = np.asarray(cv2.resize(level, size, interpolation=cv2.INTER_AREA), np.uint8)
        h, w = level.shape[:2]
        # The network halves the picture four times, hence sides of a multiple of 16.
        padded = cv2.copyMakeBorder(level, 0, -h % 16, 0, -w % 16, cv2.BORDER_CONSTANT, value=(110, 110, 110))
        out = self._network(np.asarray(padded, np.uint8)[None])[0]
        heat = 1 / (1 + np.exp(-out[0]))
        peak = (heat >= cv2.dilate(heat, np.ones((3, 3), np.uint8))) & (heat > _FAINT_HEAT)
        ys, xs = np.nonzero(peak)
        if len(ys) > _MOST_SPOTS:
            best = np.argsort(-heat[ys, xs])[:_MOST_SPOTS]
            ys, xs = ys[best], xs[best]
        k = np.array([image.shape[1] / size[0], image.shape[0] / size[1]])
        spots = []
        for y, x in zip(ys.tolist(), xs.tolist(), strict=True):
            v = out[1:, y, x].astype(np.float64)
            centre = ((np.array([x, y]) + v[:2] + 0.5) * STRIDE) * k - 0.5
            up, to_card, card_up, card_right = (v[i : i + 2] * VECTOR_UNIT * k for i in (2, 4, 6, 8))
            if float(np.hypot(up[0], up[1])) * 2 > 4.0:
                spots.append(Spot(centre, up, centre + to_card, card_up, card_right, float(heat[y, x])))
        return level, spots


def _small(spot: Spot) -> bool:
    """Whether its card may be too small for the reduced picture."""
    return 2 * float(np.hypot(spot.card_up[0], spot.card_up[1])) < _SMALL_CARD


def _distinct(spots: list[Spot]) -> list[Spot]:
    """Drop spots that repeat a better candidate: the same place and orientation."""
    kept: list[Spot] = []
    places: NDArray[np.float64] = np.zeros((0, 2))
    for spot in sorted(spots, key=lambda s: -s.score):
        near = np.flatnonzero(np.hypot(*(places - spot.centre).T) < 0.4 * spot.height)
        if not any(
            float(other.up @ spot.up) > 0.5 * float(np.linalg.norm(other.up) * np.linalg.norm(spot.up))
            and 0.5 < other.height / spot.height < 2.0
            for other in (kept[i] for i in near)
        ):
            kept.append(spot)
            places = np.vstack([places, spot.centre])
    return kept[:_MOST_SPOTS]
