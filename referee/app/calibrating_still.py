"""The still table, of which a calibration is measured: pictures in which nothing moves, and their mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from hardware.ports import Frame
from models.light import compare
from referee.app.problems import UserError

SECOND: Final = 1_000_000_000
SETTLING: Final = 12
"""Frames that a camera may need until its locked settings show; a change took 11."""
STILL: Final = 12
"""Frames of the still table that are compared."""
MOVING: Final = 0.03
"""Share of the picture in which something may move."""
PATIENCE: Final = 20 * SECOND
"""How long the table may be restless, ns."""


def still(frames: Iterator[Frame]) -> list[Any]:
    """The first `STILL` pictures in a row in which nothing moves.

    Raises:
        UserError: something does all the time, or there are too few frames.
    """
    kept: list[Any] = []
    began: int | None = None
    for count, frame in enumerate(frames):
        began = frame.t if began is None else began
        if count < SETTLING:
            continue
        if kept and compare([kept[-1], frame.image]).moving > MOVING:
            kept.clear()
        kept.append(frame.image)
        if len(kept) == STILL:
            return kept
        if frame.t - began > PATIENCE:
            raise UserError(
                "something moves in the picture all the time: take hands off the table, fix the camera's arm"
            )
    if len(kept) < 2:
        raise UserError("the camera's pictures ended too soon: some seconds of the still table are needed")
    return kept


def average(images: Sequence[Any]) -> Any:
    """The pictures' mean: noise that would move corners is evened out."""
    return np.rint(np.mean(np.stack(images), axis=0, dtype=np.float32)).astype(np.uint8)


def same_scene(images: Sequence[Any]) -> list[Any]:
    """The pictures that show what the first does, so that they differ by noise and light alone."""
    return [image for image in images if image is images[0] or compare([images[0], image]).moving <= MOVING]
