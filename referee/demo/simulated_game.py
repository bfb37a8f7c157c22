"""What a demo was asked for: the game, and what its camera looks at.

The simulated table as the referee meets it: time, people who answer, and frames and contacts merged in its order.

A script played through the real shells, and scored.

`referee demo`: a simulated table played through the real parts, and how well it was refereed.

Camera and pads are the only things the referee hears. What the players really did stays with the script until the
end, when it is laid beside what was seen and ruled.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hardware.pads.pads import LEAST_ERROR
from hardware.ports import Frame, HardwareMissing, Lights, Speaker
from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.devices.simulated_pads import SimulatedPads
from hardware.simulated.table.script import Script, play_game
from hardware.sound.speaker import open_speaker
from referee.announce.light_show import Lamps
from referee.announce.terminal import Display
from referee.announce.voice import Voice, vocabulary
from referee.demo.rendered_camera import RenderedCamera, View, draw
from referee.demo.score import Summary, count, heats, score_cards, score_rulings, show, slaps_of
from referee.engine.observations import Taken
from referee.engine.rulings import Ruling
from referee.errors import UserError
from referee.record.journal import Journal
from referee.settings.house_rules import rules_from
from referee.table.game import Conductor, Outlet, Watching
from referee.table.page_link import Paging, Shown
from referee.table.slap_pictures import Album, Pictured, album_in
from referee.table.timeline import Timeline
from referee.vision.videos import new_watcher, seat_bearings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO


@dataclass(frozen=True, slots=True)
class Options:
    """What `referee demo` was asked for."""

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
    """Serve the page beside the game."""
    live: bool | None = None
    """Draw on the terminal; None: if standard output is one."""


def family_of(seed: int) -> str:
    """The deck that a seed plays with."""
    names = sorted(FAMILIES)
    return names[seed % len(names)]


def script_of(options: Options) -> Script:
    """The game that the options ask for.

    Raises:
        UserError: there are no such rules, or their file has mistakes.
    """
    said = rules_from(options.rules) if isinstance(options.rules, str) else options.rules
    return play_game(options.seed, options.seats, said, options.max_cards)


def view_of(options: Options, script: Script) -> View:
    """What the simulated camera looks at."""
    return View(script, options.fps, family_of(options.seed), frames=options.frames)


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


REDRAW: Final = 0.15
"""Seconds of the machine's time between two drawings of the display."""


@dataclass(slots=True)
class Run:
    """What is measured while the game is played."""

    frames: int = 0
    began: float = 0.0
    took: float = 0.0
    lag: float = 0.0

    @property
    def fps(self) -> float:
        return self.frames / self.took if self.took > 0 else 0.0


def _play(
    frames: Iterator[Frame], table: Table, conductor: Conductor, people: People, display: Display, pace: Pace,
    paging: Paging | None = None,
) -> Run:  # fmt: skip
    run = Run()
    drawn = 0.0
    for frame in frames:
        now = table.see(frame)
        if run.frames == 0:
            run.began = time.monotonic()
        for question, value in people.due(now):
            conductor.answer(question, value, now)
        if paging is not None:
            paging.turn(now)
        run.frames += 1
        wall = time.monotonic()
        run.took = wall - run.began
        behind = pace.behind(now)
        run.lag = max(run.lag, behind)
        if wall - drawn >= REDRAW:
            drawn = wall
            gauge = display.gauge
            gauge.t, gauge.fps, gauge.lag_ms = now, run.fps, behind
            gauge.cards = conductor.cards
            display.draw(conductor.view)
    return run


def play(
    options: Options,
    script: Script,
    watcher: Watching,
    *,
    speaker: Speaker | None = None,
    lights: Lights | None = None,
    outlets: Mapping[str, Outlet] | None = None,
    frames: Iterator[Frame],
    clock: TableClock | None = None,
    log: TextIO | None = None,
    journal: Journal | None = None,
    shown: Shown | None = None,
) -> tuple[Summary, Conductor]:
    """Play a script through the real shells and score it; written as text to ``log``, or to a ``journal``.

    Raises:
        UserError: the camera stopped.
    """
    people = People(script)
    paging = shown.paging if shown is not None else None
    lamps = Lamps(lights, script.seats) if lights is not None else None
    pace: Pace = RealTime() if options.pace else AtOnce()
    with ExitStack() as stack:
        display = stack.enter_context(Display(script.table.seats, live=options.live))
        display.gauge.title = f"{options.rules} · {script.seats} seats · seed {options.seed}"
        there = {"page": paging, "voice": Voice(speaker) if speaker is not None else None, "lights": lamps}
        parts: dict[str, Outlet] = {"display": display, "people": people.hear, **(outlets or {})}
        parts |= {name: part for name, part in there.items() if part is not None}
        conductor = Conductor(script.table, watcher, outlets=parts, log=log, journal=journal)
        clock = clock or TableClock()
        table = Table(script, conductor, lamps, pace, clock)
        if shown is not None:
            shown.paging.follow(conductor, shown.keeper, clock)
        try:
            run = _play(frames, table, conductor, people, display, pace, paging)
        except HardwareMissing as bad:
            raise UserError(str(bad)) from None
        table.close(script.duration)
        conductor.finish()
        if paging is not None:
            paging.turn(script.duration + 2 * SECOND)
        display.draw(conductor.view)
    return summarise(options, script, conductor, run), conductor


