"""The loop of a real table: one thread that sleeps until an edge, a sight, an answer or a moment's passing wakes it.

Whatever it does is short, and edges come first: between any two things that it does it looks for hands, so that a
hand's light never waits for a verdict, a picture or a voice. Nothing that a part throws leaves the loop.
"""

from __future__ import annotations

import gc
import logging
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol

from hardware.clock import Clock, monotonic
from hardware.ports import Edge
from referee.adjudication.observations import LogError
from referee.app.alarm import Alarm
from referee.app.answers import Answers
from referee.app.conductor import CAMERA, PADS, Conductor
from referee.app.sight import Sight, Sights

IDLE: Final = 0.05
"""Seconds that the loop sleeps at most while nobody touches a pad: the pace of lights that blink."""
BUSY: Final = 0.005
"""The same while hands are on the pads: what the pads promise moves on, and a verdict may wait for it."""
STIR: Final = 500_000_000
"""How long after an edge the loop stays busy, ns."""
SWITCH: Final = 0.0005
"""Seconds after which a thread that computes makes way for the loop; Python's own 0.005 would be a late light."""

_log = logging.getLogger(__name__)


class TimedPads(Protocol):
    """Pads that promise how far they have told."""

    def start(self, on_edge: Callable[[Edge], None]) -> None: ...

    def watermark(self, now: int) -> int: ...

    def close(self) -> None: ...


class NoPads:
    """Pads that are not there: they have always told everything. Implements `TimedPads`."""

    def start(self, on_edge: Callable[[Edge], None]) -> None:
        """Nothing will ever be told."""

    def watermark(self, now: int) -> int:
        """All up to ``now`` has been told."""
        return now

    def close(self) -> None:
        """There is nothing to let go of."""


class FirstHand(Protocol):
    """What shows at once whose hand came first: lights, or a sound."""

    def touch(self, touched: tuple[int, ...], now: int) -> None: ...


def make_quick() -> None:
    """Set this process up so that a thread which computes delays one that was woken as little as Python allows."""
    sys.setswitchinterval(SWITCH)
    # What was made at the start stays for ever; looking through it again and again would cost tens of milliseconds.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


class Loop:
    """One thread's turn after turn: hands, sights, answers, and what time it is."""

    def __init__(
        self, conductor: Conductor, sights: Sights, pads: TimedPads, *, first: tuple[FirstHand, ...] = (),
        answers: Answers | None = None, clock: Clock = monotonic, alarm: Alarm | None = None,
    ) -> None:  # fmt: skip
        self._conductor, self._sights, self._pads = conductor, sights, pads
        self._first, self._answers, self._clock = first, answers, clock
        self._alarm = alarm or Alarm()
        self._edges: deque[Edge] = deque()
        self._touched: tuple[int, ...] = ()
        self._stirred = clock() - STIR
        self.frames = 0
        pads.start(self._on_edge)
        sights.start(self._alarm.ring)

    def _on_edge(self, edge: Edge) -> None:
        """On the pads' own thread: no more than wake the loop."""
        self._edges.append(edge)
        self._alarm.ring()

    def turn(self, seconds: float | None = None) -> int:
        """Sleep until something comes, at most so many seconds, and deal with it; returns the instant, ns."""
        if seconds is None:
            seconds = BUSY if self._clock() - self._stirred < STIR else IDLE
        self._alarm.wait(seconds, self._sights.waitables())
        self._feel()
        for news in self._sights.news(lambda: self._conductor.foresight):
            if isinstance(news, Sight):
                self.frames += 1
                self._safely("engine", self._conductor.on_sight, news)
            else:
                self._safely("engine", self._conductor.on_blind, news)
            self._feel()
        now = self._clock()
        # The promise first, the edges after: whatever it covers is in the queue by then.
        told = self._pads.watermark(now)
        self._feel()
        self._safely("engine", self._conductor.advance, now, told)
        self._show(now)
        self._heed_pads()
        for question, value in self._answers.given() if self._answers is not None else ():
            self._settle(question, value, now)
        return now

    def _feel(self) -> None:
        """Take the edges that have come, and show at once who was first."""
        if not self._edges:
            return
        while self._edges:
            self._safely("pads", self._conductor.on_edge, self._edges.popleft())
        self._stirred = self._clock()
        self._show(self._stirred)

    def _show(self, now: int) -> None:
        touched = self._conductor.touched
        for one in self._first:
            self._safely("lights", one.touch, touched, now)

    def _heed_pads(self) -> None:
        words = getattr(self._pads, "trouble", "")
        if words:
            self._conductor.trouble(PADS, words)

    def _safely(self, part: str, do: Callable[..., Any], *args: Any) -> None:
        """Do it; what it throws is on record, and the loop goes on."""
        try:
            do(*args)
        except Exception as bad:  # a fault in one part must never end a game
            _log.exception("%s failed at %s", part, args)
            self._conductor.trouble(part, f"{type(bad).__name__}: {bad}")

    def _settle(self, question: str, value: Any, now: int) -> None:
        try:
            self._conductor.answer(question, value, now)
        except LogError as bad:
            self._conductor.trouble("answer", str(bad))

    def finish(self) -> None:
        """The game is over: rule what is open."""
        self._conductor.finish(self._sights.finish())


__all__ = ["CAMERA", "FirstHand", "Loop", "NoPads", "TimedPads", "make_quick"]
