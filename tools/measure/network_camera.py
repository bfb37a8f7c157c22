"""A network camera that goes away and comes back: its recovery time, and whether its stated errors hold.

python -m tools.measure.network_camera --seeds 20

Time is data: the real `RemoteCamera`, its supervisor and `NetworkCamera` run over a link whose pictures come by a drawn
delay with jitter; after 20 s it is gone for 10 s, and after 40 s this machine reads too slowly for 2 s. The true
exposure instant of every frame is known here, and compared with the frame's own statement: its instant, its length, and
its clock's error.
"""

from __future__ import annotations

import argparse
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import numpy as np

from hardware.camera.camera_process import FIRST_PICTURE, MISSING, REPORT, CameraProcess
from hardware.camera.network import NetworkCamera
from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.ports import Frame, HardwareMissing
from referee.units import MS, SECOND

_FPS: Final = 30
_LEAVES, _AWAY, _END = 20 * SECOND, 10 * SECOND, 60 * SECOND
_BUSY_FROM, _BUSY_UNTIL, _BUSY_READING = 40 * SECOND, 42 * SECOND, 50 * MS
"""When the machine is busy, and how long it then takes to read one picture, ns."""
_LOADING: Final = 700 * MS
"""Time from the start of a process until it requests the stream."""
_REFUSED: Final = SECOND
"""Time to the refusal of a missing stream."""
_SILENT: Final = 3 * SECOND
_PICTURE: Final = np.zeros((4, 4, 3), np.uint8)


