"""`referee run`: a real table. Threads end here: camera and pads put what they have into queues, and one loop
hands it to the conductor in one thread.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

from hardware.clock import Clock, monotonic
from hardware.ports import Camera, Edge, Frame, HardwareMissing
from referee.adjudication.observations import LogError, Table
from referee.adjudication.rulings import Ruling
from referee.app.conductor import CAMERA, Conductor, Outlet, Watching
from referee.app.display import Display
from referee.app.outlets import Lamps, Voice
from referee.app.parts import OpenParts, open_parts
from referee.app.problems import UserError
from referee.app.settings import Settings, load

SECOND: Final = 1_000_000_000
NO_FRAME: Final = 2 * SECOND
"""After so long without a frame the camera counts as lost, ns."""
BACKLOG: Final = 4
"""Frames that may wait; of more the oldest are dropped, for a late answer helps nobody."""
TURN: Final = 0.01
"""Seconds that the loop waits for a frame before it looks at the pads again."""
REDRAW: Final = 200_000_000
AFTER_THE_END: Final = 5 * SECOND
"""How long the table is watched after the game is over, so that the last words are heard, ns."""


class TimedPads(Protocol):
    """Pads that promise how far they have told."""

    def start(self, on_edge: Callable[[Edge], None]) -> None: ...

    def watermark(self, now: int) -> int: ...

    def close(self) -> None: ...


class Eyes:
    """The camera on a thread of its own, with a deadline: frames wait in a short queue."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._waiting: queue.Queue[Frame] = queue.Queue(BACKLOG)
        self._words = ""
        self.ended = False
        self.dropped = 0
        """Frames that came faster than they could be looked at."""
        self._thread = threading.Thread(target=self._look, name="camera", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _look(self) -> None:
        try:
            for frame in self._camera.frames():
                self._keep(frame)
        except (HardwareMissing, OSError, RuntimeError) as bad:
            self._words = str(bad)
        self.ended = True

    def _keep(self, frame: Frame) -> None:
        while True:
            try:
                self._waiting.put_nowait(frame)
                return
            except queue.Full:
                try:
                    self._waiting.get_nowait()
                    self.dropped += 1
                except queue.Empty:
                    continue

    def next(self, seconds: float) -> Frame | None:
        """The next frame, or None if none comes within so many seconds."""
        try:
            return self._waiting.get(timeout=seconds)
        except queue.Empty:
            return None

    @property
    def words(self) -> str:
        """Why there are no more frames."""
        return self._words or ("the camera's pictures have ended" if self.ended else "the camera sends no pictures")


class Answers:
    """What people type: a line answers the oldest open question, as a number where it is one."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._open: deque[str] = deque()

    def listen(self, stream: TextIO) -> None:
        """Read lines on a thread of its own until the stream ends."""
        threading.Thread(target=self._read, args=(stream,), name="answers", daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self._lines.append(line)

    def type(self, line: str) -> None:
        """Somebody typed a line."""
        self._lines.append(line)

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: note each question."""
        self._open.extend(ruling.id for ruling in rulings if ruling.kind == "question")

    def given(self) -> list[tuple[str, Any]]:
        """Questions and their answers since the last look."""
        out: list[tuple[str, Any]] = []
        while self._lines:
            text = self._lines.popleft().strip()
            if text and self._open:
                out.append((self._open.popleft(), int(text) if text.isdecimal() else text))
        return out


class Loop:
    """One thread's turn after turn: pads, frames, answers, and what time it is."""

    def __init__(
        self, conductor: Conductor, eyes: Eyes, pads: TimedPads, *, lamps: Lamps | None = None,
        answers: Answers | None = None, clock: Clock = monotonic,
    ) -> None:  # fmt: skip
        self._conductor, self._eyes, self._pads = conductor, eyes, pads
        self._lamps, self._answers, self._clock = lamps, answers, clock
        self._edges: deque[Edge] = deque()
        self._seen_at = clock()
        self._camera_lost = False
        self.frames = 0
        pads.start(self._edges.append)
        eyes.start()

    def turn(self, seconds: float = TURN) -> int:
        """Take what has come within so many seconds; returns the instant, ns."""
        frame = self._eyes.next(seconds)
        now = self._clock()
        # The promise first, the edges after: whatever it covers is in the queue by then.
        told = self._pads.watermark(now)
        while self._edges:
            self._conductor.on_edge(self._edges.popleft())
        if self._lamps is not None:
            self._lamps.touch(self._conductor.touched)
        self._look(frame, now)
        self._conductor.advance(now, told)
        for question, value in self._answers.given() if self._answers is not None else ():
            self._settle(question, value, now)
        return now

    def _look(self, frame: Frame | None, now: int) -> None:
        if frame is not None:
            self._seen_at = now
            self.frames += 1
            if self._camera_lost:
                self._camera_lost = False
                self._conductor.regain(CAMERA)
            self._conductor.on_frame(frame)
        elif not self._camera_lost and (self._eyes.ended or now - self._seen_at > NO_FRAME):
            self._camera_lost = True
            self._conductor.lose(CAMERA, self._eyes.words)

    def _settle(self, question: str, value: Any, now: int) -> None:
        try:
            self._conductor.answer(question, value, now)
        except LogError as bad:
            self._conductor.trouble("answer", str(bad))


def table_of(settings: Settings, now: int) -> Table:
    """The first line of the log of a game that begins ``now`` (ns)."""
    return Table(
        t=now, id="table", seats=tuple(seat.name for seat in settings.seats), dealer=settings.dealer,
        rules=settings.rules,
    )  # fmt: skip


def log_path(settings: Settings, asked: Path | None) -> Path | None:
    """Where the log goes: as asked, or into the settings' folder under the hour it begins."""
    if asked is not None or settings.log_folder is None:
        return asked
    return settings.log_folder / time.strftime("%Y-%m-%d_%H-%M-%S.jsonl")


def _open_log(path: Path | None, stack: ExitStack) -> TextIO | None:
    if path is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Line by line, so that a power cut costs no more than the line being written.
        return stack.enter_context(path.open("w", encoding="utf-8", buffering=1))
    except OSError as bad:
        raise UserError(f"the log {path} cannot be written: {bad.strerror}; see --log and log.folder") from None


def referee(
    settings: Settings,
    parts: OpenParts,
    watcher: Watching,
    *,
    log: TextIO | None = None,
    clock: Clock = monotonic,
    answers: TextIO | None = None,
    live: bool | None = None,
) -> Conductor:
    """Referee one game with these devices, until it is over or interrupted."""
    names = tuple(seat.name for seat in settings.seats)
    typed = Answers()
    lamps = Lamps(parts.lights, len(names)) if parts.lights is not None else None
    with Display(names, live=live) as display:
        display.gauge.title = f"{', '.join(names)}"
        outlets: dict[str, Outlet] = {"display": display, "answers": typed}
        if lamps is not None:
            outlets["lights"] = lamps
        if parts.speaker is not None:
            outlets["voice"] = Voice(parts.speaker)
        conductor = Conductor(table_of(settings, clock()), watcher, outlets=outlets, log=log)
        for words in parts.missing:
            conductor.trouble("setup", words)
        loop = Loop(conductor, Eyes(parts.camera), parts.pads, lamps=lamps, answers=typed, clock=clock)
        if answers is not None:
            typed.listen(answers)
        try:
            _until_over(loop, conductor, display)
        finally:
            conductor.finish()
    return conductor


def _until_over(loop: Loop, conductor: Conductor, display: Display) -> None:
    began = now = drawn = loop.turn()
    over: int | None = None
    while over is None or now - over < AFTER_THE_END:
        now = loop.turn()
        if conductor.view.game_over and over is None:
            over = now
        if now - drawn >= REDRAW:
            drawn = now
            gauge = display.gauge
            gauge.t, gauge.cards = now - began, conductor.cards
            gauge.fps = loop.frames / max(1e-9, (now - began) / 1e9)
            gauge.notes = tuple(f"{part}: {words}" for part, words in conductor.troubles.items())
            display.draw(conductor.view)


def out_of_date(settings: Settings) -> str:
    """What is wrong with the calibration for the camera as it is set; empty where nothing is."""
    stored, camera = settings.calibration, settings.camera
    # Another camera gives what size it likes; the Pi's gives what it is told.
    if stored is None or camera.source != "picamera" or (stored.width, stored.height) == (camera.width, camera.height):
        return ""
    return (
        f"the table was calibrated with pictures of {stored.width}×{stored.height} px, and the camera is set to "
        f"{camera.width}×{camera.height}: run referee calibrate again"
    )


def run(path: Path, *, log: Path | None = None) -> int:
    """Referee a real table by its settings file; returns the exit status.

    Raises:
        UserError: the settings are wrong, or something that no game can do without is not here.
    """
    settings = load(path)
    from referee.app.watch import new_watcher

    with ExitStack() as stack:
        try:
            parts = open_parts(settings)
        except HardwareMissing as bad:
            raise UserError(str(bad)) from None
        stack.callback(parts.close)
        bearings = {number: seat.bearing for number, seat in enumerate(settings.seats, start=1)}
        watcher = new_watcher(bearings, settings.deck)
        target = log_path(settings, log)
        parts.missing += [words for words in (out_of_date(settings),) if words]
        for words in parts.missing:
            print(words, file=sys.stderr)
        conductor = referee(settings, parts, watcher, log=_open_log(target, stack), answers=sys.stdin)
    print(
        f"{conductor.cards} cards seen, {len(conductor.rulings)} rulings" + (f"; the log is {target}" if target else "")
    )
    return 0
