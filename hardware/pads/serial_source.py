"""Pads on a microcontroller that stamps their edges itself, and tells them over a serial line.

Its clock is known from questions that it answers with the instant at which it did (`hardware.pads.clock_exchange`). An
answer follows every edge before it, so it is also the promise up to where all was told; edges are numbered, so one
whose line was torn is missed. The line itself is opened by `hardware.pads.serial_link`; here it is anything of that
shape.
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
from hardware.pads.clock_exchange import RemoteClock
from hardware.pads.pad_place import PadPlace
from hardware.pads.plugged_pads import OnEdge, OnLost
from hardware.ports import Edge, Lost
from referee.units import MS, SECOND, US

ASK_EVERY: Final = 20 * MS
"""How often a board is asked for its clock, ns: so far behind the promise stays."""
SILENT_AFTER: Final = 500 * MS
"""A board that says nothing for so long is not waited for, ns."""
_LOOK_EVERY: Final = SECOND
_OPEN_QUESTIONS: Final = 64

_log = logging.getLogger(__name__)


class SerialLink(Protocol):
    """An open serial line. Every call but `close` raises OSError when it is gone."""

    def fileno(self) -> int: ...
    def read(self) -> bytes:
        """What has come; nothing where nothing waits."""
        ...

    def write(self, data: bytes) -> None:
        """Send, without waiting."""
        ...

    def close(self) -> None: ...


class SerialLinks(Protocol):
    """The serial lines of a machine."""

    @property
    def refused(self) -> str:
        """A line that may not be opened, and what to do; empty where there was none of late."""
        ...

    def open(self, device: str) -> SerialLink | None:
        """Open a line by its file; for an empty name the first that a board may be on. None where it is not here."""
        ...


@dataclass(slots=True)
class _OpenBoard:
    """A board whose line is open."""

    link: SerialLink
    greeted: int
    """When it was last asked who it is, or the line opened, ns."""
    heard: int
    """When something was heard of it last, ns."""
    promised: int
    """All up to here was told, ns."""
    reader: BoardReader = field(default_factory=BoardReader)
    clock: RemoteClock = field(default_factory=RemoteClock)
    hello: BoardHello | None = None
    count: int = 0
    """The number of its last edge."""
    asked: dict[int, int] = field(default_factory=dict)
    """When each open question was sent, ns."""
    asked_at: int = 0
    is_level: bool = False
    """Whether it has said which pads are down."""
    early: list[BoardEdge] = field(default_factory=list)
    """Edges that came before anything was known of its clock."""
    down: dict[int, int] = field(default_factory=dict)
    """Seats whose pads are down, and since when, ns."""


class SerialSource:
    """Seats' pads on boards; implements `hardware.pads.plugged_pads.PadSource`."""

    pace = ASK_EVERY

    def __init__(
        self, places: Mapping[int, PadPlace], links: SerialLinks, *, t_errors: Mapping[int, int], clock: Clock
    ) -> None:
        """Look for the boards; one that is not here may come later.

        Args:
            places: by seat, of the kind ``serial``.
            links: this machine's.
            t_errors: half-width of what each seat's pad itself leaves open, ns.
            clock: answers the present instant, ns: an exchange is worth what its two readings are.

        Raises:
            ValueError: a pad of a board is no number.
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
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self._looked = clock() - _LOOK_EVERY
        self._find(clock())

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: that its board is not plugged in, tells nothing, or has no such pad."""
        told: dict[int, str] = {}
        now = self._clock()
        for device, seats in self._seats.items():
            board, name = self._open.get(device), device or "the pad board"
            for pad, seat in seats.items():
                if board is None:
                    told[seat] = self._links.refused or f"{name} is not plugged in; as soon as it is, its pads count"
                elif board.hello is None or now - board.heard > SILENT_AFTER:
                    told[seat] = f"{name} says nothing: press its reset button, or plug it in again (docs/pad-board.md)"
                elif not 1 <= pad <= board.hello.pads:
                    told[seat] = f"{name} has pads 1 to {board.hello.pads}, and no pad {pad}"
        return told

    def start(self, on_edge: OnEdge, on_lost: OnLost, now: int) -> None:
        """Report edges from ``now`` (ns) on."""
        self.read(now)
        self._on_edge, self._on_lost = on_edge, on_lost

    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down, as far as was told."""
        return tuple(sorted(seat for board in self._open.values() for seat in board.down))

    def filenos(self) -> list[int]:
        """The lines."""
        return [board.link.fileno() for board in self._open.values()]

    def read(self, now: int) -> None:
        """Report everything that waits, ask for clocks, and look for boards that are missing."""
        for device, board in list(self._open.items()):
            try:
                while data := board.link.read():
                    # After the reading: whatever is in it had come by then.
                    came, junk = self._clock(), board.reader.junk
                    for line in board.reader.feed(data):
                        self._hear(board, self._seats[device], line, came)
                    if board.reader.junk > junk:
                        _log.warning("%s: a line was torn or no pad board's", device or "the pad board")
                self._ask(board, now)
            except OSError as gone:
                _log.warning("the pad board at %s is gone: %s", device or "its port", gone)
                self._release_all(board, now)
                del self._open[device]
                self._looked = now
                board.link.close()
        if self._seats.keys() - self._open.keys() and now - self._looked >= _LOOK_EVERY:
            self._find(now)

    def watermark(self, now: int) -> int:
        """All up to this instant (ns) was told; boards that are gone or silent are not waited for."""
        waited = [one.promised for one in self._open.values() if one.hello and now - one.heard <= SILENT_AFTER]
        return min([now, *waited])

    def close(self) -> None:
        """Let go of the lines."""
        for board in self._open.values():
            board.link.close()
        self._open.clear()

    @property
    def junk(self) -> int:
        """How many lines were torn, or no board's."""
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
            # Before the writing: it was not asked earlier than that.
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
            board.early.append(line)
        else:
            self._take_edge(board, seats, line)
        board.heard = came

    def _begin(self, board: _OpenBoard, hello: BoardHello, came: int) -> None:
        """A board says who it is; where it had said so before, it has begun anew, and what it had to tell is gone."""
        if board.hello is not None:
            _log.warning("a pad board has begun anew")
            self._release_all(board, came)
            self._lose(1, board.promised, came)
        board.hello, board.count = hello, hello.count
        board.clock, board.is_level = RemoteClock(), False
        board.asked.clear()
        board.early.clear()

    def _take_answer(self, board: _OpenBoard, seats: Mapping[int, int], answer: BoardAnswer, came: int) -> None:
        sent = board.asked.pop(answer.number, None)
        if sent is None or board.hello is None:
            return
        if answer.count < board.count:
            # It began anew, and its greeting was torn.
            self._begin(board, replace(board.hello, count=answer.count), came)
        if not board.clock.note_question(sent, answer.us * US, came):
            _log.warning("a pad board's clock has jumped; it is sought anew")
        for edge in board.early:
            self._take_edge(board, seats, edge)
        board.early.clear()
        t, t_error = board.clock.translate(answer.us * US)
        before = board.promised
        if answer.count > board.count:
            self._lose(answer.count - board.count, before, t + t_error)
            board.count = answer.count
        # What is known of the clock may move it by as much as its error, for what is yet to come, too.
        board.promised = max(before, t - 2 * t_error)
        if not board.is_level:
            # What was held before anything was known of the board is no press of now.
            board.is_level = True
            board.down |= {seat: t for pad, seat in seats.items() if pad in answer.down and seat not in board.down}
        for pad, seat in seats.items():
            if (pad in answer.down) != (seat in board.down):
                between = max(t - max(before, board.down.get(seat, 0)), 0)
                self._turn(board, seat, pad in answer.down, t - between // 2, (between + 1) // 2 + t_error)

    def _take_edge(self, board: _OpenBoard, seats: Mapping[int, int], edge: BoardEdge) -> None:
        if edge.count <= board.count:
            return
        t, t_error = board.clock.translate(edge.us * US)
        if edge.count > board.count + 1:
            self._lose(edge.count - board.count - 1, board.promised, t + t_error)
        board.count = edge.count
        seat = seats.get(edge.pad)
        if seat is not None and board.hello is not None and (seat in board.down) != edge.pressed:
            own = self._errors[seat] if edge.pressed else 0
            self._turn(board, seat, edge.pressed, t, t_error + board.hello.error_us * US + own)

    def _release_all(self, board: _OpenBoard, now: int) -> None:
        """What was held on a board was let go somewhere since it last told how all stood."""
        for seat, since in list(board.down.items()):
            between = max(now - max(board.promised, since), 0)
            self._turn(board, seat, False, now - between // 2, (between + 1) // 2)

    def _turn(self, board: _OpenBoard, seat: int, pressed: bool, t: int, t_error: int) -> None:
        # What is known of the clock changes, and may not turn a pad's own edges round.
        t = max(t, self._last.get(seat, t))
        self._last[seat] = t
        if pressed:
            board.down[seat] = t
        else:
            board.down.pop(seat, None)
        if self._on_edge is not None:
            self._on_edge(Edge(seat=seat, t=t, pressed=pressed, t_error=t_error))

    def _lose(self, count: int, after: int, before: int) -> None:
        if self._on_lost is not None:
            self._on_lost(Lost(count, after=min(after, before), before=before))
