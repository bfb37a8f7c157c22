"""A table on the simulated chip: hands, kernel, pad shell, filter, slaps: the whole way of an edge."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hardware.clock import monotonic
from hardware.pads.gpiod_lines import GpiodLines, open_gpiod
from hardware.pads.pads import GpioPads
from hardware.pads.pinout import PAD_PINS
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge, Lost
from referee.engine.observations import Observation, Slap
from tests.vm.chip import SimulatedChip
from tests.vm.hands import Done, Hands, Move

MS: Final = 1_000_000
PINS: Final = dict(enumerate(PAD_PINS, start=1))
QUIET: Final = 200 * MS
"""Waiting time for further reports after the last move, ns: the filter's masks and more."""
LIMIT: Final = 20_000 * MS


@dataclass(frozen=True, slots=True)
class Heard:
    """An edge, and when our handler received it, ns."""

    edge: Edge
    at: int


@dataclass(slots=True)
class Story:
    """The moves, and all reports of them."""

    moves: list[Done] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    slaps: list[Slap] = field(default_factory=list)
    others: list[Observation] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    belated: list[Edge] = field(default_factory=list)
    """Edges reported after a watermark that had passed them."""

    def presses(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.edge.pressed]


class Recorded:
    """A kernel request that keeps the kernel's output: pin and stamp of each edge, as read."""

    def __init__(self, request: Any) -> None:
        self._request = request
        self.given: list[tuple[int, int]] = []

    def read_edge_events(self, most: int) -> list[Any]:
        events: list[Any] = self._request.read_edge_events(most)
        self.given += [(event.line_offset, event.timestamp_ns) for event in events]
        return events

    def __bool__(self) -> bool:
        return bool(self._request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)


def from_gpiod(pins: Mapping[int, int], active_high: bool) -> GpiodLines:
    """Return the kernel's queue, recorded (`GpiodLines.request`)."""
    lines = open_gpiod(pins, active_high)
    lines.request = Recorded(lines.request)
    return lines


def share_out() -> None:
    """Put interrupts, their threads and the hands on the first processor, the referee on the others.

    A Raspberry Pi is like that: its interrupts are all served by the first one, and its kernel moves an interrupt's
    thread to where the interrupt is served; a simulated interrupt knows no such place, and its thread might wait for
    a virtual processor that the host has stopped.
    """
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if comm.read_text().startswith("irq/"):
                os.sched_setaffinity(int(comm.parent.name), {0})
    others = set(range(1, os.cpu_count() or 1)) or {0}
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), others)


class Rig:
    """A table of eight seats. Use it in a separate process."""

    def __init__(self, chip: SimulatedChip) -> None:
        # The hands first: a process forked later would hold the lines as well, and no process could change or free
        # them.
        self.hands = Hands(chip, PINS)
        self.lines = from_gpiod(PINS, False)
        self.pads = GpioPads(PINS, lines=self.lines)
        share_out()
        self.story = Story()
        self.filter = PadFilter(len(PINS), start=monotonic())
        self._edges: deque[Heard] = deque()
        self._told = 0

    def start(self, handler: Callable[[Edge], None] = lambda edge: None) -> None:
        """Start the pads; ``handler`` runs in their thread after our own note is taken."""

        def note(edge: Edge) -> None:
            self._edges.append(Heard(edge, monotonic()))
            handler(edge)

        self.pads.start(note, self.story.lost.append)

    def turn(self) -> None:
        """Turn as the referee's loop does: first the promise, then all that has come."""
        told = self.pads.watermark(monotonic())
        while self._edges:
            heard = self._edges.popleft()
            self.story.heard.append(heard)
            if heard.edge.t <= self._told:
                self.story.belated.append(heard.edge)
            self._keep(self.filter.feed(heard.edge))
        self._told = max(self._told, told)
        self._keep(self.filter.advance(told))

    def play(self, moves: Sequence[Move]) -> Story:
        """Let the hands make these moves, and wait for all reports."""
        self.hands.begin(moves)
        give_up = monotonic() + LIMIT + sum(move.wait for move in moves) * 3
        while (made := self.hands.done()) is None:
            self.turn()
            time.sleep(0.005)
            if monotonic() > give_up:
                raise TimeoutError("the hands did not come to an end")
        self.story.moves += made
        self.rest(QUIET)
        return self.story

    def rest(self, length: int) -> None:
        """Turn on until every sensor has reported past this time from now, ns."""
        until = monotonic() + length
        while min(self.filter.watermark, self._told) < until and monotonic() < until + LIMIT:
            self.turn()
            time.sleep(0.005)

    def close(self) -> None:
        self.hands.end()
        self.pads.close()

    def _keep(self, made: Sequence[Observation]) -> None:
        for line in made:
            if isinstance(line, Slap):
                self.story.slaps.append(line)
            else:
                self.story.others.append(line)