def summarise(options: Options, script: Script, conductor: Conductor, run: Run) -> Summary:
    """Hold what was seen and ruled against what really happened."""
    seen = conductor.observations
    called = [moment.t for moment in script.called]
    return Summary(
        seed=options.seed,
        seats=script.seats,
        rules=str(options.rules),
        finished=script.finished,
        cards=score_cards(script.truth, seen),
        slaps=slaps_of(script.truth),
        slaps_felt=slaps_of(seen),
        taken=count(Taken, script.truth),
        taken_seen=count(Taken, seen),
        rulings=score_rulings(
            conductor.rulings, seen, script.truth, [*called, *heats(script.truth, 2 * LEAST_ERROR)], script.duration
        ),
        played_s=round(script.duration / 1e9, 1),
        took_s=round(run.took, 1),
        frames=run.frames,
        fps=round(run.fps, 1),
        lag_ms=round(run.lag, 1),
        troubles=dict(conductor.troubles),
    )


def _open_log(path: Path | None, stack: ExitStack) -> TextIO | None:
    if path is None:
        return None
    try:
        return stack.enter_context(path.open("w", encoding="utf-8"))
    except OSError as bad:
        raise UserError(f"--log: {path} cannot be written: {bad.strerror}") from None


@contextmanager
def _frames(view: View) -> Iterator[Iterator[Frame]]:
    """The camera, in a process of its own where there is more than one processor."""
    if (os.cpu_count() or 1) < 2:
        yield draw(view)
        return
    camera = RenderedCamera(view)
    try:
        yield camera.frames()
    finally:
        camera.close()


def _clear(folder: Path | None) -> None:
    """Make the folder of frames; frames of an earlier demo go, for `watch` would take them for this one's."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [path for path in folder.iterdir() if path.suffix in (".jpg", ".png")]
        if there and not (folder / "frames.json").exists():
            raise UserError(f"--frames: {folder} holds pictures of somebody else; name an empty folder")
        for path in there:
            path.unlink()
    except OSError as bad:
        raise UserError(f"--frames: {folder} cannot be written: {bad.strerror}") from None


def demo(options: Options) -> int:
    """Play, show, and close with the figures; returns 1 if a target was missed.

    Raises:
        UserError: the options ask for something that cannot be had.
    """
    script = script_of(options)
    began = time.monotonic()
    clock = TableClock()
    with ExitStack() as stack:
        log = _open_log(options.log, stack)
        _clear(options.frames)
        watcher = new_watcher(seat_bearings(script.seats))
        # Its drawing begins while the voice gets ready.
        frames = stack.enter_context(_frames(view_of(options, script)))
        speaker, words = _speaker(options, clock, stack)
        lights = SimulatedLights(script.seats, clock)
        stack.callback(lights.close)
        print(words)
        shown = Shown.begin(stack) if options.page else None
        pictured = Pictured(frames)
        summary, _ = play(
            options, script, watcher, speaker=speaker, lights=lights, clock=clock, log=log,
            frames=frames if shown is None else pictured.frames(),
            journal=shown.keeper if shown is not None else None,
            shown=shown,
            outlets={} if shown is None else {"pictures": _album(pictured, shown, stack)},
        )  # fmt: skip
        if shown is not None:
            pictured.give()
            shown.stay()
    summary = replace(summary, took_s=round(time.monotonic() - began, 1))
    show(summary)
    if options.summary is not None:
        try:
            options.summary.write_text(json.dumps(summary.as_fields(), ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as bad:
            raise UserError(f"--summary: {options.summary} cannot be written: {bad.strerror}") from None
    return 1 if summary.missed_targets() else 0


def _album(pictured: Pictured, shown: Shown, stack: ExitStack) -> Album:
    """Pictures round slaps, kept for as long as the page; nobody's hands are on them."""

    def say(words: str) -> None:
        print(words or "pictures are kept again", file=sys.stderr)

    album = album_in(shown.pictures, pictured, say, stack)
    album.follow(lambda: shown.keeper.game, Timeline())
    return album


def _clip_rendered(done: int, of: int) -> None:
    if done == 1:
        print(f"learning to speak: {of} clips, this once", file=sys.stderr, flush=True)


def _speaker(options: Options, clock: Callable[[], int], stack: ExitStack) -> tuple[Speaker, str]:
    """The voice, and what it is in words; a game without pace is spoken into a file or not at all."""
    if not options.pace and options.audio is None:
        return RecordingSpeaker(clock, keep=0), "no voice: without pace only --audio FILE.wav records one"
    try:
        voice = open_speaker(vocabulary(), audio=options.audio, clock=clock, start=0, progress=_clip_rendered)
    except HardwareMissing as missing:
        raise UserError(f"--audio: {missing}") from None
    stack.callback(voice.speaker.close)
    return voice.speaker, voice.words
