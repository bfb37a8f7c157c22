"""`referee demo`: a simulated table, refereed like a real one, and its score.

The table's devices are simulated (`referee.demo.demo_table`); all else is the same as in `referee run`: the evening,
loop, eye, services. The referee's only input is camera and pads. The script keeps the truth until the end, when it is
compared with observations and rulings (`referee.demo.score`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hardware.clock import Clock, monotonic, wall_now
from hardware.ports import HardwareMissing, Speaker
from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.table.script import Script, play_game
from hardware.sound.speaker import open_speaker
from referee.announce.voice import vocabulary
from referee.demo.demo_marks import MarkingPlayers
from referee.demo.demo_players import PaceTeller, Players
from referee.demo.demo_table import DemoTable, OpenVoice, PacedTable, SteppedTable
from referee.demo.rendered_camera import CameraView, DrawnCamera, RenderedCamera
from referee.demo.score import DemoSummary, Score, show
from referee.errors import UserError
from referee.options.shadow.shadow_watch import ShadowWatch
from referee.options.shadow.shadowed_games import shadow_report
from referee.record.lock import hold_record
from referee.settings.house_rules import resolve_rules
from referee.settings.model import Settings, parse_settings
from referee.table.loop import Answers
from referee.table.services import TableService
from referee.table.session import Evening, open_page, typing_people
from referee.table.systemd import outliving_terminal
from referee.text.escapes import escape_controls
from referee.text.terminal_language import here, translate
from referee.vision.videos import new_watcher, seat_bearings

if TYPE_CHECKING:
    from referee.record.journal import Journal
    from referee.table.game import Conductor


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Options of `referee demo`."""

    seats: int = 4
    rules: Any = "classic"
    seed: int = 1
    pace: bool = True
    max_cards: int = 400
    fps: float = 15.0
    log: Path | None = None
    audio: Path | None = None
    frames: Path | None = None
    summary: Path | None = None
    page: bool = False
    """Serve the page beside the game ..."""
    host: str = "127.0.0.1"
    """... at this address ..."""
    port: int = 8080
    """... and port, or one of the next."""
    record: Path | None = None
    """File to record the game in; None: a temporary one."""
    live: bool | None = None
    """Draw on the terminal; None: if standard output is one."""
    shadow: bool = False
    """The players referee, and the referee is silent."""
    wrong: int = 0
    """Number of their wrong verdicts in that case."""


def script_of(options: DemoOptions) -> Script:
    """Return the script of the game that the options ask for.

    Raises:
        UserError: there are no such rules, or their file has mistakes.
    """
    rules = resolve_rules(options.rules) if isinstance(options.rules, str) else options.rules
    return play_game(options.seed, options.seats, rules, options.max_cards)


def view_of(options: DemoOptions, script: Script) -> CameraView:
    """Return the simulated camera's view of a script, with a deck chosen by its seed."""
    families = sorted(FAMILIES)
    return CameraView(script, options.fps, families[options.seed % len(families)], frames=options.frames)


def settings_for(script: Script, record: Path | None = None, *, host: str = "127.0.0.1", port: int = 0) -> Settings:
    """Return the settings of the script's table, recorded in this file if given, and served at this address."""
    seats = "".join(f"[[seat]]\nname = {json.dumps(name, ensure_ascii=False)}\n" for name in script.table.seats)
    file = json.dumps(str(record.absolute()) if record is not None else "")
    given = parse_settings(
        f"[pads]\nroll_call = false\n[record]\nfile = {file}\npictures = true\n"
        f"[page]\nhost = {json.dumps(host)}\nport = {port}\n[voice]\nlanguage = {json.dumps(here().language)}\n{seats}"
    )
    return given.model_copy(update={"rules": script.table.rules, "dealer": script.table.dealer})


def play_at(
    table: DemoTable, options: DemoOptions, settings: Settings, *, services: Sequence[TableService] = (),
    journal: Journal | None = None, open_voice: OpenVoice | None = None, typed: Answers | None = None,
) -> tuple[DemoSummary, Conductor]:  # fmt: skip
    """Play the table's script, refereed as at a real table, and score it.

    Args:
        table: the table, whose devices are opened.
        options: the demo's options.
        settings: the table's.
        services: run with the game, besides the players and the score.
        journal: takes the log's lines; None: as the options say.
        open_voice: opens the speaker; None: no voice.
        typed: lines that people type; None: no keyboard.

    Raises:
        UserError: the camera stopped.
    """
    voice = settings.voice.model_copy(update={"enabled": open_voice is not None})
    score = Score(table)
    evening = Evening(
        settings.model_copy(update={"voice": voice}),
        [*services, Players(table, options.max_cards, answers=not options.shadow), PaceTeller(table),
         *_shadows(table, options), score],
        openers=table.openers(open_voice or (lambda clock: RecordingSpeaker(clock, keep=0))),
        log=options.log, journal=journal, live=options.live, typed=typed,
        title=f"{options.rules} · {table.script.seats} seats · seed {options.seed}",
    )  # fmt: skip
    conductor = evening.play({}, new=True)
    if "camera" in conductor.troubles:
        raise UserError(conductor.troubles["camera"])
    return score.summary(options.seed, str(options.rules)), conductor


