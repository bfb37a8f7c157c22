"""A simulated table (time as data) whose camera falls silent or repeats itself, or whose camera or eye is killed.

The frames go through the product's own child (`referee.vision.process.Child`) and its backlog. The child has a thread
that runs only while the table waits for it, and reads the table's clock. So a gap of three seconds costs no second, and
the result is the same on any machine. Only the process itself is left out: an eye that is killed is a child that is
dropped, with all that waited for it, and `Blind` as `referee.vision.eye_client` sends it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from hardware.ports import Camera, Frame, HardwareMissing
from hardware.simulated.table.script import Script
from referee.demo.demo_table import SteppedTable
from referee.engine.observations import Observation
from referee.units import MS, SECOND
from referee.vision.process import FINISH, Backlog, Child, Eyes, ForesightAnswer, Work
from referee.vision.sight import Blind, News, Recall, Sight, Watching

_ROOM: Final = 256 * 2**20
"""Buffer of waiting frames, bytes."""
_CATCHES_UP: Final = 3
"""Frames that an eye with a backlog processes in the time of one."""
_HELD: Final = 100 * MS
"""Delay after which a held-up eye goes on once the frames have ended, ns."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the frames between two instants of a script, ns."""

    since: int
    """The first missing frame would begin here or later ..."""
    until: int
    """... and the first frame after the fault begins here or later."""
    repeats: bool = False
    """The last picture comes again instead, with new stamps."""
    behind: int = 0
    """Length of the frames, ns, that wait for the eye when they end."""
    kills_eye: bool = False
    """The eye dies at ``since``, with its backlog; another one begins at ``until``."""


Slot = tuple[int, Callable[[], Frame]]
"""The instant of a frame, ns, and the function that draws it."""


def come(slots: Iterator[Slot], fault: Fault | None) -> Iterator[tuple[int, Frame | None]]:
    """Yield the frames with their instants (ns), and None for missing frames, which are not drawn."""
    last: Frame | None = None
    for t, draw in slots:
        if fault is None or not fault.since <= t < fault.until:
            last = draw()
            yield t, last
        else:
            yield t, replace(last, t=t) if fault.repeats and last is not None else None


class _Dropped(Exception):  # noqa: N818 - a way out, no error
    """Raised in the child's thread when its result is not wanted any more."""


def _no_camera(_told: Callable[[str], None]) -> Camera:
    raise HardwareMissing("frames are handed in")


class SteppedChild(Eyes):
    """The product's child with its frames and its end of the pipe, which runs in `turn` alone."""

    def __init__(self, make_watcher: Callable[[], Watching], clock: Callable[[], int], fault: Fault | None) -> None:
        super().__init__(_no_camera)
        self.backlog = Backlog(_ROOM)
        self.told: deque[Any] = deque()
        """Messages from the child ..."""
        self.answers: deque[Any] = deque()
        """... and to the child."""
        self._clock, self._fault, self._may_look = clock, fault, 0
        self._table_runs, self._child_runs = threading.Semaphore(0), threading.Semaphore(0)
        self._is_over = self._is_ending = False
        self._failed: Exception | None = None
        child = Child(Work(_no_camera, make_watcher), self, clock)  # type: ignore[arg-type]
        self._thread = threading.Thread(target=self._live, args=(child,), name="stepped child", daemon=True)
        self._thread.start()

    # The table's thread

    def take(self, frame: Frame | None) -> None:
        """Advance to the time of a frame, with the frame or without."""
        self._may_look = _CATCHES_UP
        if frame is not None:
            self.backlog.put(frame)

    def turn(self) -> None:
        """Let the child run until it waits for a frame or for an answer."""
        if self._is_over:
            return
        self._child_runs.release()
        self._table_runs.acquire()
        if self._failed is not None:
            raise self._failed

    def drop(self) -> None:
        """End the child where it stands."""
        self._is_over = True
        self._child_runs.release()
        self._thread.join()

    # The child's thread

    def _live(self, child: Child) -> None:
        self._child_runs.acquire()
        try:
            with suppress(_Dropped):
                child.watch(self)
        except Exception as error:
            # The child leaves the end of the game by an exception of its own.
            self._failed = None if self._is_ending else error
        self._is_over = True
        self._table_runs.release()

    def _wait(self) -> None:
        self._table_runs.release()
        self._child_runs.acquire()
        if self._is_over:
            raise _Dropped

    def next(self, seconds: float) -> Frame | None:
        """See `Eyes`: wait for a number of seconds of the table's time."""
        until = self._clock() + round(seconds * SECOND)
        while True:
            frame = super().next(0) if self._may_look else None
            if frame is not None:
                self._may_look -= 1
                while self._is_held_up(frame):
                    self._wait()
                return frame
            if self._clock() >= until or FINISH in self.answers:
                return None
            self._wait()

    def _is_held_up(self, frame: Frame) -> bool:
        fault = self._fault
        held = fault is not None and fault.behind and frame.t >= fault.since - fault.behind
        return bool(held) and fault is not None and self._clock() < fault.since + _HELD

    def send(self, message: object) -> None:
        """As `referee.vision.message_pipe.MessagePipe`."""
        self.told.append(message)

    def poll(self, seconds: float = 0.0) -> bool:
        """As `referee.vision.message_pipe.MessagePipe`; a call that waits at all is answered."""
        while seconds > 0 and not self.answers:
            self._wait()
        return bool(self.answers)

    def recv(self) -> Any:
        """As `referee.vision.message_pipe.MessagePipe`."""
        answer = self.answers.popleft()
        self._is_ending |= answer == FINISH
        return answer


