"""Hands before everything: how the machine is asked to prefer the referee's own process.

Whoever waits for the processor cannot light a light. A process that is merely *nicer* is preferred within its own
session alone where the kernel groups sessions (``sched_autogroup_enabled``), so real-time scheduling is asked for
first: the referee sleeps nearly always, and the kernel leaves others a twentieth of each second whatever happens. Every
thread of the process is asked for, since Python hands its interpreter from one to the other: a thread that holds it and
is not preferred would keep the hand waiting. What the process starts later, such as the eye, is ordinary again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

PRIORITY: Final = 10
"""Of real-time scheduling: above all that is ordinary, below the kernel's interrupts (50) and sound (often 20)."""
NICE: Final = -10
"""What is asked for where real time is not allowed."""
_REACHED: Final = ("ordinary", "preferred", "real time")


def be_urgent(process: int | None = None) -> str:
    """Have the machine prefer every thread that this process has now, as far as it is allowed.

    Allowed to root, and to a service whose unit says ``LimitRTPRIO=`` (or at least ``Nice=``).

    Args:
        process: another process of ours instead.

    Returns:
        What was reached: ``real time``, ``preferred`` or ``ordinary``; always that where the system is not Linux.
    """
    if not hasattr(os, "sched_setscheduler"):
        return "ordinary"
    reached = "real time"
    for task in Path("/proc", str(process or os.getpid()), "task").iterdir():
        # A thread that has ended meanwhile is in nobody's way.
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
"""What the kernel adds to the share of memory of a process that is to go before the others, in thousandths: the eye is
started again, and the game goes on; the referee itself is not."""


def be_patient(nice: int) -> None:
    """Give way to all that is more urgent, and go first where memory is short: what computes for long calls this first.

    What it starts later does the same.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE), encoding="ascii")
    if not hasattr(os, "sched_setscheduler"):
        return
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, 0, max(nice, os.getpriority(os.PRIO_PROCESS, 0)))
