"""A pad board at the other end of a pseudo-terminal: the sketch of docs/pad_board.py on its own clock."""

from __future__ import annotations

import importlib.util
import os
import pty
import random
import select
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from referee.units import MS, US

_ROUND: Final = 1 << 30
"""Period of MicroPython's ticks, µs."""
_SKETCH: Final = Path(__file__).parents[2] / "docs" / "pad_board.py"


def load_sketch() -> Any:
    """Load the sketch as a module."""
    spec = importlib.util.spec_from_file_location("pad_board", _SKETCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ticks_diff(later: int, earlier: int) -> int:
    """As MicroPython's: the shorter way round."""
    return (later - earlier + _ROUND // 2) % _ROUND - _ROUND // 2


class BoardOnLine:
    """A board whose pads a test closes; the referee opens ``path``."""

    def __init__(
        self, *, drift_ppm: float = 0.0, pads: int = 4, damage: Callable[[bytes], bytes] | None = None
    ) -> None:
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        self.now = 0
        """The world's instant, ns."""
        self._drift, self._pads, self._damage = drift_ppm, pads, damage
        self._began = 0
        self._sent = bytearray()
        self.lit: set[int] = set()
        """Pads whose lamps shine."""
        self.board: Any = None

    def boot(self, ticks: int = 0) -> None:
        """Boot or reboot it, its ticks at some number of microseconds."""
        self._began = self.now - ticks * US
        self.board = load_sketch().PadBoard(
            self._pads, self._ticks, ticks_diff, self._sent.extend, self._lamp, lambda: None, lambda state: None
        )
        self._flush()

    def skip(self, ns: int) -> None:
        """Advance its clock."""
        self._began -= ns

    def press(self, pad: int, closed: bool) -> None:
        """Close or open a pad now."""
        self.board.note(pad, int(closed))

    def turn(self) -> None:
        """Run one turn of the board's main loop."""
        data = b""
        while select.select([self._master], [], [], 0)[0]:
            data += os.read(self._master, 4096)
        self.board.turn(data)
        self._flush()

    def say(self, data: bytes) -> None:
        """Send a line that no board should send."""
        self._sent += data
        self._flush()

    def unplug(self) -> None:
        """Close both ends."""
        os.close(self._master)
        os.close(self._slave)

    def _lamp(self, pad: int, lit: int) -> None:
        (self.lit.add if lit else self.lit.discard)(pad)

    def _ticks(self) -> int:
        return round((self.now - self._began) * (1 + self._drift * 1e-6)) // US % _ROUND

    def _flush(self) -> None:
        for line in bytes(self._sent).splitlines(keepends=True):
            os.write(self._master, line if self._damage is None else self._damage(line))
        self._sent.clear()


def damage_lines(rng: random.Random, share: float) -> Callable[[bytes], bytes]:
    """Tear some lines, and put junk before others."""

    def damage(line: bytes) -> bytes:
        chance = rng.random()
        if chance < share:
            start = rng.randrange(len(line))
            return line[:start] + line[start + rng.randint(1, 12) :]
        return b"\xff\x00{]\n" + line if chance < 2 * share else line

    return damage


STEP: Final = 4 * MS
"""Interval between turns of either side, ns."""
