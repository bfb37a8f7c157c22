"""A table log on a text stream, for tests that read the written lines."""

from __future__ import annotations

from collections import deque
from typing import TextIO


class TextJournal:
    """Lines on a text stream; implements `referee.record.journal.Journal`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: deque[str] = deque()

    def write(self, line: str, sensor: str | None = None) -> None:
        """Write the line, after all waiting lines."""
        self._waiting.append(line + "\n")
        self._pour()

    def commit(self) -> None:
        """Write the waiting lines, and hand them to the operating system."""
        self._pour()
        self._stream.flush()

    def _pour(self) -> None:
        while self._waiting:
            self._stream.write(self._waiting[0])
            self._waiting.popleft()
