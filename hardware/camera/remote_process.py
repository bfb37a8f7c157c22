"""One camera process seen from outside: started, listened to, asked, killed, let go of. It never waits."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import deque
from contextlib import ExitStack
from typing import Any, Final

from hardware.camera.frame_buffer import FrameRing, new_memory
from hardware.camera.spec import CameraSpec
from hardware.ports import Frame

_LAST_LINES: Final = 40
"""Of what the process printed, kept for its last words."""
_CHUNK: Final = 65536
_CHILD: Final = "hardware.camera.remote_child"

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
            self._memory = _kept(mine, new_memory())
            self.bell = _kept(mine, os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
            lifeline, self._lifeline = os.pipe2(os.O_CLOEXEC)
            self.messages, messages = os.pipe2(os.O_CLOEXEC)
            self.errors, errors = os.pipe2(os.O_CLOEXEC)
            for end in (self._lifeline, self.messages, self.errors):
                _kept(mine, end)
            for end in (lifeline, messages, errors):
                _kept(given, end)
            os.set_blocking(self.messages, False)
            os.set_blocking(self.errors, False)
            theirs = (lifeline, self._memory, self.bell, messages)
            # With faulthandler a process that crashes in C code still has last words.
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", _CHILD, *map(str, theirs), spec.to_json()],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, pass_fds=theirs, env=_environment(),
            )  # fmt: skip
            self.pid = self._process.pid
            self._end = _kept(mine, os.pidfd_open(self.pid))
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
        self._printed = self._keep(self._printed + self._read(self.errors))
        said = self._read(self.messages)
        *lines, self._said = (self._said + said).split(b"\n")
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

    def _keep(self, printed: bytes) -> bytes:
        *lines, rest = printed.split(b"\n")
        self._lines.extend(text for line in lines if (text := line.decode(errors="replace").rstrip()))
        return rest[-_CHUNK:]

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
    def torn(self) -> int:
        """Copies of frames that had to be made again."""
        return self._ring.torn if self._ring is not None else 0

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


def _kept(stack: ExitStack, file: int) -> int:
    stack.callback(os.close, file)
    return file


def _environment() -> dict[str, str]:
    """The child finds the modules that this process finds."""
    paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109 - what "" means in sys.path
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
