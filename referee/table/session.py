"""An evening at a table: game after game, from the settings to the power switch. `referee run` calls `run`.

`referee demo` plays one game through `Evening`, too, with simulated devices and its own services.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hardware.clock import monotonic, wall_now
from hardware.orphans import end_orphans
from hardware.ports import HardwareMissing
from referee.announce.volume_choice import VOICE_FILE, VoiceChoice
from referee.control.page_address import listen_at
from referee.control.seat_codes import begin_evening
from referee.control.socket import ControlError, runtime_folder
from referee.engine.rulings import end_of
from referee.errors import UserError
from referee.record.certificates import find_standing
from referee.record.database import RecordError
from referee.record.journal import FileJournal, Journal
from referee.record.lock import hold_record
from referee.record.pictures import FRAMES_FILE
from referee.record.seals import show_seal
from referee.record.store import Record
from referee.sentence import Sentence, words_of
from referee.settings.model import Settings, load_settings, parse_settings
from referee.settings.places import earlier_records
from referee.setup.left_game import LeftGame
from referee.table.asking_again import AskingAgain
from referee.table.assembly import referee_game, table_of
from referee.table.broken_off import BrokenOff, RecordedGame, find_broken_off, open_game, show_left_game
from referee.table.card_calls import CardCalls
from referee.table.days import DateService
from referee.table.devices import Openers, OpenParts, open_parts
from referee.table.game import Conductor
from referee.table.keys import Keys
from referee.table.loop import Answers
from referee.table.page_link import PageLink, PageProcess
from referee.table.seats import GameSetup, seated, with_free_seats
from referee.table.services import Hook, TableService
from referee.table.slap_pictures import open_album
from referee.table.systemd import Service, open_service, serving
from referee.text.catalogue import texts
from referee.text.escapes import escape_controls
from referee.text.ruling_lines import RulingWords
from referee.text.terminal_language import here, translate

if TYPE_CHECKING:
    from referee.table.orders import Orders

_PACE: Final = 0.5
"""Interval at which the stop request of systemd is polled while the machine switches off, s."""
_GOING: Final = 60.0
"""Seconds that the machine may take to switch off."""


def run(path: Path, *, log: Path | None = None, new: bool = False, hooks: Sequence[Hook] = ()) -> int:
    """Referee a real table by its settings file; returns the exit status.

    Args:
        path: the settings.
        log: the log file; None: as the settings say.
        new: begin a new game even if one was broken off.
        hooks: open further services.

    Raises:
        UserError: the settings are wrong, another program writes the record, or there is neither a camera nor a pad.
    """
    settings = load_settings(path)
    standing = find_standing(settings)
    # An evening with phones and keys needs no certificate.
    if standing.certificate is not None or any(seat.pad_pin is not None for seat in settings.seats):
        print(standing.words(texts(settings.voice.language)), flush=True)
    if left := end_orphans():
        print(
            translate("ended {many} processes that a killed referee had left behind", many=len(left)),
            file=sys.stderr,
        )
    with serving(open_service()) as service, ExitStack() as stack:
        missing: dict[str, str] = {}
        if settings.record_file is not None:
            words = stack.enter_context(hold_record(settings.record_file, "referee run", wall_now()))
            missing |= {"lock": words} if words else {}
            from referee.record.merge import find_left_behind
            from referee.record.rescue import mend_record

            words = mend_record(settings.record_file, time.strftime("%Y%m%dT%H%M%S"))
            missing |= {"rescue": words} if words else {}
            for words in find_left_behind(settings.record_file, earlier_records(settings.record.file)):
                print(translate(words), file=sys.stderr)
        orders, services = open_services(settings, hooks, stack, missing, settings_file=path)
        typed = typing_people(services, stack)
        evening = Evening(
            settings, services, orders=orders, service=service, typed=typed, log=log, codes=runtime_folder(os.environ)
        )
        sitting, words = None, ""
        while True:
            conductor = evening.play(dict(missing) | ({"power": words} if words else {}), sitting, new=new)
            print(*summarise(conductor, evening.log, evening.seal), sep="\n", flush=True)
            sitting, new, words = orders.next, orders.next is not None, ""
            if orders.switches_off and not service.stop_asked:
                from referee.table.power_off import switch_off

                words = orders.closed(monotonic(), switch_off)
                if not words:
                    _wait_to_go(service)
            if service.stop_asked or not (sitting or words):
                return 0


def summarise(conductor: Conductor, log: Path | None, seal: str) -> list[str]:
    """Return the terminal's last lines on a game: first its outcome, if it is over, then where it is kept.

    ``seal``: its seal in the record; empty if it has none.
    """
    said = [translate("{cards} seen, {many} rulings", cards=conductor.cards, many=len(conductor.rulings))]
    said += [translate("the log is {file}", file=log)] * (log is not None)
    said += [translate("the game's seal is {seal}", seal=show_seal(seal))] * bool(seal)
    end = end_of(conductor.rulings)
    outcome = escape_controls(RulingWords(conductor.view.names, here()).outcome(end))
    return [*[outcome] * (end is not None), "; ".join(said)]


class RecordedLeftGames:
    """The game that was broken off in a table's record; implements `referee.setup.left_game.LeftGames`."""

    def __init__(self, settings_file: Path, record: Path) -> None:
        self._settings_file, self._record = settings_file, record

    def find(self, text: str) -> LeftGame | None:
        """Return the broken-off game if these settings can resume it, as it stood at its last recorded instant."""
        settings = parse_settings(text, self._settings_file.parent)
        with suppress(RecordError), Record(self._record, read_only=True) as record:
            left = find_broken_off(record, table_of(settings, 0), pads=len(settings.seats))
            if left is not None and left.past is not None:
                return show_left_game(left.info, left.past, date.fromisoformat(wall_now()[:10]))
        return None

    def end(self) -> None:
        """End the game; the record keeps it."""
        now = wall_now()
        with hold_record(self._record, "referee play", now), suppress(RecordError), Record(self._record) as record:
            left = record.unfinished()
            if left is not None:
                record.end(left.id, now)


