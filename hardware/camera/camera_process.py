"""The camera's process, from both sides: `CameraProcess` is the parent's side, `main` the child's.

The child opens the camera, puts its frames into the ring, and reports events. It ends on request (SIGTERM), when the
camera ends, and when its parent is gone. The parent's side starts it, listens, stops, kills and releases it, and never
blocks; `hardware.camera.remote` decides what is due.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import FrameType
from typing import Any, Final, NoReturn

from hardware.camera.frame_buffer import FrameRing, new_memory
from hardware.camera.spec import CameraSpec
from hardware.child import start_python
from hardware.clock import monotonic
from hardware.ports import Camera, Frame, HardwareMissing
from referee.sentence import to_json, words_of

FIRST_PICTURE: Final = "pictures"
"""Message: the ring is laid out and holds the first picture."""
REPORT: Final = "report"
"""Message: a new report about the camera."""
MISSING: Final = "missing"
"""Message: the camera is missing, or disappeared; with words for people."""
FAILED: Final = "failed"
"""Message: an unexpected failure, with the exception's last line."""
ENDED: Final = "ended"
"""Message: a recording has ended."""
_LAST_LINES: Final = 40
"""Number of printed lines kept as the process's last words."""
_CHUNK: Final = 65536

_left_behind: list[subprocess.Popen[bytes]] = []
"""Processes that could not be killed; polled again so that none stays a zombie."""


