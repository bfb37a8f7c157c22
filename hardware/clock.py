"""The machine's clocks, and how far they stand apart.

Edges are stamped on ``CLOCK_MONOTONIC``; a camera's sensor stamps may count on ``CLOCK_BOOTTIME``, which goes
on while the machine sleeps. Everything in this project is told in ``CLOCK_MONOTONIC``, so the offset is
measured, not assumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

Clock = Callable[[], int]
"""Answers the present instant, ns."""


def monotonic() -> int:
    """``CLOCK_MONOTONIC``, ns."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def boottime() -> int:
    """``CLOCK_BOOTTIME``, ns."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def wall_now() -> str:
    """Wall time to the second, ISO 8601 with its offset: a label for people, never for judging."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Offset:
    """``other = reference + ahead``, known within ± ``error``; all ns."""

    ahead: int
    error: int


def measure_offset(other: Clock = boottime, reference: Clock = monotonic, tries: int = 16) -> Offset:
    """How far ``other`` runs ahead of ``reference``.

    Each try reads the reference on both sides of the other clock; the tightest try bounds the offset best,
    since an interruption between the readings can only widen it.
    """
    best: Offset | None = None
    for _ in range(tries):
        before = reference()
        between = other()
        after = reference()
        found = Offset(between - (before + after) // 2, (after - before + 1) // 2)
        if best is None or found.error < best.error:
            best = found
    if best is None:
        raise ValueError("tries must be at least 1")
    return best
