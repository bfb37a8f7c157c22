"""A simulated camera that sees one of the simulated lights: exposures with a length, row readout, late stamps.

Time is data: `TableClock` advances with each frame, and with each pause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from hardware.ports import Frame, Image
from hardware.simulated.devices.simulated_lights import LevelChange
from referee.units import MS, SECOND

_GAMMA: Final = 2.2
_TILES: Final = 7
"""Number of noise pictures, which are shown in turn."""


class TableClock:
    """A clock that advances only on request."""

    def __init__(self, now: int = SECOND) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def pause(self, seconds: float) -> None:
        """Advance by this time."""
        self.now += round(seconds * SECOND)

    def reach(self, t: int) -> None:
        """Advance to ``t`` (ns), unless it is past."""
        self.now = max(self.now, t)


class LitCamera:
    """A cloth with one light on it; implements `hardware.ports.Camera`."""

    def __init__(
        self,
        clock: TableClock,
        changes: Callable[[], list[LevelChange]],
        *,
        light: str = "seat 1",
        fps: float = 30.0,
        exposure: int = 4 * MS,
        readout: int = 8 * MS,
        late: int = 0,
        size: tuple[int, int] = (320, 240),
        at: tuple[int, int] = (250, 180),
        brightness: float = 90.0,
        noise: float = 2.0,
        seed: int = 1,
    ) -> None:
        """Create a camera.

        Args:
            clock: the table's.
            changes: returns the lights' changes so far, as `SimulatedLights.changes`.
            light: the visible light.
            fps: frames a second.
            exposure: of each row, ns.
            readout: from the first row to the last, ns; each frame states it as its error.
            late: delay of its stamps, ns.
            size: width and height, px.
            at: place of the light, px.
            brightness: grey levels added by the whole light; 0: it is out of sight.
            noise: of a pixel, grey levels.
            seed: of the noise.
        """
        self._clock, self._changes, self._light = clock, changes, light
        self._period, self._exposure, self.readout, self._late = round(SECOND / fps), exposure, readout, late
        chance = np.random.default_rng(seed)
        width, height = size
        grain = [chance.normal(70.0, noise, (height, width)).astype(np.float32) for _ in range(_TILES)]
        self._cloths = [np.repeat(texture[:, :, None], 3, axis=2) for texture in grain]
        ys, xs = np.mgrid[:height, :width]
        halo = np.exp(-((xs - at[0]) ** 2 + (ys - at[1]) ** 2) / (2 * (width / 80) ** 2))
        self._halo = (brightness * halo).astype(np.float32)[:, :, None]
        self._row = at[1] / height
        self._closed = False

    def frames(self) -> Iterator[Frame]:
        """Yield frame after frame; the clock advances slightly past the end of each readout."""
        index = self._clock() // self._period + 1
        first = index
        while not self._closed:
            begins = index * self._period
            self._clock.reach(begins + self._exposure + self.readout + 2 * MS)
            image = self._picture(index, begins + round(self._row * self.readout))
            yield Frame(image, begins + self._late, self._exposure, index - first, self.readout)
            index += 1

    def close(self) -> None:
        """Stop `frames`."""
        self._closed = True

    def _picture(self, index: int, begins: int) -> Image:
        share = self._lit(begins, begins + self._exposure) / self._exposure
        shown = self._cloths[index % _TILES] + self._halo * np.float32(share ** (1 / _GAMMA))
        return np.asarray(np.clip(np.rint(shown), 0, 255), np.uint8)

    def _lit(self, begin: int, end: int) -> float:
        """Return the time for which the light was on in this span, ns."""
        lit, level, since = 0.0, 0.0, begin
        for change in self._changes():
            if change.light == self._light and change.t < end:
                lit += level * max(0, change.t - since)
                level, since = change.level, max(begin, change.t)
        return lit + level * (end - since)
