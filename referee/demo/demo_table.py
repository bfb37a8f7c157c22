"""The devices of the simulated table: a rendered camera, scripted pads, mock lights, and a voice or a silent speaker.

`referee.demo.simulated_game` passes `DemoTable.openers` to `referee.table.session`, which opens these devices like
those of a real table. In real time the camera is drawn in one process and looked at in another, as at a real table
(`referee.vision.eye_client`). Without pace, time is data: it advances to the end of the next frame's exposure once
every part has processed the last one. There the referee's own process looks at the frames: the game must come out the
same however slow the machine is, and the vision process waits for foresight only for a limited time.
"""

from __future__ import annotations

import pickle
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from hardware.clock import Clock, monotonic
from hardware.pads.pads import LEAST_ERROR
from hardware.ports import Camera, Edge, Frame, HardwareMissing, Lights, Lost, Speaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.devices.simulated_pads import SimulatedPads
from hardware.simulated.table.script import Script
from referee.demo.rendered_camera import CameraView, WatchedCamera, numbers_in
from referee.engine.observations import Observation
from referee.errors import UserError
from referee.settings.model import Settings
from referee.table.devices import Openers
from referee.table.loop import Alarm
from referee.units import SECOND
from referee.vision.eye_client import SightProcess
from referee.vision.message_pipe import MessagePipe
from referee.vision.process import Work
from referee.vision.sight import Looker, News, Recall, Sight, Sights, Watching
from referee.vision.videos import new_watcher, seat_bearings

_LEAD: Final = SECOND
"""Time from the first look at the table until the players begin, ns."""
_LATE: Final = 60 * SECOND
"""Longest wait for the camera after the script's end, ns."""

_AHEAD: Final = SECOND // 2
"""Furthest that the table's time may be ahead of the last look, ns: more than a quick machine ever needs."""
_SHORTEST: Final = 0.0005
"""Shortest wait for a contact, s."""

OpenVoice = Callable[[Clock], Speaker]
OpenCamera = Callable[[CameraView, str, Path, int, Callable[[str], None]], Camera]


class ScriptedPads(SimulatedPads):
    """Pads pressed by a script, with exact timestamps; implements `hardware.ports.TimedPads`.

    There is no finger thread: asking for the watermark plays the script up to that instant. So a slow machine plays
    late, but never out of order.
    """

    def __init__(self, script: Script, now: int) -> None:
        """``now``: the present instant, ns."""
        super().__init__(script.seats, t_error=LEAST_ERROR, start=now)
        self._contacts = list(script.contacts)
        self._next = 0
        self.began: int | None = None
        """Start of the script, ns; `None`: the players are waiting."""
        self.told: int | None = None
        """Fixed watermark once the players have left, ns; `None`: they are still there."""

    @property
    def due(self) -> int | None:
        """Instant of the next contact, ns; `None`: unknown."""
        if self.began is None or self._next == len(self._contacts):
            return None
        return self.began + self._contacts[self._next].t

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        """Report every edge from now on."""
        self.pads.start(on_edge, on_lost)

    def follow(self, script: Script) -> None:
        """Switch to another script, which is the same up to now."""
        played = self.now - (self.began or 0)
        self._contacts = list(script.contacts)
        self._next = sum(contact.t <= played for contact in self._contacts) if self.began is not None else 0

    def play_to(self, now: int) -> None:
        """Play the script up to ``now``, ns."""
        while (due := self.due) is not None and due <= now:
            contact = self._contacts[self._next]
            self._next += 1
            self.advance(contact.seat, contact.pressed, due)
        self.run_to(max(now, self.now))

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which every edge has been reported."""
        if self.told is not None:
            return self.told
        if now > self.now:
            self.play_to(now)
        return self.pads.watermark(now)


@dataclass(slots=True)
class FrameCount:
    """Measurements of the frames looked at during a game."""

    frames: int = 0
    took: float = 0.0
    """Seconds of machine time from the first frame to the last."""
    lag: int = 0
    """Longest delay of a frame, ns."""
    _began: float = 0.0

    def add(self, lag: int) -> None:
        """Count a frame that was looked at ``lag`` ns after its exposure."""
        self._began = self._began or time.monotonic()
        self.frames += 1
        self.took = time.monotonic() - self._began
        self.lag = max(self.lag, lag)


class WaitingClock:
    """Real time, counted from 0, that waits for the eye: it is never further ahead of the last look than `_AHEAD`.

    So each card is seen and each ruling is the truth's on a slow machine, too: there the game takes longer.
    """

    def __init__(self, clock: Clock = monotonic) -> None:
        self._clock = clock
        self._now, self._real = 0, clock()
        self._seen: int | None = None
        self._lock = threading.Lock()
        self._began = 0, self._real

    def __call__(self) -> int:
        """Return the table's time, ns."""
        with self._lock:
            real = self._clock()
            now = self._now + real - self._real
            if self._seen is not None:
                now = min(now, max(self._now, self._seen + _AHEAD))
            self._now, self._real = now, real
            return now

    def note_seen(self, t: int) -> None:
        """Note that the eye has looked at everything up to ``t`` (ns of the table)."""
        self()
        with self._lock:
            if self._seen is None:
                self._began = self._now, self._real
            # A camera that has caught up shows what comes next: the table's time follows.
            self._seen, self._now = max(self._seen or 0, t), max(self._now, t)

    @property
    def pace(self) -> float:
        """The table's time by real time since the first look, at most 1."""
        now = self()
        at, real = self._began
        return min(1.0, (now - at) / max(1, self._real - real))


