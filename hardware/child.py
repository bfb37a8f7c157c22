"""Children of a program: how a Python of our own is started, and how long one that fell rests before the next start.

Camera, eye and page are each kept alive by the process that needs them. What counts as a sign of life differs, and so
each has its own supervisor; how they are started and tried again is the same, and stands here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hardware.orphans import mark
from referee.units import SECOND

RESTS: Final = (0, SECOND // 2, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND)
"""Before each further start in a row, ns; the last holds for all that follow."""
STEADY: Final = 10 * SECOND
"""A child that has worked for so long is sound, ns: after its next fall the rests begin anew."""
_CODE: Final = Path(__file__).resolve().parents[1]
"""The folder in which our packages lie."""


class BackOff:
    """Says when a child that fell is started again: later with each fall in a row, and without end.

    Time is data: instants are given, in ns.
    """

    def __init__(self, rests: Sequence[int] = RESTS, steady: int = STEADY) -> None:
        self._rests, self._steady = rests, steady
        self._falls = 0
        self._works_since: int | None = None

    def works(self, now: int) -> None:
        """The child gives a sign of life."""
        if self._works_since is None:
            self._works_since = now
        elif now - self._works_since > self._steady:
            self._falls = 0

    def fall(self, now: int) -> int:
        """The child has fallen, or could not be started; returns the instant of the next start."""
        rest = self._rests[min(self._falls, len(self._rests) - 1)]
        self._falls += 1
        self._works_since = None
        return now + rest


def python_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours in an interpreter of its own, to be started with `child_environment`.

    A child that crashes in C code still prints where. Nothing is imported from the folder in which the program was
    started (``-P``): a file there may have the name of a module.
    """
    return [sys.executable, "-P", "-X", "faulthandler", "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """What the environment of a child holds: the mark of its parent, and where our own modules are found.

    This process' `sys.path` is not handed on. OpenCV's loader puts its own folder, in which a package is called
    ``typing``, at the head of it for as long as it loads; a child that was started by another thread meanwhile died.
    """
    given = {**os.environ, **mark()}
    paths = [path for path in given.get("PYTHONPATH", "").split(os.pathsep) if path]
    if _CODE.name not in ("site-packages", "dist-packages"):
        # Elsewhere no interpreter looks by itself.
        paths.append(str(_CODE))
    return given | {"PYTHONPATH": os.pathsep.join(paths)}
