"""A whole table in real time: the real loop, conductor, pad shell, looking process and log; only people are missing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import GpioPads
from hardware.pads.pinout import PAD_PINS
from hardware.ports import Speaker, TimedPads
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from referee.announce.light_show import Lamps
from referee.announce.sinks import Notice, RulingListener
from referee.announce.voice import Voice
from referee.engine.observations import Card, Table, Taken
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling, encode_ruling
from referee.record.journal import FileJournal, GameWriter, Journal, JournalThread
from referee.settings.model import parse_settings
from referee.table.game import Conductor
from referee.table.loop import Alarm, FirstHand, Loop, NoPads, SharedPads
from referee.table.page_link import PageLink
from referee.table.services import GameContext, TableService
from referee.table.slap_pictures import Album
from referee.table.timeline import Timeline
from referee.units import SECOND
from referee.vision.eye_client import SightProcess
from referee.vision.process import Work
from tests.faults.told import Told
from tests.support.failing_lines import FailingLineRequest
from tests.support.patience import PATIENCE
from tests.support.seeing import Switched

SEATS = 3
NAMES = ("Ana", "Ben", "Cho")
MS = 1_000_000


class Lit:
    """Whether the light of a first hand went on; any thread may wait for it."""

    def __init__(self) -> None:
        self.on = threading.Event()

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Note the touch after the lights: called last."""
        if touched:
            self.on.set()
        else:
            self.on.clear()


class DiskClock:
    """The disk thread's clock: it advances only when a test lets it."""

    def __init__(self) -> None:
        self._now = 0

    def __call__(self) -> int:
        return self._now

    def pass_on(self, seconds: float) -> None:
        """Advance the clock."""
        self._now += round(seconds * SECOND)


