"""Orphaned children: processes that a program of ours left behind because it was killed first.

A child ends by itself when its pipes close, unless it is stopped or hangs; then it holds the camera or the page's
address. Each child carries its parent's identity as a mark in its environment, and the next program to start ends those
whose parent is gone. This requires /proc and process descriptors; elsewhere nothing is found.
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
"""Environment variable with the parent's process id and start time; the latter detects a reused id."""
_PROCESSES: Final = Path("/proc")
_GOING: Final = 2.0
"""Seconds allowed for killed processes to end."""


def mark(parent: int | None = None) -> dict[str, str]:
    """Return the environment entry that marks a child of ``parent`` (None: this process)."""
    return {MARK: f"{parent or os.getpid()}:{_began(parent or os.getpid())}"}


@contextmanager
def marked() -> Iterator[None]:
    """Mark children started in this context as this process's own."""
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
    """Kill every marked process of this user whose parent is gone; return their ids.

    Waits briefly for them to end. A process blocked in the kernel on a device ends when the device answers.
    """
    if not hasattr(os, "pidfd_open") or not _PROCESSES.is_dir():
        return []
    ended: dict[int, int] = {}
    for folder in _PROCESSES.iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        with suppress(OSError):
            handle = os.pidfd_open(int(folder.name))
            # Check only after opening the handle: from then on the id cannot be reused.
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
    words = [word for word in (folder / "environ").read_bytes().split(b"\0") if word.startswith(MARK.encode() + b"=")]
    if not words:
        return False
    parent, _, began = words[0].decode(errors="replace").partition("=")[2].partition(":")
    return parent.isdecimal() and began != _began(int(parent))


def _began(process: int) -> str:
    """Return when a process began, in kernel ticks since boot; empty if there is none."""
    with suppress(OSError):
        # Split after the last bracket: the name in brackets may contain anything.
        fields = (_PROCESSES / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        # A zombie does not count as running.
        return "" if fields[0] in ("Z", "X") else fields[19]
    return ""