@dataclass(slots=True)
class Link:
    """A remote camera and its connection: which picture arrives when."""

    delay: int
    """Delay from exposure to this machine, ns, without jitter."""
    jitter: int
    """Mean of the additional delay of a picture, ns."""
    chance: Random
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """Arrival and exposure of each picture, ns."""

    def __post_init__(self) -> None:
        came = 0
        for number in range(_END * _FPS // SECOND):
            lit = number * SECOND // _FPS
            # Pictures never overtake each other.
            came = max(came + 1, lit + self.delay + round(self.chance.expovariate(1 / self.jitter)))
            if not _LEAVES <= lit < _LEAVES + _AWAY:
                self.arrivals.append((came, lit))

    def is_there(self, t: int) -> bool:
        """Whether the camera answers then."""
        return not _LEAVES <= t < _LEAVES + _AWAY


class Capture:
    """A reader of a link, on a clock that its reading advances; stands for OpenCV's VideoCapture."""

    def __init__(self, link: Link, now: int) -> None:
        self._link, self.now, self.lit = link, now + _LOADING, 0
        self.awake = 0
        self._opened = link.is_there(self.now)
        self.now += 0 if self._opened else _REFUSED
        self._next = next((n for n, (came, _) in enumerate(link.arrivals) if came > self.now), len(link.arrivals))

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        """Whether the stream is there."""
        return self._opened

    def read(self) -> tuple[bool, Any]:
        """Return the next picture, when it comes and this machine has read it."""
        came, lit = self._link.arrivals[self._next] if self._next < len(self._link.arrivals) else (_END * 2, 0)
        if came > self.now + _SILENT:
            self.now += _SILENT
            return False, None
        reading = _BUSY_READING if _BUSY_FROM <= self.now < _BUSY_UNTIL else MS
        self.now, self.lit = max(self.now, came) + reading, lit
        self.awake += reading
        self._next += 1
        return True, _PICTURE

    def release(self) -> None:
        """Release nothing."""


class LinkProcess(CameraProcess):
    """A camera's process on a link; it acts when the world's clock reaches its events."""

    last_words = ""

    def __init__(self, link: Link, world: World, delay_ms: float | None) -> None:
        self.pid, self._world = 0, world
        # It rings all the time: there is no sleep here.
        self.bell = os.eventfd(1)
        self._capture = Capture(link, world.now)
        self._events = self._live(delay_ms)
        self._next = next(self._events, None)
        self._frames: deque[tuple[Frame, int]] = deque()
        self._gone = False
        self._given: int | None = None

    def _live(self, delay_ms: float | None) -> Iterator[tuple[int, dict[str, Any] | Frame]]:
        """Yield its messages and frames, each with its instant."""
        capture = self._capture
        try:
            camera = NetworkCamera(
                "http://phone/video", delay_ms=delay_ms, clock=lambda: capture.now, awake=lambda: capture.awake,
                capture=capture,
            )  # fmt: skip
            yield capture.now, {"kind": REPORT, "report": camera.report().to_json()}
            for frame in camera.frames():
                self._world.lit[frame.t] = capture.lit
                if not frame.index:
                    yield capture.now, {"kind": FIRST_PICTURE}
                yield capture.now, frame
        except HardwareMissing as error:
            yield capture.now, {"kind": MISSING, "words": str(error)}

    @property
    def files(self) -> set[int]:
        return {self.bell}

    def listen(self) -> list[dict[str, Any]]:
        said = []
        while self._next is not None and self._next[0] <= self._world.now:
            t, what = self._next
            if isinstance(what, Frame):
                self._frames.append((what, t))
                self._given = t
            else:
                said.append(what)
            self._next = next(self._events, None)
        self._gone = self._gone or self._next is None
        return said

    def open_ring(self) -> None:
        """Hand its frames over unchanged."""

    def take(self) -> tuple[Frame, int] | None:
        return self._frames.popleft() if self._frames else None

    @property
    def given_at(self) -> int | None:
        return self._given

    @property
    def status(self) -> int | None:
        return 0 if self._gone and not self._frames else None

    def ask(self) -> None:
        self._gone, self._next = True, None

    kill = ask

    def wait(self, seconds: float) -> bool:
        return True

    def let_go(self) -> None:
        os.close(self.bell)


@dataclass(slots=True)
class World:
    """The present instant, and each frame's true exposure by its stated instant, ns."""

    now: int = 0
    lit: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Watched:
    """One evening with such a camera."""

    told: list[tuple[int, str]] = field(default_factory=list)
    """Notices about the camera with their instants, ns."""
    back_after: int = 0
    """Time from its return to the first frame, ns."""
    off: list[tuple[int, int]] = field(default_factory=list)
    """For each frame: the distance of its exposure outside its span without the clock's error, and that error, ns."""

    @property
    def held(self) -> float:
        """Return the share of frames whose stated error holds."""
        return sum(off <= stated for off, stated in self.off) / len(self.off)


def watch(seed: int, *, delay: int, jitter: int, delay_ms: float | None) -> Watched:
    """Watch a camera that goes away and comes back."""
    world, watched = World(), Watched()
    link = Link(delay, jitter, Random(seed))

    def start(_spec: CameraSpec) -> LinkProcess:
        return LinkProcess(link, world, delay_ms)

    def clock() -> int:
        # The first opening waits for a picture: nothing else advances the time there.
        world.now += 0 if opened else 20 * MS
        return world.now

    opened = False
    camera = RemoteCamera(
        CameraSpec.of("http://phone/video"), told=lambda words: watched.told.append((world.now, words)), clock=clock,
        process=start,
    )  # fmt: skip
    opened = True
    while world.now < _END:
        world.now += 5 * MS
        while (frame := camera.next(0)) is not None:
            lit = world.lit[frame.t]
            watched.off.append((max(0, frame.t - lit, lit - frame.t - frame.exposure), frame.clock_error))
            if lit >= _LEAVES + _AWAY and not watched.back_after:
                watched.back_after = world.now - _LEAVES - _AWAY
    camera.close()
    return watched


def row(delay: int, jitter: int, delay_ms: float | None, seeds: int) -> str:
    """One line of the table."""
    all_ = [watch(seed, delay=delay, jitter=jitter, delay_ms=delay_ms) for seed in range(seeds)]
    offs = sorted(off for run in all_ for off, _ in run.off)
    stated = sorted(error for run in all_ for _, error in run.off)
    held = sum(run.held * len(run.off) for run in all_) / len(offs)
    said = "not set" if delay_ms is None else f"{delay_ms:g}"
    return (
        f"| {delay // MS} + {jitter // MS} | {said} | {len(offs):,} | {offs[len(offs) * 99 // 100] / MS:.0f} | "
        f"{stated[len(stated) // 2] / MS:.0f} | {held:.2%} | {max(run.back_after for run in all_) / SECOND:.1f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="evenings of each kind (default: 20)")
    seeds = parser.parse_args(arguments).seeds
    print("| delay + jitter, ms | `delay_ms` | frames | off at the 99th percentile, ms | stated, ms | held "
          "| frames again at most so long after its return, s |")  # fmt: skip
    print("| --- " * 7 + "|")
    for delay, jitter in ((120 * MS, 5 * MS), (250 * MS, 20 * MS), (450 * MS, 40 * MS)):
        for delay_ms in (delay / MS, None):
            print(row(delay, jitter, delay_ms, seeds))


if __name__ == "__main__":
    main()
