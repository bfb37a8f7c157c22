"""A seat's light switched on at known instants before the camera: where it stands, and in which frame it was seen.

The instants are spread over a frame's time. What they tell of the camera's stamps says
`hardware.camera.light_offset.estimate_offset`.
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
"""Frames in which a light that was switched is surely seen, or surely gone: drivers keep some."""
_LOOKS: Final = 4
"""Frames that are averaged to find it."""
_LEAST_LIGHT: Final = 12.0
"""Grey levels by which the light must brighten its place ..."""
_OVER_NOISE: Final = 5.0
"""... and how many times the noise."""
_CLIPPED: Final = 250
_GOLDEN: Final = 0.618034
"""Its multiples spread over a frame's time as evenly as anything, however many there are."""
_PATIENCE: Final = 30
"""Frames after which a light that was not seen will not be."""


class NoLight(Exception):  # noqa: N818 - it names what the camera did not see
    """The camera does not see the light; says so in words."""


@dataclass(frozen=True, slots=True)
class SeenLight:
    """A light in the picture, and what it adds to its place."""

    x: int
    y: int
    radius: int
    """Of the patch that is looked at, px."""
    dark: float
    whole: float
    """Grey level of the patch without the light and with it."""
    clipped: bool
    row: float
    """How far down the picture it stands, 0 to 1."""
    spacing: int
    """From frame to frame, ns."""

    def share(self, image: Any) -> float:
        """How much of the light a picture shows, 0 to 1, and more where something else shines there."""
        return (_patch(image, self.x, self.y, self.radius) - self.dark) / (self.whole - self.dark)


def find_light(frames: Iterator[Frame], switch: Callable[[bool], None]) -> SeenLight:
    """Find a light by what changes where it is switched on.

    Raises:
        NoLight: nothing does, or too little.
        HardwareMissing: the camera ended.
    """
    switch(False)
    off = _take(frames, _SETTLING + _LOOKS)[-_LOOKS:]
    switch(True)
    on = _take(frames, _SETTLING + _LOOKS)[-_LOOKS:]
    switch(False)
    dark, lit = (np.mean([_grey(one.image) for one in some], axis=0, dtype=np.float32) for some in (off, on))
    width = dark.shape[1]
    radius = max(2, width // 240)
    # The lamp brightens the whole table a little; its own place stands out.
    change = cv2.blur(lit - dark, (2 * radius + 1, 2 * radius + 1))
    _, most, _, (x, y) = cv2.minMaxLoc(change)
    noise = compare([one.image for one in off]).noise / (2 * radius + 1)
    if most < max(_LEAST_LIGHT, _OVER_NOISE * noise):
        raise NoLight("the camera sees no light go on: put one seat's light where the camera sees it")
    spacings = sorted(b.t - a.t for a, b in pairwise(off))
    without, whole = (float(np.mean([_patch(one.image, x, y, radius) for one in some])) for some in (off, on))
    clipped = float(np.mean([_patch(one.image, x, y, radius) >= _CLIPPED for one in on])) > 0.5
    return SeenLight(x, y, radius, without, whole, clipped, y / dark.shape[0], spacings[len(spacings) // 2])


def switch_light(
    frames: Iterator[Frame], switch: Callable[[bool], None], seen: SeenLight, *, clock: Clock,
    pause: Callable[[float], None], delay: int = 0, trials: int = TRIALS,
    told: Callable[[int], None] = lambda _done: None,
) -> list[LightTrial]:  # fmt: skip
    """Switch a light on that was found, so many times, and note the frames around each.

    Args:
        frames: the camera's.
        switch: the light on, or off.
        seen: where it stands.
        clock: the pads'.
        pause: waits for so many seconds.
        delay: how long after its switching the light may take to burn, ns.
        trials: how many times; one in which the light was not seen is left out.
        told: called with the number of times so far.

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
    """Look until the light is gone, and at one frame more; gives that one, or None where the light stays."""
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
