"""Process priority: asks the system to prefer the referee's own process, so that hands are handled first.

A light cannot come on while its process waits for the CPU. A *nice* value only counts within a session if the kernel
groups sessions (``sched_autogroup_enabled``), so real-time scheduling is requested first. That is safe: the referee
sleeps nearly always, and the kernel always leaves others a twentieth of each second. All threads are included, since
they share Python's interpreter lock: an ordinary thread that holds it would delay a hand. Processes started later, such
as the eye, are ordinary again.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

SWITCH: Final = 0.0005
"""Seconds after which a computing thread makes way for another; Python's default 0.005 would delay a light."""
PRIORITY: Final = 10
"""Real-time priority: above all ordinary processes, below the kernel's interrupts (50) and sound (often 20)."""
NICE: Final = -10
"""Nice value requested if real-time scheduling is not allowed."""
_REACHED: Final = ("ordinary", "preferred", "real time")


def be_urgent(process: int | None = None) -> str:
    """Ask the system to prefer every current thread of this process, as far as it is allowed.

    Root is allowed, and a service whose unit has ``LimitRTPRIO=`` (or at least ``Nice=``).

    Args:
        process: another process of ours instead.

    Returns:
        The level reached: ``real time``, ``preferred`` or ``ordinary``; always ``ordinary`` if the system is not Linux.
    """
    if not hasattr(os, "sched_setscheduler"):
        return "ordinary"
    reached = "real time"
    for task in Path("/proc", str(process or os.getpid()), "task").iterdir():
        # A thread that has ended meanwhile does not matter.
        with suppress(ProcessLookupError):
            reached = min(reached, _prefer(int(task.name)), key=_REACHED.index)
    return reached


def _prefer(thread: int) -> str:
    try:
        os.sched_setscheduler(thread, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    except PermissionError:
        pass
    else:
        return "real time"
    try:
        os.setpriority(os.PRIO_PROCESS, thread, min(NICE, os.getpriority(os.PRIO_PROCESS, thread)))
    except PermissionError:
        return "ordinary"
    return "preferred"


OOM_SCORE: Final = 300
"""Added to the kernel's out-of-memory score, in thousandths of memory, so that this process is killed first: the eye
restarts and the game goes on; the referee itself would not."""


def be_patient(nice: int) -> None:
    """Give way to all that is more urgent, and be killed first if memory is short; for long computations.

    Processes it starts later inherit this.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE), encoding="ascii")
    if not hasattr(os, "sched_setscheduler"):
        return
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, 0, max(nice, os.getpriority(os.PRIO_PROCESS, 0)))


def make_quick() -> None:
    """Set up this process so that a computing thread delays a woken one as little as Python allows."""
    sys.setswitchinterval(SWITCH)
    # Objects made at the start stay for ever; scanning them at each collection would cost tens of milliseconds. Those
    # of an earlier game were alive when they were frozen, and would never be collected.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