def _shadows(table: DemoTable, options: DemoOptions) -> list[TableService]:
    """Return the services of shadow mode: the silent referee, and players who mark their verdicts."""
    return [ShadowWatch(), MarkingPlayers(table, options.wrong)] if options.shadow else []


def demo(options: DemoOptions) -> int:
    """Play a game, show it, and close with the figures; return 1 if a target was missed.

    Raises:
        UserError: the options ask for something that is not available.
    """
    script = script_of(options)
    began = time.monotonic()
    _check_places(options)
    with ExitStack() as stack:
        stack.enter_context(outliving_terminal())
        table = _table_of(options, script, stack)
        settings, services, typed = settings_for(script), list[TableService](), None
        if options.page or options.shadow or options.record is not None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="referee-demo-")))
            record = options.record or folder / "record.db"
            settings = settings_for(script, record, host=options.host, port=options.port)
            stack.enter_context(hold_record(record, "referee demo", wall_now()))
        if options.page:
            from referee.record.store import Record

            missing = dict[str, str]()
            # The page reads the record from its first moment.
            Record(record).close()
            services += open_page(settings, record, stack, missing, folder=folder)
            print("".join(f"{translate(words)}\n" for words in missing.values()), end="", file=sys.stderr)
        if sys.stdin.isatty():
            typed = typing_people(services, stack)
        voice = partial(_open_voice, options)
        if options.shadow:
            play_at(table, options, settings, services=services, typed=typed)
            return _close_shadow(options, record, services, typed)
        summary, _ = play_at(table, options, settings, services=services, open_voice=voice, typed=typed)
        if typed is not None and options.page and not any(service.leaves for service in services):
            _stay(services, typed)
    summary = replace(summary, took_s=round(time.monotonic() - began, 1))
    show(summary)
    if options.summary is not None:
        try:
            options.summary.write_text(json.dumps(summary.as_fields(), ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise UserError(
                "--summary: {summary} cannot be written: {why}", summary=options.summary, why=error.strerror
            ) from None
    return 1 if summary.missed_targets() else 0


def _close_shadow(
    options: DemoOptions, record: Path, services: Sequence[TableService], typed: Answers | None
) -> int:  # fmt: skip
    """Print the people's rulings against the referee's."""
    from referee.record.store import Record

    with Record(record, read_only=True) as games:
        print(*map(escape_controls, shadow_report(games, language=here().language)), sep="\n")
    if typed is not None and options.page and not any(service.leaves for service in services):
        _stay(services, typed)
    return 0


def _check_places(options: DemoOptions) -> None:
    """Check that log and frames can be written; delete frames of an earlier demo, which `watch` would mix with
    these.
    """
    if options.log is not None:
        try:
            options.log.open("w", encoding="utf-8").close()
        except OSError as error:
            raise UserError("--log: {log} cannot be written: {why}", log=options.log, why=error.strerror) from None
    folder = options.frames
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [path for path in folder.iterdir() if path.suffix in (".jpg", ".png")]
        if there and not (folder / "frames.json").exists():
            raise UserError("--frames: {folder} holds other pictures; name an empty folder", folder=folder)
        for path in there:
            path.unlink()
    except OSError as error:
        raise UserError("--frames: {folder} cannot be written: {why}", folder=folder, why=error.strerror) from None


def _table_of(options: DemoOptions, script: Script, stack: ExitStack) -> DemoTable:
    view = view_of(options, script)
    if options.pace:
        return PacedTable(script, view, stack, pictures=options.page)
    camera = RenderedCamera(view) if (os.cpu_count() or 1) > 1 else DrawnCamera(view)
    stack.callback(camera.close)
    return SteppedTable(script, camera.frames(), new_watcher(seat_bearings(script.seats)), camera.follow)


def _open_voice(options: DemoOptions, clock: Clock) -> Speaker:
    """Open the voice, and print what it is; a game without pace is spoken into a file or not at all."""
    if not options.pace and options.audio is None:
        print(translate("no voice: without pace only --audio FILE.wav records one"))
        return RecordingSpeaker(clock, keep=0)

    from rich.console import Console
    from rich.progress import Progress

    start = None if options.pace else 0
    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(translate("learning to speak, this once"), visible=False)
        try:
            voice = open_speaker(
                vocabulary(here().language), audio=options.audio, clock=clock, start=start,
                progress=lambda done, of: bars.update(bar, completed=done, total=of, visible=True),
                language=here().language,
            )  # fmt: skip
        except HardwareMissing as error:
            raise UserError("--audio: {why}", why=error) from None
    print(translate(voice.words))
    return voice.speaker


def _stay(services: Sequence[TableService], typed: Answers) -> None:
    """Keep the page open after the game, until Enter is pressed."""
    print(*(translate(words) for service in services if (words := service.standing)), sep="\n")
    print(translate("the page stays open; Enter ends it") + " ", end="", flush=True)
    typed.forget()
    while not typed.wait(0.05):
        for service in services:
            service.beat(monotonic())
