"""The hall as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[3]


class ServedHall:
    """A hall's process; its address is known once it can be reached."""

    def __init__(self, broker: int, *options: str) -> None:
        start = [
            sys.executable,
            "-m",
            "tests.extras.hall.launch",
            "hall",
            "--broker",
            f"127.0.0.1:{broker}",
            "--port",
            "0",
        ]
        self._process = subprocess.Popen([*start, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")
        if not self.address:
            raise RuntimeError(f"the hall did not start (exit status {self._process.wait()})")

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rpartition(":")[2])

    def health(self) -> dict[str, Any]:
        """What it says of itself."""
        with urllib.request.urlopen(f"{self.address}/healthz", timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
