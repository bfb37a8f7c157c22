"""The pile taken: when its place shows bare table, and whose arm swept over it."""

from __future__ import annotations

from typing import Final

import numpy as np

from models.watch.arms import Arms
from models.watch.known_cards import Pile
from models.watch.motion import Glance, Motion
from models.watch.stream import MS, PATIENCE_NS, Moment, Stream
from referee.engine.observations import Observation, Taken

GONE: Final = 0.6
"""Share of the pile's place that must show bare table."""
TAKEN_ERROR_NS: Final = 150 * MS
"""When a pile has "left" is no sharper than the sweep of a hand."""
SWEPT_NS: Final = 700 * MS
"""Who swept over the pile so shortly before it was gone has taken it."""


class Taking:
    """Watches the pile's place for the pile to leave it."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile, arms: Arms) -> None:
        self._motion = motion
        self._stream = stream
        self._pile = pile
        self._arms = arms
        self._taken = 0
        self._leaving: Moment | None = None

    @property
    def leaving(self) -> int | None:
        """Since when the pile's place shows bare table, ns, while it is not sure that the pile is gone."""
        return None if self._leaving is None else self._leaving.t

    def watch(self, now: Moment, glance: Glance) -> list[Observation]:
        """The pile taken, if the newest frame makes that sure."""
        if self._bare(glance) < GONE:
            self._leaving = None
            return []
        if self._leaving is None:
            self._leaving = now
            return []
        still_there = any(track.last.index >= now.index - 1 for track in self._pile.laid if track.sightings)
        if still_there and now.t - self._leaving.t < PATIENCE_NS:
            return []
        return self._take(self._leaving.t)

    def finish(self) -> list[Observation]:
        """The pile taken, if its place was bare at the end of the stream."""
        return [] if self._leaving is None else self._take(self._leaving.t)

    def _bare(self, glance: Glance) -> float:
        """Share of the pile's place that shows bare table; 0 where there is no pile."""
        cards = self._pile.mask(self._motion)
        if cards is None:
            return 0.0
        place = cards > 0
        return 1.0 - float(np.count_nonzero(glance.foreign[place])) / max(1, int(np.count_nonzero(place)))

    def _take(self, left: int) -> list[Observation]:
        """The pile left its place at an instant, ns."""
        seat = self._arms.seat(self._arms.swept(left - SWEPT_NS))
        error = TAKEN_ERROR_NS
        if left == self._stream.blind_until:
            # Nobody saw it leave: that may have been at any instant since the place was seen last.
            low = max(self._stream.blind_since, self._stream.watermark + 1)
            left, error, seat = (low + left) // 2, max(error, (left - low + 1) // 2), None
        t = max(left, self._stream.watermark + 1 + error)
        self._taken += 1
        self._leaving = None
        self._arms.forget_sweeps()
        self._pile.clear(since=left)
        return [Taken(t=t, id=f"t{self._taken}", seat=seat, t_error=error)]
