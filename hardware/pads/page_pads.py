"""Pads that are pages: a phone with one large button for a seat, or keys pressed in a browser.

The page stamps touches by its own clock and reports them some times a second; the page's server stamps each report and
answers with that stamp, which the next report echoes (`hardware.pads.clock_exchange`). `TouchReports` makes edges of
them, and is pure; `PageSource` hears them over a socket of this machine. Opened by `referee.setup.wired_devices`.

A page is never its own timekeeper. What it says of its clock, its screen, its hands and its promises is believed only
as far as our own stamps bear it out: a hand may have come at any instant from the one that the page claims to our
hearing of it, and that whole span is stated. So a stamp that is too early makes an error wider, and no hand the first.
"""

from __future__ import annotations

import json
import logging
import socket
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hardware.pads.clock_exchange import LATE_AFTER, STEADY, WAITED_FOR, RemoteClock
from hardware.ports import Edge, HardwareMissing, Lost
from referee.sentence import Sentence
from referee.units import MS, SECOND

SILENT: Final = 2 * SECOND
"""A page that reports nothing for so long sleeps, or has lost its network, ns."""
KNOWN_FOR: Final = 3 * SECOND
"""For so long after an echo a page's clock is taken as known, ns."""
SAMPLING: Final = {"touch": 17 * MS, "key": 8 * MS}
"""Half of how long a hand can be there before it is stamped, ns, by what stamps it, where nobody measured it: a screen
that looks 60 times a second sees a finger with one look and is sure with the next; a keyboard that is asked 125 times
a second looks at its own keys as often."""
LEAST_SAMPLING: Final = {"touch": 8 * MS, "key": 1 * MS}
"""The least that is believed of a page that says what it measured, ns."""
_MOST_SAMPLING: Final = 50 * MS
_FINEST: Final = 50_000
"""Half of the time between two looks of the quickest keyboards and screens, ns; who says less is not believed."""
_TOLD_FOR: Final = 10 * SECOND
"""For so long it is told that a page was refused, ns."""
REFUSED: Final = ("phone", "seats", "code")
"""Why the page's server refuses a page: another phone is the seat's pad, it reports hands of another seat, its code has
ended."""
_LONGEST_REPORT: Final = 60 << 10
"""Bytes of a datagram."""
_PAGES: Final = 8
"""Pages of one seat that are remembered: those that were heard last."""
_STAMPS: Final = 64
"""Stamps of ours that a page may still echo."""
_GRAIN: Final = 1 * MS
"""A browser's instants are rounded down by as much at most, ns."""
_WIDEST: Final = 900 * MS
"""The widest error that is stated, ns; a log takes none wider than a second."""
_PATIENCE: Final = SECOND
"""For so long a page's lag or unknown clock is not told, ns: networks stumble."""

_JOINING: Final = 3 * SECOND
"""For so long it is not told that a page which was just loaded has echoed nothing, ns: its first answers are slow."""

_log = logging.getLogger(__name__)
_WAKE: Final = Sentence("nothing is heard of its page; wake the phone or the browser, and see to its network")


