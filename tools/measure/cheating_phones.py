"""Phones as pads, after `referee/web/static/pad.js`, and the ways in which one of them may lie. Pure.

Called by `tools.measure.cheats` with real time and by tests with time as data. All instants are ns; *ours* are the
machine's, *theirs* the phone's own clock.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from referee.units import MS, SECOND

SAMPLING: Final = round(8.3 * MS)
"""Half of the largest stamping delay of a touch: the sampling interval of a screen with 120 samples a second."""
_HOLD: Final = 90 * MS
"""Time for which a hand stays down."""
_NOT_PROMISED: Final = 30 * MS
"""The allowance for the phone's own event queue, as in `pad.js`."""
EARLY: Final = 300 * MS
"""Shift of a liar's hand where its lie has no other number."""


@dataclass(slots=True)
class Hand:
    """A hand that falls: its true instant and its report."""

    seat: int
    t: int
    """When it truly fell."""
    claimed: int | None = None
    """The phone's claim, converted to our clock by the true offset of the phone's clock; None: never reported."""
    heard: int | None = None
    """The table's stamp on the arrival of its report."""


class Phone:
    """One phone on the table: its clock, its screen, and its touches. This one is honest.

    Args:
        seat: whose pad it is.
        code: the seat's.
        rng: its random numbers.
    """

    def __init__(self, seat: int, code: str, rng: random.Random) -> None:
        self.seat, self.code, self._rng = seat, code, rng
        self.ahead, self._drift = rng.randrange(-3 * SECOND, 3 * SECOND), rng.uniform(-50e-6, 50e-6)
        self._origin: int | None = None
        self.page, self.phone = f"page {rng.getrandbits(64):016x}", f"phone {rng.getrandbits(64):016x}"
        self._planned: list[tuple[int, int, bool, Hand]] = []
        """When it is stamped, when it happened, whether it is a press."""
        self._waiting: list[tuple[int, int, bool, Hand]] = []
        self._count = 0
        self._echoes: dict[str, tuple[int, int]] = {}
        """By page: the stamp in its last answer, and the answer's arrival by the phone's clock."""
        self.victim = ""
        """Another seat's code that it knows; empty for none."""
        self.refused: list[str] = []
        """Refusals that the page received."""

    def shows(self, ours: int) -> int:
        """Return its clock's reading."""
        if self._origin is None:
            self._origin = ours
        return ours + self.ahead + round((ours - self._origin) * self._drift)

    def fall(self, t: int) -> Hand:
        """Plan a hand that falls at ``t`` (ours) and is lifted."""
        hand = Hand(self.seat, t)
        for at, pressed in ((t, True), (t + _HOLD, False)):
            self._planned.append((at + self._look(), at, pressed, hand))
        return hand

    def due(self) -> int | None:
        """Return when it next has a touch to report, ours."""
        return min((stamped for stamped, *_ in self._planned), default=None)

    def report(self, now: int) -> dict[str, Any]:
        """Return its page's post at this instant (ours)."""
        due = [touch for touch in sorted(self._planned, key=lambda planned: planned[0]) if touch[0] <= now]
        for stamped, _, pressed, hand in due:
            self._count += 1
            self._waiting.append((self._count, stamped, pressed, hand))
        self._planned = [planned for planned in self._planned if planned[0] > now]
        return self._body(now)

    def hear(self, body: Mapping[str, Any], answer: Mapping[str, Any], now: int) -> None:
        """Receive the answer to its report ``body`` at ``now`` (ours)."""
        if not answer.get("accepted"):
            self.refused.append(str(answer.get("words", answer)))
            return
        self._echoes[body["page"]] = int(answer["at"]), self.shows(now)
        for code, said in answer["seats"].items():
            if code == self.code:
                for count, _, pressed, hand in self._waiting:
                    if count <= said["heard"] and pressed:
                        hand.heard = hand.heard or int(answer["at"])
                self._waiting = [report for report in self._waiting if report[0] > said["heard"]]

    # What a liar does differently

    def _look(self) -> int:
        """Return the delay of its screen's stamp."""
        return self._rng.randrange(2 * SAMPLING)

    def _body(self, now: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "page": self.page, "phone": self.phone, "kind": "touch", "sampling": SAMPLING, "sent": self.shows(now),
            "until": self.shows(now - _NOT_PROMISED - self._early()), "hands": {self.code: self._touches()},
        }  # fmt: skip
        if echo := self._echoes.pop(self.page, None):
            body["echo"] = list(echo)
        return body

    def _touches(self) -> list[list[int]]:
        told = []
        for count, stamped, pressed, hand in self._waiting[:100]:
            claimed = stamped - self._early()
            if pressed:
                hand.claimed = claimed
            told.append([count, self.shows(claimed), int(pressed)])
        return told

    def _early(self) -> int:
        """Return by how much its stamps precede the touch."""
        return 0


