"""Child processes: how one that runs our own Python is started, and how long to wait before restarting a crashed one.

The process that needs camera, eye or page supervises it. Each supervisor defines its own sign of life; starting and
retrying are the same for all and are defined here. Each stops its child in its own way: a camera's process may be
blocked in its driver, the eye ends when its pipe closes, and the page ends on a signal.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hardware.orphans import mark
from referee.units import SECOND

RESTS: Final = (0, SECOND // 2, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND)
"""Delays before each further start in a row, ns; the last applies to all later starts."""
STEADY: Final = 10 * SECOND
"""Working time, ns, after which a child counts as sound: its next crash starts the delays afresh."""
_CODE: Final = Path(__file__).resolve().parents[1]
"""The folder that contains our packages."""


class BackOff:
    """Decides when to restart a crashed child: later with each crash in a row, without end.

    Time is data: instants are given, in ns.
    """

    def __init__(self, rests: Sequence[int] = RESTS, steady: int = STEADY) -> None:
        self._rests, self._steady = rests, steady
        self._falls = 0
        self._works_since: int | None = None
        self.due: int | None = None
        """Instant of the next start, ns; None while the child lives."""

    def is_due(self, now: int) -> bool:
        """Return whether there is no child, and another is to be started now."""
        return self.due is not None and now >= self.due

    def begin(self) -> None:
        """Note that the child is being started."""
        self.due = None

    def works(self, now: int) -> None:
        """Note that the child gave a sign of life."""
        if self._works_since is None:
            self._works_since = now
        elif now - self._works_since > self._steady:
            self._falls = 0

    def fall(self, now: int) -> int:
        """Note that the child crashed or could not be started; return the instant of the next start."""
        rest = self._rests[min(self._falls, len(self._rests) - 1)]
        self._falls += 1
        self._works_since = None
        self.due = now + rest
        return self.due


def start_python(
    module: str, *arguments: str, files: Sequence[int], output: int | None = None, environment: Mapping[str, str] = {}
) -> subprocess.Popen[bytes]:
    """Start a module of ours in a new interpreter; raises `OSError`.

    Args:
        module: runs as with ``python -m``.
        arguments: of its command line.
        files: the descriptors that it inherits.
        output: descriptor of what it prints; None: this process's own.
        environment: entries beside those of `child_environment`.
    """
    return subprocess.Popen(
        python_command(module, *arguments), stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=files,
        env={**child_environment(), **environment},
    )  # fmt: skip


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours in a new interpreter, to be started with `child_environment`.

    A child that crashes in C code still prints where. ``-P`` keeps the current folder off the import path: a file there
    may have the name of a module.
    """
    return [sys.executable, "-P", "-X", "faulthandler", "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """Return the environment of a child: the mark of its parent, and where our own modules are found.

    This process's `sys.path` is not passed on. While OpenCV loads, its loader puts its own folder first, which has a
    package called ``typing``; a child started by another thread meanwhile crashed.
    """
    given = {**os.environ, **mark()}
    paths = [path for path in given.get("PYTHONPATH", "").split(os.pathsep) if path]
    if _CODE.name not in ("site-packages", "dist-packages"):
        # Elsewhere the interpreter does not find our code by default.
        paths.append(str(_CODE))
    return given | {"PYTHONPATH": os.pathsep.join(paths)}
