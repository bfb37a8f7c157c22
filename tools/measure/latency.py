"""`make latency`: from an edge to its light, and from a verdict to its first sound, under full load.

The shells are the real ones: pads whose edges another process makes in real time (`tests.support.edge_pipe`), lights
on mock pins that note when they change, the stream speaker over an ALSA card that notes when sound arrives
(`sound_card`), and the process that looks, with the real eye on rendered frames that never rest. Instants are
CLOCK_MONOTONIC's.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import LEAST_ERROR, GpioPads
from hardware.pads.pinout import PAD_PINS
from hardware.ports import Camera, Frame
from hardware.priority import be_urgent, make_quick
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from hardware.sound.clips import Clips, find_synthesiser
from hardware.sound.splice import PAUSE, RATE, Samples
from hardware.sound.stream_speaker import StreamSpeaker
from referee.announce.light_show import Lamps
from referee.announce.terminal import Display, Screen
from referee.announce.voice import Voice, announce, vocabulary
from referee.certification.running_table import LOST, lit_after
from referee.engine.observations import Slap as Felt
from referee.engine.observations import Table
from referee.engine.rulings import Ruling
from referee.record.journal import JournalThread
from referee.record.pictures import FRAMES_FILE
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.share import percentile
from referee.table.game import Conductor
from referee.table.loop import Alarm, FirstHand, Loop, SharedPads
from referee.table.page_link import PageLink
from referee.table.services import GameContext, TableService
from referee.table.slap_pictures import open_album
from referee.table.timeline import Timeline
from referee.vision.eye_client import SightProcess
from referee.vision.process import Work
from referee.vision.videos import new_watcher, seat_bearings
from tests.support.edge_pipe import PipedRequest, Slap
from tests.support.sound_card import SYSTEM, Card
from tools.measure.burdens import BURDENS, SYNC, ControlLoop, burdened
from tools.measure.histogram import draw_histograms

SEATS: Final = 4
SIZE: Final = (1280, 960)
MS: Final = 1_000_000
LIGHT: Final = 5.0
"""Limit from an edge to its light, 99 of 100 times, ms beyond the control's wake-up delay."""
DECIDED: Final = 5.0
"""Limit of the light once the first hand is known, ms."""
SOUND: Final = 30.0
"""Limit from a verdict to its first sound, 99 of 100 times, ms beyond the control's wake-up delay."""
_BURDENED: Final = {
    "none": "nothing else to do",
    "busy": "beside two busy processes",
    "disk": f"with a disk whose sync takes {1000 * SYNC:.0f} ms",
}
SPOKEN: Final = 0.04
"""Length of each phrase here, s, so that one verdict's sound is over when the next one's begins."""


@dataclass(frozen=True)
class Restless:
    """A camera that loops a rendered game, stamped with the present; drawn before it begins."""

    frames: int = 75
    fps: float = 15.0

    def __call__(self, told: Callable[[str], None]) -> Camera:
        table = SimulatedTable(play_game(seed=11, seats=SEATS, max_cards=9), fps=self.fps, size=SIZE)
        return _Played([table.render(table.frame_time(n)).image for n in range(self.frames)], self.fps)


class _Played:
    def __init__(self, images: list[Any], fps: float) -> None:
        self._images, self._every, self._closed = images, 1 / fps, False

    def frames(self) -> Iterator[Frame]:
        index, due = 0, time.monotonic()
        while not self._closed:
            due += self._every
            time.sleep(max(0.0, due - time.monotonic()))
            yield Frame(self._images[index % len(self._images)], time.monotonic_ns() - 4 * MS, 4 * MS, index)
            index += 1

    def close(self) -> None:
        self._closed = True


