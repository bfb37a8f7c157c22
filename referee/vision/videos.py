"""`referee watch`: what can be seen in a video or a folder of frames, as observations of the table log."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.engine.log import encode
from referee.engine.observations import Observation
from referee.errors import UserError

if TYPE_CHECKING:
    from hardware.ports import Frame
    from models.watch.watcher import Watcher


def seat_bearings(seats: int) -> dict[int, float]:
    """Where each of N seats evenly round the picture reaches in from: seat 1 at the bottom, then clockwise."""
    return {seat: (270 - 360 * (seat - 1) / seats) % 360 for seat in range(1, seats + 1)}


def new_watcher(bearings: Mapping[int, float] | None, deck: str | None = None) -> Watcher:
    """A watcher with the shipped eye, for a learned deck if one is named; names seats if their bearings are given.

    Raises:
        UserError: the eye cannot be loaded.
    """
    from referee.vision.photos import load_eye

    eye = load_eye(deck)
    import cv2

    from models.watch.watcher import Watcher

    # Handing these small pictures to a pool of threads costs twice what it gains, and takes a core from the camera.
    cv2.setNumThreads(1)

    return Watcher(eye, seat_bearings=bearings)


def _notes(folder: Path) -> dict[str, Any]:
    """What `referee demo --frames` noted beside its frames; nothing for a folder of somebody else's."""
    try:
        notes = json.loads((folder / "frames.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def frames_of(source: Path, fps: float | None) -> Iterator[Frame]:
    """Every frame of a video or a folder; instants count from the first.

    Raises:
        UserError: it cannot be read.
    """
    from hardware.camera.camera import open_camera
    from hardware.ports import HardwareMissing

    if not source.exists():
        raise UserError(f"{source}: there is no such file or folder")
    notes = _notes(source)
    exposure = notes.get("exposure_ns")
    try:
        camera = open_camera(str(source), fps=fps or notes.get("fps"))
        for frame in camera.frames():
            yield frame if exposure is None else replace(frame, exposure=int(exposure))
    except HardwareMissing as missing:
        raise UserError(str(missing)) from None


def _first_checked(frames: Iterator[Frame]) -> Iterator[Frame]:
    """The same frames, once the first could be read: a source that cannot be is told before the eye is woken."""
    first = next(frames)  # neither source is ever without one
    return chain((first,), frames)


def observed(watcher: Watcher, frames: Iterator[Frame]) -> Iterator[Observation]:
    """What the watcher tells, as it becomes known."""
    for frame in frames:
        yield from watcher.feed(frame.image, frame.t, frame.exposure)
    yield from watcher.finish()


def _bearings(seats: int | None, settings: Path | None) -> dict[int, float] | None:
    """Each seat's bearing: evenly, as a table's settings have them, or None where nobody says."""
    if settings is None:
        return None if seats is None else seat_bearings(seats)
    if seats is not None:
        raise UserError("--seats and --settings both say where the seats are: give one of them")
    from referee.settings.model import load_settings

    return {number: seat.bearing for number, seat in enumerate(load_settings(settings).seats, start=1)}


def watch(
    source: Path, *, fps: float | None = None, seats: int | None = None, deck: str | None = None,
    settings: Path | None = None,
) -> int:  # fmt: skip
    """Print every observation as one JSON line as soon as it is known; returns the exit status.

    Raises:
        UserError: the source, the settings or the eye cannot be read.
    """
    bearings = _bearings(seats, settings)
    frames = _first_checked(frames_of(source, fps))
    watcher = new_watcher(bearings, deck)
    for seen in observed(watcher, frames):
        sys.stdout.write(encode(seen) + "\n")
        sys.stdout.flush()
    return 0
