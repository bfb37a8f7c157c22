"""The interface of edge sources: input lines that report the instant of each press.

The pad shell uses the kernel's own event queue (`hardware.pads.gpiod_lines`); other devices have their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hardware.ports import Lost

OnPress = Callable[[int, int], None]
"""Called for a press with the pin's number and the kernel's stamp, ns."""
OnLost = Callable[[Lost], None]


class Lines(Protocol):
    """Claimed input lines; only the press edge is watched, without debouncing.

    Each line is pulled to its resting level. `drain` is called by one thread at a time.
    """

    exact: bool
    """Whether a stamp is the contact's exact instant: only at a simulated table."""
    delivery: int
    """Longest time from a press until `drain` can report it, ns."""

    def start(self, on_press: OnPress, on_lost: OnLost) -> None:
        """Report presses from now on, in any order among pins; callbacks may run on the source's thread."""
        ...

    def drain(self) -> None:
        """Report every waiting press. Raises OSError if the lines are gone for good."""
        ...

    def is_down(self, pin: int) -> bool:
        """Whether the pad on this pin is closed now. Raises OSError if the lines are gone."""
        ...

    def sleep(self, at_most: int | None) -> None:
        """Return when there may be something to report, when `wake` is called, or after ``at_most`` ns."""
        ...

    def wake(self) -> None:
        """Let `sleep` return at once."""
        ...

    def close(self) -> None:
        """Release the lines; may be called twice, and from another thread than the one that drains."""
        ...