class Cut:
    """A bank that makes each phrase as usual, and then returns a short tone for it, whose beginning is unmistakable."""

    def __init__(self, bank: Clips) -> None:
        self._bank = bank
        self._tone = (0.3 * np.sin(np.arange(int(SPOKEN * RATE)) / 3)).astype(np.float32)
        self.asked: list[int] = []
        """When phrases were requested, ns."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        self.asked.append(time.monotonic_ns())
        self._bank.phrase(texts)
        return self._tone

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """As the bank does."""
        return self._bank.learn(names)


@dataclass
class Stopwatch:
    """Notes instants, ns."""

    edges: list[tuple[int, int, int]] = field(default_factory=list)
    """Seat, the edge's stamp, and when the loop knew."""
    verdicts: list[tuple[int, int]] = field(default_factory=list)
    """When spoken rulings were handed out, and the instant of the first of them."""

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Note rulings as the first listener, so that the time of the others counts."""
        spoken = announce(rulings)
        if spoken and spoken[0].urgent:
            self.verdicts.append((time.monotonic_ns(), rulings[0].t))


class Watched:
    """Notes the loop's first-hand signals, as the first of their listeners."""

    def __init__(self, watch: Stopwatch) -> None:
        self._watch = watch
        self._before: tuple[int, ...] = ()

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Note when the loop knows the first hand."""
        if touched and not self._before:
            self._watch.edges.append((touched[0], 0, time.monotonic_ns()))
        self._before = touched


def script(count: int, seed: int = 1) -> list[Slap]:
    """Return slaps of one to three hands, at irregular instants."""
    chance = random.Random(seed)
    out = []
    for _ in range(count):
        seats = chance.sample(range(1, SEATS + 1), chance.choice((1, 2, 2, 3)))
        hands = tuple((seat, 0.0 if n == 0 else chance.uniform(0.004, 0.03)) for n, seat in enumerate(seats))
        out.append(Slap(chance.uniform(0.7, 1.1), hands, chance.uniform(0.04, 0.12)))
    return out


@dataclass
class Measured:
    """One run's figures, ms, in the order in which they were taken."""

    light: list[float] = field(default_factory=list)
    decided: list[float] = field(default_factory=list)
    sound: list[float] = field(default_factory=list)
    verdict: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)
    """Wake-up delays of the bare loop from the same edges."""
    dry: int = 0
    """Number of underruns of the sound card."""
    card: float = 0.0
    """The stream's own figure for the delay between the card's buffer and the air, ms; part of ``sound``."""
    frames: int = 0
    seconds: float = 0.0
    busy: float = 0.0
    """Processor time of the process that looks, share of one core."""
    load: tuple[float, float, float] = (0.0, 0.0, 0.0)
    urgency: str = ""
    """The referee's priority on this machine; see `hardware.priority`."""


def measure(slaps: int, *, burden: str = "none", wanted_sound: bool = True) -> Measured:
    """Run the table in real time, under one of `BURDENS`, for a number of slaps."""
    watch, out = Stopwatch(), Measured()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        card = Card(folder) if wanted_sound and SYSTEM.exists() else None
        try:
            with burdened(burden, folder) as disk:
                _measure(slaps, watch, out, folder, disk, card)
        finally:
            if card is not None:
                card.close()
    return out


def _measure(slaps: int, watch: Stopwatch, out: Measured, folder: Path, disk: Path, card: Card | None) -> None:
    with table(folder, card, watch, disk=disk) as running:
        out.urgency = running.urgency
        running.play(script(slaps), out)
        running.go_on(1.5)
        out.card, out.dry = running.card_delay, running.speaker.dry if running.speaker is not None else 0
    _light(watch, running.lights, running.slaps, out)
    _sound(watch, card.onsets if card is not None else [], running.asked, out)
    out.load = os.getloadavg()


@dataclass
class Running:
    """A table at work, complete as in a game."""

    loop: Loop
    conductor: Conductor
    request: PipedRequest
    lights: SimulatedLights
    sights: SightProcess
    display: Display
    screen: Screen
    record: Record
    card: Card | None
    speaker: StreamSpeaker | None
    asked: list[int]
    """When phrases were requested, ns."""
    folder: Path
    """Folder for notes while it runs."""
    urgency: str = ""

    @property
    def slaps(self) -> list[tuple[int, int]]:
        """Return instant, ns, and seat of each hand that was felt."""
        return sorted((o.t, o.seat) for o in self.conductor.observations if isinstance(o, Felt))

    @property
    def card_delay(self) -> float:
        """Return the stream's figure for the card's delay, ms."""
        return 1000 * float(getattr(getattr(self.speaker, "_stream", None), "latency", 0.0))

    def play(self, slaps: Sequence[Slap], out: Measured) -> None:
        """Go on for a number of slaps."""
        control = ControlLoop(self.folder)
        self.request.echo = control.fd
        began, busy, seen = time.monotonic(), _cpu(self.sights.pid), self.loop.frames
        finger = self.request.play(slaps)
        # The edge process stands for the kernel, which is never delayed: this wait is not part of the measurement.
        for other in (finger, *([self.card.listener] if self.card is not None else [])):
            be_urgent(other)
        self.go_on(until=lambda: os.waitpid(finger, os.WNOHANG) != (0, 0))
        seconds = time.monotonic() - began
        self.request.echo = None
        out.control += control.close()
        frames = self.loop.frames - seen
        out.busy = (out.busy * out.seconds + _cpu(self.sights.pid) - busy) / (out.seconds + seconds)
        out.seconds, out.frames = out.seconds + seconds, out.frames + frames

    def go_on(self, seconds: float = 3600.0, until: Callable[[], bool] = lambda: False) -> None:
        """Turn the loop and draw the screen as in a game, for a time or until a condition holds."""
        drawn, end = 0, time.monotonic() + seconds
        while time.monotonic() < end and not until():
            now = self.loop.turn()
            if now - drawn > 200 * MS:
                drawn = now
                self.screen.draw(self.conductor.view, self.display.gauge)