def find_left_games(settings_file: Path) -> RecordedLeftGames | None:
    """Check that no other program writes the settings' record; return its broken-off game, None if there is none.

    Raises:
        UserError: another program writes it.
    """
    path = load_settings(settings_file).record_file
    if path is None or not path.exists():
        return None
    with hold_record(path, "referee play", wall_now()), suppress(RecordError), Record(path, read_only=True) as record:
        return None if record.unfinished() is None else RecordedLeftGames(settings_file, path)
    return None


def typing_people(services: list[TableService], stack: ExitStack) -> Answers:
    """Return the input that people type from now on; adds its handler, including the page's code, to the services."""
    typed = Answers()
    stack.callback(typed.hear(sys.stdin))
    link = next((service for service in services if isinstance(service, PageLink)), None)
    page = next((service for service in services if isinstance(service, PageProcess)), None)
    show_code = link.show_code if link is not None else lambda: None
    services.append(Keys(typed, show_code, page=page.address.here if page is not None else ""))
    return typed


def open_services(
    settings: Settings,
    hooks: Sequence[Hook],
    stack: ExitStack,
    missing: dict[str, str],
    *,
    settings_file: Path | None = None,
) -> tuple[Orders, list[TableService]]:
    """Return the orders that people can give, and the services that the settings name.

    Args:
        settings: the table's, as in its file.
        hooks: open further services.
        stack: closes everything.
        missing: receives, by part, why something is unavailable.
        settings_file: their file; None: there is none.
    """
    from referee.table.names import NameService
    from referee.table.network import OwnNetwork
    from referee.table.orders import Orders

    # Run as a service, the machine is the table's own; otherwise it is a person's computer.
    own = "NOTIFY_SOCKET" in os.environ
    path = settings.record_file
    chosen = VoiceChoice(path.with_name(VOICE_FILE)) if path else None
    orders = Orders(settings, chosen=chosen, may_switch_off=own, folder=runtime_folder(os.environ))
    services: list[TableService] = [orders, DateService(), CardCalls(lambda: orders.voice.cards), AskingAgain()]
    # Only the image's own network services make its folder.
    services += [OwnNetwork()] * own
    if path is None:
        return orders, services
    services.append(NameService(path))
    try:
        # The page reads the record from the start.
        with Record(path) as record:
            services += [one for hook in hooks if (one := hook(settings, record, stack)) is not None]
    except RecordError as error:
        missing["record"] = words_of(error)
        return orders, services
    if settings.page.enabled:
        # Run as a service, the table has a separate service for its page (appliance/table-referee-page.service).
        services += open_page(
            settings, path, stack, missing, orders=orders, own_process=not own, settings_file=settings_file
        )
    return orders, services


