"""The control and the burdens of latency measurements.

The control is a bare loop with the referee's own priority, woken by the same edges at the same instants: its wake-up
delay is this machine's own, whatever the program. A burden is other work of the machine meanwhile.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hardware.priority import be_urgent
from tests.powercut.mount import mounted

BURDENS: Final = ("none", "busy", "disk")
"""No other work; two other processes that compute without end; a disk each of whose syncs takes `SYNC` s."""
SYNC: Final = 0.5
_STAMP: Final = struct.Struct("q")
_BUSY: Final = 2


class ControlLoop:
    """A process that only notes its wake-up delays."""

    def __init__(self, folder: Path) -> None:
        """Start it; its notes go into a file of the folder."""
        self._notes = folder / "control"
        read, self.fd = os.pipe2(os.O_CLOEXEC)
        """Receives an edge's stamp, ns of CLOCK_MONOTONIC as eight bytes, as the edge is made."""
        self._child = os.fork()
        if not self._child:
            os.close(self.fd)
            try:
                _note(read, self._notes)
            finally:
                os._exit(0)
        os.close(read)
        be_urgent(self._child)

    def close(self) -> list[float]:
        """End it; return its wake-up delays, ms."""
        os.close(self.fd)
        os.waitpid(self._child, 0)
        return [late / 1e6 for (late,) in _STAMP.iter_unpack(self._notes.read_bytes())]


def _note(read: int, notes: Path) -> None:
    with notes.open("wb", buffering=0) as out:
        while stamps := os.read(read, 64 * _STAMP.size):
            now = time.monotonic_ns()
            out.write(b"".join(_STAMP.pack(now - stamp) for (stamp,) in _STAMP.iter_unpack(stamps)))


@contextmanager
def burdened(name: str, folder: Path) -> Iterator[Path]:
    """Apply a burden of `BURDENS`; yield the folder for the record.

    Raises:
        NoFuse: a slow disk is wanted, and this machine does not allow users to mount one.
    """
    if name == "busy":
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(_BUSY)]
        try:
            yield folder
        finally:
            for process in busy:
                process.kill()
                process.wait()
    elif name == "disk":
        disk = folder / "disk"
        disk.mkdir()
        with mounted(disk) as power:
            power.slow(SYNC)
            yield disk
    else:
        yield folder
