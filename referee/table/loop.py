"""The loop of a table: one thread that sleeps until an edge, a sight, an answer or a timeout wakes it.

`referee.table.assembly` makes one for each game, in the referee's own process. Each task of the loop is short, and
edges come first: the loop looks for hands between any two tasks, so that a hand's light never waits for a verdict, a
picture or a voice. Other threads only put events into its queue (`Alarm.put`), and it handles them in order. Nothing is
announced before it is on the disk, which has its own thread (`referee.record.journal.JournalThread`); `Committed` is
one of the events. No exception of a part leaves the loop.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any, Final, Protocol, TextIO

from hardware.bell import Waker
from hardware.clock import Clock, monotonic
from hardware.pads.force import Force, ForceSampler
from hardware.ports import Edge, Lost, TimedPads
from referee.announce.terminal_keys import QUIT, KeyLine, hear_keys
from referee.control.commands import CommandError, parse_command
from referee.control.corrections import meet_command
from referee.control.facts import Facts, Refused
from referee.control.typed_words import is_typed_command
from referee.engine.rulings import Ruling
from referee.record.journal import Committed
from referee.sentence import Sentence
from referee.table.game import PADS, Conductor
from referee.table.pause import PartTrouble
from referee.table.services import TableService
from referee.table.timeline import Timeline
from referee.units import MS
from referee.vision.message_pipe import MessagePipe
from referee.vision.sight import Blind, Sight, Sights

Event = Committed | Force | Lost | PartTrouble
"""Reports of other threads, besides edges and sights."""


class Alarm(Waker):
    """A bell that any thread may ring: `wait` returns at once then, and no ring is lost. Events may come with it."""

    def __init__(self) -> None:
        super().__init__()
        # Append and popleft of a deque are atomic, so no lock is needed.
        self._events: deque[Event] = deque()

    def put(self, event: Event) -> None:
        """Queue an event, and wake the waiting thread."""
        self._events.append(event)
        self.ring()

    def take(self) -> Event | None:
        """Return the oldest event in the queue; None if there is none."""
        return self._events.popleft() if self._events else None

    def wait(self, seconds: float, others: Sequence[MessagePipe] = ()) -> None:
        """Sleep until the bell rings, one of the others can be read, or the time is over."""
        if self.waitable in wait([self.waitable, *(other.fileno() for other in others)], seconds):
            self.hush()


class Answers:
    """Lines that people type: a command (`referee.control.typed_words`), or an answer to the oldest open question.

    At a terminal some letters are keys that act at once (`referee.announce.terminal_keys`).
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._commands: deque[str] = deque()
        self._open: deque[Ruling] = deque()
        self._ring: Callable[[], None] = lambda: None
        self._entered = threading.Event()
        self._ended = False
        self._pressed: deque[str] = deque()
        self._keys = KeyLine(self._press, self.type)
        self.hears_keys = False
        """Whether a terminal is read key by key."""

    @property
    def line(self) -> str | None:
        """The line being typed at a terminal; None if there is none."""
        return self._keys.line

    def hear(self, stream: TextIO) -> Callable[[], None]:
        """Read a terminal key by key, and any other stream line by line; return what restores the terminal."""
        restore = hear_keys(stream, self._keys, self._end)
        self.hears_keys = restore is not None
        if restore is None:
            self.listen(stream)
        return restore or (lambda: None)

    def _press(self, key: str) -> None:
        if key == QUIT:
            self._entered.set()
        self._pressed.append(key)
        self._ring()

    def pressed(self) -> list[str]:
        """Return the keys pressed since the last call."""
        return [self._pressed.popleft() for _ in range(len(self._pressed))]

    def begin(self, ring: Callable[[], None]) -> None:
        """Begin a game: no question is open, and ``ring`` is called with each line from now on."""
        self._ring = ring
        self._open.clear()

    def listen(self, stream: TextIO) -> None:
        """Read lines in a separate thread until the stream ends."""
        threading.Thread(target=self._read, args=(stream,), name="answers", daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        with suppress(OSError):
            for line in stream:
                self.type(line)
        self._end()

    def _end(self) -> None:
        """Note that no more input will come."""
        self._ended = True
        self._entered.set()

    def type(self, line: str) -> None:
        """Take a typed line."""
        self._entered.set()
        (self._commands if is_typed_command(line) else self._lines).append(line)
        self._ring()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Note each question (a `RulingListener`)."""
        self._open.extend(ruling for ruling in rulings if ruling.kind == "question")

    def forget(self) -> None:
        """Discard everything that was typed so far."""
        self._lines.clear()
        self._commands.clear()
        self._pressed.clear()
        if not self._ended:
            self._entered.clear()

    def wait(self, seconds: float) -> bool:
        """Wait for any line since the last `forget`; return whether one came, or the input has ended."""
        return self._entered.wait(seconds)

    def commands(self) -> list[str]:
        """Return the commands typed since the last call."""
        return [self._commands.popleft() for _ in range(len(self._commands))]

    def given(self, waiting: Container[str]) -> list[tuple[str, Any]]:
        """Return the questions answered since the last call, with their answers: a number is a seat, but not for the
        wild rank.

        Args:
            waiting: ids of the questions that are still open; others are skipped.
        """
        out: list[tuple[str, Any]] = []
        self._open = deque(question for question in self._open if question.id in waiting)
        asked = iter(tuple(self._open))
        while self._lines:
            text = self._lines.popleft().strip()
            question = next(asked, None) if text else None
            if question is not None:
                is_seat = text.isdecimal() and question["ask"] != "wild_rank"
                out.append((question.id, int(text) if is_seat else text.replace("10", "T")))
        return out


_IDLE: Final = 0.05
"""Longest sleep of the loop while no pad is touched, s: the pace of blinking lights."""
_BUSY: Final = 0.005
"""The same while hands are on the pads: the pads' watermark moves on, and a verdict may wait for it."""
_STIR: Final = 500 * MS
"""Time that the loop stays busy after an edge, ns."""

_log = logging.getLogger(__name__)


class SharedPads:
    """Pads whose edges go to the latest caller of `start`: the roll-call, then the game. Implements `TimedPads`."""

    def __init__(self, pads: TimedPads) -> None:
        self._pads = pads
        self._started = False
        self._on_edge: Callable[[Edge], None] = lambda _: None
        self._on_lost: Callable[[Lost], None] = lambda _: None

    @property
    def trouble(self) -> str:
        """Why the pads report nothing any more; empty while they work."""
        return str(getattr(self._pads, "trouble", ""))

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its pad reports nothing at present, and what to do; a pad without a plug is never among them."""
        silent: Mapping[int, str] = getattr(self._pads, "silent", {})
        return silent

    def held(self) -> tuple[int, ...]:
        """Return the seats whose pads are down now."""
        held: Callable[[], tuple[int, ...]] = getattr(self._pads, "held", tuple)
        return held()

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        """Send edges here from now on."""
        self._on_edge, self._on_lost = on_edge, on_lost or self._on_lost
        if not self._started:
            self._started = True
            self._pads.start(lambda edge: self._on_edge(edge), lambda lost: self._on_lost(lost))

    def watermark(self, now: int) -> int:
        """Return the pads' own watermark."""
        return self._pads.watermark(now)

    def close(self) -> None:
        """Close the pads."""
        self._pads.close()


class NoPads:
    """Stand-in for missing pads: their watermark is always the present. Implements `TimedPads`."""

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        """Do nothing: there are no edges."""

    def watermark(self, now: int) -> int:
        """Return ``now``: everything has been reported."""
        return now

    def close(self) -> None:
        """Do nothing."""


class FirstHand(Protocol):
    """A light or sound that shows at once which hand came first. Called every turn, so it can blink, too."""

    def touch(self, touched: tuple[int, ...], now: int) -> None: ...


class Loop:
    """One thread that handles hands, sights, answers and the time, turn after turn."""

    def __init__(
        self, conductor: Conductor, sights: Sights, pads: TimedPads, *, first: Mapping[str, FirstHand] | None = None,
        answers: Answers | None = None, clock: Clock = monotonic, alarm: Alarm | None = None,
        beat: Callable[[str], None] = lambda _part: None, forces: ForceSampler | None = None,
        timeline: Timeline | None = None, services: Sequence[TableService] = (),
    ) -> None:  # fmt: skip
        """``timeline``: maps the machine's instants to the game's; ``services`` receive each edge and turn on it;
        ``alarm``: also the queue of the conductor's `JournalThread`, if it has one."""
        self._conductor, self._sights, self._pads = conductor, sights, pads
        self._first, self._answers, self._clock = dict(first or {}), answers, clock
        self._alarm = alarm or Alarm()
        self._beat, self._forces = beat, forces
        self._timeline, self._services = timeline or Timeline(), tuple(services)
        self._ahead = self._timeline.ahead
        self._edges: deque[Edge] = deque()
        """Edges that have come, apart from other events: a hand's light must not wait for these."""
        self._silent: Mapping[int, str] = {}
        self._stirred = clock() - _STIR
        self.frames = 0
        """Number of frames looked at."""
        self.lag = 0
        """Time from the last frame's exposure until the loop heard of it, ns."""
        if forces is not None:
            forces.start(self._alarm.put)
        pads.start(self._on_edge, self._alarm.put)
        sights.start(self._alarm.ring)

    def _on_edge(self, edge: Edge) -> None:
        """Runs on the pads' thread: only wake the loop, and have the blow weighed while it lasts."""
        if edge.pressed and self._forces is not None:
            self._forces.begin(edge.seat, edge.t)
        self._edges.append(edge)
        self._alarm.ring()

    def post(self, part: str, words: str) -> None:
        """Report from any thread that a part has failed, or works again (no words)."""
        self._alarm.put(PartTrouble(part, words))

    def turn(self, seconds: float | None = None) -> int:
        """Sleep until something comes, at most this long, and handle it; return the instant, ns."""
        if seconds is None:
            seconds = _BUSY if self._clock() - self._stirred < _STIR else _IDLE
        self._alarm.wait(seconds, self._sights.waitables())
        was_saving = self._conductor.is_saving
        self._take_events()
        if was_saving and not self._conductor.is_saving:
            # Before another commit begins: a table with many rulings and a slow disk still answers its page.
            self._serve(self._clock() + self._ahead)
        for news in self._sights.news(lambda: self._conductor.foresight):
            if self._ahead:
                news = self._timeline.news(news)
            if isinstance(news, Sight):
                self.frames += 1
                self.lag = max(0, self._clock() + self._ahead - news.t - news.exposure)
                self._safely("engine", self._conductor.on_sight, news)
            else:
                self._safely("engine", self._conductor.on_blind, news)
            self._take_events()
        machine = self._clock()
        now = machine + self._ahead
        # Take the watermark before the edges: every edge that it covers is in the queue by then.
        told = self._pads.watermark(machine) + self._ahead
        self._beat("pads")
        self._take_events()
        self._safely("engine", self._conductor.advance, now, told)
        self._show(now)
        if not self._conductor.is_saving:
            self._serve(now)
        return now

    def _serve(self, now: int) -> None:
        """Let services and people have their turn; not while the disk takes the log, for they use the same record, and
        no answer may leave here before its line is kept. A disk that hangs so keeps systemd's watchdog waiting."""
        for service in self._services:
            self._safely(service.name, service.beat, now)
        self._heed_parts()
        self._beat("engine")
        for question, value in self._answers.given(self._conductor.view.questions) if self._answers is not None else ():
            self._meet_answer(question, value, now)

    def _take_events(self) -> None:
        """Handle everything that other threads have reported: hands first, and again between any two events."""
        self._feel()
        while (event := self._alarm.take()) is not None:
            if isinstance(event, Committed):
                self._safely("engine", self._conductor.on_committed, event)
            elif isinstance(event, Force):
                self._safely("force", self._conductor.pads.weigh, event.seat, event.t + self._ahead, event.peak)
            elif isinstance(event, Lost):
                self._conductor.note("edges_lost", {"count": event.count, "after": event.after, "before": event.before})
                words = Sentence("edges of the pads were lost ({count}); a hand may be missing", count=event.count)
                self._conductor.trouble("edges", words)
            elif event.words:
                self._conductor.trouble(event.part, event.words)
            else:
                self._conductor.mended(event.part)
            self._feel()

    def _meet_answer(self, question: str, value: Any, now: int) -> None:
        """Handle a typed answer like one from the page; a refused one leaves its question open."""
        game = self._conductor
        facts = Facts(game.observations, game.rulings, game.view, now, game.watermark)
        try:
            command = parse_command({"do": "answer", "question": question, "value": value})
            done = meet_command(command, facts, game.new_id)
        except CommandError as error:
            done = Refused(error.sentence)
        if isinstance(done, Refused):
            game.trouble("answer", done.words)
            return
        game.troubles.pop("answer", None)
        game.said(*done.observations)

    def _feel(self) -> None:
        """Take the edges that have come, and show at once which was first."""
        if not self._edges:
            return
        while self._edges:
            edge = self._edges.popleft()
            if self._ahead:
                edge = self._timeline.edge(edge)
            self._safely("pads", self._conductor.on_edge, edge)
            for service in self._services:
                self._safely(service.name, service.take_edge, edge)
        self._stirred = self._clock()
        self._show(self._stirred + self._ahead)

    def _show(self, now: int) -> None:
        touched = self._conductor.pads.touched
        for part, device in self._first.items():
            self._safely(part, device.touch, touched, now)

    def _heed_parts(self) -> None:
        for part, device in ((PADS, self._pads), ("force", self._forces)):
            words = getattr(device, "trouble", "")
            if words:
                self._conductor.trouble(part, words)
        silent: Mapping[int, str] = getattr(self._pads, "silent", {})
        for seat, words in silent.items():
            self._conductor.trouble(f"pad {seat}", words)
        for seat in self._silent.keys() - silent.keys():
            self._conductor.mended(f"pad {seat}")
        self._silent = silent

    def _safely(self, part: str, do: Callable[..., Any], *args: Any) -> None:
        """Call a function; log its exception, and go on."""
        try:
            do(*args)
        except Exception as error:  # a fault in one part must never end a game
            _log.exception("%s failed at %s", part, args)
            self._conductor.trouble(part, f"{type(error).__name__}: {error}")

    def finish(self) -> None:
        """Rule what is still open, and announce it once it is on the disk: the game is over."""
        self._await_disk()
        self._conductor.finish(self._timeline.news(Blind("", self._sights.finish())).seen)
        self._await_disk()

    def _await_disk(self) -> None:
        while self._conductor.is_saving:
            self._alarm.wait(_IDLE)
            self._take_events()
