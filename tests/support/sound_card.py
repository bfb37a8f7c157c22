"""A simulated sound card: ALSA writes the played sound into a pipe, which is emptied at a card's pace.

`listen` is the other end, in a separate process: it notes the instants at which sound begins, as it arrives.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

SYSTEM: Final = Path("/usr/share/alsa/alsa.conf")
RATE: Final = 48_000
CHANNELS: Final = 8
FRAME: Final = 4 * CHANNELS
BLOCK: Final = 0.0025
"""Seconds of sound taken at a time."""
PIPE: Final = 4096
"""Bytes that the pipe holds: 2.7 ms of sound, so that little waits in it."""
QUIET: Final = 0.03
"""Seconds of quiet before a sound counts as a beginning."""
LOUD: Final = 0.02

_CONFIG: Final = f"""
<{SYSTEM}>
pcm.!default {{ type plug slave {{ pcm capture rate {RATE} channels {CHANNELS} format S32_LE }} }}
pcm.capture {{ type file slave.pcm null file "FILE" format raw }}
ctl.!default {{ type hw card 0 }}
"""


def configure(folder: Path) -> tuple[Path, Path]:
    """Write the configuration for ALSA_CONFIG_PATH; return it and the pipe."""
    pipe, config = folder / "card", folder / "asound.conf"
    if not pipe.exists():
        os.mkfifo(pipe)
    config.write_text(_CONFIG.replace("FILE", str(pipe)))
    return config, pipe


class Card:
    """The pipe and its reader; must exist before the first sound stream is opened."""

    def __init__(self, folder: Path) -> None:
        """Make both in a folder; `environment` then names the output."""
        self.config, pipe = configure(folder)
        self._onsets = folder / "onsets"
        # Open for reading and writing, so that a program that only tries the card neither blocks nor ends the listener.
        self._pipe = os.open(pipe, os.O_RDWR)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, PIPE)
        os.environ["ALSA_CONFIG_PATH"] = str(self.config)
        self._listener = subprocess.Popen(
            [sys.executable, "-m", "tests.support.sound_card", str(self._pipe), str(self._onsets)],
            pass_fds=(self._pipe,),
        )

    @property
    def listener(self) -> int:
        """Start the process that empties the pipe."""
        return self._listener.pid

    @property
    def onsets(self) -> list[int]:
        """Return every beginning of sound after quiet, ns of CLOCK_MONOTONIC."""
        return [int(line) for line in self._onsets.read_text().split()] if self._onsets.exists() else []

    def close(self) -> None:
        """End the listener; no sound may be played afterwards."""
        self._listener.kill()
        self._listener.wait()
        os.close(self._pipe)


def listen(fd: int, onsets: Path) -> None:
    """Empty the pipe in real time until terminated; note the instant of each beginning."""
    size = round(BLOCK * RATE) * FRAME
    quiet, due, rest = QUIET, time.monotonic(), b""
    with onsets.open("w", buffering=1) as out:
        while True:
            data = os.read(fd, size - len(rest))
            if not data:
                return
            rest += data
            if len(rest) < size:
                continue
            now = time.monotonic_ns()
            first = np.frombuffer(rest, "<i4")[::CHANNELS] / 2**31
            rest = b""
            loud = np.flatnonzero(np.abs(first) > LOUD)
            if loud.size == 0:
                quiet += BLOCK
            else:
                if quiet >= QUIET:
                    out.write(f"{now}\n")
                quiet = 0.0
            # A card takes sound as fast as it plays it; after a delay it takes up to a period at once.
            due = max(due + BLOCK, time.monotonic() - 4 * BLOCK)
            time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    listen(int(sys.argv[1]), Path(sys.argv[2]))
