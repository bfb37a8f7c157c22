"""Finds the seats: each player in turn reaches a hand over the table, and the side it comes from is the bearing.

The same arm detection later identifies who laid a card: see `models.watch.motion` and `models.watch.arms`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from models.watch.arms import bearing_of, covered, usual
from models.watch.masks import Mask
from models.watch.measure import HALF
from models.watch.motion import Bytes, Motion
from models.watch.surfaces import Surface

_ENOUGH_LOOKS: Final = 8
"""Number of looks at an arm that give a bearing."""
_FRAMES_GONE: Final = 3
"""Number of frames without an arm that end a reach."""
_ARRIVED: Final = 0.65
"""Share of the line to the middle that an arm must cover: a hand that has arrived, rather than one on its way. Table
shows between spread fingers."""


class Reaching:
    """Measures one bearing after another from a stream of frames.

    Args:
        middle: the playing area's middle, px; None: the picture's.
    """

    def __init__(self, middle: tuple[float, float] | None = None) -> None:
        self._middle = middle
        self._motion = Motion()
        self._everything: Mask | None = None
        self._looks: list[tuple[float, float]] = []
        self._without = 0
        self._has_answered = False
        self.state = "away"
        """``away``, ``reaching``, ``two`` (more than one arm), ``told`` (the hand may leave), ``dark``, ``blocked``."""

    def feed(self, image: Bytes, t: int) -> float | None:
        """Take in the next frame (H x W x 3; exposed at ``t`` ns); return a bearing, degrees, once it is known.

        The first frame must show the table without a hand. After a bearing the hand must leave.
        """
        glance = self._motion.look(image, t, self._everything)
        # Players hold their hand still on request: it must not be learned as part of the table.
        self._everything = np.full(glance.foreign.shape, 255, np.uint8)
        if glance.state != "clear":
            self.state = glance.state
            return None
        f, (rows, columns) = self._motion.factor, glance.foreign.shape
        middle = (columns / 2, rows / 2)
        to = middle if self._middle is None else (self._middle[0] / f, self._middle[1] / f)
        # Count resting arms, too, for the same reason.
        arms = np.where(glance.kinds == Surface.ARM, np.uint8(255), np.uint8(0))
        shares = [(reach, covered(arms, reach, to)) for reach in (*glance.reaches, *glance.resting)]
        there = [(reach, share) for reach, share in shares if share >= HALF]
        if not there:
            self._without += 1
            if self._without >= _FRAMES_GONE:
                self._has_answered, self.state = False, "away"
                self._looks.clear()
            return None
        self._without = 0
        if self._has_answered:
            return None
        if len(there) > 1:
            self.state = "two"
            self._looks.clear()
            return None
        self.state = "reaching"
        reach, share = there[0]
        if share >= _ARRIVED:
            self._looks.append((bearing_of(reach.x, reach.y, middle), share**4))
        if len(self._looks) < _ENOUGH_LOOKS:
            return None
        angle = usual(self._looks)
        del self._looks[:]
        if angle is not None:
            self._has_answered, self.state = True, "told"
        return angle
