"""The page as a separate process, as the appliance runs it."""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.record.pictures import PictureStore
from referee.record.store import Record
from tests.support.patience import PATIENCE
from tests.web.table import Link, Table, demo_lines

ROOT = Path(__file__).parents[2]


class Starter:
    """A process that has imported the page's program, and starts pages as forked copies (`tests.web.launch`)."""

    def __init__(self) -> None:
        self._line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            command = [sys.executable, "-m", "tests.web.launch", str(other.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[other.fileno()], cwd=ROOT)

    def start(self, words: Sequence[str], output: int) -> int:
        """Start a page that writes to this descriptor; return its process id."""
        request = json.dumps({"start": words, "environment": dict(os.environ)}).encode()
        socket.send_fds(self._line, [request], [output])
        return int(self._answer())

    def wait(self, pid: int) -> int:
        """Wait for a page's end; return its exit status."""
        self._line.send(json.dumps({"wait": pid}).encode())
        return int(self._answer())

    def _answer(self) -> bytes:
        answer = self._line.recv(64)
        if not answer:
            raise RuntimeError(f"the pages' starter ended (exit status {self._process.wait()})")
        return answer


@functools.cache
def starter(_: int) -> Starter:
    """Return the one of this process id: a forked copy of the tests has its own."""
    return Starter()


class Served:
    """A page's process; its address is known once it can be reached."""

    def __init__(self, record: Path, *options: str, port: int = 0) -> None:
        self._start("page", "--record", str(record), "--port", str(port), *options)

    def _start(self, *command: str) -> None:
        self._starter = starter(os.getpid())
        reading, writing = os.pipe()
        self.pid = self._starter.start(command, writing)
        os.close(writing)
        self._printed = os.fdopen(reading)
        self.address = self._printed.readline().strip().rstrip("/")
        if not self.address:
            self._printed.close()
            raise RuntimeError(f"the page did not start (exit status {self._starter.wait(self.pid)})")

    @property
    def port(self) -> int:
        """Return its port."""
        return int(self.address.rpartition(":")[2])

    def memory(self) -> dict[str, int]:
        """Return resident bytes: current (``VmRSS``) and maximum (``VmHWM``)."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        pairs = (line.split(":", 1) for line in lines if line.startswith("Vm"))
        return {name: int(value.split()[0]) * 1024 for name, value in pairs}

    def stop(self) -> int:
        """Terminate it; return its exit status."""
        ending = os.pidfd_open(self.pid)
        os.kill(self.pid, signal.SIGTERM)
        ended = select.select([ending], [], [], PATIENCE)[0]
        os.close(ending)
        if not ended:
            os.kill(self.pid, signal.SIGKILL)
        status = self._starter.wait(self.pid)
        self._printed.close()
        assert ended, "the page did not end when it was asked to"
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()


class House:
    """A record, a page that serves it, and a main process that feeds both."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record = Record(folder / "games.sqlite")
        self.link = Link(folder / "page.sock")
        self.pictures = PictureStore(folder / "frames.sqlite")
        self._options = ("--listen", str(folder / "page.sock"), "--pictures", str(folder / "frames.sqlite"))

    def serve_controlled(self, port: int = 0) -> Served:
        """Start the page's process, with a main process to ask (`tests.web.listening`)."""
        return self.serve("--runtime", str(self.folder / "runtime"), port=port)

    def serve(self, *options: str, port: int = 0) -> Served:
        """Start the page's process."""
        return Served(self.record.path, *self._options, *options, port=port)

    def demo(self) -> Table:
        """Record the demo game to its end."""
        lines = demo_lines()
        table = Table(self.record, lines[0], at_once=True)
        for line in lines[1:]:
            table.observe(line)
        table.finish()
        return table

    def close(self) -> None:
        """Close files and sockets."""
        self.record.close()
        self.pictures.close()
        self.link.close()
