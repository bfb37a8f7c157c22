"""Pads that are pages: phones whose clocks stand elsewhere and drift, over a network with delays; and the powers and
limits of a page that lies about its clock, its screen, its hands and its promises.
"""

from __future__ import annotations

import json
import random
import select
import socket
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hardware.pads.clock_exchange import LATE_AFTER, STEADY, WAITED_FOR
from hardware.pads.page_pads import KNOWN_FOR, LEAST_SAMPLING, SAMPLING, SILENT, PageSource, TouchReports
from hardware.ports import Edge, HardwareMissing
from hardware.simulated.devices.simulated_phone import PhoneNetwork, SimulatedPhone, Spell
from referee.engine.observations import MAX_ERROR
from referee.units import MS, SECOND


def play(
    reports: TouchReports, phones: Sequence[SimulatedPhone], slaps: Sequence[tuple[int, int]], end: int
) -> list[Edge]:
    """Return the results of hands, as (instant, seat), that stay for 80 ms; the promise is read every 10 ms."""
    made: list[Edge] = []

    def answer(at: int, body: dict[str, Any]) -> tuple[int, int]:
        given = reports.watermark(at)
        new = reports.feed({**body, "at": at})
        assert all(edge.late or not edge.pressed or edge.t - edge.t_error > given for edge in new)
        made.extend(new)
        return at, max((touch[0] for touches in body["hands"].values() for touch in touches), default=0)

    for phone in phones:
        phone.begin(SECOND + phone.seat * 7 * MS)
        for t, seat in slaps:
            if seat == phone.seat:
                phone.touch(t, pressed=True)
                phone.touch(t + 80 * MS, pressed=False)
    for now in range(0, end, 10 * MS):
        for phone in phones:
            phone.run(now, answer)
        made += reports.advance(now)
        reports.watermark(now)
    return made


def test_stated_errors_hold_and_no_order_is_wrong_outside_them() -> None:
    """2,000 slaps in pairs 2 to 120 ms apart, on phones 3 s off that drift apart."""
    rng = random.Random(4)
    phones = [
        SimulatedPhone(1, rng, PhoneNetwork(rng), -3 * SECOND, 50.0),
        SimulatedPhone(2, rng, PhoneNetwork(rng), 3 * SECOND, -50.0),
    ]
    slaps = []
    for k in range(1000):
        t, first = 20 * SECOND + k * SECOND // 2, rng.choice((1, 2))
        slaps += [(t, first), (t + rng.randint(2 * MS, 120 * MS), 3 - first)]
    made = play(TouchReports((1, 2)), phones, slaps, 522 * SECOND)
    truth = {seat: [t for t, hit in slaps if hit == seat] for seat in (1, 2)}
    heard = {seat: [edge for edge in made if edge.seat == seat and edge.pressed] for seat in (1, 2)}
    assert {seat: len(edges) for seat, edges in heard.items()} == {1: 1000, 2: 1000}
    assert not any(edge.late for edge in made)
    assert all(abs(e.t - t) <= e.t_error for seat in (1, 2) for e, t in zip(heard[seat], truth[seat], strict=True))
    wrong = decided = 0
    for a, b, ta, tb in zip(heard[1], heard[2], truth[1], truth[2], strict=True):
        if abs(a.t - b.t) > a.t_error + b.t_error:
            decided += 1
            wrong += (a.t < b.t) != (ta < tb)
    assert wrong == 0
    assert decided > 250
    assert statistics.median(edge.t_error for edge in made) < 50 * MS


def test_a_phone_that_has_slept_is_told_and_accused_of_nothing() -> None:
    rng = random.Random(5)
    phone = SimulatedPhone(1, rng, PhoneNetwork(rng, (2 * MS, 10 * MS), (2 * MS, 10 * MS)),
                           asleep=[Spell(20 * SECOND, 50 * SECOND)])  # fmt: skip
    slaps = [(t, 1) for t in (10 * SECOND, 51 * SECOND, 54 * SECOND)]
    reports = TouchReports((1,))
    presses = [edge for edge in play(reports, [phone], slaps, 60 * SECOND) if edge.pressed]
    assert [edge.late for edge in presses] == [False, True, False]
    assert all(abs(edge.t - t) <= edge.t_error for edge, (t, _) in zip(presses, slaps, strict=True) if not edge.late)


# One page, scripted