class Rig:
    """The table. `until` lets it run; everything else happens between two turns of its loop."""

    def __init__(
        self, folder: Path, *, speaker: Speaker | None = None, pads: bool = True, camera: str = "",
        journal: Journal | None = None, page: tuple[PageLink, GameWriter] | None = None,
        timeline: Timeline | None = None, pictures: Callable[[SightProcess], Album] | None = None,
    ) -> None:  # fmt: skip
        """``camera``: its initial state (see `Switched`); ``journal``: None takes a file;
        ``pictures`` makes the picture client.
        """
        self.timeline = timeline or Timeline()
        self.camera = Switched(folder / "camera")
        self.camera.set(camera)
        self.eye = Told(folder)
        self.request = FailingLineRequest(PAD_PINS[:SEATS], start=time.monotonic_ns())
        shell: TimedPads = NoPads()
        if pads:
            self._stamp()
            lines = GpiodLines(self.request)
            shell = GpioPads(dict(enumerate(PAD_PINS[:SEATS], start=1)), lines=lines, t_error=20_000)
        self.pads = SharedPads(shell)
        self.path = folder / "game.jsonl"
        self.disk_clock = DiskClock()
        self.alarm = Alarm()
        self.journal = JournalThread(journal or FileJournal(self.path), self.alarm.put, self.disk_clock)
        self.lights = SimulatedLights(SEATS)
        self.speaker = speaker or RecordingSpeaker()
        self.notices: list[Notice] = []
        voice, lamps = Voice(self.speaker), Lamps(self.lights, SEATS)
        self.shown: list[Ruling] = []
        self.sights = SightProcess(Work(self.camera, self.eye, pictures=pictures is not None))
        outlets: dict[str, RulingListener] = {"display": self.shown.extend, "lights": lamps, "voice": voice}
        if pictures is not None:
            outlets["pictures"] = pictures(self.sights).take_rulings
        table = Table(t=self.timeline.now(time.monotonic_ns()), id="table", seats=NAMES, dealer=SEATS, rules="classic")
        self.conductor = Conductor(
            table, journal=self.journal,
            outlets=outlets,
            tellers={
                "display": self.notices.append, "voice": voice.tell,
                **({"page": page[0].take_notice} if page else {}),
            },
        )  # fmt: skip
        self.lit = Lit()
        self._first: dict[str, FirstHand] = {"lights": lamps, "voice": voice, "lit": self.lit}
        self._services: list[TableService] = []
        if page is not None:
            settings = parse_settings("".join(f'[[seat]]\nname = "{name}"\n' for name in NAMES))
            clock = time.monotonic_ns
            game = GameContext(self.conductor, settings, self.timeline, clock, page[1], None, self.speaker)
            page[0].begin_game(game)
            self._services.append(page[0])
        self.begin()

    def begin(self) -> None:
        """Begin: the loop takes the pads' edges from now on."""
        if hasattr(self, "loop"):
            self.sights.close()
        self.loop = Loop(
            self.conductor, self.sights, self.pads, first=self._first, timeline=self.timeline,
            services=self._services, alarm=self.alarm,
        )  # fmt: skip

    # Events at the table

    def until(self, wanted: Callable[[], Any], what: str = "") -> None:
        """Let the table run until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not wanted():
            self.loop.turn(0.01)
            assert time.monotonic() < end, f"waited in vain {what}; {self.conductor.troubles}; {self.told()[-5:]}"

    def run(self, ms: float) -> None:
        """Let the table run for a time."""
        end = time.monotonic() + ms / 1000
        self.until(lambda: time.monotonic() >= end)

    def see(self) -> None:
        """Wait until the camera sees."""
        self.until(lambda: self.loop.frames > 3, "for frames")

    def lay(self, card: str, seat: int) -> None:
        """Lay a card face up."""
        before = self.conductor.cards
        self.eye.happen(Card(t=time.monotonic_ns(), card=card, seat=seat))
        self.until(lambda: self.conductor.cards > before, f"for {card}")

    def take(self, seat: int) -> None:
        """Take the pile."""
        self.eye.happen(Taken(t=time.monotonic_ns(), seat=seat))

    def slap(self, *seats: int, gap: float = 14.0, down: float = 30.0) -> None:
        """Bring hands down, ``gap`` ms apart, and up again."""
        for number, seat in enumerate(seats):
            if number:
                self.run(gap)
            self.press(seat)
        self.run(down)
        for seat in seats:
            self.lift(seat)

    def press(self, seat: int) -> None:
        """Close a pad."""
        self._stamp()
        self.request.drive(PAD_PINS[seat - 1], True)

    def lift(self, seat: int) -> None:
        """Open a pad."""
        self._stamp()
        self.request.drive(PAD_PINS[seat - 1], False)

    def _stamp(self) -> None:
        self.request.now = time.monotonic_ns()

    def pair(self) -> None:
        """Play two sevens and three's hand: a slap that is won if the table works."""
        before = len(self.rulings("slap_won"))
        self.lay("7h", 1)
        self.lay("7c", 2)
        self.slap(3)
        self.until(lambda: len(self.rulings("slap_won")) > before, "for a verdict")
        self.take(3)
        self.until(lambda: not self.conductor.view.pile, "for the pile to go")

    def double(self, rank: str) -> None:
        """Lay two cards of a rank in turn; the next seat slaps, wins, and takes them."""
        before, seat = len(self.rulings("slap_won")), self.conductor.view.turn or 1
        for number, suit in enumerate("hc"):
            self.lay(rank + suit, (seat + number - 1) % SEATS + 1)
        self.slap(seat)
        self.until(lambda: len(self.rulings("slap_won")) > before, f"for a verdict on {rank}")
        self.take(seat)
        self.until(lambda: not self.conductor.view.pile, "for the pile to go")

    # Queries

    def rulings(self, kind: str) -> list[Ruling]:
        """Return rulings of a kind, each once, as soon as they are handed out."""
        return [ruling for ruling in self.shown if ruling.kind == kind and ruling.window != "closed"]

    def told(self) -> list[str]:
        """Return the table's notices, by key."""
        return [notice.what for notice in self.notices if notice.what]

    def said(self) -> list[str]:
        """Return the spoken texts."""
        return [phrase.text for phrase in getattr(self.speaker, "said", [])]

    def written(self) -> str:
        """Return the log so far."""
        self.conductor._commit(announcing=True)
        self.loop._await_disk()
        return self.path.read_text()

    def lines(self, kind: str) -> list[str]:
        """Return lines of a kind in the log."""
        return [line for line in self.written().splitlines() if f'"kind":"{kind}"' in line]

    def replays(self) -> bool:
        """End the game; return whether its log gives the same rulings again."""
        self.loop.finish()
        log = self.written()
        again = {encode_ruling(ruling) for ruling in replay_log(BytesIO(log.encode()), everything=True)}
        told = {line for line in log.splitlines() if line.startswith('{"ruling"')}
        assert told - again == set(), f"told at the table, and not when it is played again; the log:\n{log}"
        assert again - told == set(), f"ruled only when it is played again; the log:\n{log}"
        return bool(told)

    def close(self) -> None:
        """Switch everything off."""
        self.sights.close()
        self.pads.close()
        self.speaker.close()
        self.journal.close()
