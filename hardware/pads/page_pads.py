"""Web pages as pads: a phone with one large button for a seat, or keys pressed in a browser.

The page stamps touches on its own clock and reports them several times a second; the page's server stamps each report
and answers with that stamp, which the next report echoes (`hardware.pads.clock_exchange`). `TouchReports` turns them
into edges, and is pure; `PageSource` receives them over a local socket. `referee.setup.wired_devices` opens it.

A page is not a trusted timekeeper. Its claims about its clock, screen, hands and promises are believed only as far as
our own stamps confirm them: a hand may have come at any instant from the claimed one to the arrival of the report, and
that whole span is stated. So a stamp that is too early widens the error, but makes no hand the first.
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
"""Time without a report, ns, after which a page is asleep, or has lost its network."""
KNOWN_FOR: Final = 3 * SECOND
"""Time after an echo, ns, for which a page's clock counts as known."""
SAMPLING: Final = {"touch": 17 * MS, "key": 8 * MS}
"""Half of the longest time, ns, from a touch to its stamp, by input kind, if not measured: a screen sampled 60 times a
second sees a finger in one sample and confirms it in the next; a keyboard polled 125 times a second scans its keys as
often."""
LEAST_SAMPLING: Final = {"touch": 8 * MS, "key": 1 * MS}
"""Lower limit, ns, for a page's own measurement."""
_MOST_SAMPLING: Final = 50 * MS
_FINEST: Final = 50_000
"""Half of the sampling interval of the fastest keyboards and screens, ns; a smaller claim is not believed."""
_TOLD_FOR: Final = 10 * SECOND
"""Time, ns, for which a refused page is reported."""
REFUSED: Final = ("phone", "seats", "code")
"""Reasons for which the server refuses a page: another phone is the seat's pad, it reports hands of another seat, or
its code has expired."""
_LONGEST_REPORT: Final = 60 << 10
"""Longest datagram, bytes."""
_PAGES: Final = 8
"""Most pages remembered per seat, the most recently heard ones."""
_STAMPS: Final = 64
"""Most stamps of ours that a page may still echo."""
_GRAIN: Final = 1 * MS
"""Greatest rounding down of a browser's instants, ns."""
_WIDEST: Final = 900 * MS
"""Widest stated error, ns; a log accepts none wider than a second."""
_PATIENCE: Final = SECOND
"""Time, ns, for which a page's lag or unknown clock is not reported: networks stumble."""

_JOINING: Final = 3 * SECOND
"""Time, ns, for which a newly loaded page may lack an echo without a report: its first answers are slow."""

_log = logging.getLogger(__name__)
_WAKE: Final = Sentence("its page has stopped answering; wake the phone or the browser, and check its network")


