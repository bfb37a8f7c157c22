"""When a camera process is to be asked, killed, left behind and started again: a pure machine, whose time is data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hardware.child import RESTS, STEADY, BackOff
from referee.sentence import Sentence
from referee.units import MS, SECOND


class Phase(Enum):
    """Where the present process stands."""

    OPENING = "opening"
    LIVE = "live"
    ASKED = "asked"
    """To stop."""
    KILLED = "killed"
    RESTING = "resting"
    """There is none; the next is started after a while."""


class Act(Enum):
    """What is to be done with the process now."""

    START = "start"
    ASK = "ask"
    KILL = "kill"
    ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long things may take, ns."""

    opening: int = 20 * SECOND
    """From the start of a process to its first picture: libraries load, a camera settles."""
    frame: int = 3 * SECOND
    """Between two frames. Longer than the camera's own shell needs to help itself."""
    asked: int = 500 * MS
    """To stop after having been asked."""
    killed: int = 500 * MS
    """To be gone after having been killed; one that is not waits in the kernel and is left behind."""
    rests: tuple[int, ...] = RESTS
    """Before each further start in a row; the last holds for all that follow."""
    steady: int = STEADY
    """A camera that delivered for so long is sound: the next start comes at once again."""


_NOT_OPEN: Final = Sentence("the camera does not open; starting it anew")
_SILENT: Final = Sentence("the camera fell silent; starting it anew")
_LEFT_BEHIND: Final = Sentence("the camera's process cannot be ended and is left behind; starting another")
_BACK: Final = Sentence("the camera is back")


class Supervisor:
    """Decides over one camera, of which one process lives at a time."""

    def __init__(self, patience: Patience, told: Callable[[str], None], now: int) -> None:
        self._patience = patience
        self._told = told
        self.phase = Phase.OPENING
        self._since = now
        self._sign = now
        self._until = now
        self._back_off = BackOff(patience.rests, patience.steady)
        self._last_words = ""
        self.troubled = False
        """Between words of trouble and the first picture after them."""

    @property
    def due(self) -> int:
        """The instant at which `look` has something to say if nothing happens before, ns."""
        waits = self._patience
        return {
            Phase.OPENING: self._since + waits.opening,
            Phase.LIVE: self._sign + waits.frame,
            Phase.ASKED: self._since + waits.asked,
            Phase.KILLED: self._since + waits.killed,
            Phase.RESTING: self._until,
        }[self.phase]

    def look(self, now: int) -> Act | None:
        """What has come due."""
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
        return self._go(Phase.OPENING, now, Act.START)

    def picture(self, given_at: int) -> None:
        """The process gave a frame at that instant."""
        if self.phase is Phase.OPENING:
            self.phase, self._since = Phase.LIVE, given_at
            if self.troubled:
                self.troubled = False
                self._last_words = ""
                self._told(_BACK)
        if self.phase is Phase.LIVE:
            self._sign = max(self._sign, given_at)
            self._back_off.works(given_at)

    def gone(self, now: int, words: str) -> None:
        """The process is no more; ``words`` say why, where nobody asked it to go."""
        if self.phase in (Phase.OPENING, Phase.LIVE):
            self._trouble(words)
        self._rest(now)

    def _rest(self, now: int) -> None:
        self._until = self._back_off.fall(now)
        self.phase, self._since = Phase.RESTING, now

    def _go(self, phase: Phase, now: int, act: Act) -> Act:
        self.phase, self._since, self._sign = phase, now, now
        return act

    def _trouble(self, words: str) -> None:
        """Say each trouble once, however often it comes again before the camera is back."""
        self.troubled = True
        if words != self._last_words:
            self._last_words = words
            self._told(words)
