"""Looking in the process that judges: for tests of the loop, and for walks through the whole product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hardware.clock import Clock, monotonic
from referee.engine.observations import Observation
from referee.vision.process import NO_FRAME, Eyes
from referee.vision.sight import Blind, Looker, News, Recall, Watching

if TYPE_CHECKING:
    from hardware.ports import Camera
    from referee.vision.message_pipe import MessagePipe


class LocalSights:
    """Looks in the process that judges; implements `referee.vision.sight.Sights`.

    An edge waits until a frame has been looked at.

    Args:
        camera: the source of frames.
        watcher: makes a watcher; again whenever the camera comes back, since the old one's knowledge is outdated then.
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

    def waitables(self) -> tuple[MessagePipe, ...]:
        """Return nothing: the bell is rung."""
        return ()

    def news(self, recall: Recall) -> Iterator[News]:
        """Look at the waiting frames."""
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
        """End the game."""
        looker, self._looker = self._looker, None
        return () if looker is None else looker.finish()

    def close(self) -> None:
        """Close the camera."""
        self._eyes.close()
