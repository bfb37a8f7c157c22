"""A watcher with scripted observations: for trying the rest of the referee without an eye."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hardware.ports import Frame
from hardware.simulated.table.script import Script
from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Observation, Placed, Taken


class ScriptedWatcher:
    """Reports each observation with the first frame at or after the instant at which it becomes known.

    Implements `referee.vision.sight.Watching`.

    Args:
        script: the observations; each becomes known at its ``known_at``, or at its ``t`` + ``delay``.
        delay: ns from an instant until it is known; the watermark lags as much.
    """

    def __init__(self, script: Iterable[Observation], delay: int = 0) -> None:
        self._delay = delay
        known = sorted((self._known_at(seen), number, seen) for number, seen in enumerate(script))
        self._instants = [instant for instant, _, _ in known]
        self._script = [seen for _, _, seen in known]
        self._told = 0
        self.watermark = -1
        """Everything up to this instant (ns) has been reported."""

    def _known_at(self, seen: Observation) -> int:
        known_at: int | None = getattr(seen, "known_at", None)
        return seen.t + self._delay if known_at is None else known_at

    def recall(self, foresight: Foresight | None) -> None:
        """Ignore the cards that can come next; this watcher's reports are fixed."""

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        """Advance to ``t`` (ns) without looking."""
        upto = bisect_right(self._instants, t)
        told = self._script[self._told : upto]
        self._told = upto
        waiting = (seen.t - 1 for seen in self._script[upto:])
        self.watermark = max(self.watermark, min((t - self._delay, *waiting)))
        return told

    def finish(self) -> list[Observation]:
        """Return the rest of the script."""
        told, self._told = self._script[self._told :], len(self._script)
        return told


def as_seen(truth: Iterable[Observation], frame_ns: int) -> list[Observation]:
    """Return the reports of a perfect eye with this frame interval (ns): instants between two frames."""
    out: list[Observation] = []
    for seen in truth:
        middle = seen.t // frame_ns * frame_ns + frame_ns // 2
        if isinstance(seen, Card | Taken):
            out.append(replace(seen, t=middle, t_error=frame_ns // 2 + 1))
        elif isinstance(seen, Placed):
            out.append(replace(seen, t=middle))
    return out


def blank_frames(fps: float, end: int) -> Iterator[Frame]:
    """Yield frames that show nothing, up to ``end`` (ns)."""
    image = np.zeros((1, 1, 3), np.uint8)
    for index in range(int(end * fps / 1e9) + 1):
        yield Frame(image, round(index * 1e9 / fps), 4_000_000, index)


class FollowingWatcher:
    """A perfect eye at a demo's table whose players may be stopped: it sees the current script."""

    def __init__(self, script: Script, fps: float, delay: int = 0) -> None:
        """``script``: the first one; ``delay``: see `ScriptedWatcher`."""
        self._script, self._frame, self._delay = script, round(1e9 / fps), delay
        self._eye = ScriptedWatcher(as_seen(script.truth, self._frame), delay)
        self._looked = -1

    def show(self, script: Script, _since: int) -> None:
        """Switch to another script that is the same up to now."""
        self._script, watermark = script, self._eye.watermark
        self._eye = ScriptedWatcher(as_seen(script.truth, self._frame), self._delay)
        self._eye.feed(None, self._looked, 0)
        self._eye.watermark = watermark

    def frames(self) -> Iterator[Frame]:
        """Yield frames that show nothing, as long as the script lasts."""
        image, index = np.zeros((1, 1, 3), np.uint8), 0
        while (t := index * self._frame) <= self._script.duration:
            yield Frame(image, t, 4_000_000, index)
            index += 1

    @property
    def watermark(self) -> int:
        """Return the instant (ns) up to which everything has been reported."""
        return self._eye.watermark

    def recall(self, foresight: Foresight | None) -> None:
        """See `ScriptedWatcher`."""

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        """See `ScriptedWatcher`."""
        self._looked = t
        return self._eye.feed(image, t, t_error)

    def finish(self) -> list[Observation]:
        """Return the events up to the last frame that were not reported yet."""
        return [seen for seen in self._eye.finish() if seen.t <= self._looked]
