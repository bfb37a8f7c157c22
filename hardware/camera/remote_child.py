"""The process in which a camera lives: it opens the camera, puts its frames into the ring, and says what happens.

Started by `hardware.camera.remote_process`; it knows nothing of who looks at the frames. It ends when it is asked to
(SIGTERM), when the camera ends, and when the process that started it is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

from hardware.camera.frame_buffer import FrameRing
from hardware.camera.spec import CameraSpec, Reporting
from hardware.clock import monotonic
from hardware.ports import Camera, HardwareMissing

_OPENED: Final = "opened"
"""The camera answers; no picture yet."""
PICTURES: Final = "pictures"
"""The ring is laid out: the first picture lies in it."""
REPORT: Final = "report"
MISSING: Final = "missing"
"""The camera is not there, or went: words for people."""
FAILED: Final = "failed"
"""Something that nobody foresaw: the exception's last line."""
ENDED: Final = "ended"
"""A recording has come to its end."""

Say = Callable[..., None]


class _Asked(BaseException):
    """The parent asked this process to stop."""


def _ask(_signal: int, _frame: FrameType | None) -> None:
    raise _Asked


def end_with_parent(lifeline: int) -> None:
    """Let the kernel end this process when the other end of the pipe ``lifeline`` closes.

    A pipe that hangs up sends SIGIO, whose default is to end the process: no thread and no interpreter is needed for
    it, so it works while C code sits in a driver. (PR_SET_PDEATHSIG would watch the parent's thread, not the parent.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    # A parent's thread that blocks signals hands that down.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO, signal.SIGTERM})
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        if os.read(lifeline, 1) == b"":
            # It closed before anybody watched.
            os._exit(1)


def _deliver(camera: Camera, memory: int, bell: int, say: Say) -> None:
    """Frames into the ring, until the camera ends."""
    ring: FrameRing | None = None
    told: dict[str, Any] | None = None
    parent = os.getppid()
    for frame in camera.frames():
        if os.getppid() != parent:
            # The lifeline is kept open by another child of the parent that was.
            return
        if ring is None:
            ring = FrameRing.lay_out(memory, *frame.image.shape[:2])
        number = ring.put(frame, monotonic())
        told = _report(camera, told, say)
        if number == 1:
            say(PICTURES)
        os.eventfd_write(bell, 1)


def _report(camera: Camera, told: dict[str, Any] | None, say: Say) -> dict[str, Any] | None:
    """Tell what the camera says of itself whenever it says something new."""
    if not isinstance(camera, Reporting):
        return None
    now = camera.report().to_json()
    if now != told:
        say(REPORT, report=now)
    return now


def serve(spec: CameraSpec, memory: int, bell: int, say: Say) -> None:
    """Open the camera and deliver its frames; every way in which that ends is said."""
    camera: Camera | None = None
    try:
        camera = spec.open()
        say(_OPENED)
        _report(camera, None, say)
        _deliver(camera, memory, bell, say)
        say(ENDED)
    except _Asked:
        pass
    except HardwareMissing as bad:
        say(MISSING, words=str(bad))
    except Exception as bad:
        traceback.print_exc()
        say(FAILED, words=f"{type(bad).__name__}: {bad}")
    # Whoever asked waits for a while only, and then kills: a close that hangs is no reason to hang here for ever.
    with contextlib.suppress(_Asked, Exception):
        if camera is not None:
            camera.close()


def main(arguments: Sequence[str]) -> None:
    """Arguments: file descriptors of the lifeline, the memory, the bell and the messages, and the camera as JSON."""
    lifeline, memory, bell, messages = (int(number) for number in arguments[:4])
    for inherited in (lifeline, memory, bell, messages):
        os.set_inheritable(inherited, False)
    # Ctrl-C at the terminal reaches the whole group: the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(lifeline)

    def say(kind: str, **more: Any) -> None:
        os.write(messages, (json.dumps({"kind": kind, **more}) + "\n").encode())

    with contextlib.suppress(_Asked, BrokenPipeError):
        signal.signal(signal.SIGTERM, _ask)
        serve(CameraSpec.from_json(arguments[4]), memory, bell, say)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Not by the interpreter's exit: a camera library's own clean-up there may wait for a camera that is gone.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