class DemoTable(ABC):
    """A table at which a script is played; `openers` opens its devices."""

    eye: Sights
    """The source of sights."""
    make_alarm: Callable[[], Alarm]
    """Makes the alarm that the loop sleeps on."""
    is_real_time = True
    comes_back = False
    """Whether a lost camera may come back; the players then wait for it."""

    def __init__(self, script: Script, clock: Clock) -> None:
        self.script, self.clock = script, clock
        self.pads = ScriptedPads(script, clock())
        self.count = FrameCount()

    @property
    def pace(self) -> float:
        """The table's time by real time, at most 1."""
        return 1.0

    def follow(self, script: Script, since: int) -> None:
        """Switch to another script, which is the same up to ``since`` (ns of the script)."""
        self.script = script
        self.pads.follow(script)
        self.show(script, since)

    @abstractmethod
    def show(self, script: Script, since: int) -> None:
        """Show another script to the camera; see `follow`."""

    @abstractmethod
    def is_over(self, camera_watermark: int) -> bool:
        """Return whether everything was played and seen; ``camera_watermark`` is the camera's watermark, ns."""

    def openers(self, voice: OpenVoice) -> Openers:
        """Return how to open this table's devices; ``voice`` opens its speaker."""

        def open_lights(settings: Settings, _missing: dict[str, str]) -> Lights | None:
            return SimulatedLights(len(settings.seats), self.clock) if settings.lights.enabled else None

        return Openers(
            pads=lambda _settings: self.pads,
            eye=lambda _settings: self.eye,
            lights=open_lights,
            voice=lambda _settings, _tell: voice(self.clock),
            clock=self.clock,
            make_alarm=self.make_alarm,
            is_real_time=self.is_real_time,
        )


class PacedTable(DemoTable):
    """A table in real time; the players begin once the camera looks. Its time starts when it is made."""

    def __init__(
        self, script: Script, view: CameraView, stack: ExitStack, *, pictures: bool = False,
        make_watcher: Callable[[], Watching] | None = None, live: bool = False, open_camera: OpenCamera | None = None,
    ) -> None:  # fmt: skip
        """``pictures``: keep frames, so that they can be requested; ``stack`` frees the memory.

        ``make_watcher`` makes the watcher (None: the shipped one); ``live``: the camera drops frames, as a real one
        does; ``open_camera``: another camera with the arguments of `WatchedCamera`, which may be reopened in mid-game.
        """
        origin = monotonic()
        self._waiting = None if live else WaitingClock()
        super().__init__(script, self._waiting or (lambda: monotonic() - origin))
        self.make_alarm = partial(_ScriptedAlarm, self.pads, self.clock)
        # Three int64 numbers: see `WatchedCamera`.
        self._start = SharedMemory(create=True, size=24)
        stack.callback(self._start.unlink)
        stack.callback(self._start.close)
        self._script = Path(stack.enter_context(TemporaryDirectory(prefix="referee-demo-")), "script")
        watcher = make_watcher or partial(new_watcher, seat_bearings(script.seats), None)
        self.comes_back = open_camera is not None
        camera = partial(open_camera or WatchedCamera, view, self._start.name, self._script, origin)
        self.eye = _AwaitedEye(Work(camera, watcher, live=live, pictures=pictures), self.take)

    def take(self, sight: Sight) -> None:
        """Count a frame that was looked at; the first one starts the players."""
        if self.pads.began is None:
            self.pads.began = self.clock() + _LEAD
            numbers_in(self._start)[0] = self.pads.began
        elif 0 <= sight.t - self.pads.began < self.script.duration:
            self.count.add(self.clock() - sight.t - sight.exposure)
        if self._waiting is not None and sight.t < self.pads.began + self.script.duration:
            self._waiting.note_seen(sight.t + sight.exposure)

    @property
    def pace(self) -> float:
        """See `DemoTable`."""
        return 1.0 if self._waiting is None else self._waiting.pace

    def show(self, script: Script, since: int) -> None:
        """See `DemoTable`."""
        self._script.write_bytes(pickle.dumps(script))
        # Write the count last: a reader that sees it finds the rest complete.
        numbers = numbers_in(self._start)
        numbers[2] = since
        numbers[1] += 1

    def is_over(self, camera_watermark: int) -> bool:
        """See `DemoTable`."""
        if self.pads.began is None:
            return False
        end = self.pads.began + self.script.duration
        return camera_watermark >= end or self.clock() > end + _LATE


