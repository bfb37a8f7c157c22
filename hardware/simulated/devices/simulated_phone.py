"""A phone whose page is a seat's pad, on a slow network, in data time.

It behaves as `referee/web/static/pad.js`: it reports five times a second and with each touch, until touches are
acknowledged, echoes each stamp once, and promises nothing for its last 30 ms. The caller acts as the page's server.
"""

from __future__ import annotations

import heapq
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from referee.units import MS, SECOND

HEARTBEAT: Final = 200 * MS
"""Interval of a page's reports without news."""
PATIENCE: Final = 2 * SECOND
"""Time without an answer after which a report is given up."""
ON_THEIR_WAY: Final = 3
"""Number of reports in transit at which one without news waits."""
NOT_PROMISED: Final = 30 * MS
"""Recent time about which a page promises nothing, as it may not have processed it."""
_KEPT_OPEN: Final = 15 * SECOND
"""Idle time after which the table closes a connection."""
_RESENT: Final = (200 * MS, 300 * MS)
"""Delay after which the network resends a lost message."""


@dataclass(frozen=True, slots=True)
class Spell:
    """A time span from ``begin`` to ``end``, ns of our clock."""

    begin: int
    end: int


class _Spans:
    """Non-overlapping spans."""

    def __init__(self, spans: Sequence[Spell]) -> None:
        self._spans = sorted(spans, key=lambda span: span.begin)
        self._begins = [span.begin for span in self._spans]

    def end_of(self, t: int) -> int:
        """Return the end of the span that contains an instant, or the instant itself if none does."""
        at = bisect_right(self._begins, t) - 1
        return max(t, self._spans[at].end) if at >= 0 and t < self._spans[at].end else t

    def before(self, t: int) -> int:
        """Return the total length of all spans up to an instant, ns."""
        return sum(min(span.end, t) - span.begin for span in self._spans[: bisect_right(self._begins, t)])


@dataclass(slots=True)
class PhoneNetwork:
    """Network paths between a phone and the table, each with its own delay."""

    rng: random.Random
    up: tuple[int, int] = (5 * MS, 80 * MS)
    """Range of the delay from the phone to the table, ns."""
    down: tuple[int, int] = (5 * MS, 80 * MS)
    loss: float = 0.0
    """Share of messages that are lost and resent."""
    outages: Sequence[Spell] = ()
    """Outages; messages sent meanwhile arrive soon after."""

    def arrive(self, sent: int, way: tuple[int, int]) -> int:
        """Return the arrival of a message sent at an instant, ns."""
        through = _Spans(self.outages).end_of(sent)
        if through > sent:
            through += self.rng.randint(0, 200 * MS)
        while self.rng.random() < self.loss:
            through += self.rng.randint(*_RESENT)
        return through + self.rng.randint(*way)


@dataclass(slots=True)
class _Sent:
    """A report in transit."""

    sent: int
    arrival: int
    body: dict[str, Any]
    connection: int
    is_over: bool = False


