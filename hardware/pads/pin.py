"""One pad's pin: whether it is believed down, and since when that is certain. Pure; `hardware.pads.pads` looks at it."""

from __future__ import annotations

from collections import deque
from typing import Final

_HISTORY: Final = 256
"""Looks that are remembered."""


class PadPin:
    """One pin and what is believed of it."""

    def __init__(self, seat: int, pin: int, t_error: int) -> None:
        """A pad that is up; ``t_error`` is the half-width of what is known of a press, ns."""
        self.seat = seat
        self.pin = pin
        self.t_error = t_error
        self.down = False
        self.pressed_at = 0
        self.presses = 0
        self.fresh = False
        """Whether it has not been looked at since it was pressed: a quick tap is over before Python hears of it."""
        self._looks: deque[tuple[int, int]] = deque(maxlen=_HISTORY)

    def press(self, t: int) -> None:
        """It went down at ``t``, and has not been looked at since."""
        self.down, self.pressed_at, self.fresh = True, t, True
        self.presses += 1
        self._looks.clear()

    def saw_down(self, before: int, after: int) -> None:
        """Somewhere between these two instants the pad was looked at, and was down."""
        self._looks.append((before, after))

    def last_seen_down(self, t: int) -> int:
        """The latest instant before ``t`` at which the pad was certainly down, if nothing else is known before ``t``.

        A look that was not over by ``t`` proves nothing: what it saw may be the press at ``t``, which waits to be told.
        """
        return next((before for before, after in reversed(self._looks) if after < t), min(self.pressed_at, t))
