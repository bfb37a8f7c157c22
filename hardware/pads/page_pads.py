"""Pads that are pages: a phone with one large button for a seat, or keys pressed in a browser.

The page stamps touches by its own clock and reports them some times a second; the page's server stamps each report and
answers, which is an exchange of stamps (`hardware.pads.clock_exchange`). `TouchReports` makes edges of them, and is
pure; `PageSource` hears them over a socket of this machine. Opened by `referee.wired_devices`.
"""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hardware.pads.clock_exchange import RemoteClock
from hardware.ports import Edge, HardwareMissing, Lost
from referee.sentence import Sentence
from referee.units import MS, SECOND

SILENT: Final = 2 * SECOND
"""A page that reports nothing for so long sleeps, or has lost its network, ns."""
SAMPLING: Final = {"touch": 17 * MS, "key": 8 * MS}
"""Half of how long a hand can be there before it is stamped, ns, by what stamps it, where nobody measured it: a screen
that looks 60 times a second sees a finger with one look and is sure with the next; a keyboard that is asked 125 times
a second looks at its own keys as often."""
_MOST_SAMPLING: Final = 50 * MS
_LONGEST_REPORT: Final = 60 << 10
"""Bytes of a datagram."""
_PAGES: Final = 64
"""Pages whose clocks are remembered."""

_log = logging.getLogger(__name__)
_WAKE: Final = Sentence("nothing is heard of its page; wake the phone or the browser, and see to its network")


@dataclass(slots=True)
class _Page:
    """One page that was loaded somewhere: its clock, and what it has reported."""

    clock: RemoteClock = field(default_factory=RemoteClock)
    told: dict[int, int] = field(default_factory=dict)
    """The number of the last touch of each seat."""


@dataclass(slots=True)
class _Seat:
    """One seat's pad."""

    page: str = ""
    """The page that reports for it."""
    kind: str = "touch"
    sampling: int = SAMPLING["touch"]
    heard: int | None = None
    """When something was heard of it last, ns; None before the first time."""
    promised: int = 0
    """Up to here all was told, ns."""
    down: bool = False
    last: int = 0
    """Its last edge, ns."""
    silent: bool = False