class EarlyStamps(Phone):
    """Stamps its hands early; its promise lags as much, so that they do not come too late for it."""

    early = EARLY

    def _look(self) -> int:
        return 0

    def _early(self) -> int:
        return self.early


class Early25(EarlyStamps):
    """25 ms."""

    early = 25 * MS


class Early100(EarlyStamps):
    """100 ms."""

    early = 100 * MS


class MadeUpExchange(EarlyStamps):
    """Claims that its report took no time and that its clock is elsewhere: by such an exchange, its stamps are early.

    The stamp is one that the table gave; its holding time is made up, so that the exchange has no width.
    """

    early = 0

    def _body(self, now: int) -> dict[str, Any]:
        body = super()._body(now)
        if "echo" in body:
            stamp, _ = body["echo"]
            body["sent"] += EARLY
            body["echo"] = [stamp, body["sent"] - (now - stamp)]
        return body

    def _touches(self) -> list[list[int]]:
        told = super()._touches()
        for *_, pressed, hand in self._waiting:
            if pressed:
                hand.claimed = hand.t - EARLY
        return told


class AlteredStamp(EarlyStamps):
    """Returns the table's stamp as an earlier one."""

    early = 0

    def _body(self, now: int) -> dict[str, Any]:
        body = super()._body(now)
        if "echo" in body:
            body["echo"][0] -= EARLY
        return body

    def _touches(self) -> list[list[int]]:
        told = super()._touches()
        for *_, pressed, hand in self._waiting:
            if pressed:
                hand.claimed = hand.t - EARLY
        return told


class FinestScreen(EarlyStamps):
    """Claims to sample its screen once a nanosecond."""

    early = 0

    def _body(self, now: int) -> dict[str, Any]:
        return {**super()._body(now), "sampling": 1}


class HeldBackPromise(EarlyStamps):
    """Promises nothing of the last 1.2 s, and so can choose its hand's instant once the others' are known."""

    early = 600 * MS

    def _body(self, now: int) -> dict[str, Any]:
        return {**super()._body(now), "until": self.shows(now - 1200 * MS)}


class StillPromise(EarlyStamps):
    """Never advances its promise."""

    early = 600 * MS
    stands: int | None = None

    def _body(self, now: int) -> dict[str, Any]:
        body = super()._body(now)
        self.stands = body["until"] if self.stands is None else self.stands
        return {**body, "until": self.stands}


class JumpingClock(EarlyStamps):
    """Shows a different clock at each report."""

    def _body(self, now: int) -> dict[str, Any]:
        self.ahead += self._rng.choice((-1, 1)) * self._rng.randrange(SECOND // 5, 2 * SECOND)
        return super()._body(now)


class ManyPages(EarlyStamps):
    """Reports under 65 names of pages in turn."""

    turn = 0

    def _body(self, now: int) -> dict[str, Any]:
        self.turn += 1
        self.page = f"page number {self.turn % 65:02}"
        return super()._body(now)


class AnothersHand(Phone):
    """Knows another seat's code, and reports hands for it that make that seat slap falsely."""

    def _body(self, now: int) -> dict[str, Any]:
        body = super()._body(now)
        if self.victim:
            body["hands"] = {
                **body["hands"],
                self.victim: [[1_000_000 + now // MS, self.shows(now - 5 * MS), now // SECOND % 2]],
            }
        return body


class LastNights(EarlyStamps):
    """Still has the code of the night before."""


@dataclass(frozen=True, slots=True)
class Lie:
    """One way to lie."""

    name: str
    phone: Callable[[int, str, random.Random], Phone]
    may_pass: bool = False
    """Whether it may lie inside the stated error, so there is nothing to detect where no other hand is near."""


LIES: Final = (
    Lie("stamped 25 ms early", Early25, may_pass=True),
    Lie("stamped 100 ms early", Early100),
    Lie("stamped 300 ms early", EarlyStamps),
    Lie("a made-up exchange of no width", MadeUpExchange),
    Lie("our stamp altered", AlteredStamp),
    Lie("sampling of 1 ns", FinestScreen),
    Lie("a promise held back 1.2 s", HeldBackPromise),
    Lie("a promise that stands still", StillPromise),
    Lie("a clock that jumps at each report", JumpingClock),
    Lie("65 page names", ManyPages),
    Lie("another seat's hand", AnothersHand),
    Lie("last night's code", LastNights),
)
HONEST: Final = Lie("no phone lies", Phone)
