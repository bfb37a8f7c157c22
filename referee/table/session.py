"""`referee run`: game after game at a real table, from its settings to the switch."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from hardware.clock import monotonic
from hardware.ports import HardwareMissing
from referee.errors import UserError
from referee.record.journal import FileJournal, Journal
from referee.settings.model import Settings, load
from referee.table.assembly import referee, table_of
from referee.table.devices import OpenParts, open_parts
from referee.table.game import Conductor
from referee.table.loop import Answers
from referee.table.power_off import switch_off
from referee.table.seats import Sitting
from referee.table.services import Kept, Lasting, open_kept, open_lasting
from referee.table.slap_pictures import open_album
from referee.table.systemd import Service, open_service, serving

PACE: Final = 0.5
"""Seconds between two looks whether systemd has stopped us, once the machine is to go off."""
GOING: Final = 60.0
"""Seconds that the machine may take to go off."""


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
        missing: dict[str, str] = {}
        lasting = open_lasting(settings, stack, missing)
        typed = Answers()
        typed.listen(sys.stdin)
        if lasting.page is not None and lasting.paging is not None:
            # Whoever sees this terminal is at the table; pads, which else ask for a code, may be missing.
            print(f"to change something from the page, pair it with the code {lasting.paging.code()} (two minutes)")
        evening = Evening(settings, lasting, service, typed, log)
        sitting, words = None, ""
        while True:
            evening.play(dict(missing) | ({"power": words} if words else {}), sitting, new=new)
            orders, words = lasting.orders, ""
            sitting, new = orders.next, orders.next is not None
            if orders.switches_off and not service.stop_asked:
                words = orders.closed(monotonic(), switch_off)
                if not words:
                    _wait_to_go(service)
            if service.stop_asked or not (sitting or words):
                return 0


class Evening:
    """One game after the other, each with its devices opened anew: as many seats as people."""

    def __init__(
        self, settings: Settings, lasting: Lasting, service: Service, typed: Answers, log: Path | None
    ) -> None:
        """``log``: where the first game's log is written; None: as the settings say."""
        self._settings, self._lasting, self._service, self._typed = settings, lasting, service, typed
        self._log = log
        self._games = self._heard = 0

    def play(self, missing: dict[str, str], sitting: Sitting | None, *, new: bool) -> None:
        """Referee a game to its end, or until it is left.

        Args:
            missing: by part, what is not there; is added to, and told.
            sitting: who was chosen to play; None: as the settings say.
            new: begin a new game, whatever was broken off.

        Raises:
            UserError: there is neither a camera nor a pad.
        """
        if self._games:
            self._service.between_games()
        self._games += 1
        self._lasting.orders.settle()
        with ExitStack() as stack:
            kept, settings = open_kept(
                self._settings, partial(table_of, now=0), stack, missing, lasting=self._lasting, sitting=sitting,
                new=new,
            )  # fmt: skip
            settings = self._as_it_is(settings)
            parts = _open_parts(settings, kept, stack)
            target = log_path(settings, self._log, self._games)
            journal, amiss = _open_log(target, stack)
            amiss_too = {part: words for part, words in (("setup", out_of_date(settings)), ("log", amiss)) if words}
            parts.missing |= missing | amiss_too
            for words in parts.missing.values():
                print(words, file=sys.stderr)
            conductor = self._referee(settings, parts, kept, journal)
        where = f"; the log is {target}" if journal is not None else ""
        print(f"{conductor.cards} cards seen, {len(conductor.rulings)} rulings{where}")

    def _referee(self, settings: Settings, parts: OpenParts, kept: Kept, journal: Journal | None) -> Conductor:
        try:
            conductor = referee(
                settings, parts, journal=journal, kept=kept, answers=self._typed, service=self._service
            )  # fmt: skip
            if conductor.view.game_over:
                kept.over()
        finally:
            # A game that is broken off for another one is over; one that is left for the night is not.
            if kept.is_over or self._lasting.orders.next is not None:
                kept.end()
        return conductor

    def _as_it_is(self, settings: Settings) -> Settings:
        """The settings with the volume that was chosen; pads that were heard before this game are not called again."""
        pads = settings.pads
        if len(settings.seats) <= self._heard:
            pads = pads.model_copy(update={"roll_call": False})
        self._heard = max(self._heard, len(settings.seats))
        return settings.model_copy(update={"voice": self._lasting.orders.voice, "pads": pads})


def _open_parts(settings: Settings, kept: Kept, stack: ExitStack) -> OpenParts:
    try:
        parts = open_parts(settings)
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None
    stack.callback(parts.close)
    if kept.archive is not None:
        about = parts.mail.about("pictures")
        kept.album = open_album(parts.pictures, kept.archive.path, settings, about, stack)
    return parts


def _wait_to_go(service: Service) -> None:
    """The machine goes off: systemd stops this program before it does."""
    until = time.monotonic() + GOING
    while not service.stop_asked and time.monotonic() < until:
        for part in ("engine", "pads", "audio"):
            service.beat(part)
        time.sleep(PACE)


def log_path(settings: Settings, asked: Path | None, game: int = 1) -> Path | None:
    """Where the log goes: as asked, or into the settings' folder under the hour it begins.

    Args:
        settings: the table's.
        asked: the first game's; each further one has its number in the name.
        game: how manieth of this run it is.
    """
    if asked is not None:
        return asked if game == 1 else asked.with_stem(f"{asked.stem}-{game}")
    if settings.log_folder is None:
        return None
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
