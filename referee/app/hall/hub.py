"""Everybody who looks at the hall: ten times a second, what has changed goes to each of them.

As on a table's own page nothing is queued for anybody: a viewer is sent the difference between what it was sent and
the present, so a slow one skips what lies between.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Final

from hardware.clock import Clock, monotonic
from referee.app.hall.encoding import difference
from referee.app.hall.listening import Ear
from referee.app.hall.tables import Hall
from referee.app.page.texts import texts

PACE: Final = 0.1
"""Seconds between two looks at what came."""
BUNCH: Final = 2000
"""Messages taken up in one look; viewers get their turn between two."""
QUIET: Final = 10.0
"""Seconds after which a silent stream says that it is still there."""
_LOG: Final = logging.getLogger(__name__)


class Hub:
    """One hall, and everybody who looks at it. Lives in one event loop."""

    def __init__(self, hall: Hall, ear: Ear, *, clock: Clock = monotonic) -> None:
        self.hall, self.ear = hall, ear
        self.viewers = 0
        self._clock = clock
        self._changed = asyncio.Event()
        self.closed = False
        self._encoded: dict[tuple[str, str | None, int], bytes] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to listen."""
        self.ear.start()
        self._task = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """Let every viewer go, and leave the broker."""
        self.close()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self.ear.stop)

    def close(self) -> None:
        """Let every viewer go."""
        self.closed = True
        self._wake()

    async def _forever(self) -> None:
        while True:
            try:
                self.look()
            except Exception:
                # A hall that stops looking would show a room that stands still; better to say so and go on.
                _LOG.exception("looking at what came")
            await asyncio.sleep(PACE)

    def look(self) -> None:
        """Take up what came since the last look."""
        hall = self.hall
        was = hall.connected
        hall.broker(self.ear.connected)
        self.ear.take(hall.hear, BUNCH)
        now = self._clock()
        hall.pass_time(now)
        if hall.settle(now) or was != hall.connected:
            self._wake()

    def _wake(self) -> None:
        self._encoded.clear()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def stream(self, language: str, only: str | None = None, quiet: float = QUIET) -> AsyncIterator[bytes]:
        """Events for one viewer: everything, then what changes."""
        self.viewers += 1
        sent, connected = 0, self.hall.connected
        try:
            yield b"retry: 1500\n\n"
            while not self.closed:
                changed = self._changed
                data = self._event(language, only, sent)
                if connected != self.hall.connected and not data:
                    data = self._event(language, only, 0)
                sent, connected = self.hall.change, self.hall.connected
                if data:
                    yield data
                try:
                    await asyncio.wait_for(changed.wait(), quiet)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.viewers -= 1

    def _event(self, language: str, only: str | None, sent: int) -> bytes:
        """What differs, encoded once for all viewers that were sent the same."""
        key = (language, only, sent)
        if key not in self._encoded:
            data = difference(self.hall, sent, texts(language), self._clock(), only)
            self._encoded[key] = f"event: tables\ndata: {data}\n\n".encode("utf-8", "replace") if data else b""
        return self._encoded[key]
