"""A camera that was knocked: every known card is where it was, but for one shift of the picture.

Cards that are still read tell where they are by themselves; those that lie under others are carried along. That the
camera moved, and by how much, is told by the table round the cards: its grain has shifted as a whole. A table without
grain tells nothing, and then nothing is said.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.motion import Glance, Motion
from models.pile import Pile
from models.quads import Quad

TURNS: Final = (0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0)
"""Degrees by which a camera may have turned."""
PLAIN_PEAK: Final = 0.4
"""A correlation so strong needs no other turn to be tried ..."""
PEAK: Final = 0.25
"""... and one weaker than this is chance."""
LEAST_PX: Final = 1.0
"""Reduced pixels of shift that are no tremble."""
RIM: Final = np.ones((9, 9), np.uint8)


class Following:
    """Follows the pile through a shift of the picture, from one quiet frame to the next."""

    def __init__(self, motion: Motion, pile: Pile) -> None:
        self._motion = motion
        self._pile = pile
        self._busy = True
        self._places: dict[int, Quad] = {}
        """Where each known card lay in the last quiet frame, by identity."""
        self._grain: NDArray[np.float32] | None = None
        """The table's grain in the last quiet frame."""

    def look(self, glance: Glance) -> bool:
        """Take in a frame; whether the camera has moved since the last quiet one."""
        quiet = not glance.reaches and not glance.changed
        if not quiet or not self._busy:
            self._busy = not quiet
            return False
        self._busy = False
        grain = self._grain_of(glance)
        matrix = self._shift(grain)
        if matrix is not None:
            self._carry(matrix)
        self._grain = grain
        self._places = {id(track): track.quad for track in self._pile.laid}
        return matrix is not None

    def _grain_of(self, glance: Glance) -> NDArray[np.float32]:
        """What the table's grain looks like, cards left out."""
        grey = cv2.cvtColor(glance.small, cv2.COLOR_BGR2GRAY).astype(np.float32)
        grain = cv2.GaussianBlur(grey, (0, 0), 1.0) - cv2.GaussianBlur(grey, (0, 0), 4.0)
        grain[cv2.dilate(glance.foreign, RIM) > 0] = 0
        cards = self._pile.mask(self._motion)
        if cards is not None:
            grain[cv2.dilate(cards, RIM) > 0] = 0
        return np.asarray(np.clip(grain, -6, 6), np.float32)

    def _shift(self, after: NDArray[np.float32]) -> NDArray[np.float64] | None:
        """By what the table's grain has moved, 2 x 3 in px of the picture; None if it has not, or cannot tell."""
        before = self._grain
        if before is None or before.shape != after.shape:
            return None
        rows, columns = after.shape
        window = cv2.createHanningWindow((columns, rows), cv2.CV_32F)
        best, found = PEAK, None
        for turn in TURNS:
            matrix = cv2.getRotationMatrix2D((columns / 2, rows / 2), turn, 1.0)
            (dx, dy), response = cv2.phaseCorrelate(cv2.warpAffine(before, matrix, (columns, rows)), after, window)
            if response > best:
                matrix[:, 2] += (dx, dy)
                best, found = response, (matrix, abs(turn) > 0 or np.hypot(dx, dy) > LEAST_PX)
            if turn == 0 and best > PLAIN_PEAK and found is not None and not found[1]:
                return None
        if found is None or not found[1]:
            return None
        whole = np.asarray(found[0], np.float64)
        whole[:, 2] *= self._motion.factor
        return whole

    def _carry(self, matrix: NDArray[np.float64]) -> None:
        """Move what was not read since along with the table."""
        for track in self._pile.laid:
            if self._places.get(id(track)) is not track.quad:
                continue
            track.quad = track.rest = _moved_by(matrix, track.quad)
            if track.indices is not None and len(track.indices):
                track.indices = track.indices @ matrix[:, :2].T + matrix[:, 2]
        for name, quad in self._pile.burned.items():
            self._pile.burned[name] = _moved_by(matrix, quad)
        self._pile.shifted()


def _moved_by(matrix: NDArray[np.float64], quad: Quad) -> Quad:
    return np.asarray(quad @ matrix[:, :2].T + matrix[:, 2], np.float32)