class CameraProcess:
    """A process that opens one camera. It uses subprocess rather than multiprocessing, so that it needs nothing from
    its parent's main module, and its parent may be a daemonic child.
    """

    def __init__(self, spec: CameraSpec) -> None:
        """Start it; returns at once.

        Raises:
            OSError: a process, pipe or memory is not available.
        """
        for old in list(_left_behind):
            if old.poll() is not None:
                _left_behind.remove(old)
        with ExitStack() as mine, ExitStack() as given:
            self._memory = _close_with(mine, new_memory())
            self.bell = _close_with(mine, os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
            lifeline, self._lifeline = os.pipe2(os.O_CLOEXEC)
            self.messages, messages = os.pipe2(os.O_CLOEXEC)
            self.errors, errors = os.pipe2(os.O_CLOEXEC)
            for end in (self._lifeline, self.messages, self.errors):
                _close_with(mine, end)
            for end in (lifeline, messages, errors):
                _close_with(given, end)
            os.set_blocking(self.messages, False)
            os.set_blocking(self.errors, False)
            theirs = (lifeline, self._memory, self.bell, messages)
            self._process = start_python(
                __name__, *map(str, theirs), spec.to_json(), files=theirs, output=errors,
                environment={"PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
            self.pid = self._process.pid
            self._end = _close_with(mine, os.pidfd_open(self.pid))
            self._files = mine.pop_all()
        self._said = b""
        self._printed = b""
        self._lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._ring: FrameRing | None = None
        self._open_pipes = {self.messages, self.errors}

    @property
    def files(self) -> set[int]:
        """File descriptors that become readable when there is something to look at."""
        return {self.bell, self._end, *self._open_pipes}

    def listen(self) -> list[dict[str, Any]]:
        """Return its messages since the last call; keep its output for `last_words`."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.bell)
        *lines, rest = (self._printed + self._read(self.errors)).split(b"\n")
        self._lines.extend(text for line in lines if (text := line.decode(errors="replace").rstrip()))
        self._printed = rest[-_CHUNK:]
        *lines, self._said = (self._said + self._read(self.messages)).split(b"\n")
        return [json.loads(line) for line in lines]

    def _read(self, file: int) -> bytes:
        out = b""
        while len(out) < 16 * _CHUNK:
            try:
                chunk = os.read(file, _CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                # A closed pipe would stay readable for ever.
                self._open_pipes.discard(file)
                break
            out += chunk
        return out

    @property
    def last_words(self) -> str:
        """The last lines that it printed; empty if there are none."""
        return "\n".join([*self._lines, self._printed.decode(errors="replace")]).strip()

    def open_ring(self) -> None:
        """Map the ring, now that it holds the first picture."""
        self._ring = FrameRing(self._memory)

    def take(self) -> tuple[Frame, int] | None:
        """Return the newest frame and the instant it was put; None if there is no new one."""
        return self._ring.take() if self._ring is not None else None

    @property
    def given_at(self) -> int | None:
        """The instant of its last frame, ns."""
        return self._ring.given_at if self._ring is not None else None

    @property
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def ask(self) -> None:
        """Ask it to stop."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it. If it is blocked in the kernel on a device, it ends when the device answers."""
        self._process.kill()

    def wait(self, seconds: float) -> bool:
        """Return whether it ended within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.status is not None

    def let_go(self) -> None:
        """Close everything shared with it; may be called twice.

        A process that still runs sees its lifeline close and ends as soon as it can.
        """
        if self._ring is not None:
            self._ring.close()
            self._ring = None
        self._files.close()
        if self.status is None and self._process not in _left_behind:
            _left_behind.append(self._process)


def _close_with(stack: ExitStack, file: int) -> int:
    stack.callback(os.close, file)
    return file


# From here on: the child


class _AskedToStop(BaseException):
    """The parent asked this process to stop."""


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _AskedToStop


def _end_with_parent(lifeline: int) -> None:
    """Let the kernel end this process when the other end of the pipe ``lifeline`` closes.

    A closed pipe sends SIGIO, whose default action ends the process. That needs no thread and no interpreter, so it
    works while C code sits in a driver. (PR_SET_PDEATHSIG would watch the parent's thread, not the parent.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    # A blocked signal mask is inherited from the parent's thread.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO, signal.SIGTERM})
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        if os.read(lifeline, 1) == b"":
            # It closed before SIGIO was enabled.
            os._exit(1)


def _deliver(camera: Camera, memory: int, bell: int, say: Callable[..., None]) -> None:
    """Put frames into the ring until the camera ends; send its report whenever that changes."""
    report: Callable[[], Any] | None = getattr(camera, "report", None)
    told: dict[str, Any] | None = None
    if report is not None:
        say(REPORT, report=report().to_json())
    ring: FrameRing | None = None
    parent = os.getppid()
    for frame in camera.frames():
        if os.getppid() != parent:
            # The old parent is gone, but another of its children keeps the lifeline open.
            return
        if ring is None:
            ring = FrameRing.lay_out(memory, *frame.image.shape[:2])
        number = ring.put(frame, monotonic())
        if report is not None and (now := report().to_json()) != told:
            told = now
            say(REPORT, report=now)
        if number == 1:
            say(FIRST_PICTURE)
        os.eventfd_write(bell, 1)


def main(arguments: Sequence[str]) -> None:
    """Run the child. Arguments: descriptors of lifeline, memory, bell and messages, and the camera as JSON."""
    lifeline, memory, bell, messages = (int(number) for number in arguments[:4])
    for inherited in (lifeline, memory, bell, messages):
        os.set_inheritable(inherited, False)
    # Ctrl-C at the terminal reaches the whole group: the parent decides how to react.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent(lifeline)

    def say(kind: str, **more: Any) -> None:
        os.write(messages, (json.dumps({"kind": kind, **more}) + "\n").encode())

    camera: Camera | None = None
    with contextlib.suppress(_AskedToStop, BrokenPipeError):
        signal.signal(signal.SIGTERM, _stop)
        spec = CameraSpec.from_json(arguments[4])
        # Every kind of ending is reported.
        try:
            camera = spec.open()
            _deliver(camera, memory, bell, say)
            say(ENDED)
        except _AskedToStop:
            pass
        except HardwareMissing as error:
            say(MISSING, **to_json(words_of(error)))
        except Exception as error:
            traceback.print_exc()
            say(FAILED, words=f"{type(error).__name__}: {error}")
        # The parent waits briefly and then kills, so a close that hangs does no harm.
        with contextlib.suppress(_AskedToStop, Exception):
            if camera is not None:
                camera.close()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Skip the interpreter's exit: a camera library's clean-up there may wait for a missing camera.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
