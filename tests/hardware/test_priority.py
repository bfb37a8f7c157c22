"""The referee's priority: every thread that exists, and nothing that it starts later."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

from hardware.priority import OOM_SCORE, be_urgent, make_quick

PROGRAM = """
import os, subprocess, sys, threading
from hardware.priority import be_patient, be_urgent

stop = threading.Event()
threading.Thread(target=stop.wait, daemon=True).start()
reached = be_urgent()
now = {os.sched_getscheduler(int(task)) & ~os.SCHED_RESET_ON_FORK for task in os.listdir("/proc/self/task")}
nice = {os.getpriority(os.PRIO_PROCESS, int(task)) for task in os.listdir("/proc/self/task")}
ask = [sys.executable, "-c", "import os; print(os.sched_getscheduler(0))"]
later = subprocess.run(ask, capture_output=True, text=True)
be_patient(7)
print(reached, len(os.listdir("/proc/self/task")), *now, *nice, later.stdout.strip(), os.sched_getscheduler(0),
      os.getpriority(os.PRIO_PROCESS, 0), sep=",")
"""


def test_all_threads_are_preferred_and_what_is_started_later_is_ordinary() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    reached, threads, policy, nice, later, patient, patience = done.stdout.strip().split(",")
    assert int(threads) == 2
    wanted = {
        "real time": (os.SCHED_RR, 0),
        "preferred": (os.SCHED_OTHER, -10),
        "ordinary": (os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, 0)),
    }
    assert (int(policy), int(nice)) == wanted[reached], "each of the threads alike"
    assert int(later) == os.SCHED_OTHER
    assert int(patient) == os.SCHED_OTHER
    assert int(patience) >= 7


def test_where_memory_is_short_what_computes_for_long_goes_first() -> None:
    program = "from hardware.priority import be_patient; be_patient(0); print(open('/proc/self/oom_score_adj').read())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) == OOM_SCORE > 0


def test_a_process_that_is_gone_is_no_error() -> None:
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert be_urgent(gone.pid) in ("real time", "preferred", "ordinary")
    gone.communicate()


def test_what_an_earlier_game_left_is_collected_when_the_next_begins() -> None:
    """Objects that were frozen while they were in use are let go of once they are not."""

    class Ring:
        """An object that only the collector can free."""

        def __init__(self) -> None:
            self.me = self

    switch, thresholds = sys.getswitchinterval(), gc.get_threshold()
    try:
        ring = Ring()
        make_quick()
        there = weakref.ref(ring)
        del ring
        make_quick()
        assert there() is None
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(switch)