class GappedTable(SteppedTable):
    """A simulated table (time as data) with a fault in its frames."""

    def __init__(
        self, script: Script, slots: Iterator[Slot], make_watcher: Callable[[], Watching], fault: Fault | None
    ) -> None:
        """``slots``: every frame of the script, in order; ``make_watcher`` makes one for each child's start."""
        super().__init__(script, iter(()), _Blindfold())
        self._coming, self._make_watcher, self._fault = come(slots, fault), make_watcher, fault
        self._child: SteppedChild | None = self._start_child()
        self._number = 0
        self._died = False

    def _start_child(self) -> SteppedChild:
        self._number = 0
        return SteppedChild(self._make_watcher, lambda: self.now, self._fault)

    def step(self) -> None:
        """Advance to the time of the next frame, whether it comes or not."""
        t, frame = next(self._coming, (None, None))
        if t is None:
            super().step()
            return
        self.now = t + 4 * MS if frame is None else frame.t + frame.exposure
        self.pads.play_to(self.now)
        fault = self._fault
        if fault is not None and fault.kills_eye and fault.since <= t < fault.until:
            if self._child is not None:
                self._child.drop()
                self._child, self._died = None, True
            return
        if self._child is None:
            self._child = self._start_child()
        self._child.take(frame)

    def news(self, recall: Recall) -> Iterator[News]:
        """Yield the child's reports on the frames so far, in order, each sight answered."""
        if self._died:
            self._died = False
            yield Blind("the part that looks at the table has stopped; it is started again")
        child = self._child
        while child is not None:
            child.turn()
            if not child.told:
                return
            while child.told:
                told = child.told.popleft()
                if isinstance(told, Sight):
                    self._number += 1
                    self.count.add(self.now - told.t - told.exposure)
                    yield told
                    child.answers.append(ForesightAnswer(self._number, recall()))
                elif isinstance(told, Blind):
                    yield told

    def finish(self) -> tuple[Observation, ...]:
        """Return the child's remaining reports."""
        child = self._child
        if child is None:
            return ()
        child.answers.append(FINISH)
        child.turn()
        return tuple(seen for told in child.told if isinstance(told, Sight | Blind) for seen in told.seen)

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.drop()
            self._child = None


class _Blindfold:
    """A watcher that is never asked."""

    watermark = -1

    def recall(self, foresight: Any) -> None:
        raise NotImplementedError

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        raise NotImplementedError

    def finish(self) -> list[Observation]:
        raise NotImplementedError