@dataclass
class Page:
    """A page on a network without delay, whose clock shows ours; so all its statements are choices."""

    reports: TouchReports
    seat: int = 1
    name: str = "page"
    ahead: int = 0
    count: int = 0
    echo: list[int] | None = None
    """The stamp of the last answer, and when it arrived."""
    touches: list[tuple[int, int, int]] = field(default_factory=list)

    def report(self, at: int, **other: Any) -> list[Edge]:
        """Report now, with these deviations from an honest page."""
        shown = at + self.ahead
        told = {
            "page": self.name, "at": at, "sent": shown, "until": shown - 30 * MS, "kind": "touch", "sampling": 8 * MS,
            "hands": {str(self.seat): self.touches}, "echo": self.echo,
        }  # fmt: skip
        made = self.reports.feed({**told, **other})
        self.echo = [at, shown]
        return made

    def beat(self, *ats: int) -> None:
        """Report without news."""
        for at in ats:
            assert self.report(at) == []

    def touch(self, at: int, *, pressed: bool = True, **other: Any) -> list[Edge]:
        """Bring a hand down or up, at the instant by its clock, and report it at once."""
        self.count += 1
        stamped = other.pop("stamped", at + self.ahead)
        self.touches = [(self.count, stamped, int(pressed))]
        return self.report(at, **other)


@pytest.fixture
def page() -> Page:
    """Return a page that is known."""
    page = Page(TouchReports((1, 2)))
    page.beat(*range(SECOND, 3 * SECOND, 200 * MS))
    return page


def press(edges: list[Edge]) -> Edge:
    (edge,) = edges
    assert edge.pressed
    return edge


@pytest.mark.parametrize("early", [0, 25 * MS, 100 * MS, 220 * MS])
def test_a_hand_is_never_surely_earlier_than_it_was_heard_of(page: Page, early: int) -> None:
    """Its last promise is older than its claim, so nothing contradicts the claim."""
    page.beat(3 * SECOND)
    at = 3 * SECOND + 250 * MS
    edge = press(page.touch(at, stamped=at - early))
    assert edge.t + edge.t_error >= at and not edge.late
    assert edge.t - edge.t_error <= at - early
    assert edge.t_error >= early // 2 + LEAST_SAMPLING["touch"]


def test_what_comes_a_quarter_of_a_second_after_its_instant_is_late(page: Page) -> None:
    at = 3 * SECOND + 260 * MS
    assert press(page.touch(at, stamped=at - LATE_AFTER - 3 * MS)).late


def test_what_was_promised_to_be_told_already_is_late(page: Page) -> None:
    page.beat(3 * SECOND)
    at = 3 * SECOND + 50 * MS
    assert press(page.touch(at, stamped=3 * SECOND - 31 * MS)).late
    page.touch(at + 80 * MS, pressed=False)
    assert not press(page.touch(at + 200 * MS)).late


def test_no_hand_that_is_judged_comes_before_what_was_promised_of_it(page: Page) -> None:
    at = 3 * SECOND + 200 * MS
    page.reports.watermark(at + WAITED_FOR)
    assert press(page.touch(at)).late


@pytest.mark.parametrize(("kind", "least"), LEAST_SAMPLING.items())
def test_no_screen_and_no_key_is_quicker_than_they_are(page: Page, kind: str, least: int) -> None:
    edge = press(page.touch(3 * SECOND, kind=kind, sampling=1))
    assert least <= edge.t_error < least + 2 * MS


def test_a_screen_that_was_not_measured_has_the_usual_error(page: Page) -> None:
    assert SAMPLING["touch"] <= press(page.touch(3 * SECOND, sampling=0)).t_error < SAMPLING["touch"] + 2 * MS


def test_a_promise_that_stands_still_is_waited_for_no_longer_and_told(page: Page) -> None:
    stuck = 3 * SECOND
    for at in range(3 * SECOND, 6 * SECOND, 200 * MS):
        page.report(at, until=stuck)
        assert page.reports.watermark(at) >= at - WAITED_FOR
        page.reports.advance(at)
    assert press(page.touch(6 * SECOND, until=stuck)).late
    assert "too late" in page.reports.silent[1] and "seat 1" in page.reports.silent[1]
    page.touch(6 * SECOND + 100 * MS, pressed=False)
    page.beat(6 * SECOND + 200 * MS)
    page.reports.advance(6 * SECOND + 200 * MS)
    assert page.reports.silent == {}
    assert not press(page.touch(6 * SECOND + 700 * MS)).late


