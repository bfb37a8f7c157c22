"""Where hands come from: a pad, or the space bar as a stand-in; each says what its instants are worth."""

from __future__ import annotations

import os
import queue
import select
import sys
import termios
import tty
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, Self

from hardware.clock import Clock, monotonic
from referee.app.problems import UserError

if TYPE_CHECKING:
    from hardware.ports import Edge, Pads

MS: Final = 1_000_000
KEY_ERROR: Final = 30 * MS
"""Of the instant of a key, ns: keyboards tell of a press 11 to 73 ms late, each model by its own amount ("Measuring
keyboard response delays by comparing keyboard and joystick inputs", Behavior Research Methods, Instruments, & Computers
34 (2002), doi 10.3758/BF03195452)."""
SCREEN_ERROR: Final = 25 * MS
"""Of the instant at which a card can be seen on a screen, ns: up to one picture of 17 ms, and what the panel takes."""
PAD_TIMING: Final = (
    "The pad tells its instant to some {pad:.1f} ms. The screen shows a card up to 50 ms after the referee drew it, "
    "and that is in every time alike: compare your times with each other, not with those of real cards."
)
KEY_TIMING: Final = (
    "A keyboard tells of a press some 10 to 70 ms late, by its model, and the screen shows a card up to 50 ms late; "
    "both make every time too long, by an amount that no repeating averages away. Compare your times on this machine "
    "with each other only; a pad knows its instant twenty times as well."
)
QUIT: Final = frozenset(b"q\x03\x04\x1b")
_SLAP: Final = b" "


@dataclass(frozen=True, slots=True)
class Hand:
    """One slap, ± ``t_error``, ns."""

    t: int
    t_error: int


class Hands(Protocol):
    """A source of hands."""

    timing: str
    """What its instants are worth, in words."""

    def wait(self, until: int) -> Sequence[Hand] | None:
        """Hands that came since, as soon as there is one, or none at ``until`` (ns); None where the player leaves."""
        ...


class Keyboard:
    """The space bar of a terminal; q leaves."""

    timing = KEY_TIMING

    def __init__(self, clock: Clock = monotonic, file: int | None = None) -> None:
        """Raises `UserError` where there is no terminal."""
        self._file = sys.stdin.fileno() if file is None else file
        self._clock = clock
        if not os.isatty(self._file):
            raise UserError("practice needs a terminal for its keys, or a table's pads: --settings table.toml")

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._file)
        tty.setcbreak(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def wait(self, until: int) -> Sequence[Hand] | None:
        """See `Hands`."""
        ready, _, _ = select.select([self._file], [], [], max(0, until - self._clock()) / 1e9)
        if not ready:
            return ()
        t = self._clock()
        typed = os.read(self._file, 64)
        if not typed or QUIT & set(typed):
            return None
        return (Hand(t, KEY_ERROR),) if _SLAP in typed or b"\n" in typed else ()


class PadHands:
    """The pads of a table: any of them, or one seat's."""

    def __init__(self, pads: Pads, t_error: int, seat: int | None = None, clock: Clock = monotonic) -> None:
        """``t_error``: what a pad's instant is worth at most, ns."""
        self.timing = PAD_TIMING.format(pad=t_error / MS)
        self._seat, self._clock = seat, clock
        self._came: queue.SimpleQueue[Hand] = queue.SimpleQueue()
        pads.start(self._edge)

    def _edge(self, edge: Edge) -> None:
        if edge.pressed and (self._seat is None or edge.seat == self._seat):
            self._came.put(Hand(edge.t, edge.t_error))

    def wait(self, until: int) -> Sequence[Hand] | None:
        """See `Hands`."""
        try:
            return (self._came.get(timeout=max(0, until - self._clock()) / 1e9),)
        except queue.Empty:
            return ()