@dataclass(slots=True)
class SimulatedPhone:
    """One phone. All instants are ours, ns, unless stated to be on its clock."""

    seat: int
    rng: random.Random
    network: PhoneNetwork
    ahead: int = 3 * SECOND
    """Lead of its clock over ours at our instant 0, ns."""
    drift_ppm: float = 0.0
    look: int = 16_700_000
    """Sampling interval of its screen, ns: a finger is there for up to two samples before it is stamped."""
    measures: bool = True
    """Whether a finger has slid over the screen, so that the page knows its sampling interval."""
    busy: Sequence[Spell] = ()
    """Times when its browser is busy: touches and everything else wait until the end."""
    asleep: Sequence[Spell] = ()
    """Times when it sleeps; its clock stands still meanwhile."""
    page: str = ""
    kind: str = "touch"
    arrivals: list[tuple[int, int, _Sent]] = field(default_factory=list)
    """Reports in transit, by arrival."""
    known: bool = False
    _busy: _Spans = field(init=False)
    _asleep: _Spans = field(init=False)
    _doing: list[tuple[int, int, int, Callable[[int], object]]] = field(default_factory=list)
    """The page's pending actions, by instant; touches precede other actions that waited for the browser."""
    _numbers: Any = field(default_factory=count)
    _echo: list[int] | None = None
    _waiting: list[tuple[int, int, int]] = field(default_factory=list)
    _count: int = 0
    _down: bool = False
    _sending: int = 0
    _free: dict[int, int] = field(default_factory=dict)
    """Idle connections, with the instants since when, ns."""
    _heard: int = -PATIENCE - 1

    def __post_init__(self) -> None:
        """Open its page."""
        self._busy, self._asleep = _Spans(self.busy), _Spans(self.asleep)
        self.page = self.page or f"{self.rng.getrandbits(96):024x}"

    def begin(self, at: int) -> None:
        """Load the page at this instant."""
        self._do(at, 1, self._beat)

    def shows(self, ours: int) -> int:
        """Return its clock at one of our instants, ns."""
        awake = ours - self._asleep.before(ours)
        return round(awake * (1 + self.drift_ppm * 1e-6)) + self.ahead

    def touch(self, t: int, *, pressed: bool) -> None:
        """Put a finger on the screen, or lift it."""
        stamped = t + self.rng.randint(0, 2 * self.look)
        handled = stamped + self.rng.randint(1 * MS, 8 * MS)
        self._do(handled, 0, lambda now: self._feel(now, stamped, pressed=pressed))

    @property
    def next_t(self) -> int | None:
        """The instant of the page's next action or a report's next arrival."""
        times = [queue[0][0] for queue in (self._doing, self.arrivals) if queue]
        return min(times, default=None)

    def run(self, until: int, answer: Callable[[int, dict[str, Any]], tuple[int, int]]) -> None:
        """Run everything up to this instant.

        Args:
            until: inclusive.
            answer: the table: takes a report and its arrival; returns its stamp and the number of the last touch
                received.
        """
        while (t := self.next_t) is not None and t <= until:
            if self.arrivals and self.arrivals[0][0] == t:
                _, _, report = heapq.heappop(self.arrivals)
                stamp, heard = answer(t, report.body)
                back = self.network.arrive(t, self.network.down)
                self._do(back, 1, self._receive(report, stamp, heard))
            else:
                _, _, _, do = heapq.heappop(self._doing)
                do(t)

    def _do(self, t: int, place: int, do: Callable[[int], object]) -> None:
        free = self._busy.end_of(self._asleep.end_of(t))
        heapq.heappush(self._doing, (free, place, next(self._numbers), do))

    def _beat(self, now: int) -> None:
        self._report(now)
        self._do(now + HEARTBEAT, 1, self._beat)

    def _feel(self, now: int, stamped: int, *, pressed: bool) -> None:
        is_lost = now - self._heard > PATIENCE
        if self._down == pressed or not self.known or (pressed and is_lost):
            return
        self._down = pressed
        self._count += 1
        self._waiting.append((self._count, self.shows(stamped), int(pressed)))
        self._report(now, touched=True)

    def _report(self, now: int, *, touched: bool = False) -> None:
        if self._sending >= ON_THEIR_WAY and not touched:
            return
        self._sending += 1
        shown = self.shows(now)
        body: dict[str, Any] = {
            "page": self.page, "kind": self.kind, "sampling": self.look if self.measures else 0, "sent": shown,
            "until": shown - NOT_PROMISED, "hands": {str(self.seat): [list(hand) for hand in self._waiting[:100]]},
        }  # fmt: skip
        if self._echo is not None:
            body["echo"] = self._echo
        self._echo = None
        ready, connection = self._connect(now)
        report = _Sent(now, self.network.arrive(ready, self.network.up), body, connection)
        if report.arrival <= now + PATIENCE:
            heapq.heappush(self.arrivals, (report.arrival, next(self._numbers), report))
        self._do(now + PATIENCE, 1, lambda _now: self._end(report))

    def _connect(self, now: int) -> tuple[int, int]:
        """Return when a report can be sent, and on which connection: an idle one, or a new one, which takes a round
        trip."""
        self._free = {
            free_connection: since for free_connection, since in self._free.items() if now - since <= _KEPT_OPEN
        }
        if self._free:
            connection = max(self._free, key=lambda free: self._free[free])
            del self._free[connection]
            return now, connection
        asked = self.network.arrive(now, self.network.up)
        return self.network.arrive(asked, self.network.down), next(self._numbers)

    def _end(self, report: _Sent) -> bool:
        if report.is_over:
            return False
        report.is_over = True
        self._sending -= 1
        return True

    def _receive(self, report: _Sent, stamp: int, heard: int) -> Callable[[int], None]:
        def receive(now: int) -> None:
            if not self._end(report):
                return
            self._free[report.connection] = now
            self._echo = [stamp, self.shows(now)]
            self._heard = now
            self._waiting = [hand for hand in self._waiting if hand[0] > heard]
            if not self.known and "echo" not in report.body:
                self._do(now, 1, self._report)
            self.known = self.known or "echo" in report.body

        return receive
