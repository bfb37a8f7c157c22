"""The result of looking at a frame as a value, so that looking and judging can run in different processes.

A watcher looks at frames in order. Before each frame it receives what can come next according to deck memory
(`Watching.recall`), which must take account of all its earlier observations. So a watcher in another process waits
after each frame until the referee has answered with its foresight: the same frames then give the same observations
there as here. Only if no answer comes in time (`referee.vision.process`) is the next frame looked at without foresight:
the eye then names fewer cards, and never one from outdated memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from referee.engine.foresight import Foresight
from referee.engine.observations import MAX_ERROR, Card, Observation, Taken

if TYPE_CHECKING:
    from hardware.ports import Frame
    from referee.vision.message_pipe import MessagePipe

HIDDEN: Final = ("dark", "blocked")
"""States of a view that shows nothing of the table."""


class Watching(Protocol):
    """The interface of a watcher: frames in, observations out; before each frame it receives the foresight."""

    @property
    def watermark(self) -> int: ...

    def recall(self, foresight: Foresight | None) -> None: ...

    def feed(self, image: Any, t: int, t_error: int) -> Sequence[Observation]: ...

    def finish(self) -> Sequence[Observation]: ...


@dataclass(frozen=True, slots=True)
class Sight:
    """The result of looking at one frame."""

    t: int
    """Start of the frame's exposure, ns."""
    exposure: int
    """Its length, ns."""
    seen: tuple[Observation, ...]
    """Observations without ids, which the game assigns."""
    watermark: int
    """All observations with t - t_error up to this instant (ns) have been reported."""
    trouble: str = ""
    """Obstruction of the view: ``dark``, ``blocked``, ``moved``, or empty."""
    state: str = ""
    """State of the view: ``dark``, ``blocked``, ``hand``, ``moving``, ``quiet``; empty if unknown."""
    behind: bool = False
    """Whether the frame had waited for seconds: the eye cannot keep up."""
    first: bool = False
    """Whether this is a watcher's first frame: all cards that lie there are reported as if they had just come."""


@dataclass(frozen=True, slots=True)
class Blind:
    """A message: no more frames for now."""

    words: str
    """The reason, and what to do about it."""
    seen: tuple[Observation, ...] = ()
    """Observations that the watcher still held back when the frames ended."""
    watermark: int | None = None
    """Watermark of the watcher, ns; None: unchanged."""


News = Sight | Blind
Recall = Callable[[], Foresight | None]
"""Returns what can come next, as of now."""


class Sights(Protocol):
    """A source of news of the table, in the order of its frames."""

    def start(self, ring: Callable[[], None]) -> None:
        """Start; ``ring`` may be called from any thread when there is news."""
        ...

    def waitables(self) -> Sequence[MessagePipe]:
        """Return what to wait on for news, in addition to ``ring``."""
        ...

    def news(self, recall: Recall) -> Iterator[News]:
        """Yield the news so far, without waiting. ``recall`` is called after the caller has handled each item."""
        ...

    def finish(self) -> tuple[Observation, ...]:
        """End the game, and return the observations that the watcher still held back."""
        ...

    def close(self) -> None: ...


class Looker:
    """Turns the frames of one watcher into sights."""

    def __init__(self, watcher: Watching) -> None:
        self._watcher = watcher
        self._first = True
        self._clock_error = 0
        self.watermark = watcher.watermark
        """The watcher's watermark, ns, less the uncertainty of the camera's clock."""

    def look(self, frame: Frame, foresight: Foresight | None, *, behind: bool = False) -> Sight:
        """Look at a frame with this foresight; raises `ValueError` if it is not later than the last.

        ``behind``: the frame had waited for seconds.
        """
        watcher = self._watcher
        watcher.recall(foresight)
        self._clock_error = frame.clock_error
        seen = self._prepare(watcher.feed(frame.image, frame.t, frame.exposure + frame.t_error))
        self.watermark = max(self.watermark, watcher.watermark - frame.clock_error)
        first, self._first = self._first, False
        return Sight(
            frame.t, frame.exposure, seen, self.watermark, getattr(watcher, "trouble", ""),
            getattr(watcher, "state", ""), behind, first,
        )  # fmt: skip

    def finish(self) -> tuple[Observation, ...]:
        """Return the observations still held back; no more frames follow."""
        return self._prepare(self._watcher.finish())

    def _prepare(self, told: Sequence[Observation]) -> tuple[Observation, ...]:
        """Add the uncertainty of the camera's clock to observations, but never reach back before the watermark, nor
        beyond what a log may state.

        Ids are removed: a watcher counts from one at each start, even in the middle of a game, so the game assigns
        them.
        """
        return tuple(
            replace(
                line, id="",
                t_error=min(
                    MAX_ERROR, max(line.t_error, min(line.t_error + self._clock_error, line.t - self.watermark - 1))
                ),
            )
            if isinstance(line, Card | Taken) and self._clock_error
            else replace(line, id="")
            for line in told
        )  # fmt: skip
