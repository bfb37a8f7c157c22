"""The noise of the simulated camera's sensor: a few fields made ahead, of which each picture gets one, shifted."""

from __future__ import annotations

import cv2
import numpy as np

from hardware.simulated.pictures.canvas import Bytes

_FIELDS = 5
_SHIFT_PX = 64
"""How far a field is shifted at most."""


class SensorNoise:
    """What the sensor adds to pictures of one size; none where ``sigma`` is 0. All seeded."""

    def __init__(self, width: int, height: int, sigma: float, seed: int) -> None:
        self._seed = seed
        chance = np.random.default_rng((seed, 31))
        shape = (height + _SHIFT_PX, width + _SHIFT_PX, 3)
        self._fields: list[tuple[Bytes, Bytes]] = []
        """What is added and what is taken away."""
        for _ in range(_FIELDS if sigma > 0 else 0):
            field = chance.standard_normal(shape, dtype=np.float32)
            field = (
                cv2.GaussianBlur(field, (0, 0), 0.55) * 1.5
                + chance.standard_normal(shape[:2], dtype=np.float32)[..., None] * 0.7
            )
            field = np.rint(field * sigma * 0.75)
            self._fields.append((np.maximum(field, 0).astype(np.uint8), np.maximum(-field, 0).astype(np.uint8)))

    def add_to(self, frame: Bytes, index: int) -> None:
        """Spoil a picture in place; ``index`` chooses how."""
        if not self._fields:
            return
        chance = np.random.default_rng((self._seed, 41, index))
        more, less = self._fields[int(chance.integers(len(self._fields)))]
        x, y = int(chance.integers(_SHIFT_PX)), int(chance.integers(_SHIFT_PX))
        spot = np.s_[y : y + frame.shape[0], x : x + frame.shape[1]]
        cv2.add(frame, more[spot], dst=frame)
        cv2.subtract(frame, less[spot], dst=frame)