class _AwaitedEye(SightProcess):
    """The vision process; passes each sight to ``take``."""

    def __init__(self, work: Work, take: Callable[[Sight], None]) -> None:
        super().__init__(work)
        self._take_sight = take

    def news(self, recall: Recall) -> Iterator[News]:
        for news in super().news(recall):
            if isinstance(news, Sight):
                self._take_sight(news)
            yield news


class _ScriptedAlarm(Alarm):
    """An alarm that also wakes with the script's next contact."""

    def __init__(self, pads: ScriptedPads, clock: Clock) -> None:
        super().__init__()
        self._pads, self._clock = pads, clock

    def wait(self, seconds: float, others: Sequence[MessagePipe] = ()) -> None:
        due = self._pads.due
        # A clock that waits for the eye may stand just before the contact.
        left = seconds if due is None else max(_SHORTEST, (due - self._clock()) / 1e9)
        super().wait(min(seconds, left), others)
        self._pads.play_to(self._clock())


class SteppedTable(DemoTable):
    """A table whose time is data: it advances by a frame when the last one is done. Also implements `Sights`."""

    is_real_time = False

    def __init__(
        self, script: Script, frames: Iterator[Frame], watcher: Watching,
        show: Callable[[Script, int], None] = lambda _script, _since: None,
    ) -> None:  # fmt: skip
        """``show`` draws the frames still to come from another script; see `DemoTable.show`."""
        self.now, self._show = 0, show
        super().__init__(script, lambda: self.now)
        self.pads.began = 0
        self.eye, self.make_alarm = self, partial(_StepAlarm, self.step)
        self._frames, self._looker = frames, Looker(watcher)
        self._frame: Frame | None = None
        self._ended = False

    def step(self) -> None:
        """Advance to the end of the next frame's exposure, or to the script's end; raises `UserError`."""
        try:
            self._frame = next(self._frames, None)
        except HardwareMissing as error:
            raise UserError(str(error)) from None
        if self._frame is not None:
            self.now = self._frame.t + self._frame.exposure
            self.pads.play_to(self.now)
        else:
            self._ended = True
            self.pads.play_to(max(self.script.duration, self.pads.now))
            self.pads.told = self.script.duration
            self.now = self.script.duration + SECOND

    def show(self, script: Script, since: int) -> None:
        """See `DemoTable`."""
        self._show(script, since)

    def is_over(self, camera_watermark: int) -> bool:
        """See `DemoTable`."""
        return self._ended

    # As its own eye

    def start(self, ring: Callable[[], None]) -> None:
        """No-op: `step` brings the news."""

    def waitables(self) -> tuple[MessagePipe, ...]:
        """Return nothing: there is no pipe."""
        return ()

    def news(self, recall: Recall) -> Iterator[News]:
        """Look at the current frame."""
        frame, self._frame = self._frame, None
        if frame is not None:
            sight = self._looker.look(frame, recall())
            self.count.add(0)
            yield sight

    def finish(self) -> tuple[Observation, ...]:
        """Return the observations that the watcher still held back."""
        return self._looker.finish()

    def close(self) -> None:
        """No-op."""


class _StepAlarm(Alarm):
    """An alarm that sleeps by advancing the table's time."""

    def __init__(self, step: Callable[[], None]) -> None:
        super().__init__()
        self._step = step

    def wait(self, seconds: float, others: Sequence[MessagePipe] = ()) -> None:
        self._step()
