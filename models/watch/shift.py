"""Follows the pile when the camera is knocked: all known cards keep their places, up to one shift of the picture.

Cards that are still read show their new place; covered cards are carried along. The table round the cards shows that
the camera moved, and how far: its grain has shifted as a whole. A table without grain gives no evidence, so no shift is
reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Quad
from models.watch.grain import Grain, grain_of, likeness
from models.watch.masks import widened
from models.watch.measure import HALF, LEARNED, MOST
from models.watch.motion import CARD_RIM, Glance, Motion
from models.watch.tracks import Pile

_TURNS: Final = (0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0)
"""Angles, in degrees, by which a camera may have turned."""

Shift = NDArray[np.float64]
"""Affine matrix, 2 x 3, that maps one picture onto another."""


class ShiftTracker:
    """Follows the pile through shifts of the picture, from one quiet frame to the next.

    ``over_bare`` returns the picture's shift relative to the bare table, if that was recorded.
    """

    def __init__(self, motion: Motion, pile: Pile, over_bare: Callable[[], Shift] | None = None) -> None:
        self._motion = motion
        self._pile = pile
        self._over_bare = over_bare
        self._on_bare: Shift = np.eye(2, 3)
        """Shift of the last quiet frame relative to the bare table."""
        self._busy = True
        self._places: dict[int, Quad] = {}
        """Place of each known card in the last quiet frame, by identity."""
        self._grain: Grain | None = None
        """The table's grain in the last quiet frame."""
        self._usual = 0.0
        """Usual likeness between the grains of quiet frames."""

    def look(self, glance: Glance) -> bool:
        """Take in a frame; return whether the camera has moved since the last quiet one."""
        if not glance.calm or not self._busy:
            self._busy = not glance.calm
            return False
        self._busy = False
        grain = self._grain_of(glance)
        on_bare, matrix = self._shift_on_bare(), self._shift(grain)
        # Faces printed on the cloth drown its grain, but the bare table's picture contains them, too.
        matrix = matrix if matrix is not None else on_bare
        if matrix is not None:
            self._carry(matrix)
        self._grain = grain
        self._places = {id(track): track.quad for track in self._pile.laid}
        return matrix is not None

    def _grain_of(self, glance: Glance) -> Grain:
        """Return the table's grain and where it shows."""
        hidden = widened(glance.foreign, CARD_RIM)
        cards = self._pile.mask(self._motion)
        if cards is not None:
            hidden = np.maximum(hidden, widened(cards, CARD_RIM))
        return grain_of(glance.small, hidden == 0)

    def _shift(self, after: Grain) -> Shift | None:
        """Return the shift of the table's grain, 2 x 3 in px of the picture; None if none is found."""
        before = self._grain
        if before is None or before[0].shape != after[0].shape:
            return None
        as_it_is = likeness(before, after)
        if self._usual and as_it_is >= MOST * self._usual:
            self._usual += LEARNED * (as_it_is - self._usual)
            return None
        found = shift_between(before, after, as_it_is)
        if found is None:
            self._usual = self._usual or as_it_is
            return None
        whole = found.copy()
        whole[:, 2] *= self._motion.factor
        return whole

    def _shift_on_bare(self) -> Shift | None:
        """Return the picture's shift over the bare table since the last quiet frame, px; None if there is none."""
        if self._over_bare is None or np.array_equal(self._over_bare(), self._on_bare):
            return None
        before, after = (np.vstack([m, (0.0, 0.0, 1.0)]) for m in (self._on_bare, self._over_bare()))
        self._on_bare = self._over_bare()
        return np.asarray((after @ np.linalg.inv(before))[:2], np.float64)

    def _carry(self, matrix: Shift) -> None:
        """Move the cards not read since, and the table under them, along with the table."""
        self._motion.carry(matrix, self._pile.mask(self._motion))
        self._pile.carry(matrix, lambda track: self._places.get(id(track)) is track.quad)


def shift_between(before: Grain, after: Grain, as_it_is: float, *, doubted: bool = False) -> Shift | None:
    """Return the shift of a table's grain, in reduced px; None if none is found.

    ``as_it_is``: likeness of the two grains without a shift. The shifted grains must be half as like again, unless
    there is other evidence of a shift (``doubted``).
    """
    best, found = max(((likeness(warped(before, m), after), m) for m in _guesses(before, after)), key=_first)
    far = float(np.hypot(found[0, 2], found[1, 2])) if abs(found[0, 1]) < 1e-6 else np.inf
    least = max(HALF, as_it_is if doubted else (1 + HALF) * as_it_is)
    # Less than a reduced pixel is only a tremble.
    return None if best < least or far < 1.0 else found


def _first(pair: tuple[float, Shift]) -> float:
    return pair[0]


def _guesses(before: Grain, after: Grain) -> Iterator[Shift]:
    """Yield the shift that phase correlation finds for each turn: 2 x 3, reduced px."""
    rows, columns = after[0].shape
    window = cv2.createHanningWindow((columns, rows), cv2.CV_32F)
    for turn in _TURNS:
        matrix = cv2.getRotationMatrix2D((columns / 2, rows / 2), turn, 1.0)
        turned, there = warped(before, matrix)
        # Compare only pixels that are table in both, or the edges of other pixels would be compared.
        both = there * after[1]
        (dx, dy), _ = cv2.phaseCorrelate(turned * both, after[0] * both, window)
        matrix[:, 2] += (dx, dy)
        yield np.asarray(matrix, np.float64)


def warped(grain: Grain, matrix: Shift) -> Grain:
    """Return a grain moved by a shift in its own pixels."""
    rows, columns = grain[0].shape
    moved, there = (cv2.warpAffine(part, matrix, (columns, rows)) for part in grain)
    return np.asarray(moved, np.float32), np.asarray(there > 0.99, np.float32)
