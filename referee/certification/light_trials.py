"""A seat's light switched on at known instants: its place in the picture, and the first frame that shows it.

The instants are spread over a frame's time. `hardware.camera.light_offset.estimate_offset` explains what they say about
the camera's timestamps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

import cv2
import numpy as np

from hardware.camera.light_offset import UNSEEN, LightTrial
from hardware.clock import Clock
from hardware.ports import Frame, HardwareMissing
from models.table_view.light import compare
from referee.units import SECOND

TRIALS: Final = 48
_SETTLING: Final = 8
"""Frames after which a switched light is certainly visible or gone: drivers buffer some."""
_LOOKS: Final = 4
"""Number of frames averaged to find it."""
_LEAST_LIGHT: Final = 12.0
"""Grey levels by which the light must brighten its place ..."""
_OVER_NOISE: Final = 5.0
"""... and the least ratio to the noise."""
_CLIPPED: Final = 250
_GOLDEN: Final = 0.618034
"""Golden ratio: its multiples spread evenly over a frame's time, for any number of trials."""
_PATIENCE: Final = 30
"""Frames after which an unseen light counts as invisible."""


class NoLight(Exception):  # noqa: N818 - it names what the camera did not see
    """The camera does not see the light; the message says so."""


@dataclass(frozen=True, slots=True)
class SeenLight:
    """A light in the picture, and its brightness."""

    x: int
    y: int
    radius: int
    """Radius of the measured patch, px."""
    dark: float
    whole: float
    """Grey levels of the patch without the light and with it."""
    clipped: bool
    row: float
    """Height in the picture, from the top, 0 to 1."""
    spacing: int
    """Time between frames, ns."""

    def share(self, image: Any) -> float:
        """Return the share of the light that a picture shows, 0 to 1, or more if something else shines there."""
        return (_patch(image, self.x, self.y, self.radius) - self.dark) / (self.whole - self.dark)


def find_light(frames: Iterator[Frame], switch: Callable[[bool], None]) -> SeenLight:
    """Find a light by the change in the picture when it is switched on.

    Raises:
        NoLight: nothing changes, or too little.
        HardwareMissing: the camera ended.
    """
    switch(False)
    off = _take(frames, _SETTLING + _LOOKS)[-_LOOKS:]
    switch(True)
    on = _take(frames, _SETTLING + _LOOKS)[-_LOOKS:]
    switch(False)
    dark, lit = (np.mean([_grey(frame.image) for frame in some], axis=0, dtype=np.float32) for some in (off, on))
    width = dark.shape[1]
    radius = max(2, width // 240)
    # The lamp brightens the whole table a little; its own place stands out.
    change = cv2.blur(lit - dark, (2 * radius + 1, 2 * radius + 1))
    _, most, _, (x, y) = cv2.minMaxLoc(change)
    # The blur averages (2r + 1)² pixels, which divides their noise by 2r + 1.
    noise = compare([frame.image for frame in off]).noise / (2 * radius + 1)
    if most < max(_LEAST_LIGHT, _OVER_NOISE * noise):
        raise NoLight("the camera sees no light go on: put one seat's light where the camera sees it")
    spacings = sorted(b.t - a.t for a, b in pairwise(off))
    without, whole = (float(np.mean([_patch(frame.image, x, y, radius) for frame in some])) for some in (off, on))
    clipped = float(np.mean([_patch(frame.image, x, y, radius) >= _CLIPPED for frame in on])) > 0.5
    return SeenLight(x, y, radius, without, whole, clipped, y / dark.shape[0], spacings[len(spacings) // 2])


def switch_light(
    frames: Iterator[Frame], switch: Callable[[bool], None], seen: SeenLight, *, clock: Clock,
    pause: Callable[[float], None], delay: int = 0, trials: int = TRIALS,
    told: Callable[[int], None] = lambda _done: None,
) -> list[LightTrial]:  # fmt: skip
    """Switch the light on repeatedly, and note the frames around each switching.

    Args:
        frames: the camera's.
        switch: switches the light on or off.
        seen: its place in the picture.
        clock: the pads'.
        pause: sleeps, in seconds.
        delay: longest time from the switching to the light, ns.
        trials: number of switchings; one in which the light was not seen is left out.
        told: called with the number of trials so far.

    Raises:
        HardwareMissing: the camera ended.
    """
    out = []
    for number in range(trials):
        before = _wait_for_dark(frames, seen)
        pause(number * _GOLDEN % 1 * seen.spacing / SECOND)
        on_from = clock()
        switch(True)
        on_until = clock() + delay
        for frame in islice(frames, _PATIENCE):
            share = seen.share(frame.image)
            if share < UNSEEN:
                before = frame
                continue
            if before is not None:
                out.append(
                    LightTrial(on_from, on_until, before.t, before.exposure, frame.t, frame.exposure, share,
                               seen.clipped)
                )  # fmt: skip
            break
        switch(False)
        told(number + 1)
    return out


def _wait_for_dark(frames: Iterator[Frame], seen: SeenLight) -> Frame | None:
    """Look until the light is gone, and at one frame more; return that frame. `None`: the light stays on."""
    was_dark = False
    for frame in islice(frames, _PATIENCE):
        is_dark = seen.share(frame.image) < UNSEEN
        if is_dark and was_dark:
            return frame
        was_dark = is_dark
    return None


def _take(frames: Iterator[Frame], count: int) -> list[Frame]:
    taken = list(islice(frames, count))
    if len(taken) < count:
        raise HardwareMissing("the camera's pictures ended too soon")
    return taken


def _grey(image: Any) -> Any:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def _patch(image: Any, x: int, y: int, radius: int) -> float:
    return float(image[max(0, y - radius) : y + radius + 1, max(0, x - radius) : x + radius + 1].mean())
