"""A whole table beneath a page in a browser: conductor, voice, record, page link and control; no people."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hardware.ports import Edge
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from referee.announce.sinks import RulingListener
from referee.announce.voice import Voice
from referee.engine.observations import Card, Observation, Table, Taken
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.table.game import Conductor
from referee.table.orders import Orders
from referee.table.page_link import PageLink
from referee.table.services import GameContext
from referee.table.timeline import Timeline
from referee.vision.sight import Sight
from tests.support.patience import PATIENCE
from tests.web.served import House
from tests.web.table import BEGAN

NAMES = ("Ana", "Ben", "Cho")
PADS = 4
MS = 1_000_000
EVERY = 0.01
"""Seconds between two turns of the table."""
DOWN = 80 * MS
"""Time for which a hand stays on its pad, ns."""


class WholeTable:
    """Three people at a table with four pads; a test's events are processed in the table's own thread."""

    def __init__(
        self, house: House, rules: Any, counts: tuple[int | None, ...] | None = None,
        outlets: Mapping[str, RulingListener] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        """``outlets`` take the rulings besides voice and page."""
        self._outlets = outlets
        self._house, self._rules, self._counts = house, rules, counts
        self._waiting: deque[Callable[[], object]] = deque()
        self._over, self._ready = threading.Event(), threading.Event()
        self.speaker = RecordingSpeaker()
        self._thread = threading.Thread(target=self._run, name="table")
        self._seen: list[Observation] = []
        self.conductor: Conductor
        self.link: PageLink

    def __enter__(self) -> WholeTable:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        settings = parse_settings("".join(f'[[seat]]\nname = "{name}"\n' for name in (*NAMES, "Dee")))
        seated = settings.model_copy(update={"seats": settings.seats[: len(NAMES)]})
        clock = time.monotonic_ns
        with Record(self._house.record.path) as record:
            keeper = record.begin(BEGAN)
            self.link = PageLink(self._house.folder / "runtime", orders=Orders(settings))
            voice = Voice(self.speaker)
            first = Table(t=clock(), id="table", seats=NAMES, dealer=3, rules=self._rules, counts=self._counts)
            self.conductor = Conductor(
                first, journal=keeper,
                outlets={"voice": voice, "page": self.link.take_rulings, **self._outlets},
                tellers={"voice": voice.tell, "page": self.link.take_notice},
            )  # fmt: skip
            self.link.begin_game(GameContext(self.conductor, seated, Timeline(), clock, keeper, record, self.speaker))
            self._ready.set()
            while not self._over.wait(EVERY):
                self._turn(clock())
            self.link.close()

    def _turn(self, now: int) -> None:
        while self._waiting:
            self._waiting.popleft()()
        seen, self._seen = tuple(self._seen), []
        self.conductor.on_sight(Sight(now - MS, MS, seen, now - MS))
        self.conductor.advance(now, now)
        self.link.beat(now)

    def _do(self, what: Callable[[], object]) -> None:
        """Run it in the table's own thread, between two turns."""
        done = threading.Event()
        self._waiting.extend((what, done.set))
        assert done.wait(PATIENCE)

    def _feel(self, seat: int, *edges: int) -> None:
        """Close and open a pad at these instants, ns."""
        for pressed, t in zip((True, False), edges, strict=True):
            edge = Edge(seat=seat, t=t, pressed=pressed, t_error=20_000)
            self.conductor.on_edge(edge)
            self.link.take_edge(edge)

    # Events at the table

    def lay(self, seat: int | None, card: str, *, slapped_by: int | Sequence[int] = (), after: int = 300) -> None:
        """Lay a card face up; let slaps follow after their delays in ms, or several at the same instant."""
        hands = (slapped_by,) if isinstance(slapped_by, int) else slapped_by

        def happen() -> None:
            t = time.monotonic_ns()
            self._seen.append(Card(t=t, card=card, seat=seat))
            for hand in hands:
                self._feel(hand, t + after * MS, t + after * MS + DOWN)

        self._do(happen)
        time.sleep((after * MS + 2 * DOWN) / 1e9 if hands else 0.05)

    def slap(self, *hands: tuple[int, int]) -> None:
        """Let hands fall now: each seat, and its delay in ns."""

        def happen() -> None:
            t = time.monotonic_ns()
            for seat, after in hands:
                self._feel(seat, t + after, t + after + DOWN)

        self._do(happen)

    def answer(self, value: int) -> None:
        """Answer the oldest open question."""

        def happen() -> None:
            self.conductor.answer(self.conductor.view.questions[0], value, time.monotonic_ns())

        self._do(happen)

    def tell_late(self, seat: int, card: str) -> None:
        """Report a card of half a second ago, after the watermark passed it."""
        self._do(lambda: self._seen.append(Card(t=time.monotonic_ns() - 500 * MS, card=card, seat=seat)))

    def press(self, seat: int, *spans: tuple[int, int]) -> None:
        """Press a pad from and to these instants (ms from now); return when all was reported."""

        def happen() -> None:
            t = time.monotonic_ns()
            for since, to in spans:
                self._feel(seat, t + since * MS, t + to * MS)

        self._do(happen)
        time.sleep((spans[-1][1] + 1500) / 1000)

    def take(self, seat: int) -> None:
        """Take the pile."""
        self._do(lambda: self._seen.append(Taken(t=time.monotonic_ns(), seat=seat)))

    # Queries

    def heard(self, words: str) -> None:
        """Wait until the speaker received this phrase."""
        end = time.monotonic() + PATIENCE
        while not any(words in said for said in self.said()):
            assert time.monotonic() < end, f"never heard {words!r}: {self.said()}"
            time.sleep(EVERY)

    def said(self) -> list[str]:
        """Return everything spoken, without the marks of pauses."""
        return [" ".join(clip.rstrip(",.:") for clip in phrase.clips) for phrase in self.speaker.said]

    def logged(self, kind: str) -> list[Observation]:
        """Return the lines of a kind in the log."""
        return [line for line in self.conductor.observations if line.kind == kind]
