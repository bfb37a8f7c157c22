"""What people type at the table: answers to the referee's questions."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from referee.adjudication.rulings import Ruling


class Answers:
    """What people type: a line answers the oldest open question, as a number where it is one."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._open: deque[str] = deque()
        self._ring: Callable[[], None] = lambda: None

    def begin(self, ring: Callable[[], None]) -> None:
        """A game begins: no question is open, and ``ring`` is called with each line from now on."""
        self._ring = ring
        self._open.clear()

    def listen(self, stream: TextIO) -> None:
        """Read lines on a thread of its own until the stream ends."""
        threading.Thread(target=self._read, args=(stream,), name="answers", daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self.type(line)

    def type(self, line: str) -> None:
        """Somebody typed a line."""
        self._lines.append(line)
        self._ring()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: note each question."""
        self._open.extend(ruling.id for ruling in rulings if ruling.kind == "question")

    def given(self) -> list[tuple[str, Any]]:
        """Questions and their answers since the last look."""
        out: list[tuple[str, Any]] = []
        while self._lines:
            text = self._lines.popleft().strip()
            if text and self._open:
                out.append((self._open.popleft(), int(text) if text.isdecimal() else text))
        return out