class TouchReports:
    """What pages report of their seats' hands, as edges. Pure.

    Args:
        seats: whose pads are pages.
        names: what each seat's device is called in words.
    """

    def __init__(self, seats: Iterable[int]) -> None:
        self._seats = {seat: _Seat() for seat in seats}
        self._pages: dict[str, _Page] = {}

    def feed(self, report: Mapping[str, Any]) -> list[Edge]:
        """Take a report; returns the edges that are new in it.

        Its fields: ``page``, a page's own random name; ``at``, our stamp of its arrival, ns; ``clock``, an exchange
        that is over, as their asking, our stamp and their hearing of it, ns; ``until``, by their clock, up to when all
        touches were reported; ``kind`` and ``sampling`` (ns, 0: not measured) of what stamps them; ``hands``, by
        seat, each touch that is not acknowledged yet: its number from 1 on, its instant by their clock, and whether it
        is a press.

        Raises:
            ValueError: it is no report.
        """
        read = _Report.of(report)
        page = self._pages.setdefault(read.page, _Page())
        while len(self._pages) > _PAGES:
            del self._pages[next(iter(self._pages))]
        if read.clock is not None and not page.clock.note_answer(*read.clock):
            _log.warning("the clock of a page's device has jumped; its hands are known anew")
        if not page.clock.is_known:
            return []
        made: list[Edge] = []
        for number, touches in read.hands.items():
            seat = self._seats.get(number)
            if seat is None:
                continue
            seat.page, seat.kind, seat.heard = read.page, read.kind, read.at
            usual = SAMPLING[read.kind]
            seat.sampling = min(read.sampling, _MOST_SAMPLING) or usual
            for count, theirs, pressed in touches:
                if count <= page.told.get(number, 0):
                    continue
                page.told[number] = count
                made += self._edge(number, seat, page.clock, theirs, pressed=pressed)
            t, t_error = page.clock.translate(read.until)
            seat.promised = max(seat.promised, t - t_error - seat.sampling - 1)
        return made

    def _edge(self, number: int, seat: _Seat, clock: RemoteClock, theirs: int, *, pressed: bool) -> list[Edge]:
        if pressed == seat.down:
            return []
        stamped, t_error = clock.translate(theirs)
        # Edges of one pad stay in order, however well the clock came to be known between them.
        t = max(stamped - seat.sampling, seat.last + 1)
        seat.down, seat.last = pressed, t
        return [Edge(number, t, pressed, t_error + seat.sampling)]

    def advance(self, now: int) -> list[Edge]:
        """It is ``now`` (ns): hands of pages that have fallen silent are taken away."""
        made = []
        for number, seat in self._seats.items():
            if seat.heard is None:
                continue
            seat.silent = now - seat.heard > SILENT
            if seat.silent and seat.down:
                seat.down, t = False, max(seat.last + 1, seat.heard)
                seat.last = t
                made.append(Edge(number, t, pressed=False, t_error=now - seat.heard))
        return made

    def watermark(self, now: int) -> int:
        """All edges up to this instant (ns) were returned; pages that are silent, or never came, are not waited for."""
        waits = (one.promised for one in self._seats.values() if one.heard is not None and now - one.heard <= SILENT)
        return min(waits, default=now)

    @property
    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down."""
        return tuple(number for number, seat in self._seats.items() if seat.down)

    @property
    def silent(self) -> dict[int, str]:
        """By seat: why its page tells nothing at present, and what to do."""
        return {number: _WAKE for number, seat in self._seats.items() if seat.silent}


@dataclass(frozen=True, slots=True)
class _Report:
    """A report that was checked."""

    page: str
    at: int
    clock: tuple[int, int, int] | None
    until: int
    kind: str
    sampling: int
    hands: dict[int, list[tuple[int, int, bool]]]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> _Report:
        """Raises `ValueError`."""
        try:
            clock = None
            if told.get("clock") is not None:
                sent, ours, received = map(int, told["clock"])
                clock = sent, ours, received
            hands = {
                int(seat): [(int(count), int(t), bool(pressed)) for count, t, pressed in touches]
                for seat, touches in told["hands"].items()
            }
            made = cls(
                str(told["page"])[:40], int(told["at"]), clock, int(told["until"]), str(told.get("kind", "touch")),
                int(told.get("sampling", 0)), hands,
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError, OverflowError) as bad:
            raise ValueError(f"no report of a page: {bad!r}") from None
        if made.kind not in SAMPLING or made.sampling < 0:
            raise ValueError("no report of a page: its fields are out of bounds")
        return made


class PageSource:
    """Pads on pages; implements `hardware.pads.plugged_pads.PadSource`.

    Reports come as datagrams of JSON at a socket of this machine, from the page's server.
    """

    pace = 250 * MS

    def __init__(self, seats: Iterable[int], path: Path) -> None:
        """Listen.

        Args:
            seats: whose pads are pages.
            path: of the socket, in a folder that nobody else can enter.

        Raises:
            HardwareMissing: the socket cannot be made.
        """
        self._reports = TouchReports(seats)
        self._on_edge: Callable[[Edge], None] = lambda _edge: None
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            with suppress(FileNotFoundError):
                path.unlink()
            self._socket.bind(str(path))
            path.chmod(0o600)
        except OSError as bad:
            self._socket.close()
            raise HardwareMissing(
                "pads on pages need {path}, which cannot be made ({why})", path=path, why=bad.strerror
            ) from None

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its page tells nothing at present, and what to do."""
        return self._reports.silent

    def start(self, on_edge: Callable[[Edge], None], _on_lost: Callable[[Lost], None], _now: int) -> None:
        """Report every edge from now on."""
        self._on_edge = on_edge

    def filenos(self) -> list[int]:
        """The socket."""
        return [self._socket.fileno()]

    def read(self, now: int) -> None:
        """Take all reports that wait, and see to pages that have fallen silent; ``now`` in ns."""
        with suppress(BlockingIOError):
            while True:
                self._hear(self._socket.recv(_LONGEST_REPORT))
        self._tell(self._reports.advance(now))

    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down."""
        return self._reports.held

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) has been reported; late ones of a page that was silent excepted."""
        return self._reports.watermark(now)

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _hear(self, datagram: bytes) -> None:
        try:
            report = json.loads(datagram)
            if not isinstance(report, dict):
                raise ValueError("no report of a page")
            self._tell(self._reports.feed(report))
        except (ValueError, RecursionError) as bad:
            _log.warning("%s", bad)

    def _tell(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self._on_edge(edge)
