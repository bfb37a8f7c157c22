"""Makes this interpreter, and all its children, look like a system without Linux's own modules.

Its folder is put into PYTHONPATH: Python imports this by itself. It takes away what macOS and Windows lack.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import selectors
import socket
import sys
import time
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

LACKING = {
    os: (
        "eventfd", "eventfd_read", "eventfd_write", "EFD_CLOEXEC", "EFD_NONBLOCK", "EFD_SEMAPHORE", "pidfd_open",
        "memfd_create", "MFD_CLOEXEC", "MFD_ALLOW_SEALING", "pipe2", "O_CLOEXEC", "sched_setscheduler",
        "sched_getscheduler", "sched_param", "SCHED_RR", "SCHED_OTHER", "SCHED_RESET_ON_FORK", "sched_getaffinity",
        "sched_setaffinity", "posix_fadvise", "posix_fallocate",
    ),
    select: ("epoll", "EPOLLIN"),
    socket: ("SO_PEERCRED", "SOCK_CLOEXEC", "SOCK_NONBLOCK"),
    time: ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC_RAW", "CLOCK_MONOTONIC"),
}  # fmt: skip
REFUSED = frozenset(("fcntl", "termios", "tty", "pty", "evdev", "gpiod", "resource", "spidev"))


class Refusing(MetaPathFinder):
    """Finds none of the missing modules."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Refuse it, or leave it to others."""
        if name.partition(".")[0] in REFUSED:
            raise ModuleNotFoundError(f"No module named {name!r} on a plain system", name=name)
        return None


for module, names in LACKING.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
# Chosen at import, which was before.
selectors.DefaultSelector = selectors.PollSelector  # type: ignore[misc, assignment]
del selectors.EpollSelector
for name in REFUSED:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Refusing())
multiprocessing.set_start_method("spawn", force=True)
