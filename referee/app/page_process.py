"""The page's process, started and ended with the referee, and started again where it has died."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from hardware.clock import Clock, monotonic

SOCKET: Final = "page.sock"
WAIT: Final = 3.0
"""Seconds that the process is given to end."""
LIVED: Final = 30_000_000_000
"""A process that lived so long had started well, ns."""
AGAIN: Final = (1, 5, 15)
"""Seconds before the first, second ... restart in a row; after the last one that fails nobody tries any more."""
_SECOND: Final = 1_000_000_000

Start = Callable[[Sequence[str]], "Child"]


class Child(Protocol):
    """What is needed of a `subprocess.Popen`."""

    def poll(self) -> int | None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int: ...


def _start(command: Sequence[str]) -> Child:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


class PageProcess:
    """The page."""

    def __init__(
        self, record: Path, folder: Path, *, host: str, port: int, pictures: Path | None = None,
        start: Start = _start, clock: Clock = monotonic,
    ) -> None:  # fmt: skip
        """Start it; its address is printed by itself once it can be reached.

        Args:
            record: the games.
            folder: of this boot, with the sockets.
            host: address to listen at.
            port: 0 for any free one.
            pictures: the file of frames, where pictures are switched on.
            start: starts a process.
            clock: the present instant, ns.
        """
        self._command = [
            sys.executable, "-m", "referee.app.cli", "page", "--record", str(record), "--host", host,
            "--port", str(port), "--listen", str(folder / SOCKET), "--runtime", str(folder),
        ]  # fmt: skip
        if pictures is not None:
            self._command += ["--pictures", str(pictures)]
        self._start, self._clock = start, clock
        self._falls = 0
        self._due: int | None = None
        """When it is started again; None while it lives, and once nobody tries any more."""
        self.trouble = ""
        """Why there is no page; empty while there is one."""
        self._process = self._begin()

    def _begin(self) -> Child:
        self._began = self._clock()
        return self._start(self._command)

    def look(self) -> None:
        """See whether it lives; to be called now and then."""
        now = self._clock()
        if self._due is not None:
            if now >= self._due:
                self._due = None
                self._process = self._begin()
            return
        code = self._process.poll()
        if code is None:
            if now - self._began >= LIVED:
                self._falls, self.trouble = 0, ""
        elif self._falls <= len(AGAIN):
            self._fell(code, now)

    def _fell(self, code: int, now: int) -> None:
        goes_on = self._falls < len(AGAIN)
        if goes_on:
            self._due = now + AGAIN[self._falls] * _SECOND
        self._falls += 1
        what = (
            "it is started again" if goes_on else "it does not live; see what it printed, and start the referee again"
        )
        self.trouble = f"the page has ended (status {code}); {what}"

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(WAIT)
            return
        self._process.kill()
        self._process.wait()


class Troubled(Protocol):
    """What is needed of a conductor to tell of a page that has ended."""

    def trouble(self, part: str, words: str) -> None: ...

    def mended(self, part: str) -> None: ...


class PageWatch:
    """Looks after the page while the loop turns; implements `referee.app.loop.FirstHand`."""

    def __init__(self, page: PageProcess, conductor: Troubled) -> None:
        self._page, self._conductor = page, conductor
        self._looked = 0
        self._told = ""

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Once a second: is it there? It is told what has changed."""
        del touched
        if now - self._looked < _SECOND:
            return
        self._looked = now
        self._page.look()
        if self._page.trouble != self._told:
            self._told = self._page.trouble
            if self._told:
                self._conductor.trouble("page", self._told)
            else:
                self._conductor.mended("page")
