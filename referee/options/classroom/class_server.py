"""`referee class`: open the devices of a class, and serve its page until stopped."""

from __future__ import annotations

import asyncio
import random
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette

from hardware.pads.page_pads import PageSource
from hardware.pads.plugged_pads import PluggedPads
from hardware.ports import HardwareMissing, TimedPads
from referee.control.page_address import address_of, listen_at, open_browser
from referee.control.seat_codes import HANDS_SOCKET, SeatCode, browser_key, make_seat_codes
from referee.errors import UserError
from referee.options.classroom.class_lesson import FIRST_KEY, SCREEN, ReactionLesson
from referee.options.classroom.class_site import TRIAL, ClassSite
from referee.options.classroom.pupils import MOST_PUPILS, PHONES
from referee.options.classroom.reaction_class import ReactionClass, SharedRounds
from referee.options.classroom.stimuli import open_stimulus
from referee.settings.model import Settings, load_settings
from referee.text.terminal_language import translate
from referee.units import SECOND
from referee.web.api import Control
from referee.web.security.guard import OPEN_CHANGES, Guard
from referee.web.security.hosts import Hosts
from referee.web.security.limits import Limits
from referee.web.serving import SiteServer

CLASS_LIMITS: Final = Limits(
    reads=5 * MOST_PUPILS, changes=200, connections=200, streams=MOST_PUPILS + 8, all_streams=2 * MOST_PUPILS
)
"""A school's phones may share one address: all may join in the same seconds, and each has up to six connections, a
stream of events, and several reports in ten seconds."""


@dataclass(frozen=True, slots=True)
class ClassOptions:
    """Options of `referee class`."""

    stimulus: str = "phone"
    trials: int = 20
    hands: bool = False
    keys: tuple[str, ...] = ()
    """Letters or digits of this browser's keyboard, one for each pupil at it."""
    settings: Path | None = None
    csv: Path | None = None
    wait: int = SECOND
    seed: int | None = None
    host: str = "0.0.0.0"
    port: int = 0
    browser: bool = True


def hold_class(options: ClassOptions) -> int:
    """Serve the class until stopped; return the exit status.

    Raises:
        UserError: an option does not fit the others, or a device, a file or the address is not available.
    """
    if options.stimulus == "phone" and (options.keys or options.settings):
        raise UserError("keys and pads answer what all see or hear: add --stimulus screen, light or sound")
    settings = None if options.settings is None else load_settings(options.settings)
    with tempfile.TemporaryDirectory(prefix="referee-class-") as name:
        folder = Path(name)
        codes = _make_codes(folder, options)
        lesson = _open_lesson(folder, codes, options, settings)
        try:
            asyncio.run(_serve(folder, codes, lesson, options))
        finally:
            lesson.close()
        _tell_end(lesson)
    return 0


def _make_codes(folder: Path, options: ClassOptions) -> list[SeatCode]:
    keys = dict.fromkeys(PHONES, "") | {FIRST_KEY + n: browser_key(key) for n, key in enumerate(options.keys)}
    if options.stimulus == "screen":
        # Not a phone but the page with the signal, which may be open in several browsers.
        keys[SCREEN] = "screen"
    return make_seat_codes(folder, keys)


def _open_lesson(
    folder: Path, codes: list[SeatCode], options: ClassOptions, settings: Settings | None
) -> ReactionLesson:
    chance = random.Random(options.seed)
    room = ReactionClass(options.trials, hands=options.hands)
    more: dict[str, Any] = {"shortest": options.wait, "chance": chance, "csv": options.csv}
    if options.stimulus == "phone":
        return ReactionLesson(room, None, None, options.stimulus, pads={}, **more)
    rounds = SharedRounds(room, options.wait, chance)
    stimulus = open_stimulus(options.stimulus, settings)
    pads: dict[str, TimedPads] = {"page": PluggedPads(PageSource([code.seat for code in codes], folder / HANDS_SOCKET))}
    try:
        if settings is not None:
            from referee.setup.wired_devices import open_pads

            if not opens_no_pads(settings):
                pads["pad"] = open_pads(settings)
        return ReactionLesson(room, rounds, stimulus, options.stimulus, pads=pads, **more)
    except (HardwareMissing, OSError, UserError) as error:
        stimulus.close()
        for pad in pads.values():
            pad.close()
        raise UserError(str(error)) from None


def opens_no_pads(settings: Settings) -> bool:
    """Return whether a table's pads are all pages: then phones join by the class's own code, and no pad is opened."""
    on_pages = [seat.pad_place is not None and seat.pad_place.kind in ("phone", "browser") for seat in settings.seats]
    if any(on_pages) and not all(on_pages):
        raise UserError(
            "{seat} has a page as its pad, which belongs to the table's own page: name "
            "settings whose pads are on pins, keys or boards; phones join the class by its code",
            seat=on_pages.index(True) + 1,
        )
    return all(on_pages)


async def _serve(folder: Path, codes: list[SeatCode], lesson: ReactionLesson, options: ClassOptions) -> None:
    listening = listen_at(options.host, options.port, any_near=True)
    address = address_of(listening)
    site: ClassSite
    control = Control(folder, names=lambda: site.names())
    site = ClassSite(lesson, control, address, codes)
    guard = Guard(Starlette(routes=site.routes()), control.sessions, hosts=Hosts.of_this_machine(), limits=CLASS_LIMITS,
                  open_changes=(*OPEN_CHANGES, TRIAL))  # fmt: skip
    print(translate(address.words))
    print(translate("the room's page; Ctrl-C ends the lesson"), flush=True)
    if options.browser:
        open_browser(address.here)
    lesson.start()
    going = asyncio.create_task(site.go_on())

    try:
        await SiteServer(guard, site.close).listen(listening, quiet=True)
    finally:
        going.cancel()
        with suppress(asyncio.CancelledError):
            await going


def _tell_end(lesson: ReactionLesson) -> None:
    print(
        translate("nothing is kept") if lesson.csv is None else translate("every trial is in {csv}", csv=lesson.csv),
        flush=True,
    )
    if lesson.trouble:
        raise UserError("{csv}: not every trial could be written ({trouble})", csv=lesson.csv, trouble=lesson.trouble)