@contextmanager
def table(
    folder: Path, card: Card | None, watch: Stopwatch, paging: PageLink | None = None, disk: Path | None = None,
    *, pictures: bool = False,
) -> Iterator[Running]:  # fmt: skip
    """Begin a game in real time.

    Args:
        folder: takes its files; the record is ``record.db`` there ...
        card: the sound card; None: no voice.
        watch: notes instants.
        paging: serves a page of the game; None: there is no page.
        disk: ... or here, if given.
        pictures: keep those of the slaps beside the record.
    """
    bank = Clips(find_synthesiser()) if card is not None else None
    if bank is not None:
        bank.render(vocabulary())
    request = PipedRequest(PAD_PINS[:SEATS])
    pads = GpioPads(dict(enumerate(PAD_PINS[:SEATS], start=1)), lines=GpiodLines(request), t_error=LEAST_ERROR)
    lights = SimulatedLights(SEATS)
    cut = Cut(bank) if bank is not None else None
    speaker = StreamSpeaker(cut) if cut is not None else None
    work = Work(Restless(), partial(new_watcher, seat_bearings(SEATS), None), pictures=pictures)
    sights, alarm = SightProcess(work), Alarm()
    record = Record((disk or folder) / "record.db")
    keeper = record.begin("now")
    journal = JournalThread(keeper, alarm.put)
    names = tuple(f"Seat {n}" for n in range(1, SEATS + 1))
    lamps = Lamps(lights, SEATS)
    with ExitStack() as kept, (folder / "screen").open("w") as terminal, _output(terminal), \
            Display(names, live=True) as display:  # fmt: skip
        screen = Screen(display)
        begun = Table(
            t=time.monotonic_ns(),
            id="table",
            seats=names,
            dealer=1,
            counts=(900,) * SEATS,
            rules={"base": "classic", "off": ["S2"]},
        )
        services: list[TableService] = [paging] if paging is not None else []
        if pictures:
            services.append(open_album(sights, record.path.with_name(FRAMES_FILE), lambda _: None, kept))
        shown: dict[str, Any] = {service.name: service.take_rulings for service in services}
        conductor = Conductor(
            begun, journal=journal,
            outlets={"watch": watch, "lights": lamps, "display": screen, **shown,
                     **({"voice": Voice(speaker)} if speaker is not None else {})},
        )  # fmt: skip
        if services:
            settings = parse_settings("".join(f'[[seat]]\nname = "{name}"\n' for name in names))
            game = GameContext(conductor, settings, Timeline(), time.monotonic_ns, keeper, record, speaker)
            for service in services:
                service.begin_game(game)
        first: dict[str, FirstHand] = {"watch": Watched(watch), "lights": lamps}
        loop = Loop(conductor, sights, SharedPads(pads), first=first, alarm=alarm, services=services)
        asked = cut.asked if cut is not None else []
        running = Running(
            loop, conductor, request, lights, sights, display, screen, record, card, speaker, asked, folder
        )
        make_quick()
        running.urgency = be_urgent()
        while loop.frames < 20:
            loop.turn()
        yield running
        screen.close()
    journal.close()
    sights.close()
    pads.close()
    if paging is not None:
        paging.close()
    if speaker is not None:
        speaker.close()


class _output:  # noqa: N801 - a context manager
    """Send the terminal's drawing to a file: it is drawn without disturbing a screen."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._kept = stream, sys.stdout

    def __enter__(self) -> None:
        sys.stdout = self._stream

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._kept


def _cpu(pid: int | None) -> float:
    """Return the processor time of a process so far, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _light(watch: Stopwatch, lights: SimulatedLights, slaps: list[tuple[int, int]], out: Measured) -> None:
    """Compare each first hand with its light."""
    seats = {f"seat {seat}": seat for seat in range(1, SEATS + 1)}
    changes = [(change.t, seats[change.light], change.level) for change in lights.changes if change.light in seats]
    known = [t for _, _, t in watch.edges]
    for lit, waited in lit_after(slaps, changes):
        out.light.append(waited)
        knew = bisect_right(known, lit) - 1
        if waited < LOST / MS and knew >= 0 and known[knew] >= lit - round(waited * MS):
            out.decided.append((lit - known[knew]) / MS)


