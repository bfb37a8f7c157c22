"""`referee watch`: what can be seen in a video or a folder of frames, as observations of the table log."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from referee.adjudication.observations import Observation, encode
from referee.app.problems import UserError

if TYPE_CHECKING:
    from models.watching import Watcher

FOLDER_FPS: Final = 15.0
"""Frames a second of a folder that does not say."""
SECOND: Final = 1_000_000_000
PICTURES: Final = frozenset((".jpg", ".jpeg", ".png", ".bmp", ".webp"))


def seat_bearings(seats: int) -> dict[int, float]:
    """Where each of N seats evenly round the picture reaches in from: seat 1 at the bottom, then clockwise."""
    return {seat: (270 - 360 * (seat - 1) / seats) % 360 for seat in range(1, seats + 1)}


def new_watcher(bearings: Mapping[int, float] | None) -> Watcher:
    """A watcher with the shipped eye; names seats if their bearings are given.

    Raises:
        UserError: the eye cannot be loaded.
    """
    from referee.app.recognising import load_eye

    eye = load_eye()
    from models.watching import Watcher

    return Watcher(eye, seat_bearings=bearings)


def frame_files(folder: Path) -> list[Path]:
    """The pictures of a folder in the order of the numbers in their names.

    Raises:
        UserError: there are none, or one has no number.
    """
    files = [path for path in folder.iterdir() if path.suffix.lower() in PICTURES]
    if not files:
        raise UserError(f"{folder} holds no frames (numbered .jpg or .png files)")
    for path in files:
        if not any(letter.isdecimal() for letter in path.stem):
            raise UserError(f"{path}: a frame's name must hold its number, as in 000001.jpg")
    return sorted(files, key=lambda path: (int("".join(x for x in path.stem if x.isdecimal())), path.name))


def _notes(folder: Path) -> dict[str, Any]:
    """What `referee demo --frames` noted beside its frames; nothing for a folder of somebody else's."""
    try:
        notes = json.loads((folder / "frames.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _folder_frames(folder: Path, fps: float | None) -> Iterator[tuple[Any, int, int]]:
    from referee.app.recognising import read_image

    notes = _notes(folder)
    fps = float(fps or notes.get("fps") or FOLDER_FPS)
    exposure = int(notes.get("exposure_ns") or 0)
    for index, path in enumerate(frame_files(folder)):
        yield read_image(str(path)), round(index * SECOND / fps), exposure


def _video_frames(path: Path, fps: float | None) -> Iterator[tuple[Any, int, int]]:
    import cv2

    capture = cv2.VideoCapture(str(path))
    if not capture.isOpened():
        raise UserError(f"{path} is neither a video that can be read nor a folder of frames")
    rate = capture.get(cv2.CAP_PROP_FPS)
    if fps is not None and not 1 <= rate <= 240:
        rate = fps
    if not 1 <= rate <= 240:
        raise UserError(f"{path} does not say its frames a second; give --fps N")
    try:
        for index in count():
            fine, image = capture.read()
            if not fine:
                if index == 0:
                    raise UserError(f"{path}: no frame of this video can be read")
                return
            yield image, round(index * SECOND / rate), 0
    finally:
        capture.release()


def frames_of(source: Path, fps: float | None) -> Iterator[tuple[Any, int, int]]:
    """Image, instant (from the first frame) and exposure (0: not known), both ns, of every frame of a video or folder.

    Raises:
        UserError: it cannot be read.
    """
    if not source.exists():
        raise UserError(f"{source}: there is no such file or folder")
    if source.is_dir():
        return _folder_frames(source, fps)
    return _video_frames(source, fps)


def _first_checked(frames: Iterator[tuple[Any, int, int]]) -> Iterator[tuple[Any, int, int]]:
    """The same frames, once the first could be read: a source that cannot be is told before the eye is woken."""
    first = next(frames)
    return chain((first,), frames)


def observed(watcher: Watcher, frames: Iterator[tuple[Any, int, int]]) -> Iterator[Observation]:
    """What the watcher tells, as it becomes known."""
    for image, t, exposure in frames:
        yield from watcher.feed(image, t, exposure)
    yield from watcher.finish()


def watch(source: Path, *, fps: float | None = None, seats: int | None = None) -> int:
    """Print every observation as one JSON line as soon as it is known; returns the exit status.

    Raises:
        UserError: the source or the eye cannot be read.
    """
    frames = _first_checked(frames_of(source, fps))
    watcher = new_watcher(None if seats is None else seat_bearings(seats))
    for seen in observed(watcher, frames):
        sys.stdout.write(encode(seen) + "\n")
        sys.stdout.flush()
    return 0
