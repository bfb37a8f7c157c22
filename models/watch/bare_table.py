"""What the bare table looks like, so that faces printed on its cloth are never taken for cards.

A picture is taken while nothing lies on the table (`referee calibrate --bare`). A reading all of whose indices look as
the table did there is a print, whatever the light; a card laid over a print does not look so, and is a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.eye import CardSeen
from models.eye.geometry import Floats, convex_quad, height_of
from models.watch.motion import Bytes

_SPAN: Final = 0.2
"""Half the side of the window round an index that is compared, as a share of a card's height."""
_FINE: Final = 0.08
"""What is coarser than this share of a card's height counts for nothing: lamps, shadows, the edge of a card."""
_SLACK: Final = 0.06
"""How far the picture may have shifted since, as a share of a card's height."""
_ALIKE: Final = 0.65
"""Correlation from which on a window shows the bare table. Of 144 prints seen again in other light, with noise and
under shadows' edges, the least had 0.91; of 36 cards laid over prints the most had 0.37.
"""
_PLACE: Final = 0.04
"""How far an index of a print may be read from where it was, as a share of a card's height: in a game on printed cloth
it was 0.02 at most."""
_FLAT: Final = 0.02
"""Contrast under which a window holds no print, in logarithms of light."""

_Floats = NDArray[np.float32]


class BareTable:
    """The table without a card."""

    def __init__(self, picture: Bytes) -> None:
        """Keep the picture (H x W x 3)."""
        self._relief = _relief(picture)
        self._known: dict[str, Floats] = {}
        """Of each print that was recognised, by its name: where its indices are, as shares of the picture."""

    def without_prints(self, image: Bytes, seen: Sequence[CardSeen]) -> Sequence[CardSeen]:
        """The readings of a picture but for those of the table's own prints."""
        rows, columns = image.shape[:2]
        if self._relief.shape != (rows, columns):
            # The camera gives another size by now.
            self._relief = np.asarray(
                cv2.resize(self._relief, (columns, rows), interpolation=cv2.INTER_AREA), np.float32
            )
        return [one for one in seen if not self._is_print(image, one)]

    def _is_print(self, image: Bytes, seen: CardSeen) -> bool:
        height = height_of(convex_quad(seen.corners))
        places = seen.indices if len(seen.indices) else seen.corners.mean(axis=0, keepdims=True)
        size = np.array(image.shape[1::-1], np.float64)
        if all(self._shows(image, float(x), float(y), height) for x, y in places):
            if len(self._known.get(seen.card, ())) <= len(places):
                self._known[seen.card] = places / size
            return True
        # A card that comes over a print changes how it looks, but neither its name nor its place.
        known = self._known.get(seen.card, np.zeros((0, 2))) * size
        return len(known) > 0 and all(float(np.hypot(*(known - place).T).min()) < _PLACE * height for place in places)

    def _shows(self, image: Bytes, x: float, y: float, height: float) -> bool:
        """Whether the table shows at (x, y), and has a print there."""
        span, slack = max(8, round(_SPAN * height)), max(3, round(_SLACK * height))
        rows, columns = self._relief.shape
        left, right = max(0, round(x) - span), min(columns, round(x) + span)
        top, bottom = max(0, round(y) - span), min(rows, round(y) + span)
        if right - left < span or bottom - top < span:
            return False
        now = _fine(_relief(image[top:bottom, left:right]), height)
        wide = self._relief[max(0, top - slack) : bottom + slack, max(0, left - slack) : right + slack]
        wide = _fine(wide, height)
        if float(now.std()) < _FLAT or float(wide.std()) < _FLAT:
            return False
        return float(cv2.matchTemplate(wide, now, cv2.TM_CCOEFF_NORMED).max()) >= _ALIKE


def _relief(picture: Bytes) -> _Floats:
    """Logarithms of light, in which a lamp only adds a constant."""
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), (0, 0), 1.0)
    return np.asarray(np.log(grey.astype(np.float32) + 6.0), np.float32)


def _fine(relief: _Floats, height: float) -> _Floats:
    return np.asarray(relief - cv2.GaussianBlur(relief, (0, 0), max(2.0, _FINE * height)), np.float32)
