"""Processes that a program of ours started and left behind, since it was killed before it could end them.

A child sees its pipes close and ends by itself; one that is stopped, or hangs, does not, and holds the camera or the
page's address. Each carries a mark in its environment that says whose child it is, and whoever starts next ends those
whose parent is no more. Only where the system has /proc and process descriptors; elsewhere nothing is found.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

MARK: Final = "TABLE_REFEREE_PARENT"
"""Of the environment: the parent's process and when it began, so that a number that was given again is no parent."""
_PROCESSES: Final = Path("/proc")
_GOING: Final = 2.0
"""Seconds that those which were ended may take to go."""


def mark(parent: int | None = None) -> dict[str, str]:
    """What the environment of a child says; ``parent``: this process if None."""
    return {MARK: f"{parent or os.getpid()}:{_began(parent or os.getpid())}"}


@contextmanager
def marked() -> Iterator[None]:
    """Children that are started meanwhile are marked as this process' own."""
    before = os.environ.get(MARK)
    os.environ.update(mark())
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(MARK, None)
        else:
            os.environ[MARK] = before


def end_orphans() -> list[int]:
    """Kill every marked process of this user whose parent is no more; returns their numbers.

    Waits a moment for them to be gone. One that waits in the kernel for a device goes when the device answers.
    """
    if not hasattr(os, "pidfd_open") or not _PROCESSES.is_dir():
        return []
    ended: dict[int, int] = {}
    for folder in _PROCESSES.iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        with suppress(OSError):
            handle = os.pidfd_open(int(folder.name))
            # Looked at after it was taken hold of: the number is nobody else's now.
            if _is_orphan(folder):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                ended[handle] = int(folder.name)
            else:
                os.close(handle)
    until = time.monotonic() + _GOING
    for handle in ended:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(0.0, until - time.monotonic()) * 1000)
        os.close(handle)
    return sorted(ended.values())


def _is_orphan(folder: Path) -> bool:
    words = [one for one in (folder / "environ").read_bytes().split(b"\0") if one.startswith(MARK.encode() + b"=")]
    if not words:
        return False
    parent, _, began = words[0].decode(errors="replace").partition("=")[2].partition(":")
    return parent.isdecimal() and began != _began(int(parent))


def _began(process: int) -> str:
    """When a process began, in the kernel's ticks since the machine did; empty where there is none."""
    with suppress(OSError):
        # Its name, in brackets, may hold anything.
        fields = (_PROCESSES / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        # One that has ended and that nobody asked about yet is none.
        return "" if fields[0] in ("Z", "X") else fields[19]
    return ""
