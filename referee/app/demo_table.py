"""The simulated table as the referee meets it: time, people who answer, and frames and contacts merged in its order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from hardware.pads import LEAST_ERROR
from hardware.ports import Frame
from hardware.simulated.pads import SimulatedPads
from hardware.simulated.script import Script
from referee.adjudication.rulings import Ruling
from referee.app.conductor import Conductor
from referee.app.outlets import Lamps

if TYPE_CHECKING:
    from collections.abc import Sequence

SECOND: Final = 1_000_000_000
ANSWER_AFTER: Final = 1_200_000_000
"""How long the players take to answer a question, ns."""


@dataclass(slots=True)
class TableClock:
    """What time it is at the simulated table, ns: for the devices that are told nothing else."""

    now: int = 0

    def __call__(self) -> int:
        return self.now


class Pace(Protocol):
    """Where time comes from: the machine's clock, or nowhere."""

    def wait(self, t: int) -> None: ...

    def behind(self, t: int) -> float: ...


class AtOnce:
    """No pace: everything happens as soon as it can."""

    def wait(self, t: int) -> None:
        """Go on."""

    def behind(self, t: int) -> float:
        """Nobody waits."""
        return 0.0


class RealTime:
    """The table's instants fall on the machine's clock, from the first wait on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep):
        self._clock, self._sleep = clock, sleep
        self._start: float | None = None

    def wait(self, t: int) -> None:
        """Wait until it is ``t`` (ns) at the table."""
        if self._start is None:
            self._start = self._clock() - t / 1e9
        left = self._start + t / 1e9 - self._clock()
        if left > 0:
            self._sleep(left)

    def behind(self, t: int) -> float:
        """How long ago it was ``t`` (ns) at the table, ms."""
        return 0.0 if self._start is None else max(0.0, (self._clock() - self._start) * 1e3 - t / 1e6)


@dataclass(slots=True)
class People:
    """The players, when the referee asks them: they answer with the truth."""

    script: Script
    waiting: list[tuple[int, Ruling]] = field(default_factory=list)
    now: int = 0

    def hear(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: note each question."""
        self.waiting += [(self.now + ANSWER_AFTER, ruling) for ruling in rulings if ruling.kind == "question"]

    def due(self, now: int) -> Iterator[tuple[str, Any]]:
        """Answers that are ready."""
        self.now = now
        ready = [ruling for t, ruling in self.waiting if t <= now]
        self.waiting = [(t, ruling) for t, ruling in self.waiting if t > now]
        for ruling in ready:
            value = self.script.answer(str(ruling["ask"]), ruling.t)
            if value is not None:
                yield ruling.id, value


class Table:
    """Frames and contacts merged in the order of time, through the real shells, into the conductor."""

    def __init__(
        self, script: Script, conductor: Conductor, lamps: Lamps | None, pace: Pace, clock: TableClock
    ) -> None:
        self._conductor, self._lamps, self._pace, self._clock = conductor, lamps, pace, clock
        self._pads = SimulatedPads(script.seats, t_error=LEAST_ERROR)
        self._pads.pads.start(conductor.on_edge)
        self._contacts = list(script.contacts)
        self._next = 0

    def up_to(self, t: int) -> None:
        """Let the contacts up to ``t`` (ns) happen."""
        while self._next < len(self._contacts) and self._contacts[self._next].t <= t:
            contact = self._contacts[self._next]
            self._next += 1
            self._pace.wait(contact.t)
            self._clock.now = contact.t
            self._pads.advance(contact.seat, contact.pressed, contact.t)
            self._touch()
        self._pace.wait(t)
        self._clock.now = t
        self._pads.run_to(t)
        self._touch()

    def see(self, frame: Frame) -> int:
        """Everything up to the end of a frame's exposure, then the frame; returns that instant, ns."""
        ready = frame.t + frame.exposure
        self.up_to(ready)
        self._conductor.on_frame(frame)
        self._conductor.advance(ready, self._pads.pads.watermark(ready))
        return ready

    def close(self, end: int) -> None:
        """The rest of the contacts, and what they mean."""
        self.up_to(max(end, self._pads.now))
        self._conductor.advance(end + SECOND, end)
        self._pads.close()

    def _touch(self) -> None:
        if self._lamps is not None:
            self._lamps.touch(self._conductor.touched)
