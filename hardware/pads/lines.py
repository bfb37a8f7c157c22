"""Where edges come from: input lines that tell at which instant each was pressed.

Behind the pad shell there is one of two sources: the kernel's own event queue (`hardware.pads.gpiod_lines`), or, where
that library is not installed, gpiozero's pins (`hardware.pads.gpiozero_lines`). docs/timing.md holds them side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hardware.ports import Lost

OnPress = Callable[[int, int], None]
"""Hears of a press: the pin's number, and the kernel's stamp, ns."""
OnLost = Callable[[Lost], None]


class Lines(Protocol):
    """Claimed input lines, of which only the press edge is watched, without debounce.

    What was claimed is pulled to its resting level. `drain` and `watermark` are called by one thread at a time.
    """

    exact: bool
    """Whether a stamp is the contact's own instant: only at a simulated table."""

    def start(self, on_press: OnPress, on_lost: OnLost) -> None:
        """Report presses from now on, in any order among pins; either may be called on a thread of the source."""
        ...

    def drain(self) -> None:
        """Report every press that waits. Raises OSError when the lines are gone for good."""
        ...

    def watermark(self, now: int) -> int:
        """After `drain`: every press up to this instant (ns) has been reported."""
        ...

    def is_down(self, pin: int) -> bool:
        """Whether the pad on this pin closes its contact now. Raises OSError when the lines are gone."""
        ...

    def sleep(self, at_most: int | None) -> None:
        """Return when something may wait to be told, when `wake` is called, or after ``at_most`` ns."""
        ...

    def wake(self) -> None:
        """Let `sleep` return at once."""
        ...

    def close(self) -> None:
        """Let go of the lines; may be called twice, and from another thread than the one that drains."""
        ...