def _sound(watch: Stopwatch, onsets: list[int], asked: list[int], out: Measured) -> None:
    """Compare each verdict that finds the voice idle with the sound that follows it.

    A verdict that is spoken after other words waits for them and for the pause behind them, as it should.
    """
    lasts, silent_from, before = int((SPOKEN + PAUSE) * 1e9), 0, 0
    for told, t in watch.verdicts:
        out.verdict.append((told - t) / MS)
        now = bisect_left(asked, told)
        for begun in asked[before:now]:
            silent_from = max(silent_from, begun) + lasts
        before = now
        if silent_from + 50 * MS > told:
            continue
        heard = bisect_left(onsets, told)
        if heard < len(onsets) and onsets[heard] - told < 1000 * MS:
            out.sound.append((onsets[heard] - told) / MS + out.card)
        elif onsets:
            out.sound.append(1000.0)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    values: list[float]
    limit: float | None
    share: float = 0.99
    control: Sequence[float] = ()
    """The bare loop's delay, ms: ``limit`` is the allowed excess over it."""

    @property
    def kept(self) -> bool:
        if self.limit is None:
            return True
        return bool(self.values) and percentile(self.values, self.share) <= self.limit + self.floor

    @property
    def floor(self) -> float:
        """Return the machine's own share, ms."""
        return percentile(self.control, self.share) if self.control else 0.0

    def text(self) -> str:
        above = f"{self.floor:.1f} + " if self.control else ""
        wanted = "" if self.limit is None else f"p{100 * self.share:.0f} <= {above}{self.limit:g}"
        if not self.values:
            return f"{self.name:<46} {wanted:>16}  not measured"
        figures = (percentile(self.values, 0.5), percentile(self.values, 0.99), max(self.values))
        mark = "" if self.limit is None else "  kept" if self.kept else "  MISSED"
        return f"{self.name:<46} {wanted:>16} {len(self.values):>5}" + "".join(f"{v:>9.2f}" for v in figures) + mark


def rows(out: Measured, *, with_sound: bool) -> list[Row]:
    """Return the table: required and measured."""
    table = [
        Row("an edge to a bare loop that it wakes, ms", out.control, None),
        Row("an edge to the light of the first hand, ms", out.light, LIGHT, control=out.control),
        Row("known whose hand is first to its light, ms", out.decided, DECIDED),
    ]
    if with_sound:
        table.append(Row("a verdict to its first sound, ms", out.sound, SOUND, control=out.control))
    return [*table, Row("a slap to its verdict, ms (waits for the camera)", out.verdict, None)]


def main() -> int:
    """Measure, print, draw; 1 if a limit was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slaps", type=int, default=100, help="under each burden (default 100, some two minutes)")
    parser.add_argument(
        "--burden",
        choices=BURDENS,
        nargs="+",
        default=list(BURDENS),
        help="what else the machine does: nothing, two processes that compute, a disk that syncs slowly",
    )
    parser.add_argument("--out", type=Path, default=Path("out/latency"))
    parser.add_argument("--no-sound", action="store_true", help="where there is no ALSA or no synthesiser")
    args = parser.parse_args()
    kept = [_tell(burden, measure(args.slaps, burden=burden, wanted_sound=not args.no_sound), args)
            for burden in args.burden]  # fmt: skip
    return 0 if all(kept) else 1


def _tell(burden: str, out: Measured, args: argparse.Namespace) -> bool:
    """Print and draw the results of one burden; return whether every limit was met."""
    table = rows(out, with_sound=not args.no_sound)
    print(f"{_BURDENED[burden]:<46} {'required':>16} {'n':>5} {'median':>8} {'p99':>8} {'worst':>8}")
    for row in table:
        print(row.text())
    load = ", ".join(f"{value:.2f}" for value in out.load)
    print(
        f"the referee runs {out.urgency}; {os.cpu_count()} cores, load {load}; the eye looked at "
        f"{out.frames} frames of {SIZE[0]} x {SIZE[1]} in {out.seconds:.0f} s and took {100 * out.busy:.0f} % of a "
        f"core; {out.card:.1f} ms of each sound's time are what the stream states of the card itself; the card ran dry "
        f"{out.dry} times"
    )
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"latency-{burden}.png"
    drawn = [(row.name, row.values, None if row.limit is None else row.limit + row.floor) for row in table]
    draw_histograms(path, [series for series in drawn if series[1]])
    print(f"drawn into {path}\n", flush=True)
    return all(row.kept for row in table)


if __name__ == "__main__":
    sys.exit(main())
