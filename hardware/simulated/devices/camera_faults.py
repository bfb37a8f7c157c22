"""Faults of the simulated camera and their timing: scripted by frame number, or switched by a file at run time.

A script is text: ``silent@30`` fails from the 30th frame on, ``mono+padded`` applies from the beginning. A file holds
such a script, too, and is reread constantly, so that a test, or a person, can unplug and replug the cable of a camera
that runs in another process.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

FAULTS: Final[dict[str, str]] = {
    # At the opening.
    "uninstalled": "picamera2 is not there",
    "bindings": "picamera2 comes from pip and lacks libcamera",
    "mismatch": "libcamera was upgraded and its bindings were not",
    "numpy": "picamera2's parts were built for another numpy",
    "absent": "no camera answers on the cable",
    "busy": "another program holds the camera",
    "memory": "no contiguous memory for the buffers",
    # Results that differ from the request.
    "size": "another size, without a word",
    "padded": "rows with padding at their ends",
    "rgb": "channels in the other order",
    "four": "four channels",
    "planes": "a format that cannot be read",
    "fixed": "a lens that cannot be moved",
    # The clock of the stamps (CLOCK_BOOTTIME where none of these is named).
    "mono": "stamps count on CLOCK_MONOTONIC",
    "alien": "stamps count on no clock of this machine",
    "unstamped": "no stamps",
    # While it runs.
    "stall": "no frames until it is stopped and started",
    "silent": "no frames, whatever is done: the cable is out",
    "hang": "no frames, and stopping never returns",
    "stuck": "no frames, and a call into the driver never returns nor lets the interpreter run",
    "loop": "picamera2's event loop is dead: no job is served, and stopping waits for it for ever",
    "error": "each capture raises",
    "die": "the process crashes, with words on its standard error",
    "dark": "black pictures",
    "past": "frames that are old when they come",
    "again": "the same frame again and again",
    "unlocked": "exposure and gain wander off",
    "drift": "the lens drifts, as it does with heat",
    "unfocused": "the autofocus finds nothing to be sharp on",
    "slow": "a third of the frames",
    "noisy": "prints more than a pipe holds",
}


class Faults:
    """Returns the faults of each frame."""

    def __init__(self, script: str = "", switch: Path | None = None) -> None:
        """Read the script.

        Args:
            script: faults joined by ``+``, each optionally with ``@`` and the number of its first frame.
            switch: a file with such a script, reread at each query; absent or empty: no fault.

        Raises:
            ValueError: there is no such fault.
        """
        self._script = _read(script)
        self._switch = switch

    def at(self, frame: int) -> frozenset[str]:
        """Return the faults at that frame; -1: at opening. Raises `ValueError` for an unknown fault in the switch."""
        script = self._script
        if self._switch is not None:
            with contextlib.suppress(FileNotFoundError):
                script = script | _read(self._switch.read_text().strip())
        return frozenset(name for name, first in script.items() if frame >= first)


def _read(script: str) -> dict[str, int]:
    out = {}
    for part in filter(None, script.split("+")):
        name, _, first = part.partition("@")
        if name not in FAULTS:
            raise ValueError(f"a simulated camera has no fault {name!r}; it has {', '.join(FAULTS)}")
        out[name] = int(first) if first else -1
    return out
