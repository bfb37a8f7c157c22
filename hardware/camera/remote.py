"""A camera in a separate process, so that a driver that hangs or crashes does not take the referee along.

Frames come through shared memory (`hardware.camera.frame_buffer`), the newest first: a slow consumer misses frames but
never falls behind. A camera that falls silent is asked to stop, then killed, abandoned if even that fails, and
restarted, as long as frames are wanted (`hardware.camera.supervisor`). Every wait here has a limit. The vision process
(`referee.vision.process`) opens it.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

from hardware.camera.camera_process import ENDED, FAILED, FIRST_PICTURE, MISSING, REPORT, CameraProcess
from hardware.camera.sensor_clock import UNKNOWN
from hardware.camera.spec import CameraReport, CameraSpec
from hardware.camera.supervisor import Act, Patience, Phase, Supervisor
from hardware.clock import Clock, measure_offset, monotonic
from hardware.ports import Frame, HardwareMissing
from referee.sentence import Sentence, from_json
from referee.units import MS, SECOND

_log = logging.getLogger(__name__)


class FrameOrder:
    """Numbers frames across restarts, and discards those that cannot come next."""

    def __init__(self) -> None:
        self.dropped = 0
        """Number of frames skipped because the consumer was slower."""
        self.stale = 0
        """Number of frames discarded because they were not newer than the last one, or in the future."""
        self._first_index = self._next_index = 0
        self._last_t: int | None = None

    def restart(self) -> None:
        """Expect the first frame of another process, which counts its frames from 0."""
        self._first_index = self._next_index

    def follow(self, frame: Frame, latest: int | None) -> Frame | None:
        """Return the frame with its index across restarts; None if it is no newer than the last, or after ``latest``.

        Args:
            frame: with the index given by its own process.
            latest: the latest possible instant of its exposure, ns; None for a recording, which has its own times.
        """
        index = self._first_index + frame.index
        self.dropped += index - self._next_index
        self._next_index = index + 1
        early = latest is not None and frame.t > latest
        if early or (self._last_t is not None and frame.t <= self._last_t):
            self.stale += 1
            return None
        self._last_t = frame.t
        return replace(frame, index=index)


class RemoteCamera:
    """A camera that survives failures; implements `hardware.ports.Camera`.

    For one thread, except `close`, which any thread may call while another waits for a frame.
    """

    def __init__(
        self,
        spec: CameraSpec | str,
        *,
        told: Callable[[str], None] = _log.warning,
        patience: Patience | None = None,
        clock: Clock = monotonic,
        process: Callable[[CameraSpec], CameraProcess] = CameraProcess,
    ) -> None:
        """Start the camera's process and wait for its first picture.

        Args:
            spec: which camera; text is passed to `hardware.camera.camera.open_camera`.
            told: called with each change in words ("the camera fell silent; starting it anew", "the camera is back",
                and settings that no longer hold), in the thread that asks for frames; `live` already has the new state.
            patience: time limits.
            clock: returns ``CLOCK_MONOTONIC``, ns.
            process: starts a camera's process.

        Raises:
            HardwareMissing: the camera is missing, in its own words, or sends no picture.
            OSError: no process can be started.
        """
        self.spec = CameraSpec.of(spec) if isinstance(spec, str) else spec
        self._clock = clock
        self._new = process
        self._patience = patience or Patience()
        offset = measure_offset()
        self.report = CameraReport(self.spec.source, boot_ahead=offset.ahead, boot_ahead_error=offset.error)
        """The camera's latest report about itself; kept across restarts."""
        self.order = FrameOrder()
        """Counts the frames that were not delivered."""
        self.starts = 0
        """Number of processes started so far."""
        self.last_words = ""
        """The last lines printed by a process before its release."""
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lock = threading.RLock()
        self._closing = self._ended = self._recorded = self._opened = False
        self._last: Frame | None = None
        self._why = ""
        self._warned: set[str] = set()
        self._on_change = told
        self._supervisor = Supervisor(self._patience, self._tell, clock())
        self._process: CameraProcess | None = None
        try:
            self._start()
            self._await_first()
        except BaseException:
            self.close()
            raise

    @property
    def live(self) -> bool:
        """Whether frames come; False from a report of trouble until the camera is back."""
        return self._supervisor.phase is Phase.LIVE and not self._supervisor.troubled

    @property
    def pid(self) -> int | None:
        """The current process, if there is one."""
        return self._process.pid if self._process is not None else None

    def frames(self) -> Iterator[Frame]:
        """Yield the newest frame, repeatedly and across restarts, until a recording ends or `close` is called."""
        while not self._closing:
            frame = self.next(3600.0)
            if frame is not None:
                yield frame
            elif self._ended:
                # Only now: a recording may end before its last frame is taken, even while it is opened.
                return

    def next(self, seconds: float) -> Frame | None:
        """Return the newest frame not delivered yet, or None if none comes within so many seconds.

        The camera is supervised while this waits, and only then.
        """
        until = self._clock() + round(seconds * SECOND)
        with self._lock:
            while not self._closing:
                self._listen()
                frame, self._last = self._fresh() or self._last, None
                if frame is not None or self._ended:
                    return frame
                now = self._clock()
                self._act(self._supervisor.look(now))
                if now >= until:
                    break
                self._wait(min(until, self._supervisor.due) - self._clock())
        return None

    def close(self) -> None:
        """End the camera's process and release everything; takes at most the time limits for stopping and killing."""
        self._closing = True
        if self._wake >= 0:
            os.eventfd_write(self._wake, 1)
        with self._lock:
            if self._wake < 0:
                return
            os.close(self._wake)
            self._wake = -1
            if self._process is not None:
                self._process.ask()
                if not self._process.wait(self._patience.asked / SECOND):
                    self._process.kill()
                    self._process.wait(self._patience.killed / SECOND)
                self._process.listen()
                self._let_go()

    def _tell(self, words: str) -> None:
        # A failure of the first opening raises an exception instead.
        if self._opened:
            self._on_change(words)

    def _await_first(self) -> None:
        """Wait for the first picture, without retries: the caller wants to know about a failure."""
        deadline = self._clock() + self._patience.opening
        while self._process is not None and self._process.given_at is None:
            now = self._clock()
            if now >= deadline:
                seconds = self._patience.opening / SECOND
                self._why = Sentence(
                    "the camera {source} sent no picture within {seconds} s; look at its cable and power",
                    source=self.spec.source, seconds=f"{seconds:g}",
                )  # fmt: skip
                raise HardwareMissing(self._why)
            self._wait(deadline - now)
            self._listen()
        if self._process is not None and self._process.given_at is not None:
            self._supervisor.picture(self._process.given_at)
        elif not self._ended:
            raise HardwareMissing(self._why)
        self._opened = True

    def _start(self) -> None:
        self._process = self._new(self.spec.keeping(self.report))
        self._why = ""
        self.starts += 1
        self.order.restart()

    def _listen(self) -> None:
        """Read the process's messages, and check whether it has ended."""
        process = self._process
        if process is None:
            return
        # Check before reading its messages: all of them were sent before it ended.
        gone = process.status is not None
        why = ""
        for said in process.listen():
            if said["kind"] == FIRST_PICTURE:
                process.open_ring()
            elif said["kind"] == REPORT:
                self.report = CameraReport.from_json(said["report"])
                # Report settings that no longer hold in the middle of a game.
                fresh = [words for words in self.report.warnings if words not in self._warned]
                self._warned.update(fresh)
                for words in fresh:
                    self._tell(words)
            elif said["kind"] == MISSING:
                why = from_json(said)
            elif said["kind"] == FAILED:
                why = Sentence("the camera failed: {why}", why=said["words"])
            elif said["kind"] == ENDED:
                self._recorded = True
        self._why = why or self._why
        if not gone:
            return
        # Take a picture left in the ring before releasing the ring.
        self._last = self._fresh() or self._last
        heard = self._why
        self._why = heard or Sentence("the camera's process ended {how}", how=_how(process.status))
        self._let_go()
        if self._recorded:
            self._ended = True
            return
        words = self._why if heard else Sentence("{what}; starting it anew", what=self._why)
        self._supervisor.gone(self._clock(), words)

    def _fresh(self) -> Frame | None:
        """Return the newest frame in the ring; stale or future frames are ignored, and are no sign of life."""
        taken = self._process.take() if self._process is not None else None
        if taken is None:
            return None
        frame, given_at = taken
        # Times of a recording count from its beginning, and are arbitrary.
        fresh = self.order.follow(frame, None if self.report.clock == UNKNOWN else given_at)
        if fresh is not None:
            self._supervisor.picture(given_at)
        return fresh

    def _act(self, act: Act | None) -> None:
        if act is Act.START:
            try:
                self._start()
            except OSError as error:
                # Lack of memory or processes may be temporary, so try again later.
                self._supervisor.gone(
                    self._clock(), Sentence("the camera's process cannot be started: {why}", why=error)
                )
        elif self._process is None:
            return
        elif act is Act.ASK:
            self._process.ask()
        elif act is Act.KILL:
            self._process.kill()
        elif act is Act.ABANDON:
            self._let_go()

    def _let_go(self) -> None:
        if self._process is not None:
            printed = self._process.last_words
            if printed and not (self._closing and self._opened):
                # A traceback goes to the log; people get a sentence.
                _log.warning("%s; the last words of the camera's process:\n%s", self._why or "no picture came", printed)
            self.last_words = printed or self.last_words
            self._process.let_go()
            self._process = None

    def _wait(self, ns: int) -> None:
        """Wait for a message, a call of ``close``, or the timeout."""
        poll = select.poll()
        for file in {self._wake, *(self._process.files if self._process is not None else ())}:
            poll.register(file, select.POLLIN)
        poll.poll(max(0, -(-ns // MS)))


def _how(status: int | None) -> str:
    """Return how a process ended, in words."""
    if status is None or status >= 0:
        return f"with status {status}"
    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"
