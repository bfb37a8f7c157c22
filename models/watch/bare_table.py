"""The bare table's appearance, so that faces printed on its cloth are never taken for cards.

A picture is taken while the table is empty (`referee calibrate --bare`). A reading all of whose indices match the bare
table is a print, whatever the light; a card laid over a print does not match, and is a card. If the camera is knocked,
the table's grain and its prints show how far the picture has shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.eye import CardSeen
from models.eye.geometry import Quad, convex_quad, height_of, moved_by
from models.watch.grain import Grain, likeness
from models.watch.measure import INDEX, LEARNED, LITTLE, MOST, SLIGHT
from models.watch.motion import ROWS, Bytes
from models.watch.shift import Shift, shift_between, warped

_GRAIN_MOST: Final = 0.08
"""Clipping limit of the grain, in logarithms of light."""

_Floats = NDArray[np.float32]


class BareTable:
    """The table without a card."""

    def __init__(self, picture: Bytes) -> None:
        """Keep the picture (H x W x 3)."""
        self._picture = picture
        self._keep(picture)

    def _keep(self, picture: Bytes) -> None:
        self._original = self._relief = _relief(picture)
        self._grain = self._before = _grain(picture)
        self._usual = 0.0
        """Usual likeness between the pictures' grain and the bare table's."""
        self._names: set[str] = set()
        """Names of the cards recognised as prints."""
        self._known: dict[str, Quad] = {}
        """Positions of each recognised print's indices in the bare table's picture, px, by name."""
        self.shift: Shift = np.eye(2, 3)
        """Shift of the camera's picture since then: 2 x 3, px."""

    def reduced(self, shape: tuple[int, ...]) -> Bytes:
        """Return the bare table under the current shift, scaled to ``shape`` (rows and columns)."""
        rows, columns = self._relief.shape
        seen = np.asarray(cv2.resize(self._picture, (columns, rows), interpolation=cv2.INTER_AREA), np.uint8)
        seen = np.asarray(cv2.warpAffine(seen, self.shift, (columns, rows), borderMode=cv2.BORDER_REPLICATE), np.uint8)
        return np.asarray(cv2.resize(seen, shape[1::-1], interpolation=cv2.INTER_AREA), np.uint8)

    def without_prints(self, image: Bytes, seen: Sequence[CardSeen]) -> Sequence[CardSeen]:
        """Return the readings of a picture without those of the table's own prints."""
        rows, columns = image.shape[:2]
        if self._relief.shape != (rows, columns):
            # The camera's picture size has changed.
            self._keep(np.asarray(cv2.resize(self._picture, (columns, rows), interpolation=cv2.INTER_AREA), np.uint8))
        if seen:
            self._follow(image)
        left = [card for card in seen if not self._is_print(image, card)]
        if any(card.card in self._names for card in left) and self._follow(image, doubted=True):
            left = [card for card in left if not self._is_print(image, card)]
        return left

    def _follow(self, image: Bytes, doubted: bool = False) -> bool:
        """Follow the table when the picture has shifted on it; return whether it has.

        A shift is sought only where the grain differs, or if ``doubted``: a print's card was read elsewhere.
        """
        now = _grain(image)
        as_it_is = likeness(self._before, now)
        if not doubted and as_it_is >= MOST * self._usual:
            self._usual += (LEARNED if self._usual else 1.0) * (as_it_is - self._usual)
            return False
        found = shift_between(self._grain, now, as_it_is, doubted=doubted)
        if found is None:
            return False
        rows, columns = self._relief.shape
        self._before = warped(self._grain, found)
        self.shift = found.copy()
        self.shift[:, 2] *= columns / now[0].shape[1]
        self._relief = np.asarray(
            cv2.warpAffine(self._original, self.shift, (columns, rows), borderMode=cv2.BORDER_REPLICATE), np.float32
        )
        return True

    def _is_print(self, image: Bytes, seen: CardSeen) -> bool:
        height = height_of(convex_quad(seen.corners))
        places = seen.indices if len(seen.indices) else seen.corners.mean(axis=0, keepdims=True)
        if all(self._shows(image, float(x), float(y), height) for x, y in places):
            if len(self._known.get(seen.card, ())) <= len(places):
                self._known[seen.card] = moved_by(cv2.invertAffineTransform(self.shift), places)
                self._names.add(seen.card)
            return True
        # A card laid over a print changes its appearance, but a misread print keeps its name and place.
        known = moved_by(self.shift, self._known.get(seen.card, np.zeros((0, 2), np.float32)))
        # Prints in a game on printed cloth were read at most 0.02 of their height from their place.
        near = SLIGHT / 2 * height
        return len(known) > 0 and all(float(np.hypot(*(known - place).T).min()) < near for place in places)

    def _shows(self, image: Bytes, x: float, y: float, height: float) -> bool:
        """Return whether the table shows at (x, y), and has a print there."""
        span, slack = max(8, round(INDEX * height)), max(3, round(SLIGHT / 2 * height))
        rows, columns = self._relief.shape
        left, right = max(0, round(x) - span), min(columns, round(x) + span)
        top, bottom = max(0, round(y) - span), min(rows, round(y) + span)
        if right - left < span or bottom - top < span:
            return False
        now = _fine(_relief(image[top:bottom, left:right]), height)
        wide = self._relief[max(0, top - slack) : bottom + slack, max(0, left - slack) : right + slack]
        wide = _fine(wide, height)
        if float(now.std()) < LITTLE / 2 or float(wide.std()) < LITTLE / 2:
            return False
        # In 144 prints seen again in other light, with noise and under shadow edges, the least correlation was 0.91; in
        # 36 cards laid over prints the greatest was 0.37.
        return float(cv2.matchTemplate(wide, now, cv2.TM_CCOEFF_NORMED).max()) >= MOST


def _relief(picture: Bytes) -> _Floats:
    """Return logarithms of light: a brighter lamp only adds a constant."""
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), (0, 0), 1.0)
    return np.asarray(np.log(grey.astype(np.float32) + 6.0), np.float32)


def _grain(picture: Bytes) -> Grain:
    """Return the fine detail of a reduced picture, with a mask that admits all of it as table."""
    rows, columns = picture.shape[:2]
    size = (max(1, round(columns * ROWS / rows)), ROWS)
    small = _relief(np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8))
    grain = np.clip(small - cv2.GaussianBlur(small, (0, 0), 4.0), -_GRAIN_MOST, _GRAIN_MOST)
    return np.asarray(grain, np.float32), np.ones(grain.shape, np.float32)


def _fine(relief: _Floats, height: float) -> _Floats:
    return np.asarray(relief - cv2.GaussianBlur(relief, (0, 0), max(2.0, SLIGHT * height)), np.float32)
