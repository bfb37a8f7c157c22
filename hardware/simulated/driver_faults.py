"""How the simulated driver fails at its opening and while it runs, in the words and ways of the real one."""

from __future__ import annotations

import ctypes
import os
import signal
import sys


def refuse_to_open(now: frozenset[str]) -> None:
    """Raise `RuntimeError` where no camera answers, or another program holds it, in picamera2's words."""
    if "absent" in now:
        raise RuntimeError('No camera number 0 found - use "rpicam-hello --list-cameras" to check connected cameras')
    if "busy" in now:
        raise RuntimeError("Camera __init__ sequence did not complete.") from RuntimeError(
            "Failed to acquire camera: Device or resource busy"
        )


def misbehave(now: frozenset[str]) -> None:
    """Crash, print, or never return, where these faults are among those of ``now``."""
    if "die" in now:
        print("*** the simulated driver fell over: bad address", file=sys.stderr, flush=True)
        os.abort()
    if "noisy" in now:
        print("the simulated driver complains. " * 400, file=sys.stderr, flush=True)
    while "stuck" in now:
        # A PyDLL keeps the interpreter's lock: no other thread runs, and no signal wakes it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        ctypes.PyDLL(None).sleep(3600)
