"""Switching the machine off safely. What happens next is pure; the last step is a command that can be another.

Somebody asks, by the page (which has its own confirmation) or by the pads; asked by the pads, the table asks back and
waits for a yes. Then the game is paused, the record is closed, and only what has said that it is done is followed by
the next step, so that no line is lost. Where a step does not come to its end in time the machine stays on and says so:
the plug can still be pulled, since every line that was announced is on the disk.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.units import SECOND

ANSWER: Final = 15 * SECOND
"""How long a yes is waited for, ns."""
STEP: Final = 10 * SECOND
"""How long pausing, and closing, may take, ns."""


class PowerState(Enum):
    """How far it is."""

    ON = "on"
    ASKED = "asked"
    """By the pads: waits for a yes."""
    PAUSING = "pausing"
    CLOSING = "closing"
    OFF = "off"
    """The command is to be run, or was."""


class PowerStep(Enum):
    """What the caller is to do now."""

    ASK = "ask"
    """Say: switch off? Tap twice for yes."""
    PAUSE = "pause"
    """Pause the game; then call `paused`."""
    CLOSE = "close"
    """Commit and close the record, lights out; then call `closed`."""
    SWITCH_OFF = "switch off"
    """Run the command; call `failed` if it cannot be run."""
    STAY = "stay"
    """Nothing comes of it: `words` says why."""


@dataclass(frozen=True, slots=True)
class PowerOrder:
    """One step."""

    do: PowerStep
    words: str


class PowerOff:
    """Feed it what happened, at which instant (ns); it says what to do. Never goes a step back by itself."""

    def __init__(self) -> None:
        self.state = PowerState.ON
        self._since = 0

    def ask(self, t: int, *, confirmed: bool, playing: bool) -> list[PowerOrder]:
        """Somebody wants it off.

        Args:
            t: now, ns.
            confirmed: whether they were asked back already, as on the page.
            playing: whether a game is on.
        """
        if self.state is not PowerState.ON:
            return []
        if confirmed:
            return self._begin(t, playing=playing)
        return self._to(PowerState.ASKED, t, PowerStep.ASK, "Switch off? Tap twice for yes.")

    def answer(self, t: int, yes: bool, *, playing: bool) -> list[PowerOrder]:
        """A word of the pads; nothing unless it was asked for."""
        if self.state is not PowerState.ASKED:
            return []
        if not yes:
            return self._stay(t, "Not switched off.")
        return self._begin(t, playing=playing)

    def paused(self, t: int) -> list[PowerOrder]:
        """The game is paused."""
        return self._begin(t, playing=False) if self.state is PowerState.PAUSING else []

    def closed(self, t: int) -> list[PowerOrder]:
        """The record is closed: every line is on the disk."""
        if self.state is not PowerState.CLOSING:
            return []
        words = "Switching off; the game goes on at the next start."
        return self._to(PowerState.OFF, t, PowerStep.SWITCH_OFF, words)

    def failed(self, t: int, why: str) -> list[PowerOrder]:
        """A step could not be done; ``why`` in words."""
        if self.state in (PowerState.ON, PowerState.ASKED):
            return []
        return self._stay(t, f"Not switched off: {why}.")

    def advance(self, t: int) -> list[PowerOrder]:
        """It is ``t``, ns."""
        if self.state is PowerState.ASKED and t - self._since >= ANSWER:
            return self._stay(t, "Nobody answered; not switched off.")
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
    """Run the system's command for it.

    Args:
        command: the program and its arguments; no shell.
        patience: how long it may take to answer, s.

    Returns:
        Why it could not be done, for `PowerOff.failed`; empty where the system has taken it.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except FileNotFoundError:
        return f"there is no {command[0]} here"
    except OSError as bad:
        return f"{command[0]} cannot be run ({bad.strerror})"
    except subprocess.TimeoutExpired:
        return f"{command[0]} does not answer"
    if done.returncode != 0:
        return f"{command[0]} refused ({(done.stderr or done.stdout).strip()[:200] or done.returncode})"
    return ""
