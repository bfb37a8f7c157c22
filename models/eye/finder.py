"""Find indices: a small fully convolutional network over the picture at two or three sizes."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image, Points
from models.eye.networks import Network

#: The longest side the network is run on; a 1280 px frame is halved. Close-ups are found at the smaller sizes.
LONG_SIDE = 640
#: Where the cards' height is not known and some are small (px, of the picture), it looks once more, closer, up to this.
CLOSE_SIDE, SMALL = 1280, 170.0
SMALLEST = 96
STRIDE, UNIT = 4, 16.0
#: Heat below this is no candidate; the reader judges the others.
FAINT = 0.2
MOST = 80
#: Height, px, at which the network is shown cards whose size is known: it found as many at 80 to 150 as at all sizes.
SUITED = 100.0


@dataclass(frozen=True, slots=True)
class Spot:
    """A candidate index (picture px): its centre and up-vector, and the card it says it belongs to."""

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


class Finder:
    """The finder network and what its map means."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def find(self, image: Image, card_height: float | None = None) -> list[Spot]:
        """Candidates, best first, each index once: at all sizes, or at the one that suits cards so high (px)."""
        if card_height is not None:
            scale = min(1.0, LONG_SIDE / max(image.shape[:2]), SUITED / max(card_height, 1.0))
            return _distinct(self._scaled(image, scale))
        spots: list[Spot] = []
        longest = max(image.shape[:2])
        scale = min(1.0, LONG_SIDE / longest)
        level = image
        while True:
            size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
            if size != (level.shape[1], level.shape[0]):
                level = np.asarray(cv2.resize(level, size, interpolation=cv2.INTER_AREA), np.uint8)
            spots += self._at(level, image.shape[1] / size[0], image.shape[0] / size[1])
            scale /= 2
            if longest * scale < SMALLEST:
                break
        if longest > LONG_SIDE and _some_small(spots):
            spots += [s for s in self._scaled(image, min(1.0, CLOSE_SIDE / longest)) if _small(s)]
        return _distinct(spots)

    def _scaled(self, image: Image, scale: float) -> list[Spot]:
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        level = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
        return self._at(level, image.shape[1] / size[0], image.shape[0] / size[1])

    def _at(self, image: Image, kx: float, ky: float) -> list[Spot]:
        h, w = image.shape[:2]
        padded = cv2.copyMakeBorder(image, 0, -h % 16, 0, -w % 16, cv2.BORDER_CONSTANT, value=(110, 110, 110))
        out = self._network(np.asarray(padded, np.uint8)[None])[0]
        heat = 1 / (1 + np.exp(-out[0]))
        peak = (heat >= cv2.dilate(heat, np.ones((3, 3), np.uint8))) & (heat > FAINT)
        ys, xs = np.nonzero(peak)
        if len(ys) > MOST:
            best = np.argsort(-heat[ys, xs])[:MOST]
            ys, xs = ys[best], xs[best]
        k = np.array([kx, ky])
        spots = []
        for y, x in zip(ys.tolist(), xs.tolist(), strict=True):
            v = out[1:, y, x].astype(np.float64)
            centre = ((np.array([x, y]) + v[:2] + 0.5) * STRIDE) * k - 0.5
            up, to_card, card_up, card_right = (v[i : i + 2] * UNIT * k for i in (2, 4, 6, 8))
            if float(np.hypot(up[0], up[1])) * 2 > 4.0:
                spots.append(Spot(centre, up, centre + to_card, card_up, card_right, float(heat[y, x])))
        return spots


def _small(spot: Spot) -> bool:
    """An index of a card that the reduced picture may not show."""
    return 2 * float(np.hypot(spot.card_up[0], spot.card_up[1])) < SMALL


def _some_small(spots: list[Spot]) -> bool:
    """Nothing is seen, or a small card is: what else lies there may be smaller still."""
    likely = [s for s in spots if s.score > 0.4]
    return not likely or any(_small(s) for s in likely)


def _distinct(spots: list[Spot]) -> list[Spot]:
    """Drop what a better candidate says already: the same place, looking the same way."""
    kept: list[Spot] = []
    places: NDArray[np.float64] = np.zeros((0, 2))
    for spot in sorted(spots, key=lambda s: -s.score):
        if kept:
            near = np.flatnonzero(np.hypot(*(places - spot.centre).T) < 0.4 * spot.height)
            if any(_same_way(kept[i], spot) for i in near):
                continue
        kept.append(spot)
        places = np.vstack([places, spot.centre])
    return kept[:MOST]


def _same_way(a: Spot, b: Spot) -> bool:
    return (
        float(a.up @ b.up) > 0.5 * float(np.linalg.norm(a.up) * np.linalg.norm(b.up))
        and 0.5 < a.height / b.height < 2.0
    )
