"""The time in which nobody looks at the table: from the pause until what lies there is known again. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from referee.adjudication.observations import Observation, Pause, Resume, Slap
from referee.app.paused import First, Hands
from referee.app.reconciling import Finding, FirstLook, reconcile
from referee.app.sight import HIDDEN, Sight

CLEAR_FRAMES: Final = 3
"""So many frames in a row show the table again before the game goes on: a lamp flickers when it is put on."""


@dataclass(frozen=True, slots=True)
class Back:
    """The camera is back, and it is known what lies there."""

    t: int
    """The instant from which slaps count again, ns."""
    before: tuple[Observation, ...]
    """What came during the gap, to be put on record before that instant."""
    after: tuple[Observation, ...]
    """What came since the first frame."""
    finding: Finding | None
    """None where the same watcher went on, so that there was nothing to find out."""


class Absence:
    """Why the game is paused, whose hands came meanwhile, and the first look afterwards."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self._hands: Hands | None = None
        self._look: FirstLook | None = None
        self._clear = 0
        self._since = 0

    @property
    def paused(self) -> bool:
        """Whether the game is paused."""
        return bool(self._reasons)

    @property
    def looking(self) -> bool:
        """Whether the camera is back and has not told yet what lies there."""
        return self._look is not None

    def begin(self, reason: str, t: int) -> Pause | None:
        """From ``t`` (ns) on nobody looks, for this reason; None if the game is paused already."""
        paused = self.paused
        self._reasons.add(reason)
        self._clear = 0
        if paused:
            return None
        self._since = t
        self._hands = Hands(t)
        return Pause(t=t)

    def end(self, reason: str, t: int) -> Resume | None:
        """This reason is gone; None if there is another, or there was none."""
        if reason not in self._reasons:
            return None
        self._reasons.discard(reason)
        if self._reasons:
            return None
        return Resume(t=max(t, self._since + 1))

    def sees(self, reason: str, clear: bool) -> bool:
        """One more frame; returns whether so many in a row were clear that this reason is gone."""
        if reason not in self._reasons:
            return False
        self._clear = self._clear + 1 if clear else 0
        return self._clear >= CLEAR_FRAMES

    def add(self, slap: Slap) -> None:
        """A hand."""
        if self._hands is not None and self.paused:
            self._hands.add(slap)

    def hands_told(self, t: int) -> list[First]:
        """The pads have reported up to ``t`` (ns): who was first, of hands that are not judged."""
        return [] if self._hands is None else self._hands.told(t)

    def forget_look(self) -> None:
        """The camera is gone again before it had told what lies there."""
        self._look = None

    def look_again(self, sight: Sight, believed: Sequence[str], told: int, judged: int) -> Back | None:
        """The camera is back; None until its first frame has been understood.

        Args:
            sight: the next of it.
            believed: the pile before the gap.
            told: everything up to here (ns) was promised to have been told.
            judged: ``believed`` is how it lay at this instant, ns: a card told just before the gap may still wait.
        """
        if self._look is None and not sight.first:
            return Back(sight.t + sight.exposure, (), sight.seen, None)
        if self._look is None or sight.first:
            self._look = FirstLook()
        if sight.state in HIDDEN:
            return None
        top, hidden = believed[-1] if believed else "", sight.state == "hand"
        complete = self._look.add(sight.t, sight.seen, sight.watermark, hidden=hidden, top=top)
        if not complete or judged < (self._look.since or 0) - 1:
            return None
        look, self._look = self._look, None
        finding = reconcile(believed, look.lying)
        base = max(told, self._since)
        until = max(sight.t, base + finding.span)
        later = tuple(replace(seen, t=max(seen.t, until + n)) for n, seen in enumerate(look.later))
        return Back(until, tuple(finding.observations(base, until)), later, finding)
