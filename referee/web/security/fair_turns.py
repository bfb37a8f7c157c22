"""Slow work of the page's process, in fair turns: a visitor with many requests delays only their own.

Ruling a long game again or drawing a photo-finish takes some ten milliseconds of the machine. Each address has one such
task running at a time, and waiting addresses are served in turn, however much each has asked for.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")
ASKER: Final[ContextVar[str]] = ContextVar("asker", default="")
"""The address whose request is being answered; the guard sets it."""
WORKERS: Final = 2
"""Tasks at once, so that one address leaves room for another."""


class Turns:
    """Threads for slow work. For one event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="page")
        self._waiting: OrderedDict[str, deque[tuple[asyncio.Future[Any], Callable[[], Any]]]] = OrderedDict()
        """By address, in the order of their turns."""
        self._busy: set[str] = set()

    async def do(self, work: Callable[[], T]) -> T:
        """Run a task for the present sender, in their turn; raises what it raises."""
        who = ASKER.get()
        promise: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append((promise, work))
        self._begin()
        return await promise

    def _begin(self) -> None:
        """Start the tasks that may start."""
        while len(self._busy) < WORKERS:
            who = next((address for address in self._waiting if address not in self._busy), None)
            if who is None:
                return
            promise, work = self._waiting[who].popleft()
            if not self._waiting[who]:
                del self._waiting[who]
            # Skip the task of a visitor who has left meanwhile.
            if not promise.done():
                self._busy.add(who)
                asyncio.get_running_loop().run_in_executor(self._pool, work).add_done_callback(
                    lambda done, who=who, promise=promise: self._end(who, promise, done)  # type: ignore[misc]
                )

    def _end(self, who: str, promise: asyncio.Future[Any], done: asyncio.Future[Any]) -> None:
        self._busy.discard(who)
        if who in self._waiting:
            self._waiting.move_to_end(who)
        self._begin()
        if done.cancelled():
            promise.cancel()
        elif (bad := done.exception()) is not None:
            if not promise.done():
                promise.set_exception(bad)
        elif not promise.done():
            promise.set_result(done.result())

    def close(self) -> None:
        """Close the threads; waiting tasks are dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)