def test_a_promise_that_is_held_back_makes_hands_late(page: Page) -> None:
    at = 4 * SECOND
    assert press(page.touch(at, until=at - 1200 * MS)).late


def test_a_page_without_reports_is_waited_for_no_longer(page: Page) -> None:
    assert page.reports.watermark(4 * SECOND) == 4 * SECOND - WAITED_FOR


def test_a_promise_of_what_has_not_been_yet_is_believed_up_to_now(page: Page) -> None:
    page.report(3 * SECOND, until=60 * SECOND)
    assert page.reports.watermark(3 * SECOND + MS) < 3 * SECOND


@pytest.mark.parametrize("stamp", [1, 50 * MS])
def test_a_stamp_that_we_did_not_give_says_nothing(stamp: int) -> None:
    page = Page(TouchReports((1,)))
    for at in range(SECOND, 5 * SECOND, 200 * MS):
        page.report(at, echo=[at - 200 * MS + stamp, at - 200 * MS])
        page.reports.advance(at)
        # A newly loaded page may be slow to get its first answer.
        assert at > 3 * SECOND or not page.reports.silent
    assert press(page.touch(5 * SECOND, echo=[at + stamp, at])).late
    assert "cannot be told" in page.reports.silent[1]


def test_a_stamp_is_echoed_once_and_by_the_page_that_had_it(page: Page) -> None:
    known = page.echo
    other = Page(page.reports, seat=2, name="other", echo=known)
    other.report(3 * SECOND)
    assert press(other.touch(3 * SECOND + MS, echo=known)).late
    for at in range(3 * SECOND, 3 * SECOND + KNOWN_FOR + SECOND, 200 * MS):
        page.report(at, echo=known)
    assert press(page.touch(at + MS, echo=known)).late


def test_an_exchange_of_no_width_makes_no_hand_sure(page: Page) -> None:
    """It claims to have had our stamp 200 ms before the truth, and so that its clock is ahead."""
    for at in range(3 * SECOND, 6 * SECOND, 200 * MS):
        page.report(at, echo=[at - 200 * MS, at - 200 * MS], sent=at - 200 * MS, until=at - 230 * MS)
    at += 100 * MS
    edge = press(page.touch(at, stamped=at - 250 * MS, sent=at - 200 * MS, until=at - 230 * MS, echo=None))
    assert edge.t + edge.t_error >= at or edge.late


def test_a_clock_that_jumps_is_told_and_its_hands_are_late_until_it_goes_evenly(page: Page) -> None:
    page.ahead = 3 * SECOND
    page.report(3 * SECOND)
    page.report(3 * SECOND + 200 * MS)
    assert press(page.touch(3 * SECOND + 300 * MS)).late
    page.reports.advance(3 * SECOND + 300 * MS)
    assert "has jumped" in page.reports.silent[1]
    page.touch(3 * SECOND + 400 * MS, pressed=False)
    page.beat(*range(3 * SECOND + 400 * MS, 6 * SECOND, 200 * MS))
    assert not press(page.touch(3 * SECOND + STEADY + SECOND)).late
    page.reports.advance(6 * SECOND)
    assert page.reports.silent == {}


def test_a_clock_that_jumps_with_each_report_makes_no_hand_that_is_judged(page: Page) -> None:
    rng = random.Random(1)
    for k, at in enumerate(range(3 * SECOND, 9 * SECOND, 100 * MS)):
        page.ahead = rng.randint(-SECOND, SECOND)
        made = page.touch(at, pressed=k % 2 == 0)
        assert k < 2 or all(edge.late or not edge.pressed for edge in made)


def test_many_pages_of_a_seat_push_out_no_other_seats(page: Page) -> None:
    for k in range(200):
        Page(page.reports, seat=2, name=f"page {k}").report(3 * SECOND + k)
    assert not press(page.touch(3 * SECOND + 200 * MS)).late


def test_a_page_by_the_name_of_another_seats_has_a_clock_of_its_own(page: Page) -> None:
    liar = Page(page.reports, seat=2, name=page.name, ahead=-SECOND)
    liar.beat(*range(3 * SECOND, 4 * SECOND, 100 * MS))
    assert not press(page.touch(4 * SECOND)).late


def test_a_hand_of_no_page_here_is_passed_over(page: Page) -> None:
    assert page.report(3 * SECOND, hands={"7": [(1, 3 * SECOND, 1)]}) == []


