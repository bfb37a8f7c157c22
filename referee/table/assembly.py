"""One game at a table, from its open devices to its end: joins display, voice, lights, services and the loop.

`referee.table.session` calls it for each game, real or simulated, in the referee's own process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

from hardware.priority import be_urgent, make_quick
from referee.announce.light_show import Lamps
from referee.announce.sinks import NoticeListener, RulingListener
from referee.announce.terminal import Display, Screen
from referee.announce.voice import Pulse, Voice
from referee.engine.observations import Table
from referee.engine.view import View
from referee.record.journal import Journal, JournalThread
from referee.sentence import Sentence
from referee.settings.model import Settings
from referee.setup.wired_devices import pad_filter
from referee.table.broken_off import RecordedGame
from referee.table.devices import OpenParts
from referee.table.game import Conductor
from referee.table.loop import Alarm, Answers, FirstHand, Loop, NoPads, SharedPads
from referee.table.roll_call import hold_roll_call
from referee.table.seats import CHOSEN
from referee.table.services import GameContext, TableService
from referee.table.systemd import Service
from referee.table.timeline import Timeline
from referee.text.terminal_language import translate
from referee.units import MS, SECOND

_REDRAW: Final = 200 * MS
AFTER_THE_END: Final = 5 * SECOND
"""Time that the table is watched after the game is over, so that the last words are heard, ns."""


def table_of(settings: Settings, now: int, *, is_chosen: bool = False) -> Table:
    """Return the first log line of a game that begins ``now`` (ns); ``is_chosen``: people chose it at the table."""
    return Table(
        t=now, id="table", seats=tuple(seat.name for seat in settings.seats), dealer=settings.dealer,
        rules=settings.played_rules, extra={CHOSEN: True} if is_chosen else {},
    )  # fmt: skip


def referee_game(
    settings: Settings, parts: OpenParts, *, service: Service, services: Sequence[TableService] = (),
    recorded: RecordedGame | None = None, journal: Journal | None = None, is_chosen: bool = False,
    answers: Answers | None = None, live: bool | None = None, title: str = "",
) -> Conductor:  # fmt: skip
    """Referee one game with these devices, until it is over, left, or the program is asked to stop.

    The roll-call is held first.

    Args:
        settings: the table's.
        parts: its devices.
        service: systemd's, or a no-op.
        services: accompany the game.
        recorded: the game in the record, new or broken off; becomes the first service. None: it is not recorded.
        journal: takes the log besides the record.
        is_chosen: a new game's people and rules were chosen at the table; otherwise they come from its settings.
        answers: input that people type.
        live: draw on the terminal; None: if it is one.
        title: shown over the display; empty: the players' names.
    """
    typed, clock = answers or Answers(), parts.openers.clock
    live = sys.stdout.isatty() if live is None else live
    names = tuple(seat.name for seat in settings.seats)
    with ExitStack() as stack:
        alarm = parts.openers.make_alarm()
        stack.callback(alarm.close)
        display, screen = _open_screen(names, title, clock(), stack, live=live)
        # ``conductor`` is bound later: the lights first call this once it exists.
        announcers, first = _announcers(settings, parts, service, lambda: bool(conductor.view.questions))
        tellers = {name: announcer.tell for name, announcer in {**announcers, "display": screen}.items()}
        pads = SharedPads(parts.pads)
        silent = _call_roll(settings, parts, pads, list(tellers.values()), alarm, service)
        outlets = _listeners({**announcers, "display": screen, "answers": typed}, services)
        tellers |= {companion.name: companion.take_notice for companion in services}
        timeline = recorded.timeline if recorded is not None else Timeline()
        log = _open_log(recorded.journal(journal) if recorded is not None else journal, parts, alarm, stack)
        conductor = _conduct(settings, parts, outlets, tellers, recorded, log, timeline.now(clock()), is_chosen)
        display.began = conductor.observations[0].t
        _report_silent_pads(conductor, silent, names)
        keeper, record = (recorded.keeper, recorded.record) if recorded is not None else (None, None)
        game = GameContext(conductor, settings, timeline, clock, keeper, record, parts.speaker)
        for companion in services:
            companion.begin_game(game)
        loop = Loop(conductor, parts.sights, pads, first=first, answers=typed, clock=clock, alarm=alarm,
                    beat=service.beat, forces=parts.forces, timeline=timeline, services=services)  # fmt: skip
        parts.mail.hand_to(loop.post)
        typed.begin(alarm.ring)
        _prepare_process(parts)
        try:
            _turn_until_over(conductor, loop, display, screen, service, services)
        finally:
            loop.finish()
    return conductor


def _open_screen(names: Sequence[str], title: str, now: int, stack: ExitStack, *, live: bool) -> tuple[Display, Screen]:
    """Return the terminal's display, and the screen that draws it, until the stack is closed."""
    display = stack.enter_context(Display(names, live=live))
    display.gauge.title = title or ", ".join(names)
    display.began = now
    screen = Screen(display, live=live)
    stack.callback(screen.close)
    return display, screen


def _open_log(
    log: Journal | None, parts: OpenParts, alarm: Alarm, stack: ExitStack
) -> Journal | JournalThread | None:  # fmt: skip
    """Give the log's disk its own thread in real time, until the stack is closed."""
    if log is None or not parts.openers.is_real_time:
        return log
    disk = JournalThread(log, alarm.put)
    stack.callback(disk.close)
    return disk


def _listeners(own: Mapping[str, RulingListener], services: Sequence[TableService]) -> dict[str, RulingListener]:
    """Return who receives the rulings: a game that is hidden while it is played is shown by no device."""
    hidden = any(companion.hides for companion in services)
    return {**({} if hidden else own), **{companion.name: companion.take_rulings for companion in services}}


