"""`referee watch`: print what a video or a folder of frames shows, as observations of the table log."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.engine.log import encode_observation
from referee.engine.observations import Observation
from referee.errors import UserError
from referee.settings.model import load_settings
from referee.text.terminal_language import here
from referee.units import SECOND
from referee.vision.card_story import CardStory, StoryTeller
from referee.vision.reason_lines import reason_lines

if TYPE_CHECKING:
    from hardware.ports import Frame
    from models.watch.gaze import CardEye
    from models.watch.motion import Bytes
    from models.watch.watcher import Watcher


def seat_bearings(seats: int) -> dict[int, float]:
    """Return the bearing of each of N seats spaced evenly round the picture: seat 1 at the bottom, then clockwise."""
    return {seat: (270 - 360 * (seat - 1) / seats) % 360 for seat in range(1, seats + 1)}


def new_watcher(
    bearings: Mapping[int, float] | None, deck: str | None = None, bare: str | Bytes = "", threads: int | None = None,
    *, explain: bool = False,
) -> Watcher:  # fmt: skip
    """Make a watcher with the shipped eye, for a learned deck if named; ``threads`` None: the default number.

    Raises:
        UserError: the eye, or the picture of the bare table, cannot be loaded.
    """
    from referee.vision.photos import load_eye

    return watcher_of(load_eye(deck, one_deck=True, threads=threads), bearings, bare, explain=explain)


def watcher_of(
    eye: CardEye, bearings: Mapping[int, float] | None, bare: str | Bytes = "", *, explain: bool = False
) -> Watcher:
    """Make a watcher with this eye. It names seats if their bearings are given, ignores card prints on the cloth if
    ``bare`` is a picture of the bare table, or its path, and records its reasons if it is to ``explain`` itself.

    Raises:
        UserError: that picture cannot be read.
    """
    import cv2

    from models.watch.bare_table import BareTable
    from models.watch.watcher import Watcher
    from referee.vision.photos import read_image

    # A thread pool costs twice what it gains on pictures this small, and takes a core from the camera.
    cv2.setNumThreads(1)

    picture = (read_image(bare) if bare else None) if isinstance(bare, str) else bare
    return Watcher(eye, seat_bearings=bearings, bare=None if picture is None else BareTable(picture), explain=explain)


def read_frames(source: Path, fps: float | None = None) -> Iterator[Frame]:
    """Yield every frame of a video or folder; instants count from the first.

    Raises:
        UserError: the source cannot be read.
    """
    from hardware.camera.camera import open_camera
    from hardware.ports import HardwareMissing

    if not source.exists():
        raise UserError("{source}: there is no such file or folder", source=source)
    notes = _read_notes(source)
    exposure = notes.get("exposure_ns")
    try:
        camera = open_camera(str(source), fps=fps or notes.get("fps"))
        for frame in camera.frames():
            yield frame if exposure is None else replace(frame, exposure=int(exposure))
    except HardwareMissing as error:
        raise UserError(str(error)) from None


def _read_notes(source: Path) -> dict[str, Any]:
    """Return the notes that `referee demo --frames` wrote beside its frames; empty if there are none."""
    # A folder from another source may hold any file of this name.
    with suppress(OSError, ValueError):
        told = json.loads((source / "frames.json").read_text(encoding="utf-8"))
        return told if isinstance(told, dict) else {}
    return {}


def _truth_of(source: Path) -> list[tuple[int, str]]:
    """Return when each card was laid, ns, and its name, if the notes beside the frames say so."""
    with suppress(KeyError, TypeError, ValueError):
        return [(int(laid["t"]), str(laid["card"])) for laid in _read_notes(source).get("cards", ())]
    return []


def bearings_of(seats: int | None, settings: Path | None) -> dict[int, float] | None:
    """Return each seat's bearing: evenly spaced or as in a table's settings; `None`: neither is given."""
    if settings is None:
        return None if seats is None else seat_bearings(seats)
    if seats is not None:
        raise UserError("--seats and --settings both say where the seats are: give only one")
    return {number: seat.bearing for number, seat in enumerate(load_settings(settings).seats, start=1)}


def watch(
    source: Path, *, fps: float | None = None, seats: int | None = None, deck: str | None = None,
    settings: Path | None = None, bare: float = 0, explain: bool = False,
    draw: Callable[[CardStory], None] | None = None,
) -> int:  # fmt: skip
    """Print each observation as one JSON line as soon as it is known; return the exit status.

    Args:
        source: a video, or a folder of frames.
        fps: frames a second, where the source does not say.
        seats: how many, evenly round the picture; `None`: as the settings say.
        deck: a learned deck; `None`: any ordinary one.
        settings: of the table.
        bare: for so many seconds the source shows the table before the game; faces seen then are no cards.
        explain: print why each was made, and why candidates were dropped, in words instead.
        draw: takes the story of each reported card.

    Raises:
        UserError: the source, the settings or the eye cannot be read.
    """
    bearings = bearings_of(seats, settings)
    frames = read_frames(source, fps)
    # Each source has at least one frame; an unreadable one is reported before the eye is loaded.
    first = next(frames)
    frames = chain((first,), frames)
    table: str | Bytes = "" if settings is None else load_settings(settings).camera.bare_table
    if bare:
        table, frames = _skip_bare_table(frames, first.t + round(bare * SECOND))
    watcher = new_watcher(bearings, deck, table, explain=explain or draw is not None)
    teller = StoryTeller(_truth_of(source))
    for frame in frames:
        _print(watcher.feed(frame.image, frame.t, frame.exposure), watcher, explain)
        if draw is not None:
            for story in teller.note(frame, watcher):
                draw(story)
    _print(watcher.finish(), watcher, explain)
    if draw is not None:
        for story in teller.finish(watcher):
            draw(story)
    return 0


def _skip_bare_table(frames: Iterator[Frame], until: int) -> tuple[Bytes, Iterator[Frame]]:
    """Return the mean picture of the frames before an instant (ns), and the frames from then on."""
    import numpy as np

    total, count = np.zeros(()), 0
    for frame in frames:
        if count and frame.t >= until:
            frames = chain((frame,), frames)
            break
        total, count = total + frame.image, count + 1
    return np.rint(total / count).astype(np.uint8), frames


def _print(seen: Iterable[Observation], watcher: Watcher, explain: bool) -> None:
    reasons = (line for evidence in watcher.evidence for line in reason_lines(evidence, here()))
    for line in reasons if explain else map(encode_observation, seen):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