@dataclass(slots=True)
class _Page:
    """One page that was loaded somewhere, as far as it reports for one seat. Instants are ours, ns, unless they are
    said to be by its clock."""

    clock: RemoteClock = field(default_factory=RemoteClock)
    stamps: deque[int] = field(default_factory=lambda: deque(maxlen=_STAMPS))
    """Stamps that it was given and has not echoed."""
    told: int = 0
    """The number of its last touch."""
    until: int | None = None
    """By its clock: up to here it promised to have told everything."""
    promised: int = 0
    """That promise at the earliest."""
    sampling: int = SAMPLING["touch"]
    heard: int = 0
    uneven_until: int = 0
    """Its clock jumped, and is not believed before this instant."""
    echoed: int = 0
    """When it echoed a stamp last that it had been given."""
    lags_since: int | None = None
    unknown_since: int | None = None
    boasts: bool = False
    """It says that it looks more often than any device does."""

    @property
    def is_late(self) -> bool:
        """Whether all its hands are late evidence, as of its last report."""
        return self.lags_since is not None or self.unknown_since is not None or self.heard < self.uneven_until

    def note_clock(self, read: _Report) -> None:
        """What a report and its echo show of its clock."""
        fits = True
        if read.echo is not None and read.echo[0] in self.stamps:
            # Any other is no stamp of ours, or was echoed before: nothing is learned of it.
            stamp, received = read.echo
            self.stamps.remove(stamp)
            self.echoed = read.at
            fits = received <= read.sent and self.clock.note_echo(stamp, received + _GRAIN, read.sent, read.at)
        if fits and self.clock.is_known and self.clock.bounds(read.sent)[0] > read.at:
            # By all that is known of its clock it would have sent this after we had it.
            self.clock, fits = RemoteClock(), False
        if not fits:
            _log.warning("the clock of a page's device has jumped; its hands are known anew")
            self.until, self.uneven_until = None, read.at + STEADY
        is_known = self.clock.is_known and read.at - self.echoed <= KNOWN_FOR
        self.unknown_since = None if is_known else self.unknown_since or read.at
        self.stamps.append(read.at)

    def note_promise(self, read: _Report) -> None:
        """Up to where it has told everything."""
        self.until = read.until if self.until is None else max(self.until, read.until)
        if self.unknown_since is not None:
            return
        earliest, latest = self.clock.bounds(min(self.until, read.sent))
        self.promised = max(self.promised, min(earliest - 2 * self.sampling, read.at) - 1)
        lags = read.at - latest > WAITED_FOR
        self.lags_since = (self.lags_since or read.at) if lags else None

    def span(self, theirs: int, after: int, at: int) -> tuple[int, int]:
        """From the earliest to the latest instant that it can have meant by one of its clock, told to us ``at``; all up
        to ``after`` was told before."""
        if self.unknown_since is not None:
            return at - _WIDEST, at
        earliest, latest = self.clock.bounds(theirs)
        return min(max(earliest - 2 * self.sampling, after + 1), at - 1), min(latest, at)


@dataclass(slots=True)
class _Seat:
    """One seat's pad."""

    pages: OrderedDict[str, _Page] = field(default_factory=OrderedDict)
    """By their own names, the one that was heard last at the end."""
    down: bool = False
    is_late: bool = False
    """Whether the hand that lies there, or lay there last, was late evidence."""
    last: int = 0
    """Its last edge, ns."""
    crowded: int = -_TOLD_FOR
    """When one page too many reported for it last, ns."""

    def page(self, name: str, at: int) -> _Page:
        """The page of this name, heard at an instant of ours, ns, as the one heard last."""
        page = self.pages.setdefault(name, _Page())
        self.pages.move_to_end(name)
        while len(self.pages) > _PAGES:
            _, gone = self.pages.popitem(last=False)
            if at - gone.heard <= SILENT:
                self.crowded = at
        return page

    def awake(self, now: int) -> list[_Page]:
        """The pages that were heard of late, the last one at the end."""
        return [page for page in self.pages.values() if now - page.heard <= SILENT]


