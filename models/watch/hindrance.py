"""What hinders the camera's view for so long that somebody should see to it."""

from __future__ import annotations

from typing import Final

from models.watch.motion import Glance
from models.watch.stream import LONG_AGO, MS, Moment

DARK_NS: Final = 400 * MS
BLOCKED_NS: Final = 700 * MS
"""A hand that passes close to the lens is no trouble yet."""
LASTS_NS: Final = 2_500 * MS
"""How long the last trouble is told after it has passed."""


class Hindrance:
    """Keeps in mind since when the view is hindered."""

    def __init__(self) -> None:
        self._state = "clear"
        self._since = 0
        self._told = ""
        self._told_t = LONG_AGO
        self._t = 0

    @property
    def trouble(self) -> str:
        """``dark``, ``blocked``, ``moved`` or, if all is well, empty."""
        return self._told if self._t - self._told_t < LASTS_NS else ""

    def note(self, now: Moment, glance: Glance) -> None:
        """Take in the state of the newest frame."""
        self._t = now.t
        if glance.state != self._state:
            self._state, self._since = glance.state, now.t
        lasted = now.t - self._since
        if (self._state == "dark" and lasted >= DARK_NS) or (self._state == "blocked" and lasted >= BLOCKED_NS):
            self._tell(self._state)

    def note_moved(self, now: Moment) -> None:
        """The whole picture has shifted: the camera is not where it was."""
        self._t = now.t
        self._tell("moved")

    def _tell(self, trouble: str) -> None:
        self._told, self._told_t = trouble, self._t
