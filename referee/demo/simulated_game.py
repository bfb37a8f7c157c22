"""`referee demo`: a simulated table played through the real parts, and how well it was refereed.

Camera and pads are the only things the referee hears. What the players really did stays with the script until the
end, when it is laid beside what was seen and ruled.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.ports import Frame, HardwareMissing, Speaker
from hardware.simulated.lights import SimulatedLights
from hardware.simulated.speaker import RecordingSpeaker
from hardware.speaker import open_speaker
from referee.app.closing import show
from referee.app.paging import Shown
from referee.app.picture_storing import album_in
from referee.app.picturing import Album, Pictured
from referee.app.problems import UserError
from referee.app.rendering import RenderedCamera, View, draw
from referee.app.resuming import Timeline
from referee.app.voice import VOCABULARY
from referee.app.watch import new_watcher, seat_bearings

if TYPE_CHECKING:
    from typing import TextIO
from referee.app.demo_options import Options, script_of, view_of
from referee.app.demo_play import play
from referee.app.demo_table import TableClock


def _open_log(path: Path | None, stack: ExitStack) -> TextIO | None:
    if path is None:
        return None
    try:
        return stack.enter_context(path.open("w", encoding="utf-8"))
    except OSError as bad:
        raise UserError(f"--log: {path} cannot be written: {bad.strerror}") from None


@contextmanager
def _frames(view: View) -> Iterator[Iterator[Frame]]:
    """The camera, in a process of its own where there is more than one processor."""
    if (os.cpu_count() or 1) < 2:
        yield draw(view)
        return
    camera = RenderedCamera(view)
    try:
        yield camera.frames()
    finally:
        camera.close()


def _clear(folder: Path | None) -> None:
    """Make the folder of frames; frames of an earlier demo go, for `watch` would take them for this one's."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [path for path in folder.iterdir() if path.suffix in (".jpg", ".png")]
        if there and not (folder / "frames.json").exists():
            raise UserError(f"--frames: {folder} holds pictures of somebody else; name an empty folder")
        for path in there:
            path.unlink()
    except OSError as bad:
        raise UserError(f"--frames: {folder} cannot be written: {bad.strerror}") from None


def demo(options: Options) -> int:
    """Play, show, and close with the figures; returns 1 if a target was missed.

    Raises:
        UserError: the options ask for something that cannot be had.
    """
    script = script_of(options)
    began = time.monotonic()
    clock = TableClock()
    with ExitStack() as stack:
        log = _open_log(options.log, stack)
        _clear(options.frames)
        watcher = new_watcher(seat_bearings(script.seats))
        # Its drawing begins while the voice gets ready.
        frames = stack.enter_context(_frames(view_of(options, script)))
        speaker, words = _speaker(options, clock, stack)
        lights = SimulatedLights(script.seats, clock)
        stack.callback(lights.close)
        print(words)
        shown = Shown.begin(stack) if options.page else None
        pictured = Pictured(frames)
        summary, _ = play(
            options, script, watcher, speaker=speaker, lights=lights, clock=clock, log=log,
            frames=frames if shown is None else pictured.frames(),
            journal=shown.keeper if shown is not None else None,
            shown=shown,
            outlets={} if shown is None else {"pictures": _album(pictured, shown, stack)},
        )  # fmt: skip
        if shown is not None:
            pictured.give()
            shown.stay()
    summary = replace(summary, took_s=round(time.monotonic() - began, 1))
    show(summary)
    if options.summary is not None:
        try:
            options.summary.write_text(json.dumps(summary.as_fields(), ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as bad:
            raise UserError(f"--summary: {options.summary} cannot be written: {bad.strerror}") from None
    return 1 if summary.missed_targets() else 0


def _album(pictured: Pictured, shown: Shown, stack: ExitStack) -> Album:
    """Pictures round slaps, kept for as long as the page; nobody's hands are on them."""

    def say(words: str) -> None:
        print(words or "pictures are kept again", file=sys.stderr)

    album = album_in(shown.pictures, pictured, say, stack)
    album.follow(lambda: shown.keeper.game, Timeline())
    return album


def _clip_rendered(done: int, of: int) -> None:
    if done == 1:
        print(f"learning to speak: {of} clips, this once", file=sys.stderr, flush=True)


def _speaker(options: Options, clock: Callable[[], int], stack: ExitStack) -> tuple[Speaker, str]:
    """The voice, and what it is in words; a game without pace is spoken into a file or not at all."""
    if not options.pace and options.audio is None:
        return RecordingSpeaker(clock, keep=0), "no voice: without pace only --audio FILE.wav records one"
    try:
        voice = open_speaker(VOCABULARY, audio=options.audio, clock=clock, start=0, progress=_clip_rendered)
    except HardwareMissing as missing:
        raise UserError(f"--audio: {missing}") from None
    stack.callback(voice.speaker.close)
    return voice.speaker, voice.words