@dataclass(slots=True)
class _Page:
    """One loaded page, as far as it reports for one seat. Instants are ours, ns, unless stated to be on its clock."""

    clock: RemoteClock = field(default_factory=RemoteClock)
    stamps: deque[int] = field(default_factory=lambda: deque(maxlen=_STAMPS))
    """Stamps that it received and has not echoed."""
    told: int = 0
    """Number of its last touch."""
    until: int | None = None
    """On its clock: the instant up to which it promised to have reported everything."""
    promised: int = 0
    """The earliest instant of that promise on our clock."""
    sampling: int = SAMPLING["touch"]
    heard: int = 0
    uneven_until: int = 0
    """The instant until which its clock is not trusted after a jump."""
    echoed: int = 0
    """The instant of its last echo of one of our stamps."""
    lags_since: int | None = None
    unknown_since: int | None = None
    boasts: bool = False
    """Whether it claims to sample faster than any device does."""

    @property
    def is_late(self) -> bool:
        """Whether all its hands are late evidence, as of its last report."""
        return self.lags_since is not None or self.unknown_since is not None or self.heard < self.uneven_until

    def note_clock(self, read: _Report) -> None:
        """Learn its clock from a report and its echo."""
        fits = True
        if read.echo is not None and read.echo[0] in self.stamps:
            # Other stamps are not ours, or were already echoed: ignore them.
            stamp, received = read.echo
            self.stamps.remove(stamp)
            self.echoed = read.at
            fits = received <= read.sent and self.clock.note_echo(stamp, received + _GRAIN, read.sent, read.at)
        if fits and self.clock.is_known and self.clock.bounds(read.sent)[0] > read.at:
            # By its estimated clock it would have sent this after we received it.
            self.clock, fits = RemoteClock(), False
        if not fits:
            _log.warning("the clock of a page's device has jumped; its hands are known anew")
            self.until, self.uneven_until = None, read.at + STEADY
        is_known = self.clock.is_known and read.at - self.echoed <= KNOWN_FOR
        self.unknown_since = None if is_known else self.unknown_since or read.at
        self.stamps.append(read.at)

    def note_promise(self, read: _Report) -> None:
        """Note the instant up to which it has reported everything."""
        self.until = read.until if self.until is None else max(self.until, read.until)
        if self.unknown_since is not None:
            return
        earliest, latest = self.clock.bounds(min(self.until, read.sent))
        self.promised = max(self.promised, min(earliest - 2 * self.sampling, read.at) - 1)
        lags = read.at - latest > WAITED_FOR
        self.lags_since = (self.lags_since or read.at) if lags else None

    def span(self, theirs: int, after: int, at: int) -> tuple[int, int]:
        """Return the earliest and latest instant of ours for one of its clock, reported ``at``; everything up to
        ``after`` was reported before."""
        if self.unknown_since is not None:
            return at - _WIDEST, at
        earliest, latest = self.clock.bounds(theirs)
        return min(max(earliest - 2 * self.sampling, after + 1), at - 1), min(latest, at)


@dataclass(slots=True)
class _Seat:
    """One seat's pad."""

    pages: OrderedDict[str, _Page] = field(default_factory=OrderedDict)
    """By their own names, the most recently heard last."""
    down: bool = False
    is_late: bool = False
    """Whether the current or last hand was late evidence."""
    last: int = 0
    """The instant of its last edge, ns."""
    crowded: int = -_TOLD_FOR
    """The instant at which too many pages last reported for it, ns."""

    def page(self, name: str, at: int) -> _Page:
        """Return the page of this name, marked as the most recently heard, at an instant of ours, ns."""
        page = self.pages.setdefault(name, _Page())
        self.pages.move_to_end(name)
        while len(self.pages) > _PAGES:
            _, gone = self.pages.popitem(last=False)
            if at - gone.heard <= SILENT:
                self.crowded = at
        return page

    def awake(self, now: int) -> list[_Page]:
        """Return the pages heard recently, the latest last."""
        return [page for page in self.pages.values() if now - page.heard <= SILENT]


