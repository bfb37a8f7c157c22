"""Latency of a running table: from a hand's edge to its light, from a verdict to its sound.

`run_table` runs the loop of a game with the table's own devices and the eye at work, and records instants; `lit_after`
turns them into figures, also for `make latency`. Instants are of the machine's monotonic clock.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from hardware.clock import Clock, monotonic
from hardware.ports import Lights, Speaker
from hardware.priority import be_urgent, make_quick
from referee.announce.light_show import Lamps
from referee.announce.voice import Voice
from referee.engine.observations import Slap
from referee.engine.rulings import Ruling
from referee.settings.model import Settings
from referee.setup.wired_devices import pad_filter
from referee.table.assembly import table_of
from referee.table.devices import Openers, open_parts
from referee.table.game import Conductor
from referee.table.loop import Loop, SharedPads
from referee.units import MS, SECOND

NEXT_SLAP: Final = 250 * MS
"""Hands closer together than this belong to one slap, ns."""
LOST: Final = 1000 * MS
"""Time after which a missing light counts as lost, ns."""
_EVERY: Final = 3 * SECOND
"""Time between verdicts, ns: speech and the pause after it are over by then."""
_WAIT: Final = 30 * SECOND
"""Time limit for the eye's first frame, ns."""
_REST: Final = SECOND
"""Time from the last hand to the end, ns."""


def first_hands(slaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the first hand of each slap, from instants (ns) and seats in order."""
    out: list[tuple[int, int]] = []
    before: int | None = None
    for t, seat in slaps:
        if before is None or t - before > NEXT_SLAP:
            out.append((t, seat))
        # The window slides: a train of close hands is one slap.
        before = t
    return out


def lit_after(slaps: Iterable[tuple[int, int]], changes: Sequence[tuple[int, int, float]]) -> list[tuple[int, float]]:
    """Return when the first hand of each slap got its light, ns, and its delay, ms; `LOST` if it had none.

    A hand whose light was already on is left out.

    Args:
        slaps: instant (ns) and seat of every hand, in order.
        changes: instant (ns), seat and level of every change of a seat's light, in order.
    """
    out: list[tuple[int, float]] = []
    for t, seat in first_hands(slaps):
        mine = [(at, level) for at, light, level in changes if light == seat]
        after = bisect_left(mine, (t, -1.0))
        if after and mine[after - 1][1] == 1.0:
            continue
        lit = next((at for at, level in mine[after:] if level == 1.0), t + LOST)
        out.append((lit, min(LOST, lit - t) / MS))
    return out


class NotedLights:
    """Lights that record each change once the device has it; implements `hardware.ports.Lights`."""

    def __init__(self, lights: Lights, clock: Clock) -> None:
        self._lights, self._clock = lights, clock
        self.changes: list[tuple[int, int, float]] = []
        """Instant (ns), seat and level of each change of a seat's light."""

    def seat(self, seat: int, level: float) -> None:
        """See `Lights`."""
        self._lights.seat(seat, level)
        self.changes.append((self._clock(), seat, level))

    def table(self, red: float, green: float, blue: float) -> None:
        """See `Lights`."""
        self._lights.table(red, green, blue)

    def close(self) -> None:
        """See `Lights`."""
        self._lights.close()


@dataclass(slots=True)
class Quickness:
    """Measured delays, ms."""

    light: list[float] = field(default_factory=list)
    """From each first hand's edge to its light."""
    sound: list[float] = field(default_factory=list)
    """From each verdict to its first sound, including the card's reported latency."""
    frames: int = 0
    """Frames looked at meanwhile."""
    urgency: str = ""
    missing: dict[str, str] = field(default_factory=dict)
    """Reason why a part was not available, by part."""


def run_table(
    settings: Settings, openers: Openers, *, hands: int, patience: int,
    told: Callable[[int], None] = lambda _hands: None, ready: Callable[[], None] = lambda: None,
) -> Quickness:  # fmt: skip
    """Run a table's loop until ``hands`` slaps have been felt.

    Args:
        settings: the table's.
        openers: open its devices, which are closed again.
        hands: number of slaps to wait for.
        patience: time limit, ns.
        told: called with the number of slaps so far.
        ready: called once the eye is looking and hands may come.

    Raises:
        HardwareMissing: neither camera nor pads are available.
    """
    clock = openers.clock
    with ExitStack() as stack:
        parts = open_parts(settings, openers)
        stack.callback(parts.close)
        out = Quickness(missing=dict(parts.missing))
        lights = None if parts.lights is None else NotedLights(parts.lights, clock)
        # The lamps receive no rulings: a light burns for a hand alone.
        lamps = {} if lights is None else {"lights": Lamps(lights, len(settings.seats))}
        began = clock()
        conductor = Conductor(table_of(settings, began), pads=pad_filter(settings, began))
        alarm = openers.make_alarm()
        stack.callback(alarm.close)
        loop = Loop(conductor, parts.sights, SharedPads(parts.pads), first=dict(lamps), clock=clock, alarm=alarm)
        make_quick()
        out.urgency = be_urgent()
        while not loop.frames and clock() < began + _WAIT:
            loop.turn()
        ready()
        begun, seen, felt = clock(), loop.frames, 0
        verdicts = None if parts.speaker is None else _Verdicts(parts.speaker, settings.voice.language)
        rest: int | None = None
        while (now := clock()) < begun + patience and (rest is None or now < rest):
            loop.turn()
            if verdicts is not None:
                verdicts.beat()
            count = len(first_hands(_hands(conductor, begun)))
            if count != felt:
                felt = count
                told(felt)
            if rest is None and felt >= hands:
                rest = now + _REST
        out.frames = loop.frames - seen
        loop.finish()
        if lights is not None:
            out.light = [waited for _, waited in lit_after(_hands(conductor, begun), lights.changes)]
        if verdicts is not None:
            out.sound = verdicts.waited
    return out


def _hands(conductor: Conductor, since: int) -> list[tuple[int, int]]:
    """Return instant (ns) and seat of every hand that was felt."""
    return sorted((line.t, line.seat) for line in conductor.observations if isinstance(line, Slap) and line.t >= since)


class _Verdicts:
    """Speaks a verdict at intervals, and notes when its sound begins."""

    def __init__(self, speaker: Speaker, language: str) -> None:
        self._speaker, self._voice = speaker, Voice(speaker, language)
        self._spoken_at: int | None = None
        self._due = 0
        self._count = 0
        self.waited: list[float] = []

    def beat(self) -> None:
        """Run once in each turn of the loop."""
        # The speaker's own clock, independent of the table's.
        now, begun = monotonic(), int(getattr(self._speaker, "begun_at", 0))
        if self._spoken_at is not None:
            if begun >= self._spoken_at:
                self.waited.append((begun - self._spoken_at + int(getattr(self._speaker, "latency", 0))) / MS)
            elif now > self._spoken_at + LOST:
                self.waited.append(LOST / MS)
            else:
                return
            self._spoken_at, self._due = None, now + _EVERY
        elif now >= self._due:
            self._count += 1
            verdict = Ruling("slap_false", f"slap_false@{self._count}", 0, (), (), {"seat": 1, "reason": "no_match"})
            self._spoken_at = monotonic()
            self._voice([verdict])