def open_page(
    settings: Settings, record: Path, stack: ExitStack, missing: dict[str, str], *, orders: Orders | None = None,
    folder: Path | None = None, own_process: bool = True, settings_file: Path | None = None,
) -> list[TableService]:  # fmt: skip
    """Open the page of the games in a record; empty, with the reason in ``missing``, if it cannot be served.

    Args:
        settings: the table's.
        record: the games.
        stack: closes the page.
        missing: receives the reason if it cannot be served.
        orders: the orders that the page may give; None: none.
        folder: holds the sockets; None: as the environment says.
        own_process: start the page's process.
        settings_file: the settings' own; None: there is none.
    """
    folder = folder or runtime_folder(os.environ)
    try:
        link = PageLink(folder, language=settings.voice.language, orders=orders)
    except (ControlError, OSError) as error:
        missing["page"] = words_of(error)
        return []
    stack.callback(link.close)
    if not own_process:
        return [link]
    try:
        listening = listen_at(settings.page.host, settings.page.port, any_near=True)
    except UserError as error:
        missing["page"] = words_of(error)
        return [link]
    process = PageProcess(
        record, folder, listening, pictures=record.with_name(FRAMES_FILE), is_unanswered=lambda: link.is_unanswered,
        settings=settings.page, settings_file=settings_file,
    )  # fmt: skip
    stack.callback(process.close)
    # People who see this terminal are at the table; the pads, the other way to ask for a code, may be missing.
    print(translate(process.standing))
    how = "to change something there, pair your device with the code {digits} (two minutes)"
    print(translate(how, digits=link.code()), flush=True)
    return [process, link]


class Evening:
    """Games one after the other; the devices are opened anew for each, with as many seats as players."""

    def __init__(
        self, settings: Settings, services: Sequence[TableService] = (), *, orders: Orders | None = None,
        openers: Openers | None = None, service: Service | None = None, typed: Answers | None = None,
        log: Path | None = None, journal: Journal | None = None, live: bool | None = None, title: str = "",
        codes: Path | None = None,
    ) -> None:  # fmt: skip
        """Begin without opening anything.

        Args:
            settings: the table's, as in its file.
            services: accompany every game.
            orders: people's orders for the next game; None: no orders.
            openers: open the devices; None: those of a real table.
            service: systemd's; None: a no-op.
            typed: input that people type.
            log: the first game's log; None: as the settings say.
            journal: takes the log's lines instead of a file.
            live: draw on the terminal; None: if it is one.
            title: shown over the display; empty: the players' names.
            codes: folder of this boot, whose seat codes may be from another evening; None: there are none.
        """
        self._settings, self._services, self._orders = settings, tuple(services), orders
        self._openers, self._service, self._typed = openers or Openers(), service or open_service(environ={}), typed
        self._log, self._journal, self._live, self._title, self._codes = log, journal, live, title, codes
        self._games = self._heard = 0
        self.log: Path | None = None
        """The last game's log; None: there is none."""
        self.seal = ""
        """Seal of the last game, if it is over and recorded."""

    def play(self, missing: dict[str, str], sitting: GameSetup | None = None, *, new: bool = False) -> Conductor:
        """Referee a game until it ends or is left.

        Args:
            missing: by part, what is missing; is added to, and reported.
            sitting: the chosen players and rules; None: as the settings say.
            new: begin a new game even if one was broken off.

        Raises:
            UserError: there is neither a camera nor a pad.
        """
        if self._games:
            self._service.between_games()
        self._games += 1
        with ExitStack() as stack:
            settings = seated(self._settings, sitting)
            for service in self._services:
                settings = service.prepare(settings)
            # An earlier fault of the record is found again below if it persists.
            missing.pop("record", None)
            left = self._find_broken_off(settings, missing)
            if self._codes is not None and self._games == 1:
                # Joined phones stay joined even if people begin a new game: they came for the one that was broken off.
                begin_evening(self._codes, goes_on=left is not None)
            if left is not None and left.past is not None and not new:
                sitting = GameSetup.at(left.past.table)
                settings = seated(self._settings, sitting).model_copy(update={"voice": settings.voice})
            if len(settings.seats) <= self._heard:
                # Pads heard before need no second roll-call.
                pads = settings.pads.model_copy(update={"roll_call": False})
                settings = settings.model_copy(update={"pads": pads})
            self._heard = max(self._heard, len(settings.seats))
            try:
                parts = open_parts(with_free_seats(settings, self._settings), self._openers)
            except HardwareMissing as error:
                raise UserError(str(error)) from None
            stack.callback(parts.close)
            # Only now, with devices open: without them no game may be ended or begun.
            recorded = self._open_game(settings, left, stack, missing, new=new)
            journal = self._journal or self._open_log(settings, stack, missing)
            if out_of_date(settings):
                missing["setup"] = out_of_date(settings)
            parts.missing |= missing
            for words in parts.missing.values():
                print(escape_controls(translate(words)), file=sys.stderr)
            return self._referee(settings, parts, recorded, journal, sitting, stack)

    def _find_broken_off(self, settings: Settings, missing: dict[str, str]) -> BrokenOff | None:
        """Find the game that a power failure left unfinished; only reads the record."""
        path = settings.record_file
        if path is None or not path.exists():
            return None
        try:
            with Record(path, read_only=True) as record:
                return find_broken_off(record, table_of(settings, 0), pads=len(self._settings.seats))
        except RecordError as error:
            missing["record"] = words_of(error)
            return None

    def _open_game(
        self, settings: Settings, left: BrokenOff | None, stack: ExitStack, missing: dict[str, str], *, new: bool
    ) -> RecordedGame | None:
        """Open the game in the record; None, with the reason in ``missing``, if it is not recorded."""
        if settings.record_file is None or "record" in missing:
            return None
        try:
            for service in self._services:
                service.prepare_record(settings)
            record = stack.enter_context(Record(settings.record_file))
            recorded = open_game(record, left, self._openers.clock(), new=new)
        except RecordError as error:
            missing["record"] = words_of(error)
            return None
        if sys.stdout.isatty():
            # A drawn display shows no notices; elsewhere they are printed.
            began = recorded.began[:16].replace("T", " ")
            goes_on = Sentence("the game of {began} goes on where it stood", began=began) if began else ""
            said = (goes_on, recorded.words, recorded.left_behind)
            print("".join(f"{translate(words)}\n" for words in said if words), end="")
        return recorded

    def _referee(
        self, settings: Settings, parts: OpenParts, recorded: RecordedGame | None, journal: Journal | None,
        sitting: GameSetup | None, stack: ExitStack,
    ) -> Conductor:  # fmt: skip
        """Referee the game with its services, and end it if it is over or given up for another one."""
        services = [service for service in self._services if recorded is not None or not service.needs_record]
        if recorded is not None:
            services.insert(0, recorded)
            if parts.pictures is not None:
                path, cap = recorded.record.path.with_name(FRAMES_FILE), settings.record.pictures_cap_mb << 20
                services.append(open_album(parts.pictures, path, parts.mail.about("pictures"), stack, cap=cap))
        conductor: Conductor | None = None
        try:
            conductor = referee_game(
                settings, parts, services=services, recorded=recorded, journal=journal,
                is_chosen=sitting is not None, answers=self._typed, live=self._live,
                service=self._service, title=self._title,
            )  # fmt: skip
        finally:
            is_over = conductor is not None and conductor.view.game_over
            is_over = is_over or (recorded is not None and recorded.is_over)
            is_over = is_over or any(service.hides for service in services)
            # A game given up for another one is over; one that is left for the night is not.
            if is_over or (self._orders is not None and self._orders.next is not None):
                for service in services:
                    service.end_game()
            self.seal = _seal_of(recorded) if is_over and recorded is not None else ""
        return conductor

    def _open_log(self, settings: Settings, stack: ExitStack, missing: dict[str, str]) -> Journal | None:
        """Open the log's file; a missing log does not stop the game."""
        self.log = None
        path = log_path(settings, self._log, self._games)
        if path is None:
            return None
        try:
            journal = FileJournal(path)
        except OSError as error:
            missing["log"] = f"the log {path} cannot be written: {error.strerror}; see --log and log.folder"
            return None
        self.log = path
        stack.callback(_close_log, journal)
        return journal