class TouchReports:
    """What pages report of their seats' hands, as edges. Pure.

    Args:
        seats: whose pads are pages.
    """

    def __init__(self, seats: Iterable[int]) -> None:
        self._seats = {seat: _Seat() for seat in seats}
        self._given = 0
        """Up to here it was promised that all was told, ns."""
        self._silent: dict[int, str] = {}
        self._refused: dict[int, tuple[str, int]] = {}

    def feed(self, report: Mapping[str, Any]) -> list[Edge]:
        """Take a report; returns the edges that are new in it.

        Its fields: ``page``, a page's own random name; ``at``, our stamp of its arrival, ns, which is what it is
        answered with; ``sent``, by their clock, when it was sent; ``echo``, a stamp that it was answered with before,
        and by their clock when they had it; ``until``, by their clock, up to when all touches were reported; ``kind``
        and ``sampling`` (ns, 0: not measured) of what stamps them; ``hands``, by seat, each touch that is not
        acknowledged yet: its number from 1 on, its instant by their clock, and whether it is a press.

        Raises:
            ValueError: it is no report.
        """
        read = _Report.of(report)
        made: list[Edge] = []
        for number, touches in read.hands.items():
            seat = self._seats.get(number)
            if seat is None:
                continue
            page = seat.page(read.page, read.at)
            page.heard = max(page.heard, read.at)
            page.sampling, page.boasts = read.sampling, read.boasts
            page.note_clock(read)
            # What a report promises, it has told itself.
            until, after = page.until, page.promised
            page.note_promise(read)
            for count, theirs, pressed in touches:
                if count <= page.told:
                    continue
                page.told = count
                if pressed == seat.down:
                    continue
                is_late = page.is_late or (until is not None and theirs < until)
                made.append(self._edge(number, seat, page.span(theirs, after, read.at), read.at, pressed, is_late))
        return made

    def _edge(
        self, number: int, seat: _Seat, span: tuple[int, int], at: int, pressed: bool, is_late: bool
    ) -> Edge:  # fmt: skip
        earliest, latest = span
        if pressed:
            seat.is_late = is_late or at - latest > LATE_AFTER or earliest <= self._given
        seat.down = pressed
        if seat.is_late:
            half = min((at - earliest + 1) // 2, _WIDEST)
            t, least = earliest + half, seat.last + 1
        else:
            # The end of a hand that was in time is never late: it is put where it can be, with an error that spans all.
            t, least = (earliest + at) // 2, seat.last + 1 if pressed else max(seat.last, self._given) + 1
        # Edges of one pad stay in order, however well the clock came to be known between them.
        t = max(t, least)
        seat.last = t
        return Edge(number, t, pressed, min(max(t - earliest, at - t), _WIDEST), late=seat.is_late and pressed)

    def refuse(self, seat: int, why: str, at: int) -> None:
        """A page was refused as the pad of ``seat`` at an instant of ours, ns; ``why`` is one of `REFUSED`.

        Raises:
            ValueError: there is no such reason or seat.
        """
        if seat not in self._seats or why not in REFUSED:
            raise ValueError("no refusal of a page")
        self._refused[seat] = why, at

    def advance(self, now: int) -> list[Edge]:
        """It is ``now`` (ns): hands of pages that have fallen silent are taken away."""
        made = []
        self._refused = {seat: (why, at) for seat, (why, at) in self._refused.items() if now - at <= _TOLD_FOR}
        self._silent = {seat: _refusal(seat, why) for seat, (why, _) in self._refused.items()}
        for number, seat in self._seats.items():
            if not seat.pages:
                continue
            awake = seat.awake(now)
            if words := _words(number, awake, now):
                self._silent[number] = words
            elif now - seat.crowded < _TOLD_FOR:
                self._silent[number] = Sentence(
                    "more than {most} pages report as {seat}'s pad, and hands of each count as late until its clock is "
                    "known: close all pages but one",
                    most=_PAGES, seat=number,
                )  # fmt: skip
            if not awake and seat.down:
                heard = max(page.heard for page in seat.pages.values())
                t = max((heard + now) // 2, seat.last + 1, 0 if seat.is_late else self._given + 1)
                seat.down, seat.last = False, t
                made.append(Edge(number, t, pressed=False, t_error=min(max(now - t, t - heard), _WIDEST)))
        return made

    def watermark(self, now: int) -> int:
        """All edges up to this instant (ns) were returned, by the earliest that each may have been, but for those that
        are marked late. Pages that are silent, late or never came are not waited for, others not for long."""
        waits = (
            max(page.promised, now - WAITED_FOR)
            for seat in self._seats.values()
            for page in seat.awake(now)
            if not page.is_late
        )
        told = min(waits, default=now)
        self._given = max(self._given, told)
        return told

    @property
    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down."""
        return tuple(number for number, seat in self._seats.items() if seat.down)

    @property
    def silent(self) -> dict[int, str]:
        """By seat: why its page tells nothing at present, or nothing in time, and what to do."""
        return dict(self._silent)


def _words(seat: int, awake: list[_Page], now: int) -> str:
    """What is amiss with a seat's pages; nothing where all is well."""
    if not awake:
        return _WAKE
    page = awake[-1]
    if now < page.uneven_until:
        return Sentence(
            "the clock of {seat}'s phone or browser has jumped, as after sleep: its hands count as late until it has "
            "gone evenly for two seconds",
            seat=seat,
        )
    joining = _JOINING if not page.echoed else _PATIENCE
    if page.unknown_since is not None and now - page.unknown_since >= joining:
        return Sentence(
            "the clock of {seat}'s phone or browser cannot be told from its answers: its hands count as late until it "
            "can; load its page anew",
            seat=seat,
        )
    if page.lags_since is not None and now - page.lags_since >= _PATIENCE:
        return Sentence(
            "{seat}'s phone or browser tells too late what it felt: nobody waits for it, and its hands count as late "
            "until it is prompt again; see to its network",
            seat=seat,
        )
    if page.boasts:
        return Sentence(
            "{seat}'s phone or browser says that it looks for touches more often than any device does, and is not "
            "believed: see what runs there",
            seat=seat,
        )
    return ""


def _refusal(seat: int, why: str) -> str:
    """What is told of a page that was refused; ``why`` is one of `REFUSED`."""
    if why == "phone":
        return Sentence(
            "another phone asks to be {seat}'s pad and is refused; if it is the right one, call the code in on the "
            "control page",
            seat=seat,
        )
    if why == "seats":
        return Sentence("{seat}'s phone tells of hands of another seat, and none of these count", seat=seat)
    return Sentence(
        "a phone with an old code of {seat}'s is refused; to use it, scan the new one at the table", seat=seat
    )


@dataclass(frozen=True, slots=True)
class _Report:
    """A report that was checked."""

    page: str
    at: int
    sent: int
    echo: tuple[int, int] | None
    until: int
    sampling: int
    """At least what is believed of its kind, ns."""
    boasts: bool
    """Whether it says that it looks more often than any device does."""
    hands: dict[int, list[tuple[int, int, bool]]]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> _Report:
        """Raises `ValueError`."""
        try:
            echo = None
            if told.get("echo") is not None:
                stamp, received = map(int, told["echo"])
                echo = stamp, received
            hands = {
                int(seat): [(int(count), int(t), bool(pressed)) for count, t, pressed in touches]
                for seat, touches in told["hands"].items()
            }
            kind, sampling = str(told.get("kind", "touch")), int(told.get("sampling", 0))
            if kind not in SAMPLING or sampling < 0:
                raise ValueError("no report of a page: its fields are out of bounds")
            believed = min(max(sampling, LEAST_SAMPLING[kind]), _MOST_SAMPLING) if sampling else SAMPLING[kind]
            return cls(
                str(told["page"])[:40], int(told["at"]), int(told["sent"]), echo, int(told["until"]), believed,
                0 < sampling < _FINEST, hands,
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError, OverflowError) as bad:
            raise ValueError(f"no report of a page: {bad!r}") from None


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
        """By seat: why its page tells nothing at present, or nothing in time, and what to do."""
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
            if "refused" in report:
                self._reports.refuse(int(report["refused"]), str(report.get("why")), int(report.get("at", 0)))
                return
            self._tell(self._reports.feed(report))
        except (ValueError, TypeError, RecursionError) as bad:
            _log.warning("%s", bad)

    def _tell(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self._on_edge(edge)
