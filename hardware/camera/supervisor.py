"""Decides when a camera process is stopped, killed, abandoned and restarted: a pure state machine; time is data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hardware.child import RESTS, STEADY, BackOff
from referee.sentence import Sentence
from referee.units import MS, SECOND


class Phase(Enum):
    """State of the current process."""

    OPENING = "opening"
    LIVE = "live"
    ASKED = "asked"
    """Asked to stop."""
    KILLED = "killed"
    RESTING = "resting"
    """There is no process; the next one starts after a delay."""


class Act(Enum):
    """The action due for the process."""

    START = "start"
    ASK = "ask"
    KILL = "kill"
    ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class Patience:
    """Time limits, ns."""

    opening: int = 20 * SECOND
    """From the start of a process to its first picture: libraries load, a camera settles."""
    frame: int = 3 * SECOND
    """Between two frames; longer than the camera's shell needs for its own recovery."""
    asked: int = 500 * MS
    """To stop after a request."""
    killed: int = 500 * MS
    """To end after being killed; a process that does not is blocked in the kernel and is abandoned."""
    rests: tuple[int, ...] = RESTS
    """Delays before each further start in a row; the last applies to all later starts."""
    steady: int = STEADY
    """Working time after which a camera counts as sound: the next restart is immediate again."""


_NOT_OPEN: Final = Sentence("the camera does not open; starting it anew")
_SILENT: Final = Sentence("the camera fell silent; starting it anew")
_LEFT_BEHIND: Final = Sentence("the camera's process cannot be ended and is left behind; starting another")
_BACK: Final = Sentence("the camera is back")


class Supervisor:
    """Supervises one camera, which has one process at a time."""

    def __init__(self, patience: Patience, on_change: Callable[[str], None], now: int) -> None:
        self._patience = patience
        self._on_change = on_change
        self.phase = Phase.OPENING
        self._since = now
        self._sign = now
        self._back_off = BackOff(patience.rests, patience.steady)
        self._last_words = ""
        self.troubled = False
        """Whether trouble was reported and no picture has come since."""

    @property
    def due(self) -> int:
        """The instant, ns, at which `look` has an action if nothing happens before."""
        waits = self._patience
        return {
            Phase.OPENING: self._since + waits.opening,
            Phase.LIVE: self._sign + waits.frame,
            Phase.ASKED: self._since + waits.asked,
            Phase.KILLED: self._since + waits.killed,
            Phase.RESTING: self._back_off.due or self._since,
        }[self.phase]

    def look(self, now: int) -> Act | None:
        """Return the action that has come due, if any."""
        if now < self.due:
            return None
        if self.phase in (Phase.OPENING, Phase.LIVE):
            self._trouble(_NOT_OPEN if self.phase is Phase.OPENING else _SILENT)
            return self._go(Phase.ASKED, now, Act.ASK)
        if self.phase is Phase.ASKED:
            return self._go(Phase.KILLED, now, Act.KILL)
        if self.phase is Phase.KILLED:
            self._trouble(_LEFT_BEHIND)
            self._rest(now)
            return Act.ABANDON
        self._back_off.begin()
        return self._go(Phase.OPENING, now, Act.START)

    def picture(self, given_at: int) -> None:
        """Note that the process delivered a frame at that instant."""
        if self.phase is Phase.OPENING:
            self.phase, self._since = Phase.LIVE, given_at
            if self.troubled:
                self.troubled = False
                self._last_words = ""
                self._on_change(_BACK)
        if self.phase is Phase.LIVE:
            self._sign = max(self._sign, given_at)
            self._back_off.works(given_at)

    def gone(self, now: int, words: str) -> None:
        """Note that the process has ended; ``words`` say why, if it was not asked to."""
        if self.phase in (Phase.OPENING, Phase.LIVE):
            self._trouble(words)
        self._rest(now)

    def _rest(self, now: int) -> None:
        self._back_off.fall(now)
        self.phase, self._since = Phase.RESTING, now

    def _go(self, phase: Phase, now: int, act: Act) -> Act:
        self.phase, self._since, self._sign = phase, now, now
        return act

    def _trouble(self, words: str) -> None:
        """Report each trouble once until the camera is back."""
        self.troubled = True
        if words != self._last_words:
            self._last_words = words
            self._on_change(words)
