"""The referee as a systemd service: reports readiness and status, and feeds the watchdog while all its parts live.

systemd restarts a service that stops feeding its watchdog. An unconditional feed would keep a dead table alive; so it
is fed only while *every* part has given a sign of life within its deadline. Outside systemd this is a no-op.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Final

from hardware.clock import Clock, monotonic
from hardware.service_manager import Send, feeding_interval, sender, watched_for
from referee.units import SECOND

DEADLINES: Final[Mapping[str, int]] = {"engine": 10 * SECOND, "pads": 10 * SECOND, "audio": 15 * SECOND}
"""Longest time that each part may stay without a sign of life, ns. Far more than any of them ever needs: a restart
interrupts a game."""

_BETWEEN: Final = 600_000_000
"""Longest time from one game to the next, µs; as long as the first start may take (`TimeoutStartSec`)."""


class Watchdog:
    """Takes the parts' signs of life, and decides whether to feed the watchdog. Pure: instants are given, in ns."""

    def __init__(self, deadlines: Mapping[str, int], every: int, now: int) -> None:
        """Begin with every part alive at ``now``.

        Args:
            deadlines: how long each part may be silent, ns.
            every: the shortest time between two feeds, ns.
            now: the present instant, ns.
        """
        self._deadlines = dict(deadlines)
        self._beats = dict.fromkeys(self._deadlines, now)
        self._every = every
        self._fed = now - every

    def beat(self, part: str, now: int) -> None:
        """Take a sign of life of a part; raises `KeyError` for an unknown part."""
        if part in self._deadlines:
            self._beats[part] = now
        elif part not in self._beats:
            raise KeyError(part)

    def retire(self, part: str) -> None:
        """Stop waiting for this part: it is missing, and people know."""
        self._deadlines.pop(part, None)

    def late(self, now: int) -> tuple[str, ...]:
        """Return the parts that are past their deadline."""
        # Copies, since parts beat and retire on threads of their own.
        return tuple(part for part, most in tuple(self._deadlines.items()) if now - self._beats[part] > most)

    def feeds(self, now: int) -> bool:
        """Return whether to feed the watchdog at ``now``; if so, the feed counts as done."""
        if now - self._fed < self._every or self.late(now):
            return False
        self._fed = now
        return True


class Service:
    """The referee's messages to systemd. Every method may be called on any thread, and none waits."""

    def __init__(self, send: Send, watchdog: Watchdog, clock: Clock = monotonic, *, watched: int = 0) -> None:
        """``watched``: systemd's watchdog timeout, µs; 0: no watchdog."""
        self._send, self._watchdog, self._clock = send, watchdog, clock
        self._watched, self._patient = watched, False
        self._words = ""
        self._late: tuple[str, ...] = ()
        self.is_ready = False
        self.stop_asked = False
        """Whether systemd wants the service to end: close the game, and return."""

    def ready(self, words: str) -> None:
        """Report that the table is ready; ``words`` as in `status`."""
        self.is_ready = True
        again = f"\nWATCHDOG_USEC={self._watched}" if self._patient else ""
        self._words, self._patient = words, False
        self._send(f"READY=1\nSTATUS={_line(words)}{again}")

    def between_games(self) -> None:
        """Extend the watchdog's timeout until the table is ready again: opening devices and tidying the record may take
        longer than it allows."""
        if self._watched:
            self._patient = True
            self._send(f"STATUS=between two games\nWATCHDOG_USEC={_BETWEEN}")

    def status(self, words: str) -> None:
        """Send the status line that `systemctl status` shows."""
        if words != self._words:
            self._words = words
            self._send(f"STATUS={_line(words)}")

    def beat(self, part: str) -> None:
        """Take a part's sign of life; feed the watchdog if every part is within its deadline."""
        now = self._clock()
        self._watchdog.beat(part, now)
        late = self._watchdog.late(now)
        if late != self._late:
            self._late = late
            self._send("STATUS=" + _line(f"no sign of life: {', '.join(late)}" if late else self._words))
        if self._watchdog.feeds(now):
            self._send("WATCHDOG=1")

    def retire(self, part: str) -> None:
        """Stop waiting for a missing part: a table without a speaker still works."""
        self._watchdog.retire(part)

    def stopping(self) -> None:
        """Report that the service is about to end."""
        self._send("STOPPING=1")

    def ask_to_stop(self, _signal: int = signal.SIGTERM, _frame: FrameType | None = None) -> None:
        """Handler of SIGTERM: ask the loop to end, so that no line of the log is torn.

        Raises:
            KeyboardInterrupt: nothing is open yet that would have to be closed.
        """
        self.stop_asked = True
        self.stopping()
        if not self.is_ready:
            raise KeyboardInterrupt


def _line(words: str) -> str:
    # A line break would begin another key.
    return " ".join(words.split())


def open_service(
    deadlines: Mapping[str, int] = DEADLINES, *, environ: Mapping[str, str] | None = None, clock: Clock = monotonic
) -> Service:
    """Return the service that this process is, by its environment.

    Args:
        deadlines: the parts that the watchdog waits for, and how long each may be silent, ns.
        environ: holds ``NOTIFY_SOCKET`` and ``WATCHDOG_USEC``; None: the process's own.
        clock: returns the present instant, ns.
    """
    given = os.environ if environ is None else environ
    own = os.getpid()
    watchdog = Watchdog(deadlines, feeding_interval(given, own), clock())
    return Service(sender(given), watchdog, clock, watched=watched_for(given, own))


@contextlib.contextmanager
def serving(service: Service) -> Iterator[Service]:
    """Handle SIGTERM inside the block, and report at its end that the service ends. Only on the main thread."""
    before: Any = signal.signal(signal.SIGTERM, service.ask_to_stop)
    try:
        with outliving_terminal():
            yield service
    finally:
        signal.signal(signal.SIGTERM, before)
        service.stopping()


@contextlib.contextmanager
def outliving_terminal() -> Iterator[None]:
    """Inside the block, closing the terminal ends neither this process nor its children.

    Only on the main thread. SIGTERM ends a game whose terminal is gone.
    """
    # A child inherits an ignored signal, but not a handler.
    before: Any = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
