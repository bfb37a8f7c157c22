"""Phones that lie, in data time: none is surely first where another hand was, and none delays the table."""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from hardware.pads.page_pads import TouchReports
from hardware.ports import Edge
from referee.units import MS, SECOND
from tools.measure.cheating_phones import HONEST, LIES, AnothersHand, Early25, Early100, Hand, LastNights, Lie, Phone
from tools.measure.cheats import LIAR, Pile, Played
from tools.measure.cheats_page import draw_report

PILES = 12
BEAT, LOOK = 200 * MS, 20 * MS
MOST_WAIT = 500 * MS
"""Longest wait for a hand until everything up to it is reported."""


@dataclass
class Table:
    """The referee's end of the pages, and a network that takes 3 to 60 ms each way."""

    phones: list[Phone]
    rng: random.Random
    reports: TouchReports = field(init=False)
    edges: list[Edge] = field(default_factory=list)
    told: list[tuple[int, int]] = field(default_factory=list)
    """Instants up to which everything was reported."""
    words: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.reports = TouchReports(phone.seat for phone in self.phones)
        self._seats = {phone.code: phone.seat for phone in self.phones}
        self._numbers = count()

    def run(self, begin: int, end: int) -> None:
        """Process all events."""
        waiting: list[tuple[int, int, str, Any]] = []

        def put(t: int, what: str, about: Any) -> None:
            heapq.heappush(waiting, (t, next(self._numbers), what, about))

        for phone in self.phones:
            put(begin + phone.seat * MS, "beat", phone)
        put(begin, "look", None)
        while waiting and waiting[0][0] < end:
            now, _, what, about = heapq.heappop(waiting)
            if what == "look":
                self.edges += self.reports.advance(now)
                self.told.append((now, self.reports.watermark(now)))
                self.words |= set(self.reports.silent.values())
                put(now + LOOK, "look", None)
            elif what == "beat":
                due = about.due()
                put(min(now + BEAT, max(now + MS, due) if due is not None else now + BEAT), "beat", about)
                put(now + self.rng.randrange(3, 60) * MS, "arrive", (about, about.report(now)))
            elif what == "arrive":
                phone, body = about
                hands = {str(self._seats[code]): touches for code, touches in body["hands"].items()}
                self.edges += self.reports.feed({**body, "at": now, "hands": hands})
                heard = {
                    code: {"heard": max((hand[0] for hand in told), default=0)} for code, told in body["hands"].items()
                }
                put(
                    now + self.rng.randrange(3, 60) * MS,
                    "answer",
                    (phone, body, {"accepted": True, "at": now, "seats": heard}),
                )
            else:
                phone, body, answer = about
                phone.hear(body, answer, now)


def played(lie: Lie, seed: int) -> tuple[Table, list[tuple[Hand, Hand]]]:
    """Return piles at which an honest hand falls first and the liar's 20 to 500 ms later."""
    rng = random.Random(seed)
    phones = [Phone(1, "one", rng), Phone(2, "two", rng), lie.phone(LIAR, "four", rng)]
    table, piles = Table(phones, rng), []
    for number in range(PILES):
        t = 10 * SECOND + number * 3 * SECOND
        piles.append((phones[number % 2].fall(t), phones[-1].fall(t + rng.randrange(20, 500) * MS)))
    table.run(5 * SECOND, 11 * SECOND + PILES * 3 * SECOND)
    return table, piles


def felt(table: Table, hand: Hand) -> Edge | None:
    """Return the edge of a hand; None where it was marked late, or is missing."""
    near = [e for e in table.edges if e.seat == hand.seat and e.pressed and abs(e.t - hand.t) < SECOND and not e.late]
    return min(near, key=lambda edge: abs(edge.t - hand.t), default=None)


@pytest.mark.parametrize(
    "lie", [lie for lie in LIES if lie.phone not in (AnothersHand, LastNights)], ids=lambda kind: kind.name
)
def test_no_liar_is_surely_first_where_another_hand_was(lie: Lie) -> None:
    for seed in (1, 2):
        table, piles = played(lie, seed)
        for honest, liar in piles:
            first, second = felt(table, honest), felt(table, liar)
            assert first is not None and abs(first.t - honest.t) <= first.t_error, "the honest hand is heard as it was"
            assert second is None or second.t + second.t_error > first.t - first.t_error
            done = next(at for at, told in table.told if told >= first.t)
            assert done - honest.t <= MOST_WAIT
        assert table.words or lie.phone in (Early25, Early100), "these are reported as dead heats and late hands alone"


def test_honest_phones_are_believed_and_accused_of_nothing() -> None:
    table, piles = played(HONEST, 3)
    for hand in (hand for pile in piles for hand in pile):
        edge = felt(table, hand)
        assert edge is not None and abs(edge.t - hand.t) <= edge.t_error
    assert not table.words


# The report


def ruling(kind: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    return 300 * MS, {"ruling": kind, "id": f"{kind}@s1", "t": 1, "because": ["s1"], "rule": ["M1"], **fields}


def won(seat: int, error: int | None, decided_by: str = "time") -> tuple[int, dict[str, Any]]:
    return ruling(
        "slap_won",
        seat=seat,
        error=error,
        margin=None,
        decided_by=decided_by,
        patterns=["double"],
        cards=[],
        runners_up=[],
    )


def pile(*rulings: tuple[int, dict[str, Any]], liar: int = 100 * MS) -> Pile:
    hands = [Hand(1, 0, claimed=5 * MS, heard=40 * MS), Hand(LIAR, liar, claimed=liar - 300 * MS, heard=liar + 20 * MS)]
    return Pile((-2, -1), hands, list(rulings), {1: (-30 * MS, 40 * MS, False), LIAR: (-250 * MS, 120 * MS, True)})


def test_a_pile_is_won_unjustly_only_for_sure_and_outside_the_error() -> None:
    assert pile(won(LIAR, None)).is_wrong
    assert pile(won(LIAR, 60 * MS)).is_wrong
    assert not pile(won(LIAR, 120 * MS)).is_wrong, "within the error the order is unknown"
    assert not pile(won(LIAR, None, "people")).is_wrong
    assert not pile(won(LIAR, None), liar=-20 * MS).is_wrong, "it was first"
    assert not pile(won(1, None)).is_wrong
    assert pile().waited > MOST_WAIT, "no verdict at all is the longest wait"


def test_the_report_names_what_is_missed() -> None:
    usual = Played(HONEST, [pile(won(1, None))], [], [], 0, 0, 0, 1.0)
    well = Played(LIES[0], [pile(won(1, None))], ["Dan's hand came too late"], [], 0, 0, 0, 1.0)
    bad = Played(LIES[2], [pile(won(LIAR, None)), pile()], [], [], 0, 1, 0, 1.0)
    assert well.misses(usual) == []
    assert len(bad.misses(usual)) == 4
    page = draw_report([(usual, well), (usual, bad)], "make cheats")
    assert "1 of 3 piles were won unjustly" in page and page.count("<svg") == 2
    assert "late evidence" in page and "Dan&#x27;s hand came too late" in page
