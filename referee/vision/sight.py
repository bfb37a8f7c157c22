"""What looking at a frame tells, as a value: so that looking can happen in another process than judging.

A watcher looks at frames in their order. Before each it hears what deck memory says can come (`Watching.recall`), and
that must be what holds after everything that it told before. So one who looks elsewhere waits, after each frame that
told something to a referee, until the referee has answered with its foresight: the same frames give the same
observations there as here. Only if no answer comes in time (`referee.vision.process`) is the next frame looked at
without any foresight: the eye then names fewer cards, and never one by a memory that is out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Observation, Taken

if TYPE_CHECKING:
    from hardware.ports import Frame
    from referee.vision.message_pipe import MessagePipe

HIDDEN: Final = ("dark", "blocked")
"""States of a view that shows nothing of the table."""


class Watching(Protocol):
    """What is needed of a watcher: frames in, observations out; before each frame it hears what can come."""

    @property
    def watermark(self) -> int: ...

    def recall(self, foresight: Foresight | None) -> None: ...

    def feed(self, image: Any, t: int, t_error: int) -> Sequence[Observation]: ...

    def finish(self) -> Sequence[Observation]: ...


@dataclass(frozen=True, slots=True)
class Sight:
    """What one frame told."""

    t: int
    """Start of the frame's exposure, ns."""
    exposure: int
    """Its length, ns."""
    seen: tuple[Observation, ...]
    """Without ids, which the game gives."""
    watermark: int
    """Everything with t - t_error up to this instant (ns) has been told."""
    trouble: str = ""
    """What hinders the view: ``dark``, ``blocked``, ``moved``, or empty."""
    state: str = ""
    """What the view is like: ``dark``, ``blocked``, ``hand``, ``moving``, ``quiet``; empty where nobody says."""
    behind: bool = False
    """Whether the frame had waited for seconds: the eye cannot keep up."""
    first: bool = False
    """Whether this is a watcher's first frame: all that lies there is told as if it had just come."""


@dataclass(frozen=True, slots=True)
class Blind:
    """There are no more frames, for now."""

    words: str
    """Why, and what to do about it."""
    seen: tuple[Observation, ...] = ()
    """What the watcher had still kept to itself when the frames ended."""
    watermark: int | None = None
    """As far as it vouches, ns; None: as far as was told before."""


News = Sight | Blind
Recall = Callable[[], Foresight | None]
"""Answers what can come next, as of now."""


class Sights(Protocol):
    """Where news of the table comes from, in the order of its frames."""

    def start(self, ring: Callable[[], None]) -> None:
        """Begin; ``ring`` may be called from any thread when there is news."""
        ...

    def waitables(self) -> Sequence[MessagePipe]:
        """What to wait on for news, beside being rung."""
        ...

    def news(self, recall: Recall) -> Iterator[News]:
        """What has come; never waits. ``recall`` is asked after the caller has dealt with each."""
        ...

    def finish(self) -> tuple[Observation, ...]:
        """The game is over: what the watcher still kept to itself."""
        ...

    def close(self) -> None: ...


class Looker:
    """One watcher's frames made into sights."""

    def __init__(self, watcher: Watching) -> None:
        self._watcher = watcher
        self._first = True
        self._clock_error = 0
        self.watermark = watcher.watermark
        """As far as the watcher vouches, ns, with what is not known of the camera's clock."""

    def look(self, frame: Frame, foresight: Foresight | None, *, behind: bool = False) -> Sight:
        """Look at one frame, knowing what can come; raises `ValueError` for one that is not later than the last.

        ``behind``: it had waited for seconds.
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
        """What the watcher has still to tell; it sees no more frames."""
        return self._prepare(self._watcher.finish())

    def _prepare(self, told: Sequence[Observation]) -> tuple[Observation, ...]:
        """What was seen, with what is not known of the camera's clock; never back into what was vouched for.

        Without ids: a watcher counts from one whenever it is started, in the middle of a game too; the game gives them.
        """
        return tuple(
            replace(
                one, id="",
                t_error=max(one.t_error, min(one.t_error + self._clock_error, one.t - self.watermark - 1)),
            )
            if isinstance(one, Card | Taken) and self._clock_error
            else replace(one, id="")
            for one in told
        )  # fmt: skip
