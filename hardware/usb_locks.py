"""Exposure and white balance of a USB camera, held as the camera found them, if that does not change the picture.

Such a camera tells nothing of a frame, and what it does when its automatics are switched off is its own affair: most
stay as they are, some jump to what was set last. So the picture is compared before and after, and the automatics come
back where it changed.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hardware.opencv import opencv
from hardware.ports import Image

SETTLE: Final = 30
"""Frames that the automatics are given to find the light."""
SHOWS: Final = 15
"""Frames until a change shows."""
TRIES: Final = 3
"""A hand that comes in meanwhile looks like a change: try again."""
_LIKE: Final = 0.1
"""Part by which a channel's mean may differ, and still be the same picture."""
_LEVELS: Final = 3.0
"""And that many grey levels besides."""
# Values of Video4Linux's V4L2_CID_EXPOSURE_AUTO, which OpenCV hands through.
_MANUAL: Final = 1.0


class UsbLocks:
    """Looks at each frame, and switches when it is time."""

    def __init__(self, capture: Any) -> None:
        """Nothing is switched yet.

        Args:
            capture: OpenCV's VideoCapture.
        """
        cv2 = opencv()
        self._capture = capture
        automatics = (cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL), (cv2.CAP_PROP_AUTO_WB, 0.0)
        self._switches = [(setting, float(capture.get(setting)), off) for setting, off in automatics]
        self._frames = 0
        self._tries = 0
        self._before: NDArray[np.float64] | None = None
        self.held: bool | None = None
        """Whether they are held; None while that is not settled."""

    def look(self, image: Image) -> None:
        """One more frame: H × W × 3."""
        if self.held is not None:
            return
        self._frames += 1
        if self._before is None and self._frames == SETTLE:
            self._before = _colour(image)
            if not self._switch(off=True):
                self.held = False
        elif self._before is not None and self._frames == SETTLE + SHOWS:
            self._judge(_colour(image))

    def _judge(self, after: NDArray[np.float64]) -> None:
        assert self._before is not None
        same = np.abs(after - self._before) <= _LIKE * self._before + _LEVELS
        if same.all():
            self.held = True
            return
        self._switch(off=False)
        self._tries += 1
        self._frames, self._before = 0, None
        if self._tries == TRIES:
            self.held = False

    def _switch(self, *, off: bool) -> bool:
        """Whether the camera takes any of it."""
        taken = [self._capture.set(setting, manual if off else before) for setting, before, manual in self._switches]
        return any(taken)

    @property
    def warnings(self) -> tuple[str, ...]:
        """In words, what is not held."""
        if self.held is False:
            return ("this camera's exposure and white balance cannot be held: see that the light does not change",)
        return ()


def _colour(image: Image) -> NDArray[np.float64]:
    """The mean of each channel, of every eighth pixel."""
    out: NDArray[np.float64] = image[::8, ::8].mean(axis=(0, 1), dtype=np.float64)
    return out
