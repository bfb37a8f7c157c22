"""Switching the machine off safely. The decisions are pure; the last step is a command that the caller can replace.

People ask by the page (which has its own confirmation) or by the pads; asked by the pads, the table asks back and waits
for a yes. Then the game is paused and the record closed. Each step begins only when the one before reports that it is
done, so no line is lost. If a step does not end in time, the machine stays on and says so: the plug can still be
pulled, since every announced line is on the disk.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.units import SECOND

ANSWER: Final = 15 * SECOND
"""Time to wait for a yes, ns."""
STEP: Final = 10 * SECOND
"""Longest time that pausing, and closing, may take, ns."""


class PowerState(Enum):
    """Progress of switching off."""

    ON = "on"
    ASKED = "asked"
    """Asked by the pads: waits for a yes."""
    PAUSING = "pausing"
    CLOSING = "closing"
    OFF = "off"
    """The command is to be run, or was."""


class PowerStep(Enum):
    """The caller's next action."""

    ASK = "ask"
    """Say: switch off? Tap twice for yes."""
    PAUSE = "pause"
    """Pause the game; then call `paused`."""
    CLOSE = "close"
    """Commit and close the record, lights out; then call `closed`."""
    SWITCH_OFF = "switch off"
    """Run the command; call `failed` if it cannot be run."""
    STAY = "stay"
    """Give up; `words` says why."""


@dataclass(frozen=True, slots=True)
class PowerOrder:
    """One step, and the words to say with it."""

    do: PowerStep
    words: str


class PowerOff:
    """State machine: takes events with their instants (ns), returns what to do. It never moves backwards on its own."""

    def __init__(self) -> None:
        self.state = PowerState.ON
        self._since = 0

    def ask(self, t: int, *, confirmed: bool, playing: bool) -> list[PowerOrder]:
        """Begin switching off at people's request.

        Args:
            t: now, ns.
            confirmed: whether they have confirmed already, as on the page.
            playing: whether a game is on.
        """
        if self.state is not PowerState.ON:
            return []
        if confirmed:
            return self._begin(t, playing=playing)
        return self._to(PowerState.ASKED, t, PowerStep.ASK, "Switch off? Tap twice for yes.")

    def answer(self, t: int, yes: bool, *, playing: bool) -> list[PowerOrder]:
        """Take a word of the pads; a no-op unless it was asked for."""
        if self.state is not PowerState.ASKED:
            return []
        if not yes:
            return self._stay(t, "Not switched off.")
        return self._begin(t, playing=playing)

    def paused(self, t: int) -> list[PowerOrder]:
        """The game is paused: go on to closing."""
        return self._begin(t, playing=False) if self.state is PowerState.PAUSING else []

    def closed(self, t: int) -> list[PowerOrder]:
        """The record is closed, with every line on the disk: go on to the command."""
        if self.state is not PowerState.CLOSING:
            return []
        words = "Switching off; the game goes on at the next start."
        return self._to(PowerState.OFF, t, PowerStep.SWITCH_OFF, words)

    def failed(self, t: int, why: str) -> list[PowerOrder]:
        """Give up because a step failed; ``why`` in words."""
        if self.state in (PowerState.ON, PowerState.ASKED):
            return []
        return self._stay(t, f"Not switched off: {why}.")

    def advance(self, t: int) -> list[PowerOrder]:
        """Move on to ``t`` (ns), and give up if a step takes too long."""
        if self.state is PowerState.ASKED and t - self._since >= ANSWER:
            return self._stay(t, "No answer; not switched off.")
        late = {PowerState.PAUSING: "game could not be paused", PowerState.CLOSING: "record could not be closed"}
        if self.state in late and t - self._since >= STEP:
            return self._stay(t, f"Not switched off: the {late[self.state]} in time.")
        return []

    def _begin(self, t: int, *, playing: bool) -> list[PowerOrder]:
        if playing:
            return self._to(PowerState.PAUSING, t, PowerStep.PAUSE, "The game is paused.")
        return self._to(PowerState.CLOSING, t, PowerStep.CLOSE, "Finishing writing.")

    def _stay(self, t: int, words: str) -> list[PowerOrder]:
        return self._to(PowerState.ON, t, PowerStep.STAY, words)

    def _to(self, state: PowerState, t: int, step: PowerStep, words: str) -> list[PowerOrder]:
        self.state, self._since = state, t
        return [PowerOrder(step, words)]


def switch_off(command: Sequence[str] = ("systemctl", "poweroff"), patience: float = 20.0) -> str:
    """Run the system's command that switches the machine off.

    Args:
        command: the program and its arguments; no shell.
        patience: time that it may take to answer, s.

    Returns:
        Why it could not be done, for `PowerOff.failed`; empty if the system has accepted it.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except FileNotFoundError:
        return f"there is no {command[0]} here"
    except OSError as error:
        return f"{command[0]} cannot be run ({error.strerror})"
    except subprocess.TimeoutExpired:
        return f"{command[0]} does not answer"
    if done.returncode != 0:
        return f"{command[0]} refused ({(done.stderr or done.stdout).strip()[:200] or done.returncode})"
    return ""
