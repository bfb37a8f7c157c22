"""What the simulated driver hands over: jobs, requests, and pictures as they lie in the driver's memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hardware.ports import Image

Pictures = Callable[[int, int, tuple[int, int]], Image]
"""Paints a frame from its number, the instant of its readout (ns, CLOCK_MONOTONIC), its width and height."""


def plain(number: int, _t: int, size: tuple[int, int]) -> Image:
    """A grey picture that tells its frame: every byte is the number's last."""
    return np.full((size[1], size[0], 3), number % 256, np.uint8)


class SimulatedRequest:
    """One completed frame."""

    def __init__(self, image: Image, metadata: dict[str, Any]) -> None:
        self._image, self._metadata = image, metadata
        self.released = False

    def make_array(self, _name: str) -> Image:
        """A copy of the picture; raises `RuntimeError` after `release`, when the memory is the camera's again."""
        if self.released:
            raise RuntimeError("the request was released")
        return self._image.copy()

    def get_metadata(self) -> dict[str, Any]:
        """What the sensor said of this frame."""
        return dict(self._metadata)

    def release(self) -> None:
        """Give the memory back."""
        self._image[:] = 0
        self.released = True


class SimulatedJob:
    """A capture that is queued."""

    def __init__(self, first: int) -> None:
        self.first = first
        """The first frame that may serve it."""
        self.cancelled = False


def in_memory(image: Image, main: Mapping[str, Any]) -> Image:
    """A picture (blue first) as a stream's configuration lays it out: its format, and its rows' stride."""
    width, height = main["size"]
    if main["format"] == "BGR888":
        image = image[:, :, ::-1].copy()
    if main["format"] == "XRGB8888":
        image = np.dstack([image, np.full((height, width), 255, np.uint8)])
    padding = main["stride"] - width * image.shape[2]
    if padding:
        rows = np.pad(image.reshape(height, -1), ((0, 0), (0, padding)), constant_values=77)
        return rows.reshape(height, -1, image.shape[2])
    return image