class TouchReports:
    """Turns pages' reports of their seats' hands into edges. Pure.

    Args:
        seats: seats whose pads are pages.
    """

    def __init__(self, seats: Iterable[int]) -> None:
        self._seats = {seat: _Seat() for seat in seats}
        self._given = 0
        """The instant, ns, up to which complete reporting was promised."""
        self._silent: dict[int, str] = {}
        self._refused: dict[int, tuple[str, int]] = {}

    def feed(self, report: Mapping[str, Any]) -> list[Edge]:
        """Take a report; return its new edges.

        Its fields: ``page``, the page's random name; ``at``, our stamp of its arrival, ns, which is also the answer to
        it; ``sent``, its sending time on their clock; ``echo``, a stamp from an earlier answer, and its arrival on
        their clock; ``until``, the instant on their clock up to which all touches were reported; ``kind`` and
        ``sampling`` (ns, 0: not measured) of the input; ``hands``, by seat, each touch not yet acknowledged: its number
        from 1, its instant on their clock, and whether it is a press.

        Raises:
            ValueError: the report is invalid.
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
            # A report's promise includes its own touches, so use the earlier one.
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
            # The release of a timely hand is never late: it is placed within its bounds, with an error that spans them.
            t, least = (earliest + at) // 2, seat.last + 1 if pressed else max(seat.last, self._given) + 1
        # Edges of one pad stay in order, even if the clock's estimate improved between them.
        t = max(t, least)
        seat.last = t
        return Edge(number, t, pressed, min(max(t - earliest, at - t), _WIDEST), late=seat.is_late and pressed)

    def refuse(self, seat: int, why: str, at: int) -> None:
        """Note that a page was refused as the pad of ``seat`` at an instant of ours, ns; ``why`` is one of `REFUSED`.

        Raises:
            ValueError: there is no such reason or seat.
        """
        if seat not in self._seats or why not in REFUSED:
            raise ValueError("no refusal of a page")
        self._refused[seat] = why, at

    def advance(self, now: int) -> list[Edge]:
        """Advance to ``now`` (ns): release hands of pages that have fallen silent."""
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
        """Return the instant (ns) up to which all edges were returned, by their earliest bounds, except those marked
        late. Silent, late and absent pages are not waited for, and others only briefly."""
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
        """By seat: why its page does not report, or not in time, with advice."""
        return dict(self._silent)


def _words(seat: int, awake: list[_Page], now: int) -> str:
    """Return a message about a problem with a seat's pages; empty if there is none."""
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
            "{seat}'s phone or browser reports touches too late: the referee no longer waits for it, "
            "and its hands count as late until it is prompt again; check its network",
            seat=seat,
        )
    if page.boasts:
        return Sentence(
            "{seat}'s phone or browser claims to look for touches more often than any device can, "
            "and the referee does not believe it: check which program runs there",
            seat=seat,
        )
    return ""


def _refusal(seat: int, why: str) -> str:
    """Return a message about a refused page; ``why`` is one of `REFUSED`."""
    if why == "phone":
        return Sentence(
            "another phone asks to be {seat}'s pad and is refused; if it is the right one, replace "
            "the code on the control page",
            seat=seat,
        )
    if why == "seats":
        return Sentence("{seat}'s phone reports hands of another seat; the referee does not count them", seat=seat)
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
    """At least the lower limit of its kind, ns."""
    boasts: bool
    """Whether it claims to sample faster than any device does."""
    hands: dict[int, list[tuple[int, int, bool]]]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> _Report:
        """Check a report; raises `ValueError`."""
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
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"no report of a page: {error!r}") from None


class PageSource:
    """Pads on pages; implements `hardware.pads.plugged_pads.PadSource`.

    Reports come from the page's server as JSON datagrams on a local socket.
    """

    pace = 250 * MS

    def __init__(self, seats: Iterable[int], path: Path) -> None:
        """Listen.

        Args:
            seats: seats whose pads are pages.
            path: of the socket, in a folder that no other user can enter.

        Raises:
            HardwareMissing: the socket cannot be created.
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
        except OSError as error:
            self._socket.close()
            raise HardwareMissing(
                "pads on pages need {path}, which cannot be made ({why})", path=path, why=error.strerror
            ) from None

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: why its page does not report, or not in time, with advice."""
        return self._reports.silent

    def start(self, on_edge: Callable[[Edge], None], _on_lost: Callable[[Lost], None], _now: int) -> None:
        """Report every edge from now on."""
        self._on_edge = on_edge

    def filenos(self) -> list[int]:
        """Return the socket's descriptor."""
        return [self._socket.fileno()]

    def read(self, now: int) -> None:
        """Take all waiting reports, and handle pages that have fallen silent; ``now`` in ns."""
        with suppress(BlockingIOError):
            while True:
                self._hear(self._socket.recv(_LONGEST_REPORT))
        self._tell(self._reports.advance(now))

    def held(self) -> tuple[int, ...]:
        """Seats whose pads are down."""
        return self._reports.held

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which every edge has been reported, except late ones of a silent page."""
        return self._reports.watermark(now)

    def close(self) -> None:
        """Stop listening."""
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
        except (ValueError, TypeError, RecursionError) as error:
            _log.warning("%s", error)

    def _tell(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self._on_edge(edge)
