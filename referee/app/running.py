"""`referee run`: a real table, from its settings to the end of its game."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from hardware.clock import Clock, monotonic
from hardware.ports import HardwareMissing
from referee.adjudication.observations import Table
from referee.app.alarm import Alarm
from referee.app.answers import Answers
from referee.app.conductor import Conductor
from referee.app.display import Display
from referee.app.handing import Outlet, Teller
from referee.app.journal import FileJournal, Journal
from referee.app.keeping import Kept, open_kept
from referee.app.loop import FirstHand, Loop, NoPads, SharedPads, make_quick
from referee.app.opening import hold_roll_call
from referee.app.outlets import Lamps, Pulse, Voice
from referee.app.padtable import pad_filter
from referee.app.parts import OpenParts, open_parts
from referee.app.picture_storing import open_album
from referee.app.problems import UserError
from referee.app.screen import Screen
from referee.app.service import Service, open_service, serving
from referee.app.settings import Settings, load
from referee.app.urgency import be_urgent

SECOND: Final = 1_000_000_000
REDRAW: Final = 200_000_000
AFTER_THE_END: Final = 5 * SECOND
"""How long the table is watched after the game is over, so that the last words are heard, ns."""


def table_of(settings: Settings, now: int) -> Table:
    """The first line of the log of a game that begins ``now`` (ns)."""
    return Table(
        t=now, id="table", seats=tuple(seat.name for seat in settings.seats), dealer=settings.dealer,
        rules=settings.rules,
    )  # fmt: skip


def log_path(settings: Settings, asked: Path | None) -> Path | None:
    """Where the log goes: as asked, or into the settings' folder under the hour it begins."""
    if asked is not None or settings.log_folder is None:
        return asked
    return settings.log_folder / time.strftime("%Y-%m-%d_%H-%M-%S.jsonl")


def _open_log(path: Path | None, stack: ExitStack) -> tuple[Journal | None, str]:
    """The log, and what is wrong with it; a table without a log is still a table."""
    if path is None:
        return None, ""
    try:
        journal = FileJournal(path)
    except OSError as bad:
        return None, f"the log {path} cannot be written: {bad.strerror}; see --log and log.folder"
    stack.callback(_close_log, journal)
    return journal, ""


def _close_log(journal: FileJournal) -> None:
    try:
        journal.close()
    except OSError as bad:
        print(f"the end of the log {journal.path} could not be written: {bad.strerror}", file=sys.stderr)


def referee(
    settings: Settings,
    parts: OpenParts,
    *,
    journal: Journal | None = None,
    kept: Kept | None = None,
    clock: Clock = monotonic,
    answers: TextIO | None = None,
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
        answers: where people type.
        live: draw on the terminal; None: if it is one.
        service: systemd's, or nobody's.
    """
    service = service or open_service(environ={})
    names = tuple(seat.name for seat in settings.seats)
    typed, alarm, pads = Answers(), Alarm(), SharedPads(parts.pads)
    with ExitStack() as stack:
        stack.callback(alarm.close)
        display = stack.enter_context(Display(names, live=live))
        display.gauge.title = f"{', '.join(names)}"
        screen = Screen(display, live=sys.stdout.isatty() if live is None else live)
        stack.callback(screen.close)
        # The lights ask for the first time when the conductor has been made.
        told = _told(settings, parts, service, lambda: bool(conductor.view.questions))
        told.outlets |= {"display": screen, "answers": typed}
        told.tellers["display"] = screen.tell
        silent = _roll_call(settings, parts, pads, list(told.tellers.values()), alarm, clock, service)
        kept = kept or Kept()
        conductor = _conductor(settings, parts, told, kept, journal, kept.timeline.now(clock()), silent)
        now = partial(_game_time, kept, clock)
        told.first |= kept.follow(conductor, now, aloud=parts.speaker is not None)
        loop = Loop(
            conductor, parts.sights, pads, first=told.first, answers=typed, clock=clock, alarm=alarm,
            beat=service.beat, forces=parts.forces, timeline=kept.timeline, hears=kept.hear,
        )  # fmt: skip
        parts.mail.hand_to(loop.post)
        if answers is not None:
            typed.listen(answers, alarm.ring)
        make_quick()
        be_urgent()
        try:
            _until_over(loop, conductor, screen, display, service)
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


def _told(settings: Settings, parts: OpenParts, service: Service, asks: Callable[[], bool]) -> _Told:
    """Lights and voice, as far as they are there; ``asks`` answers whether a question is open."""
    told = _Told()
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
        past.table if past is not None else table_of(settings, began), None,
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


def _until_over(loop: Loop, conductor: Conductor, screen: Screen, display: Display, service: Service) -> None:
    began = now = drawn = loop.turn()
    service.ready(f"{display.gauge.title}: ready")
    over: int | None = None
    while (over is None or now - over < AFTER_THE_END) and not service.stop_asked:
        now = loop.turn()
        if conductor.view.game_over and over is None:
            over = now
        if now - drawn >= REDRAW:
            drawn = now
            gauge = replace(
                display.gauge, t=now - began, cards=conductor.cards,
                fps=loop.frames / max(1e-9, (now - began) / 1e9),
                notes=tuple(f"{part}: {words}" for part, words in conductor.troubles.items()),
            )  # fmt: skip
            screen.draw(conductor.view, gauge)
            service.status("; ".join((f"{conductor.cards} cards", *gauge.notes)))


def out_of_date(settings: Settings) -> str:
    """What is wrong with the calibration for the camera as it is set; empty where nothing is."""
    stored, camera = settings.calibration, settings.camera
    # Another camera gives what size it likes; the Pi's gives what it is told.
    if stored is None or camera.source != "picamera" or (stored.width, stored.height) == (camera.width, camera.height):
        return ""
    return (
        f"the table was calibrated with pictures of {stored.width}×{stored.height} px, and the camera is set to "
        f"{camera.width}×{camera.height}: run referee calibrate again"
    )


def run(path: Path, *, log: Path | None = None, new: bool = False) -> int:
    """Referee a real table by its settings file; returns the exit status.

    Args:
        path: the settings.
        log: where the log is written; None: as the settings say.
        new: begin a new game, whatever was broken off.

    Raises:
        UserError: the settings are wrong, or there is neither a camera nor a pad.
    """
    settings = load(path)
    with serving(open_service()) as service, ExitStack() as stack:
        try:
            parts = open_parts(settings)
        except HardwareMissing as bad:
            raise UserError(str(bad)) from None
        stack.callback(parts.close)
        target = log_path(settings, log)
        journal, amiss = _open_log(target, stack)
        parts.missing |= {part: words for part, words in (("setup", out_of_date(settings)), ("log", amiss)) if words}
        for words in parts.missing.values():
            print(words, file=sys.stderr)
        kept = open_kept(settings, table_of(settings, 0), stack, parts.missing, new=new)
        if kept.record is not None:
            kept.album = open_album(parts.pictures, kept.record, settings, parts.mail.about("pictures"), stack)
        conductor = referee(settings, parts, journal=journal, kept=kept, answers=sys.stdin, service=service)
        if conductor.view.game_over:
            kept.end()
    where = f"; the log is {target}" if journal is not None else ""
    print(f"{conductor.cards} cards seen, {len(conductor.rulings)} rulings{where}")
    return 0
