"""Phones that are pads, as `referee/web/static/pad.js` is one, and the ways in which one of them may lie. Pure.

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
"""Half of how late a touch may be stamped: the time between two looks of a screen that looks 120 times a second."""
_HOLD: Final = 90 * MS
"""How long a hand stays down."""
_NOT_PROMISED: Final = 30 * MS
"""What is still on its way through the phone's own queue, as `pad.js` has it."""
EARLY: Final = 300 * MS
"""By how much a liar moves its hand where its way of lying has no other number."""


@dataclass(slots=True)
class Hand:
    """A hand that falls, as it truly was and as it was told."""

    seat: int
    t: int
    """When it fell."""
    claimed: int | None = None
    """When the phone says that it fell, moved to our clock by what the phone's clock truly shows; None: never told."""
    heard: int | None = None
    """When the table's stamp says that a report with it came."""


class Phone:
    """One phone on the table: its clock, its screen, and what it was touched for. This one is honest.

    Args:
        seat: whose pad it is.
        code: the seat's.
        rng: its chances.
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
        """By page: the stamp that the last answer to it brought, and when it had that by its own clock."""
        self.victim = ""
        """Another seat's code that it knows; empty for none."""
        self.refused: list[str] = []
        """What the page was told instead of being heard."""

    def shows(self, ours: int) -> int:
        """What its clock shows."""
        if self._origin is None:
            self._origin = ours
        return ours + self.ahead + round((ours - self._origin) * self._drift)

    def fall(self, t: int) -> Hand:
        """A hand will fall at ``t`` (ours), and be lifted."""
        hand = Hand(self.seat, t)
        for at, pressed in ((t, True), (t + _HOLD, False)):
            self._planned.append((at + self._look(), at, pressed, hand))
        return hand

    def due(self) -> int | None:
        """When it next has a touch to report, ours."""
        return min((stamped for stamped, *_ in self._planned), default=None)

    def report(self, now: int) -> dict[str, Any]:
        """What its page posts at this instant (ours)."""
        due = [one for one in sorted(self._planned, key=lambda one: one[0]) if one[0] <= now]
        for stamped, _, pressed, hand in due:
            self._count += 1
            self._waiting.append((self._count, stamped, pressed, hand))
        self._planned = [one for one in self._planned if one[0] > now]
        return self._body(now)

    def hear(self, body: Mapping[str, Any], answer: Mapping[str, Any], now: int) -> None:
        """Its report ``body`` was answered, and the answer came at ``now`` (ours)."""
        if not answer.get("accepted"):
            self.refused.append(str(answer.get("words", answer)))
            return
        self._echoes[body["page"]] = int(answer["at"]), self.shows(now)
        for code, said in answer["seats"].items():
            if code == self.code:
                for count, _, pressed, hand in self._waiting:
                    if count <= said["heard"] and pressed:
                        hand.heard = hand.heard or int(answer["at"])
                self._waiting = [one for one in self._waiting if one[0] > said["heard"]]

    # What a liar does otherwise

    def _look(self) -> int:
        """How late its screen stamps a touch."""
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
        """By how much its stamps are before the touch."""
        return 0


class EarlyStamps(Phone):
    """Its hands are stamped so much early, and its promise lags as much, so that they do not come too late for it."""

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
    """It says that its report took no time and that its clock is elsewhere: by such an exchange, its stamps are early.

    The stamp is one that the table gave; how long it was kept is made up, so that the width is none.
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
    """The stamp that the table gave it is handed back as an earlier one."""

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
    """It looks once a nanosecond, it says."""

    early = 0

    def _body(self, now: int) -> dict[str, Any]:
        return {**super()._body(now), "sampling": 1}


class HeldBackPromise(EarlyStamps):
    """It promises nothing of the last 1.2 s, and so may say of its hand what it likes once the others' are known."""

    early = 600 * MS

    def _body(self, now: int) -> dict[str, Any]:
        return {**super()._body(now), "until": self.shows(now - 1200 * MS)}


class StillPromise(EarlyStamps):
    """Its promise never moves on."""

    early = 600 * MS
    stands: int | None = None

    def _body(self, now: int) -> dict[str, Any]:
        body = super()._body(now)
        self.stands = body["until"] if self.stands is None else self.stands
        return {**body, "until": self.stands}


class JumpingClock(EarlyStamps):
    """Its clock stands elsewhere at each report."""

    def _body(self, now: int) -> dict[str, Any]:
        self.ahead += self._rng.choice((-1, 1)) * self._rng.randrange(SECOND // 5, 2 * SECOND)
        return super()._body(now)


class ManyPages(EarlyStamps):
    """It reports under 65 names of pages in turn."""

    turn = 0

    def _body(self, now: int) -> dict[str, Any]:
        self.turn += 1
        self.page = f"page number {self.turn % 65:02}"
        return super()._body(now)


class AnothersHand(Phone):
    """It knows another seat's code, and reports hands for it that make that seat slap falsely."""

    def _body(self, now: int) -> dict[str, Any]:
        body = super()._body(now)
        if self.victim:
            body["hands"] = {
                **body["hands"],
                self.victim: [[1_000_000 + now // MS, self.shows(now - 5 * MS), now // SECOND % 2]],
            }
        return body


class LastNights(EarlyStamps):
    """It still has the code of last night."""


@dataclass(frozen=True, slots=True)
class Lie:
    """One way to lie."""

    name: str
    phone: Callable[[int, str, random.Random], Phone]
    may_pass: bool = False
    """Whether it may lie inside the stated error, so that there is nothing to tell where no other hand is near."""


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
HONEST: Final = Lie("nobody lies", Phone)
