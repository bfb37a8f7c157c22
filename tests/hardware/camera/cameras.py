"""Cameras made by import path in another process, for tests of the hand-over."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from hardware.clock import monotonic
from hardware.ports import Camera, Frame, HardwareMissing


class Counting:
    """Pictures whose every byte is the frame's number, at full speed."""

    def __init__(self, size: tuple[int, int], count: int) -> None:
        self._size, self._count = size, count

    def frames(self) -> Iterator[Frame]:
        width, height = self._size
        for index in range(self._count):
            yield Frame(np.full((height, width, 3), index % 256, np.uint8), monotonic(), 1, index)

    def close(self) -> None:
        print("closed", file=sys.stderr)


def counting(size: Any, count: int) -> Camera:
    return Counting((int(size[0]), int(size[1])), count)


def absent() -> Camera:
    print("libcamera: no i2c answer", file=sys.stderr)
    raise HardwareMissing("no camera answers; push the cable in")


def faulty() -> Camera:
    raise ZeroDivisionError("of nothing")


def crashing() -> Camera:
    os.abort()