def _prepare_process(parts: OpenParts) -> None:
    """In real time, give this process precedence."""
    if parts.openers.is_real_time:
        make_quick()
        be_urgent()


def _report_silent_pads(conductor: Conductor, silent: Iterable[int], names: Sequence[str]) -> None:
    """Report the pads that the roll-call did not hear as troubles of the game."""
    for seat in silent:
        conductor.trouble(
            f"pad {seat}",
            Sentence("{name}'s pad was not heard in the roll-call; see to its cable", name=names[seat - 1]),
        )


def _announcers(
    settings: Settings, parts: OpenParts, service: Service, asks: Callable[[], bool]
) -> tuple[dict[str, Lamps | Voice], dict[str, FirstHand]]:
    """Return the available lights and voice, and the first-hand indicators; ``asks``: whether a question is open."""
    announcers: dict[str, Lamps | Voice] = {}
    if parts.lights is not None:
        announcers["lights"] = Lamps(parts.lights, len(parts.wired.seats), asks=asks)
    if parts.speaker is not None:
        announcers["voice"] = Voice(
            parts.speaker, settings.voice.language, [seat.name for seat in settings.seats],
            {seat.name: seat.said for seat in settings.seats if seat.said},
        )  # fmt: skip
    first: dict[str, FirstHand] = dict(announcers)
    if parts.speaker is not None and Pulse.has(parts.speaker):
        first["audio"] = Pulse(parts.speaker, lambda: service.beat("audio"))
    else:
        service.retire("audio")
    return announcers, first


def _call_roll(
    settings: Settings, parts: OpenParts, pads: SharedPads, tellers: Sequence[NoticeListener], alarm: Alarm,
    service: Service,
) -> tuple[int, ...]:  # fmt: skip
    """Have every pad slapped once, if the roll-call is on and there are pads; return the silent seats."""
    if not settings.pads.roll_call or isinstance(parts.pads, NoPads):
        return ()

    def show(waiting: tuple[int, ...]) -> None:
        if parts.lights is not None:
            for seat in range(1, len(parts.wired.seats) + 1):
                parts.lights.seat(seat, 1.0 if seat in waiting else 0.0)

    def stopped() -> bool:
        for part in ("engine", "pads"):
            service.beat(part)
        return service.stop_asked

    names = [seat.name for seat in settings.seats]
    clock = parts.openers.clock
    filter_ = pad_filter(parts.wired, clock())
    return hold_roll_call(
        names, pads, filter_, tellers, show,
        alarm=alarm, clock=clock, stopped=stopped, is_lit=parts.lights is not None,
    )  # fmt: skip


def _conduct(
    settings: Settings, parts: OpenParts, outlets: Mapping[str, RulingListener], tellers: Mapping[str, NoticeListener],
    recorded: RecordedGame | None, log: Journal | JournalThread | None, began: int, is_chosen: bool,
) -> Conductor:  # fmt: skip
    """Return the conductor of the game, new or broken off, from ``began`` (ns) on; report missing parts."""
    past = recorded.past if recorded is not None else None
    conductor = Conductor(
        past.table if past is not None else table_of(settings, began, is_chosen=is_chosen),
        pads=pad_filter(parts.wired, began, force=parts.forces is not None, prefix=past.prefix if past else ""),
        outlets=outlets, tellers=tellers, journal=log, past=past,
    )  # fmt: skip
    if recorded is not None and past is not None:
        conductor.begin_again(began, recorded.began)
    for part, words in parts.missing.items():
        conductor.trouble(part, words)
    return conductor


def _turn_until_over(
    conductor: Conductor, loop: Loop, display: Display, screen: Screen, service: Service,
    services: Sequence[TableService],
) -> None:  # fmt: skip
    """Turn until the game is over, or is left where another can begin here, or the service stops."""
    began = now = drawn = loop.turn()
    while conductor.is_saving:
        # The table is ready once the game is in the record.
        now = loop.turn()
    service.ready(f"{display.gauge.title}: ready")
    end = End(conductor, services)
    unseen = View() if any(service.hides for service in services) else None
    while not (service.stop_asked or (not conductor.is_saving and end.leaves(now))):
        now = loop.turn()
        if now - drawn >= _REDRAW and not conductor.is_saving:
            drawn = now
            gauge = replace(
                display.gauge, t=now - began, cards=conductor.cards, lag_ms=loop.lag / MS,
                fps=loop.frames / max(1e-9, (now - began) / 1e9),
                notes=tuple(f"{part}: {translate(words)}" for part, words in conductor.troubles.items()),
                standing=tuple(line for service in services for line in translate(service.standing).splitlines()),
                paused=conductor.paused, full=any(service.fills_screen for service in services),
            )  # fmt: skip
            screen.draw(unseen or conductor.view, gauge)
            service.status("; ".join((f"{conductor.cards} cards", *gauge.notes)))


class End:
    """Watches for the end of a game: notes it after the last words, and takes it back if a correction reopens it."""

    def __init__(self, conductor: Conductor, services: Sequence[TableService]) -> None:
        self._conductor, self._services = conductor, services
        self._over: int | None = None
        self._noted = False

    def leaves(self, now: int) -> bool:
        """Return whether to leave this table at ``now`` (ns)."""
        over = self._conductor.view.game_over
        if not over and self._noted:
            self._noted = False
            for service in self._services:
                service.note_reopened()
        self._over = None if not over else now if self._over is None else self._over
        heard = self._over is not None and now - self._over >= AFTER_THE_END
        if heard and not self._noted:
            self._noted = True
            for service in self._services:
                service.note_over()
        stays = any(service.stays for service in self._services)
        return any(service.leaves for service in self._services) or (heard and not stays)
