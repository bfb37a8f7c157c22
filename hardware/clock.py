"""The machine's clocks and the offset between them.

Edges are stamped on ``CLOCK_MONOTONIC``; a camera's sensor stamps may use ``CLOCK_BOOTTIME``, which continues while the
machine sleeps. All instants in this project are in ``CLOCK_MONOTONIC``, so the offset is measured, not assumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

Clock = Callable[[], int]
"""Returns the present instant, ns."""
_TRIES = 16
_SCHEDULED = Path("/proc/thread-self/schedstat")
"""Linux: this thread's time on a processor, its time waiting for one, ns, and how often it got one."""
_HAS_MONOTONIC = hasattr(time, "CLOCK_MONOTONIC")


def monotonic() -> int:
    """Return ``CLOCK_MONOTONIC``, ns; on a system without it, Python's monotonic time."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) if _HAS_MONOTONIC else time.monotonic_ns()


def boottime() -> int:
    """Return ``CLOCK_BOOTTIME``, ns; `monotonic` on a system without it, where no sensor uses it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else monotonic()


def time_awake() -> int:
    """Return for how long this thread has run or waited for a processor, ns; the rest of the time it slept.

    On a system that does not count the waiting, only the time that it has run.
    """
    try:
        waited = int(_SCHEDULED.read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        waited = 0
    return time.thread_time_ns() + waited


def wall_now() -> str:
    """Return wall time to the second, ISO 8601 with its offset: a label for people, never for judging."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Offset:
    """``other = reference + ahead``, known within ± ``error``; all ns."""

    ahead: int
    error: int


def measure_offset(other: Clock = boottime, reference: Clock = monotonic) -> Offset:
    """Return how far ``other`` runs ahead of ``reference``.

    Each try reads the reference on both sides of the other clock; the tightest try bounds the offset best,
    since an interruption between the readings can only widen it.
    """
    readings = [(reference(), other(), reference()) for _ in range(_TRIES)]
    found = (Offset(at - (before + after) // 2, (after - before + 1) // 2) for before, at, after in readings)
    return min(found, key=lambda offset: offset.error)
