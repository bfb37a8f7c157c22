"""Speed of the eye on this machine: time of a look and of a quiet frame, and the cards per second that it can follow.

The table's own watcher measures it with a few cards of the simulated table, drawn as large as the camera's pictures:
`referee setup` compares numbers of threads, `referee doctor` reports the speed with the chosen one.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.sentence import Sentence
from referee.vision.photos import load_eye, usual_threads
from referee.vision.videos import seat_bearings, watcher_of

if TYPE_CHECKING:
    from models.eye.eye import CardSeen
    from models.eye.geometry import PixelBox
    from models.watch.gaze import CardEye
    from models.watch.motion import Bytes
    from models.watch.watcher import Watcher
    from referee.settings.model import CameraSettings, EyeSettings

LOOKS_A_CARD: Final = 2.3
"""Looks per card: 60 for 26 cards of a simulated game at 25 frames a second, counted by `python -m tools.measure.pace
--fps 25 --size 1536 864`.
"""
ENOUGH: Final = 2.0
"""Cards a second at a relaxed table: a slower eye falls behind."""
ADVICE: Final = Sentence(
    "lay cards more slowly than that, choose a smaller picture (referee setup --step camera), or a faster machine"
)
_SEED, _SEATS, _CARDS, _FPS = 1, 4, 6, 6.0
"""The test game: a low frame rate suffices, since each frame shows something new."""
_MOST_THREADS: Final = 8
"""The networks are small: additional threads would only wait for each other."""
_WORTH: Final = 0.9
"""An additional thread must save a tenth of a look: the pads and the voice need the processor, too."""


@dataclass(frozen=True, slots=True)
class EyeSpeed:
    """Cost of the eye with a number of threads, at a size and rate of the camera's pictures."""

    size: tuple[int, int]
    """Width and height, px."""
    fps: float
    threads: int
    look_ms: float
    """Additional time of a frame that is read, compared with a quiet one, mean."""
    quiet_ms: float
    """Time of a frame that is not read, median."""

    @property
    def cards_a_second(self) -> float:
        """Cards per second that it can follow in the long run: each frame costs a glance, and each card its looks."""
        # Milliseconds of each second that are left for looks.
        left = max(0.0, 1000.0 - self.fps * self.quiet_ms)
        return left / max(LOOKS_A_CARD * self.look_ms, 1e-3)

    @property
    def suffices(self) -> bool:
        """Whether it can follow a relaxed table."""
        return self.cards_a_second >= ENOUGH

    @property
    def words(self) -> str:
        """All figures, for people."""
        width, height = self.size
        return Sentence(
            "{look} ms a look and {quiet} ms a quiet frame of {width}×{height} px (threads: {threads}): follows about "
            "{speed} cards a second",
            look=f"{self.look_ms:.0f}", quiet=f"{self.quiet_ms:.1f}", width=width, height=height, threads=self.threads,
            speed=f"{self.cards_a_second:.1f}",
        )  # fmt: skip


@dataclass(slots=True)
class _TimedEye:
    """An eye that counts its looks."""

    eye: CardEye
    looks: int = 0

    def recognise(self, image: Bytes) -> Sequence[CardSeen]:
        self.looks += 1
        return self.eye.recognise(image)

    def read_at(self, image: Bytes, region: PixelBox, card_height: float | None = None) -> Sequence[CardSeen]:
        self.looks += 1
        return self.eye.read_at(image, region, card_height)


@dataclass(slots=True)
class _Trial:
    """A watcher with its number of threads, and the times of its frames, s."""

    threads: int
    eye: _TimedEye
    watcher: Watcher
    read: list[float] = field(default_factory=list)
    quiet: list[float] = field(default_factory=list)

    def speed(self, size: tuple[int, int], fps: float) -> EyeSpeed:
        # Until the cards' size is known the eye looks at every scale, which a game soon leaves behind.
        read = statistics.fmean(self.read[len(self.read) // 2 :] or [0.0])
        quiet = statistics.median(self.quiet or [0.0])
        return EyeSpeed(size, fps, self.threads, 1000 * max(0.0, read - quiet), 1000 * quiet)


def _load_table_eye(threads: int) -> CardEye:
    return load_eye(one_deck=True, threads=threads)


def measure_eye(
    size: tuple[int, int],
    fps: float,
    threads: Sequence[int],
    *,
    load: Callable[[int], CardEye] = _load_table_eye,
    clock: Callable[[], float] = time.perf_counter,
) -> list[EyeSpeed]:
    """Watch a few cards with each number of threads in turn for each frame, so that all see the same load.

    Args:
        size: width and height of the camera's pictures, px.
        fps: their rate.
        threads: the numbers to try.
        load: opens an eye with this number of threads.
        clock: returns seconds.

    Raises:
        UserError: the eye cannot be loaded.
    """
    trials = []
    for number in threads:
        eye = _TimedEye(load(number))
        trials.append(_Trial(number, eye, watcher_of(eye, seat_bearings(_SEATS))))
    table = SimulatedTable(play_game(_SEED, _SEATS, max_cards=_CARDS), _FPS, size)
    for frame in table.frames():
        for trial in trials:
            looks, begin = trial.eye.looks, clock()
            trial.watcher.feed(frame.image, frame.t, frame.exposure)
            took = clock() - begin
            (trial.quiet if trial.eye.looks == looks else trial.read).append(took)
    return [trial.speed(size, fps) for trial in trials]


def eye_speed(camera: CameraSettings, eye: EyeSettings) -> EyeSpeed:
    """Measure the eye with a table's settings; raises `UserError` if it cannot be loaded."""
    return measure_eye((camera.width, camera.height), camera.fps, [eye.threads or usual_threads()])[0]


def thread_counts() -> list[int]:
    """Return the numbers of threads worth trying here."""
    return list(range(1, min(_MOST_THREADS, os.cpu_count() or 1) + 1))


def quickest(speeds: Sequence[EyeSpeed]) -> EyeSpeed:
    """Return the best number of threads: each additional one must be worth it."""
    best = min(speeds, key=lambda measured: measured.threads)
    for speed in sorted(speeds, key=lambda measured: measured.threads):
        if speed.look_ms < _WORTH * best.look_ms:
            best = speed
    return best
