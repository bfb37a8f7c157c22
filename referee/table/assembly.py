"""One game at a real table, from its devices to its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol

from hardware.clock import Clock, monotonic
from hardware.priority import be_urgent
from referee.announce.light_show import Lamps
from referee.announce.sinks import ANOTHER, Notice, Outlet, Teller
from referee.announce.terminal import Display, Screen
from referee.announce.voice import Pulse, Voice
from referee.devices import pad_filter
from referee.engine.observations import Table
from referee.engine.view import View
from referee.record.journal import Journal
from referee.settings.model import Settings
from referee.table.devices import OpenParts
from referee.table.game import Conductor
from referee.table.loop import Alarm, Answers, FirstHand, Loop, NoPads, SharedPads, make_quick
from referee.table.roll_call import hold_roll_call
from referee.table.services import Kept
from referee.table.systemd import Service, open_service

SECOND: Final = 1_000_000_000
REDRAW: Final = 200_000_000
AFTER_THE_END: Final = 5 * SECOND
"""How long the table is watched after the game is over, so that the last words are heard, ns."""


def table_of(settings: Settings, now: int, mark: Mapping[str, Any] | None = None) -> Table:
    """The first line of the log of a game that begins ``now`` (ns); ``mark`` stands in it besides."""
    return Table(
        t=now, id="table", seats=tuple(seat.name for seat in settings.seats), dealer=settings.dealer,
        rules=settings.rules, extra=mark or {},
    )  # fmt: skip


def referee(
    settings: Settings,
    parts: OpenParts,
    *,
    journal: Journal | None = None,
    kept: Kept | None = None,
    clock: Clock = monotonic,
    answers: Answers | None = None,
    live: bool | None = None,
    service: Service | None = None,
) -> Conductor:
    """Referee one game with these devices, until it is over, interrupted, or the service is asked to stop.

    Args:
        settings: the table's.
        parts: its devices.
        journal: where the log is written besides the record.
        kept: the record, the page and the broker; None: none of them.
        clock: answers the machine's present instant, ns.
        answers: what people type.
        live: draw on the terminal; None: if it is one.
        service: systemd's, or nobody's.
    """
    service = service or open_service(environ={})
    names = tuple(seat.name for seat in settings.seats)
    typed, alarm, pads = answers or Answers(), Alarm(), SharedPads(parts.pads)
    with ExitStack() as stack:
        stack.callback(alarm.close)
        display = stack.enter_context(Display(names, live=live))
        display.gauge.title = f"{', '.join(names)}"
        screen = Screen(display, live=sys.stdout.isatty() if live is None else live)
        stack.callback(screen.close)
        # The lights ask for the first time when the conductor has been made.
        told = _told(settings, parts, service, screen, typed, lambda: bool(conductor.view.questions))
        silent = _roll_call(settings, parts, pads, list(told.tellers.values()), alarm, clock, service)
        kept = kept or Kept()
        conductor = _conductor(settings, parts, told, kept, journal, kept.timeline.now(clock()), silent)
        told.first |= kept.follow(conductor, partial(_game_time, kept, clock), settings, parts.speaker)
        loop = Loop(
            conductor, parts.sights, pads, first=told.first, answers=typed, clock=clock, alarm=alarm,
            beat=service.beat, forces=parts.forces, timeline=kept.timeline, hears=kept.hear,
        )  # fmt: skip
        parts.mail.hand_to(loop.post)
        typed.begin(alarm.ring)
        make_quick()
        be_urgent()
        try:
            _until_over(loop, conductor, screen, display, service, kept)
        finally:
            loop.finish()
    return conductor


def _game_time(kept: Kept, clock: Clock) -> int:
    """The present instant on the game's line of time, ns."""
    return kept.timeline.now(clock())


@dataclass(slots=True)
class _Told:
    """Who hears of rulings, of the appliance's own news, and of the first hand, by name."""

    outlets: dict[str, Outlet] = field(default_factory=dict)
    tellers: dict[str, Teller] = field(default_factory=dict)
    first: dict[str, FirstHand] = field(default_factory=dict)


