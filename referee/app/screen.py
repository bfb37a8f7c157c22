"""The display on a thread of its own: to draw a table takes tens of milliseconds, and a hand must not wait for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Final

from referee.adjudication.rulings import Ruling
from referee.adjudication.view import View
from referee.app.display import Display, Gauge
from referee.app.notices import Notice

_log = logging.getLogger(__name__)
_END: Final = None

Draw = tuple[View, Gauge]


class Screen:
    """Takes what a `Display` takes, and never waits for it."""

    def __init__(self, display: Display, *, live: bool = True) -> None:
        """``live``: whether the display draws, and prints no lines."""
        self._display, self._live = display, live
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._next: Draw | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._go_on, name="display", daemon=True)
        self._thread.start()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: show rulings that were just decided."""
        shown = tuple(rulings)
        self._work.put(lambda: self._display(shown))

    def tell(self, notice: Notice) -> None:
        """Teller: print a line where lines are printed; elsewhere what is amiss stands below the table."""
        if not self._live and notice.words:
            self._work.put(lambda: print(f"{notice.t / 1e9:9.3f} s  {notice.words}"))

    def draw(self, view: View, gauge: Gauge) -> None:
        """Draw this position; of several that wait only the last is drawn."""
        with self._lock:
            waits, self._next = self._next is not None, (view, gauge)
        if not waits:
            self._work.put(self._draw)

    def _draw(self) -> None:
        with self._lock:
            draw, self._next = self._next, None
        if draw is not None:
            view, self._display.gauge = draw
            self._display.draw(view)

    def _go_on(self) -> None:
        while (do := self._work.get()) is not _END:
            try:
                do()
            except Exception:  # a terminal that went away must not stop the next line
                _log.exception("the display failed; it goes on")

    def close(self) -> None:
        """Show what waits, within two seconds, and end."""
        self._work.put(_END)
        self._thread.join(timeout=2.0)
