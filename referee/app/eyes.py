"""A camera on a thread of its own: frames wait in a short queue, and whoever looks never waits for a driver."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from hardware.clock import Clock, monotonic
from hardware.ports import HardwareMissing
from referee.adjudication.observations import Observation
from referee.app.sight import Blind, Looker, News, Recall, Watching

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from hardware.ports import Camera, Frame

BACKLOG: Final = 4
"""Frames that may wait; of more the oldest are dropped, for a late answer helps nobody."""
NO_FRAME: Final = 2_000_000_000
"""After so long without a frame the camera counts as lost, ns."""

OPENING: Final = 15_000_000_000
"""The same for the first frame: a camera is opened, configured, and settles, ns."""

Open = Callable[[Callable[[str], None]], "Camera"]
"""Opens a camera, which hands whatever it has to say of its own state, in words, to what it is given."""


class Eyes:
    """The camera on a thread of its own, where it is opened as well: nobody waits for a driver."""

    def __init__(self, open_camera: Open, *, drop: bool = True) -> None:
        """``drop``: throw the oldest frames away where more come than are looked at; else the camera waits."""
        self._open = open_camera
        self._drop = drop
        self._camera: Camera | None = None
        self._waiting: queue.Queue[Frame] = queue.Queue(BACKLOG)
        self._words = ""
        self._closed = False
        self.ended = False
        self.dropped = 0
        """Frames that came faster than they could be looked at."""
        self._ring: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._look, name="camera", daemon=True)

    def start(self, ring: Callable[[], None] | None = None) -> None:
        """Begin; ``ring`` is called with each frame, and at the end."""
        self._ring = ring or self._ring
        self._thread.start()

    def _look(self) -> None:
        try:
            self._camera = camera = self._open(self._told)
            if self._closed:
                camera.close()
                return
            for frame in camera.frames():
                self._keep(frame)
        except Exception as bad:  # whatever a camera's library throws, the table must hear of it
            self._words = str(bad) if isinstance(bad, HardwareMissing) else f"the camera failed: {bad!r}"
        self.ended = True
        self._ring()

    def _told(self, words: str) -> None:
        self._words = words

    def close(self) -> None:
        """Let go of the camera, as soon as it is open if it is being opened."""
        self._closed = True
        if self._camera is not None:
            self._camera.close()

    def _keep(self, frame: Frame) -> None:
        while True:
            try:
                self._waiting.put(frame, block=not self._drop)
            except queue.Full:
                try:
                    self._waiting.get_nowait()
                    self.dropped += 1
                except queue.Empty:
                    continue
            else:
                self._ring()
                return

    def next(self, seconds: float) -> Frame | None:
        """The next frame, or None if none comes within so many seconds (0: does not wait)."""
        try:
            return self._waiting.get(timeout=seconds) if seconds > 0 else self._waiting.get_nowait()
        except queue.Empty:
            return None

    @property
    def words(self) -> str:
        """Why there are no more frames."""
        return self._words or ("the camera's pictures have ended" if self.ended else "the camera sends no pictures")


class LocalSights:
    """Looks in the process that judges; implements `referee.app.sight.Sights`.

    For recordings, for tests, and where a machine has one processor: an edge waits until a frame has been looked at.

    Args:
        camera: where frames come from.
        watcher: makes a watcher; again whenever the camera comes back, since what it knew is out of date then.
        clock: answers the present instant, ns.
    """

    def __init__(self, camera: Camera, watcher: Callable[[], Watching], clock: Clock = monotonic) -> None:
        self._eyes = Eyes(lambda _told: camera)
        self._watcher = watcher
        self._clock = clock
        self._looker: Looker | None = None
        self._seen_at = clock()
        self._lost = False

    def start(self, ring: Callable[[], None]) -> None:
        """Begin."""
        self._seen_at = self._clock()
        self._eyes.start(ring)

    def waitables(self) -> tuple[Connection, ...]:
        """Nothing: the bell is rung."""
        return ()

    def news(self, recall: Recall) -> Iterator[News]:
        """Look at the frames that wait."""
        while (frame := self._eyes.next(0)) is not None:
            self._seen_at, self._lost = self._clock(), False
            if self._looker is None:
                self._looker = Looker(self._watcher())
            yield self._looker.look(frame, recall())
        if not self._lost and (self._eyes.ended or self._clock() - self._seen_at > NO_FRAME):
            self._lost = True
            yield self._blind()

    def _blind(self) -> Blind:
        looker, self._looker = self._looker, None
        if looker is None:
            return Blind(self._eyes.words)
        seen = looker.finish()
        return Blind(self._eyes.words, seen, looker.watermark)

    def finish(self) -> tuple[Observation, ...]:
        """The game is over."""
        looker, self._looker = self._looker, None
        return () if looker is None else looker.finish()

    def close(self) -> None:
        """Let go of the camera."""
        self._eyes.close()