def _seal_of(recorded: RecordedGame) -> str:
    """Return the seal of a game that is over; empty if it is not recorded."""
    with suppress(RecordError):
        return recorded.record.seal(recorded.keeper.game) if recorded.keeper.game is not None else ""
    return ""


def _wait_to_go(service: Service) -> None:
    """Wait until the machine switches off: systemd stops this program first."""
    until = time.monotonic() + _GOING
    while not service.stop_asked and time.monotonic() < until:
        for part in ("engine", "pads", "audio"):
            service.beat(part)
        time.sleep(_PACE)


def log_path(settings: Settings, asked: Path | None, game: int = 1) -> Path | None:
    """Return the log's path: as asked, or in the settings' folder, named after the time it begins.

    Args:
        settings: the table's.
        asked: the first game's; each further game has its number in the name.
        game: number of the game in this run, from 1.
    """
    if asked is not None:
        return asked if game == 1 else asked.with_stem(f"{asked.stem}-{game}")
    if settings.log_folder is None:
        return None
    return settings.log_folder / time.strftime("%Y-%m-%d_%H-%M-%S.jsonl")


def _close_log(journal: FileJournal) -> None:
    try:
        journal.close()
    except OSError as error:
        print(
            translate("the end of the log {path} could not be written: {why}", path=journal.path, why=error.strerror),
            file=sys.stderr,
        )


def out_of_date(settings: Settings) -> str:
    """Return what is wrong with the calibration for the camera's present settings; empty if nothing is."""
    stored, camera = settings.calibration, settings.camera
    # Other cameras choose their picture size; only the Pi's camera obeys the settings.
    if stored is None or camera.source != "picamera" or (stored.width, stored.height) == (camera.width, camera.height):
        return ""
    return (
        f"the table was calibrated with pictures of {stored.width}×{stored.height} px, and the camera is set to "
        f"{camera.width}×{camera.height}: run referee calibrate again"
    )