def test_a_report_that_comes_twice_tells_nothing_twice(page: Page) -> None:
    assert len(page.touch(3 * SECOND)) == 1
    assert page.report(3 * SECOND + MS) == []


def test_a_page_that_falls_silent_is_told_and_not_waited_for(page: Page) -> None:
    page.touch(3 * SECOND)
    assert page.reports.watermark(3 * SECOND) < 3 * SECOND
    assert not page.reports.advance(3 * SECOND) and not page.reports.silent
    late = 3 * SECOND + SILENT + 10 * MS
    given = page.reports.watermark(late - SECOND)
    (lifted,) = page.reports.advance(late)
    assert (lifted.seat, lifted.pressed) == (1, False) and lifted.t > given
    # Anywhere since its last report, as far as a log can say so.
    assert 800 * MS < lifted.t_error <= MAX_ERROR and lifted.t - lifted.t_error > 3 * SECOND - MS
    assert "wake the phone" in page.reports.silent[1]
    assert page.reports.watermark(late) == late
    page.report(late)
    assert not page.reports.advance(late) and not page.reports.silent


def test_edges_of_one_pad_stay_in_order_when_its_clock_is_better_known(page: Page) -> None:
    made: list[Edge] = []
    for k in range(20):
        at = 3 * SECOND + k * 50 * MS
        page.ahead = (k * 7 % 5) * MS
        made += page.touch(at, pressed=k % 2 == 0)
    assert len(made) == 20
    assert all(a.t < b.t for a, b in pairwise(made))


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"page": "x", "at": 1, "sent": 1, "until": 1, "hands": []},
        {"page": "x", "at": "soon", "sent": 1, "until": 1, "hands": {}},
        {"page": "x", "at": 1, "sent": 1, "until": 1, "hands": {}, "kind": "mind"},
        {"page": "x", "at": 1, "sent": 1, "until": 1, "hands": {}, "echo": [1]},
        {"page": "x", "at": 1, "until": 1, "hands": {}},
        {"page": "x", "at": 1, "sent": 1, "until": 1, "hands": {"1": [[1, 2]]}},
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no report|invalid literal|not enough"):
        TouchReports((1,)).feed(wrong)


def report_of(at: int, touches: list[list[int]], echo: list[int] | None = None) -> bytes:
    """Return a datagram of a page whose clock shows ours."""
    told = {"page": "page", "at": at, "sent": at, "until": at - 30 * MS, "hands": {"1": touches}, "echo": echo}
    return json.dumps(told).encode()


def test_reports_come_by_a_socket_of_this_machine(tmp_path: Path) -> None:
    path, edges = tmp_path / "hands.sock", list[Edge]()
    source = PageSource((1,), path)
    source.start(edges.append, lambda _lost: None, 0)
    page = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for datagram in (
        b"junk", b"[1]", report_of(SECOND, []), report_of(2 * SECOND, [], [SECOND, SECOND + MS]),
        report_of(3 * SECOND, [[1, 3 * SECOND - MS, 1]]),
    ):  # fmt: skip
        page.sendto(datagram, str(path))
    assert select.select(source.filenos(), [], [], 1)[0]
    source.read(3 * SECOND)
    assert [(edge.pressed, edge.late) for edge in edges] == [(True, False)]
    assert source.silent == {}
    source.read(10 * SECOND)
    assert "wake the phone" in source.silent[1]
    assert [edge.pressed for edge in edges] == [True, False]
    assert source.watermark(10 * SECOND) == 10 * SECOND
    source.close()
    page.close()
    assert not path.exists()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(HardwareMissing, match="cannot be made"):
        PageSource((1,), tmp_path / "nowhere" / "hands.sock")


def test_a_refused_page_is_told_for_a_while_by_its_seat() -> None:
    reports = TouchReports((1, 2))
    for why, words in (("phone", "another phone asks"), ("seats", "hands of another seat"), ("code", "an old code of")):
        reports.refuse(2, why, 20 * SECOND)
        reports.advance(21 * SECOND)
        assert words in reports.silent[2] and 1 not in reports.silent
    assert reports.watermark(21 * SECOND) == 21 * SECOND, "the table does not wait for it"
    reports.advance(31 * SECOND)
    assert reports.silent == {}
    for seat, why in ((3, "phone"), (2, "mind")):
        with pytest.raises(ValueError, match="no refusal"):
            reports.refuse(seat, why, SECOND)
