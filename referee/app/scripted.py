"""A watcher that is told what it sees: for trying the rest of the referee without an eye."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from referee.adjudication.observations import Observation


class ScriptedWatcher:
    """Tells each observation with the first frame at or after the instant at which it becomes known.

    Implements `referee.app.conductor.Watching`.

    Args:
        script: what there is to see; an observation becomes known at its ``known_at``, or at its ``t`` + ``delay``.
        delay: ns from an instant until it is known; the watermark lags as much.
    """

    def __init__(self, script: Iterable[Observation], delay: int = 0) -> None:
        self._delay = delay
        known = sorted((self._known_at(seen), number, seen) for number, seen in enumerate(script))
        self._instants = [instant for instant, _, _ in known]
        self._script = [seen for _, _, seen in known]
        self._told = 0
        self.watermark = -1
        """Everything up to this instant (ns) has been told."""

    def _known_at(self, seen: Observation) -> int:
        known_at: int | None = getattr(seen, "known_at", None)
        return seen.t + self._delay if known_at is None else known_at

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        """Look at nothing; it is ``t`` (ns)."""
        upto = bisect_right(self._instants, t)
        told = self._script[self._told : upto]
        self._told = upto
        waiting = (seen.t - 1 for seen in self._script[upto:])
        self.watermark = max(self.watermark, min(t - self._delay, *waiting, t))
        return told

    def finish(self) -> list[Observation]:
        """The rest of the script."""
        told, self._told = self._script[self._told :], len(self._script)
        return told
