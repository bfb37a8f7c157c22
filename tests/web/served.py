"""The page as a separate process, as the appliance runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.record.pictures import PictureStore
from referee.record.store import Record
from tests.web.table import Link, Table, demo_lines

ROOT = Path(__file__).parents[2]


class Served:
    """A page's process; its address is known once it can be reached."""

    def __init__(self, record: Path, *options: str, port: int = 0) -> None:
        self._start("page", "--record", str(record), "--port", str(port), *options)

    def _start(self, *command: str) -> None:
        start = [sys.executable, "-m", "tests.web.launch", *command]
        self._process = subprocess.Popen(start, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")
        if not self.address:
            raise RuntimeError(f"the page did not start (exit status {self._process.wait()})")

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

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
        self._process.terminate()
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise

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
