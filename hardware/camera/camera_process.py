"""The process in which a camera lives, both ends of it: `CameraProcess` is the parent's, `main` the child's.

The child opens the camera, puts its frames into the ring, and says what happens; it knows nothing of who looks at them.
It ends when it is asked to (SIGTERM), when the camera ends, and when the process that started it is gone. The parent's
end starts it, listens, asks, kills, lets go, and never waits; `hardware.camera.remote` decides what is due.
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
from hardware.child import child_environment, python_command
from hardware.clock import monotonic
from hardware.ports import Camera, Frame, HardwareMissing
from referee.sentence import told, words_of

FIRST_PICTURE: Final = "pictures"
"""The child says: the ring is laid out, the first picture lies in it."""
REPORT: Final = "report"
"""The child says something new of its camera."""
MISSING: Final = "missing"
"""The camera is not there, or went: words for people."""
FAILED: Final = "failed"
"""Something that nobody foresaw: the exception's last line."""
ENDED: Final = "ended"
"""A recording has come to its end."""
_LAST_LINES: Final = 40
"""Of what the process printed, kept for its last words."""
_CHUNK: Final = 65536

_left_behind: list[subprocess.Popen[bytes]] = []
"""Processes that could not be killed; asked about again so that none stays a zombie."""


class CameraProcess:
    """A process that opens one camera. Made with subprocess, not multiprocessing: it needs nothing of its parent's main
    module, and a parent that is a daemonic child itself may have it.
    """

    def __init__(self, spec: CameraSpec) -> None:
        """Start it; returns at once.

        Raises:
            OSError: no process, pipe or memory can be had.
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
            self._process = subprocess.Popen(
                python_command(__name__, *map(str, theirs), spec.to_json()),
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, pass_fds=theirs,
                env={**child_environment(), "PYTHONUNBUFFERED": "1"},
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
        """What it said since the last time; what it printed is kept for `last_words`."""
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
                # A pipe that hung up would be readable for ever.
                self._open_pipes.discard(file)
                break
            out += chunk
        return out

    @property
    def last_words(self) -> str:
        """The last lines that it printed; empty if it printed nothing."""
        return "\n".join([*self._lines, self._printed.decode(errors="replace")]).strip()

    def open_ring(self) -> None:
        """Its first picture is there."""
        self._ring = FrameRing(self._memory)

    def take(self) -> tuple[Frame, int] | None:
        """The newest frame and the instant at which it was given; None if there is none that was not taken."""
        return self._ring.take() if self._ring is not None else None

    @property
    def given_at(self) -> int | None:
        """When it last gave a frame, ns."""
        return self._ring.given_at if self._ring is not None else None

    @property
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def ask(self) -> None:
        """Ask it to stop."""
        self._process.terminate()

    def kill(self) -> None:
        """End it, unless it waits in the kernel for a device: then it ends when the device answers."""
        self._process.kill()

    def wait(self, seconds: float) -> bool:
        """Whether it was gone within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.status is not None

    def let_go(self) -> None:
        """Close everything that is shared with it; harmless to call twice.

        A process that still runs sees its lifeline close and ends by itself as soon as it can.
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


def _deliver(camera: Camera, memory: int, bell: int, say: Callable[..., None]) -> None:
    """Frames into the ring, until the camera ends; what it says of itself is told whenever that is something new."""
    report: Callable[[], Any] | None = getattr(camera, "report", None)
    told: dict[str, Any] | None = None
    if report is not None:
        say(REPORT, report=report().to_json())
    ring: FrameRing | None = None
    parent = os.getppid()
    for frame in camera.frames():
        if os.getppid() != parent:
            # The lifeline is kept open by another child of the parent that was.
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
    """Arguments: file descriptors of the lifeline, the memory, the bell and the messages, and the camera as JSON."""
    lifeline, memory, bell, messages = (int(number) for number in arguments[:4])
    for inherited in (lifeline, memory, bell, messages):
        os.set_inheritable(inherited, False)
    # Ctrl-C at the terminal reaches the whole group: the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent(lifeline)

    def say(kind: str, **more: Any) -> None:
        os.write(messages, (json.dumps({"kind": kind, **more}) + "\n").encode())

    camera: Camera | None = None
    with contextlib.suppress(_AskedToStop, BrokenPipeError):
        signal.signal(signal.SIGTERM, _stop)
        spec = CameraSpec.from_json(arguments[4])
        # Every way in which this ends is said.
        try:
            camera = spec.open()
            _deliver(camera, memory, bell, say)
            say(ENDED)
        except _AskedToStop:
            pass
        except HardwareMissing as bad:
            say(MISSING, **told(words_of(bad)))
        except Exception as bad:
            traceback.print_exc()
            say(FAILED, words=f"{type(bad).__name__}: {bad}")
        # Whoever asked waits for a while only, and then kills: a close that hangs is no reason to hang here for ever.
        with contextlib.suppress(_AskedToStop, Exception):
            if camera is not None:
                camera.close()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Not by the interpreter's exit: a camera library's own clean-up there may wait for a camera that is gone.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
