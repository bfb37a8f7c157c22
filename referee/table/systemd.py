"""The referee as a service of systemd: it says when the table is ready, how it goes, and that each of its parts lives.

systemd restarts a service that stops feeding its watchdog. A thread that feeds come what may would keep a dead table
alive; so it is fed only while *every* part has given a sign of life within its deadline. Outside systemd all of this
says nothing to nobody.
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
"""How long each part may stay without a sign of life, ns. Far more than any of them ever needs: a restart ends a
game."""

_BETWEEN: Final = 600_000_000
"""How long the table may take from one game to the next, µs; as long as its first start may (`TimeoutStartSec`)."""


class Watchdog:
    """Signs of life in, *feed* or *do not* out. Pure: instants are given, in ns."""

    def __init__(self, deadlines: Mapping[str, int], every: int, now: int) -> None:
        """Everybody counts as alive at ``now``.

        Args:
            deadlines: how long each part may be silent, ns.
            every: the least time from one feeding to the next, ns.
            now: the present instant, ns.
        """
        self._deadlines = dict(deadlines)
        self._beats = dict.fromkeys(self._deadlines, now)
        self._every = every
        self._fed = now - every

    def beat(self, part: str, now: int) -> None:
        """A part gives a sign of life; raises `KeyError` for a part that nobody waits for."""
        if part in self._deadlines:
            self._beats[part] = now
        elif part not in self._beats:
            raise KeyError(part)

    def retire(self, part: str) -> None:
        """Wait for this part no more: it is not here, and people have been told."""
        self._deadlines.pop(part, None)

    def late(self, now: int) -> tuple[str, ...]:
        """The parts that have been silent for longer than they may."""
        # Copies, since parts beat and retire on threads of their own.
        return tuple(part for part, most in tuple(self._deadlines.items()) if now - self._beats[part] > most)

    def feeds(self, now: int) -> bool:
        """Whether the watchdog is to be fed at ``now``; a yes counts as done."""
        if now - self._fed < self._every or self.late(now):
            return False
        self._fed = now
        return True


class Service:
    """What the running referee tells systemd. Every method may be called on any thread, and none waits."""

    def __init__(self, send: Send, watchdog: Watchdog, clock: Clock = monotonic, *, watched: int = 0) -> None:
        """``watched``: how long systemd waits to be fed, µs; 0: it does not watch."""
        self._send, self._watchdog, self._clock = send, watchdog, clock
        self._watched, self._patient = watched, False
        self._words = ""
        self._late: tuple[str, ...] = ()
        self.is_ready = False
        self.stop_asked = False
        """systemd wants the service to end: close the game, and return."""

    def ready(self, words: str) -> None:
        """The table is ready; ``words`` as in `status`."""
        self.is_ready = True
        again = f"\nWATCHDOG_USEC={self._watched}" if self._patient else ""
        self._words, self._patient = words, False
        self._send(f"READY=1\nSTATUS={_line(words)}{again}")

    def between_games(self) -> None:
        """Until it is ready again, devices are opened and the record is tidied: that may take longer than a watchdog
        waits."""
        if self._watched:
            self._patient = True
            self._send(f"STATUS=between two games\nWATCHDOG_USEC={_BETWEEN}")

    def status(self, words: str) -> None:
        """How it goes, in a line that `systemctl status` shows."""
        if words != self._words:
            self._words = words
            self._send(f"STATUS={_line(words)}")

    def beat(self, part: str) -> None:
        """One part gives a sign of life; the watchdog is fed if all of them have, lately."""
        now = self._clock()
        self._watchdog.beat(part, now)
        late = self._watchdog.late(now)
        if late != self._late:
            self._late = late
            self._send("STATUS=" + _line(f"no sign of life: {', '.join(late)}" if late else self._words))
        if self._watchdog.feeds(now):
            self._send("WATCHDOG=1")

    def retire(self, part: str) -> None:
        """A part is not here and not waited for: a table without a speaker is still a table."""
        self._watchdog.retire(part)

    def stopping(self) -> None:
        """The service is about to end."""
        self._send("STOPPING=1")

    def ask_to_stop(self, _signal: int = signal.SIGTERM, _frame: FrameType | None = None) -> None:
        """The handler of SIGTERM: the loop is asked to end, so that no line of the log is torn.

        Raises:
            KeyboardInterrupt: nothing runs yet that would have to be closed.
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
    """The service that this process is, by its environment.

    Args:
        deadlines: the parts that the watchdog waits for, and for how long each may be silent, ns.
        environ: where ``NOTIFY_SOCKET`` and ``WATCHDOG_USEC`` stand; None is the process's own.
        clock: answers the present instant, ns.
    """
    given = os.environ if environ is None else environ
    own = os.getpid()
    watchdog = Watchdog(deadlines, feeding_interval(given, own), clock())
    return Service(sender(given), watchdog, clock, watched=watched_for(given, own))


@contextlib.contextmanager
def serving(service: Service) -> Iterator[Service]:
    """Heed SIGTERM while this lasts, and say at its end that it ends. Only on the main thread."""
    before: Any = signal.signal(signal.SIGTERM, service.ask_to_stop)
    try:
        with outliving_terminal():
            yield service
    finally:
        signal.signal(signal.SIGTERM, before)
        service.stopping()


@contextlib.contextmanager
def outliving_terminal() -> Iterator[None]:
    """While this lasts, a terminal that is closed ends neither this process nor those that it starts.

    Only on the main thread. SIGTERM ends a game whose terminal is gone.
    """
    # What is ignored stays ignored in a child; a handler would not.
    before: Any = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
