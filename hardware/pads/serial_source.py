"""Pads on a microcontroller that stamps their edges itself and reports them over a serial line.

Its clock is learned from questions that it answers with its current time (`hardware.pads.clock_exchange`). An answer
follows every earlier edge, so it also promises that all of them were reported; edges are numbered, so a torn line is
detected. `hardware.pads.serial_link` opens the line; this module accepts any object with the same interface.

A board is trusted as little as a page (`hardware.pads.page_pads`): a press may have come at any instant from its stamp
to its arrival here. It is late evidence if it arrives long after its stamp, breaks a promise, or the clock has jumped.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from hardware.clock import Clock
from hardware.pads.board_lines import (
    BoardAnswer,
    BoardEdge,
    BoardHello,
    BoardLine,
    BoardReader,
    encode_greeting,
    encode_question,
)
from hardware.pads.clock_exchange import LATE_AFTER, STEADY, WAITED_FOR, RemoteClock
from hardware.pads.pad_place import PadPlace
from hardware.pads.plugged_pads import OnEdge, OnLost
from hardware.ports import Edge, Lost
from referee.sentence import Sentence
from referee.units import MS, SECOND, US

ASK_EVERY: Final = 20 * MS
"""Interval, ns, between clock questions to a board: the promise lags by as much."""
SILENT_AFTER: Final = 500 * MS
"""Silence, ns, after which a board is not waited for."""
_LOOK_EVERY: Final = SECOND
_OPEN_QUESTIONS: Final = 64
_WIDEST: Final = 900 * MS
"""Widest stated error, ns; a log accepts none wider than a second."""

_log = logging.getLogger(__name__)


class SerialLink(Protocol):
    """An open serial line. Every call but `close` raises OSError if it is gone."""

    def fileno(self) -> int: ...
    def read(self) -> bytes:
        """Return the data received; empty if there is none."""
        ...

    def write(self, data: bytes) -> None:
        """Send without blocking."""
        ...

    def close(self) -> None: ...


class SerialLinks(Protocol):
    """The serial lines of a machine."""

    @property
    def refused(self) -> str:
        """A line that may not be opened, with advice; empty if there was none recently."""
        ...

    def open(self, device: str) -> SerialLink | None:
        """Open a line by its file, or for an empty name the first one that may have a board; None if it is missing."""
        ...


@dataclass(slots=True)
class _OpenBoard:
    """A board whose line is open."""

    link: SerialLink
    greeted: int
    """The instant at which its greeting was last requested, or the line opened, ns."""
    heard: int
    """The instant at which it was last heard, ns."""
    promised: int
    """The instant up to which everything was reported, ns."""
    reader: BoardReader = field(default_factory=BoardReader)
    clock: RemoteClock = field(default_factory=RemoteClock)
    hello: BoardHello | None = None
    count: int = 0
    """Number of its last edge."""
    asked: dict[int, int] = field(default_factory=dict)
    """Sending time of each open question, ns."""
    asked_at: int = 0
    is_level: bool = False
    """Whether it has reported which pads are down."""
    early: list[tuple[BoardEdge, int]] = field(default_factory=list)
    """Edges that arrived before its clock was known, with their arrival, ns."""
    answered_us: int = 0
    """Its clock at its last answer: everything earlier was reported."""
    uneven_until: int = 0
    """The instant until which its clock is not trusted after a jump, ns."""
    lags_since: int | None = None
    """The instant since which its answers have been too old to wait for, ns."""
    down: dict[int, int] = field(default_factory=dict)
    """Seats whose pads are down, with the instants since when, ns."""

    def is_late(self, now: int) -> bool:
        """Whether all its hands are late evidence."""
        return self.lags_since is not None or now < self.uneven_until

    def doubt(self, seat: int, now: int) -> str:
        """Return why they are late, in words; empty if they are not, or only since recently."""
        if now < self.uneven_until:
            return Sentence(
                "the clock of the pad board of {seat} has jumped: its hands count as late until it has gone evenly for "
                "two seconds",
                seat=seat,
            )
        if self.lags_since is not None and now - self.lags_since >= SECOND:
            return Sentence(
                "the pad board of {seat} reports hands too late: the referee no longer waits for it, and "
                "its hands count as late until it is prompt again",
                seat=seat,
            )
        return ""


class SerialSource:
    """Seats' pads on boards; implements `hardware.pads.plugged_pads.PadSource`."""

    pace = ASK_EVERY

    def __init__(
        self, places: Mapping[int, PadPlace], links: SerialLinks, *, t_errors: Mapping[int, int], clock: Clock
    ) -> None:
        """Look for the boards; a missing one may come later.

        Args:
            places: by seat, of the kind ``serial``.
            links: this machine's serial lines.
            t_errors: half-width of the uncertainty of each seat's pad itself, ns.
            clock: returns the present instant, ns: an exchange is only as good as its two readings.

        Raises:
            ValueError: a board's pad is not a number.
        """
        self._seats: dict[str, dict[int, int]] = {}
        for seat, place in places.items():
            if not place.which.isdecimal():
                raise ValueError(f"{place}: a board's pads have numbers, as in serial:2")
            self._seats.setdefault(place.device, {})[int(place.which)] = seat
        self._links = links
        self._errors = dict(t_errors)
        self._clock = clock
        self._open: dict[str, _OpenBoard] = {}
        self._questions = 0
        self._last: dict[int, int] = {}
        self._given = 0
        """The instant, ns, up to which complete reporting was promised."""
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self._looked = clock() - _LOOK_EVERY
        self._find(clock())

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: messages about a board that is unplugged, silent or late, or lacks this pad."""
        told: dict[int, str] = {}
        now = self._clock()
        for device, seats in self._seats.items():
            board, name = self._open.get(device), device or "the pad board"
            for pad, seat in seats.items():
                if board is None:
                    told[seat] = self._links.refused or f"{name} is not plugged in; as soon as it is, its pads count"
                elif board.hello is None or now - board.heard > SILENT_AFTER:
                    told[seat] = f"{name} says nothing: press its reset button, or plug it in again (docs/timing.md)"
                elif not 1 <= pad <= board.hello.pads:
                    told[seat] = f"{name} has pads 1 to {board.hello.pads}, and no pad {pad}"
                elif words := board.doubt(seat, now):
                    told[seat] = words
        return told

    def start(self, on_edge: OnEdge, on_lost: OnLost, now: int) -> None:
        """Report edges from ``now`` (ns) on."""
        self.read(now)
        self._on_edge, self._on_lost = on_edge, on_lost

    def held(self) -> tuple[int, ...]:
        """Return the seats whose pads are down, as far as reported."""
        return tuple(sorted(seat for board in self._open.values() for seat in board.down))

    def filenos(self) -> list[int]:
        """Return the lines' descriptors."""
        return [board.link.fileno() for board in self._open.values()]

    def read(self, now: int) -> None:
        """Report all waiting edges, ask for clocks, and look for missing boards."""
        for device, board in list(self._open.items()):
            try:
                while data := board.link.read():
                    # Read the clock after the data: all of it had arrived by then.
                    came, junk = self._clock(), board.reader.junk
                    for line in board.reader.feed(data):
                        self._hear(board, self._seats[device], line, came)
                    if board.reader.junk > junk:
                        _log.warning("%s: a line was torn or no pad board's", device or "the pad board")
                self._ask(board, now)
            except OSError as error:
                _log.warning("the pad board at %s is gone: %s", device or "its port", error)
                self._release_all(board, now)
                del self._open[device]
                self._looked = now
                board.link.close()
        if self._seats.keys() - self._open.keys() and now - self._looked >= _LOOK_EVERY:
            self._find(now)

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which everything was reported, by each press's earliest bound, except late
        ones. Missing, silent and late boards are not waited for, and others only briefly."""
        waited = [
            max(board.promised, now - WAITED_FOR)
            for board in self._open.values()
            if board.hello and now - board.heard <= SILENT_AFTER and not board.is_late(now)
        ]
        told = min([now, *waited])
        self._given = max(self._given, told)
        return told

    def close(self) -> None:
        """Release the lines."""
        for board in self._open.values():
            board.link.close()
        self._open.clear()

    @property
    def junk(self) -> int:
        """Number of lines that were torn, or not from a board."""
        return sum(board.reader.junk for board in self._open.values())

    def _find(self, now: int) -> None:
        self._looked = now
        for device in self._seats.keys() - self._open.keys():
            link = self._links.open(device)
            if link is not None:
                self._open[device] = _OpenBoard(link, greeted=now - _LOOK_EVERY, heard=now, promised=now)

    def _ask(self, board: _OpenBoard, now: int) -> None:
        if board.hello is None:
            if now - board.greeted >= _LOOK_EVERY:
                board.greeted = now
                board.link.write(encode_greeting())
        elif now - board.asked_at >= ASK_EVERY:
            self._questions += 1
            while len(board.asked) >= _OPEN_QUESTIONS:
                del board.asked[next(iter(board.asked))]
            # Read the clock before writing: the question was not sent earlier than that.
            board.asked_at = board.asked[self._questions] = self._clock()
            board.link.write(encode_question(self._questions))

    def _hear(self, board: _OpenBoard, seats: Mapping[int, int], line: BoardLine, came: int) -> None:
        if isinstance(line, BoardHello):
            self._begin(board, line, came)
        elif board.hello is None:
            return
        elif isinstance(line, BoardAnswer):
            self._take_answer(board, seats, line, came)
        elif not board.clock.is_known:
            board.early.append((line, came))
        else:
            self._take_edge(board, seats, line, came)
        board.heard = came

    def _begin(self, board: _OpenBoard, hello: BoardHello, came: int) -> None:
        """Take a board's greeting; a second one means that it restarted, and its unreported edges are lost."""
        if board.hello is not None:
            _log.warning("a pad board has begun anew")
            self._release_all(board, came)
            self._lose(1, board.promised, came)
        board.hello, board.count = hello, hello.count
        board.clock, board.is_level = RemoteClock(), False
        board.answered_us = 0
        board.asked.clear()
        board.early.clear()

    def _take_answer(self, board: _OpenBoard, seats: Mapping[int, int], answer: BoardAnswer, came: int) -> None:
        sent = board.asked.pop(answer.number, None)
        if sent is None or board.hello is None:
            return
        if answer.count < board.count:
            # It restarted, and its greeting was torn.
            self._begin(board, replace(board.hello, count=answer.count), came)
        if not board.clock.note_question(sent, answer.us * US, came):
            _log.warning("a pad board's clock has jumped; it is sought anew")
            board.uneven_until, board.answered_us = came + STEADY, 0
        if not board.clock.is_known:
            return
        for edge, edge_came in board.early:
            self._take_edge(board, seats, edge, edge_came)
        board.early.clear()
        earliest, latest = board.clock.bounds(answer.us * US)
        board.lags_since = None if came - latest <= WAITED_FOR else board.lags_since or came
        before = board.promised
        if answer.count > board.count:
            self._lose(answer.count - board.count, before, came)
            board.count = answer.count
        board.answered_us = max(board.answered_us, answer.us)
        slack = board.hello.error_us * US + max(self._errors.values())
        board.promised = max(before, min(earliest - slack, came) - 1)
        if not board.is_level:
            # A pad held before the board was known is not a new press.
            board.is_level = True
            board.down |= {seat: came for pad, seat in seats.items() if pad in answer.down and seat not in board.down}
        for pad, seat in seats.items():
            if (pad in answer.down) != (seat in board.down):
                pressed = pad in answer.down
                late = pressed and (board.is_late(came) or before < self._given)
                self._turn(board, seat, pressed, (max(before, board.down.get(seat, 0)), came), late=late)

    def _take_edge(self, board: _OpenBoard, seats: Mapping[int, int], edge: BoardEdge, came: int) -> None:
        if edge.count <= board.count:
            return
        earliest, latest = board.clock.bounds(edge.us * US)
        if edge.count > board.count + 1:
            self._lose(edge.count - board.count - 1, board.promised, came)
        board.count = edge.count
        seat = seats.get(edge.pad)
        if seat is not None and board.hello is not None and (seat in board.down) != edge.pressed:
            own = self._errors[seat] if edge.pressed else 0
            if earliest > came:
                # By its answers it would have felt this after we heard of it.
                board.uneven_until = came + STEADY
            earliest = min(max(earliest - board.hello.error_us * US - own, board.promised + 1), came)
            late = edge.pressed and (
                board.is_late(came)
                or edge.us < board.answered_us
                or came - latest > LATE_AFTER
                or earliest <= self._given
            )
            self._turn(board, seat, edge.pressed, (earliest, came + own), late=late)

    def _release_all(self, board: _OpenBoard, now: int) -> None:
        """Release all pads held on a board: they went up at some time since its last promise."""
        for seat, since in list(board.down.items()):
            self._turn(board, seat, False, (max(board.promised, since), now))

    def _turn(
        self, board: _OpenBoard, seat: int, pressed: bool, span: tuple[int, int], *, late: bool = False
    ) -> None:  # fmt: skip
        """Report an edge that happened within a span, ns."""
        earliest, latest = span
        # The clock's estimate changes, but a pad's edges must stay in order.
        t = max((min(earliest, latest) + latest) // 2, self._last.get(seat, 0))
        t_error = min(max(t - earliest, latest - t, 0), _WIDEST)
        self._last[seat] = t
        if pressed:
            board.down[seat] = t
        else:
            board.down.pop(seat, None)
        if self._on_edge is not None:
            self._on_edge(Edge(seat=seat, t=t, pressed=pressed, t_error=t_error, late=late))

    def _lose(self, count: int, after: int, before: int) -> None:
        if self._on_lost is not None:
            self._on_lost(Lost(count, after=min(after, before), before=before))