def _told(
    settings: Settings, parts: OpenParts, service: Service, screen: Screen, typed: Answers, asks: Callable[[], bool]
) -> _Told:
    """Screen, lights and voice, as far as they are there; ``asks`` answers whether a question is open."""
    told = _Told({"display": screen, "answers": typed}, {"display": screen.tell})
    if parts.lights is not None:
        lamps = Lamps(parts.lights, len(settings.seats), asks=asks)
        told.first["lights"], told.outlets["lights"], told.tellers["lights"] = lamps, lamps, lamps.tell
    if parts.speaker is not None:
        voice = Voice(parts.speaker, settings.voice.language)
        told.first["voice"], told.outlets["voice"], told.tellers["voice"] = voice, voice, voice.tell
    if parts.speaker is not None and Pulse.has(parts.speaker):
        told.first["audio"] = Pulse(parts.speaker, lambda: service.beat("audio"))
    else:
        service.retire("audio")
    return told


def _conductor(
    settings: Settings, parts: OpenParts, told: _Told, kept: Kept, journal: Journal | None, began: int,
    silent: tuple[int, ...],
) -> Conductor:  # fmt: skip
    """The game, new or broken off, from ``began`` (ns) on; what is missing, and silent pads, are told at once."""
    past = kept.past
    conductor = Conductor(
        past.table if past is not None else table_of(settings, began, kept.mark), None,
        pads=pad_filter(settings, began, force=parts.forces is not None, prefix=past.prefix if past else ""),
        outlets=told.outlets | kept.outlets, tellers=told.tellers | kept.tellers, journal=kept.journal(journal),
        past=past,
    )  # fmt: skip
    if past is not None:
        conductor.begin_again(began)
    for part, words in parts.missing.items():
        conductor.trouble(part, words)
    for seat in silent:
        name = settings.seats[seat - 1].name
        conductor.trouble(f"pad {seat}", f"{name}'s pad was not heard in the roll-call; see to its cable")
    return conductor


def _roll_call(
    settings: Settings, parts: OpenParts, pads: SharedPads, tellers: list[Teller], alarm: Alarm, clock: Clock,
    service: Service,
) -> tuple[int, ...]:  # fmt: skip
    """Have every pad slapped once, where that is wanted and there are pads; returns the seats that were silent."""
    if not settings.pads.roll_call or isinstance(parts.pads, NoPads):
        return ()

    def show(waiting: tuple[int, ...]) -> None:
        if parts.lights is not None:
            for seat in range(1, len(settings.seats) + 1):
                parts.lights.seat(seat, 1.0 if seat in waiting else 0.0)

    def stopped() -> bool:
        for part in ("engine", "pads"):
            service.beat(part)
        return service.stop_asked

    names = [seat.name for seat in settings.seats]
    return hold_roll_call(
        names, pads, pad_filter(settings, clock()), tellers, show, alarm=alarm, clock=clock, stopped=stopped
    )


def _until_over(
    loop: Loop, conductor: Conductor, screen: Screen, display: Display, service: Service, kept: Kept
) -> None:  # fmt: skip
    """Turn until the game is over - and where another one can be ordered here, until it is - or the service stops."""
    began = now = drawn = loop.turn()
    service.ready(f"{display.gauge.title}: ready")
    end = End(conductor, kept)
    while not (service.stop_asked or end.leaves(now)):
        now = loop.turn()
        if now - drawn >= REDRAW:
            drawn = now
            gauge = replace(
                display.gauge, t=now - began, cards=conductor.cards,
                fps=loop.frames / max(1e-9, (now - began) / 1e9),
                notes=tuple(f"{part}: {words}" for part, words in conductor.troubles.items()),
            )  # fmt: skip
            screen.draw(conductor.view, gauge)
            service.status("; ".join((f"{conductor.cards} cards", *gauge.notes)))


class Ending(Protocol):
    """What is needed of a conductor to see that its game is over, and to say what then."""

    @property
    def view(self) -> View: ...

    def tell(self, notice: Notice) -> None: ...


class End:
    """What comes of the end of a game: it is noted once its last words were heard, and taken back if it was none."""

    def __init__(self, conductor: Ending, kept: Kept) -> None:
        self._conductor, self._kept = conductor, kept
        self._over: int | None = None
        self._noted = False

    def leaves(self, now: int) -> bool:
        """Whether this table is to be left at ``now`` (ns)."""
        over = self._conductor.view.game_over
        if not over and self._noted:
            self._kept.go_on()
            self._noted = False
        self._over = None if not over else now if self._over is None else self._over
        heard = self._over is not None and now - self._over >= AFTER_THE_END
        if heard and not self._noted:
            self._noted = True
            self._kept.over()
            if self._kept.waits:
                self._conductor.tell(Notice(ANOTHER, now, "another game: two taps on a pad, or from the page"))
        return self._kept.leaves or (heard and not self._kept.waits)
