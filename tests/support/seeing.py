"""Cameras and watchers for another process: everything here can be pickled by its name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hardware.ports import Camera, Frame, HardwareMissing
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Observation
from referee.vision.sight import Watching
from tests.support.scripted_watcher import ScriptedWatcher

MS = 1_000_000
BLANK = np.zeros((1, 1, 3), np.uint8)
Told = Callable[[str], None]


@dataclass(frozen=True)
class Recorded:
    """A recording: blank frames at an even interval, ns."""

    frames: int
    every: int = 50 * MS

    def __call__(self, told: Told) -> Camera:
        return _Listed([Frame(BLANK, n * self.every, 2 * MS, n) for n in range(self.frames)])


@dataclass(frozen=True)
class Rendered:
    """The first frames of a simulated game."""

    seed: int
    frames: int
    fps: float = 15.0

    def table(self) -> SimulatedTable:
        return SimulatedTable(play_game(seed=self.seed, seats=4, max_cards=6), fps=self.fps, size=(960, 720))

    def __call__(self, told: Told) -> Camera:
        table = self.table()
        return _Listed([table.render(table.frame_time(n)) for n in range(self.frames)])


@dataclass
class _Listed:
    shown: list[Frame] = field(default_factory=list)

    def frames(self) -> Iterator[Frame]:
        yield from self.shown

    def close(self) -> None: ...


@dataclass(frozen=True)
class Switched:
    """A live camera on real time; the words in a file name its fault.

    Empty: none; ``gone``: it fails and does not open; ``hung``: no frames, and no failure; ``crash``: its process is
    killed, once.
    """

    file: Path
    every: float = 0.02

    def __call__(self, told: Told) -> Camera:
        if self.state() == "gone":
            raise HardwareMissing("no camera answers at usb:9; plug one in")
        return _Live(self)

    def state(self) -> str:
        return self.file.read_text() if self.file.exists() else ""

    def set(self, state: str) -> None:
        beside = self.file.with_suffix(".new")
        beside.write_text(state)
        beside.replace(self.file)


@dataclass
class _Live:
    switch: Switched
    closed: bool = False

    def frames(self) -> Iterator[Frame]:
        index = 0
        while not self.closed:
            state = self.switch.state()
            if state == "gone":
                raise HardwareMissing("the camera usb:9 stopped answering; look at its cable")
            if state == "crash":
                self.switch.set("")
                os.kill(os.getpid(), signal.SIGKILL)
            if state != "hung":
                yield Frame(BLANK, time.monotonic_ns() - 2 * MS, 2 * MS, index)
                index += 1
            time.sleep(self.switch.every)

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Script:
    """Makes a watcher that reports these cards, at these instants after the first frame; ``lying`` at the first."""

    cards: tuple[Card, ...] = ()

    def __call__(self) -> Watching:
        return ScriptedWatcher(self.cards)


@dataclass(frozen=True)
class Believing:
    """Makes a watcher that names each card by its prediction: it shows what it knew before each frame."""

    every: int = 4

    def __call__(self) -> Watching:
        return _Believer(self.every)


class _Believer:
    def __init__(self, every: int) -> None:
        self._every, self._count, self.watermark = every, 0, -1
        self._foresight: Foresight | None = None

    def recall(self, foresight: Foresight | None) -> None:
        self._foresight = foresight

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        self._count += 1
        self.watermark = t - 1
        if self._count % self._every:
            return []
        known = None if self._foresight is None else len(self._foresight.placed)
        name = "??" if known is None else f"{'A23456789TJQK'[known % 13]}{'shdc'[known // 13 % 4]}"
        return [Card(t=t, id=f"c{self._count // self._every}", card=name, seat=None)]

    def finish(self) -> list[Observation]:
        return []


def no_camera(told: Told) -> Camera:
    """Fail: there is no camera, and never will be."""
    raise HardwareMissing("no camera answers at usb:9; plug one in")


@dataclass(frozen=True)
class Hanging:
    """A watcher that never returns from the frame of this number."""

    frame: int

    def __call__(self) -> Watching:
        return _Hanger(self.frame)


class _Hanger(ScriptedWatcher):
    def __init__(self, frame: int) -> None:
        super().__init__(())
        self._left = frame

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        self._left -= 1
        while self._left <= 0:
            time.sleep(60)
        return super().feed(image, t, t_error)
