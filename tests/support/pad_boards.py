"""A pad board at the other end of a pseudo-terminal: the sketch of docs/pad_board.py itself, by a clock of its own."""

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
"""Where the ticks of MicroPython begin anew, µs."""
_SKETCH: Final = Path(__file__).parents[2] / "docs" / "pad_board.py"


def load_sketch() -> Any:
    """The sketch as a module."""
    spec = importlib.util.spec_from_file_location("pad_board", _SKETCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ticks_diff(later: int, earlier: int) -> int:
    """As MicroPython's: the way round that is shorter."""
    return (later - earlier + _ROUND // 2) % _ROUND - _ROUND // 2


class BoardOnLine:
    """A board whose pads a test closes; ``path`` is what the referee opens."""

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
        self.board: Any = None

    def boot(self, ticks: int = 0) -> None:
        """It begins (anew), its ticks at some number of microseconds."""
        self._began = self.now - ticks * US
        self.board = load_sketch().PadBoard(self._pads, self._ticks, ticks_diff, self._sent.extend)
        self._flush()

    def skip(self, ns: int) -> None:
        """Its clock goes on as if so long had passed."""
        self._began -= ns

    def press(self, pad: int, closed: bool) -> None:
        """A pad closes or opens now."""
        self.board.note(pad, int(closed))

    def turn(self) -> None:
        """The board's main loop comes round."""
        data = b""
        while select.select([self._master], [], [], 0)[0]:
            data += os.read(self._master, 4096)
        self.board.turn(data)
        self._flush()

    def say(self, data: bytes) -> None:
        """Something that no board should say."""
        self._sent += data
        self._flush()

    def unplug(self) -> None:
        """Both ends are gone."""
        os.close(self._master)
        os.close(self._slave)

    def _ticks(self) -> int:
        return round((self.now - self._began) * (1 + self._drift * 1e-6)) // US % _ROUND

    def _flush(self) -> None:
        for line in bytes(self._sent).splitlines(keepends=True):
            os.write(self._master, line if self._damage is None else self._damage(line))
        self._sent.clear()


def damage_lines(rng: random.Random, share: float) -> Callable[[bytes], bytes]:
    """Tears some lines, and puts junk before others."""

    def damage(line: bytes) -> bytes:
        chance = rng.random()
        if chance < share:
            start = rng.randrange(len(line))
            return line[:start] + line[start + rng.randint(1, 12) :]
        return b"\xff\x00{]\n" + line if chance < 2 * share else line

    return damage


STEP: Final = 4 * MS
"""How often either side comes round, ns."""
