"""Pads that are pages: phones whose clocks stand elsewhere and drift, over a network that takes its time."""

from __future__ import annotations

import heapq
import json
import random
import select
import socket
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hardware.pads.page_pads import SAMPLING, SILENT, PageSource, TouchReports
from hardware.ports import Edge, HardwareMissing
from referee.units import MS, SECOND

HEARTBEAT = 200 * MS


@dataclass
class Phone:
    """A phone that lies on the table: its clock, its network, and what it was touched for."""

    seat: int
    rng: random.Random
    ahead: int = -3 * SECOND
    drift_ppm: float = 50.0
    kind: str = "touch"
    exchange: tuple[int, int, int] | None = None
    count: int = 0
    touches: list[tuple[int, int, bool]] = field(default_factory=list)

    def shows(self, ours: int) -> int:
        return round(ours * (1 + self.drift_ppm * 1e-6)) + self.ahead

    def touch(self, ours: int, *, pressed: bool) -> None:
        """A hand comes or goes; it is stamped as late as the screen's looks make it."""
        self.count += 1
        late = self.rng.randint(0, 2 * SAMPLING[self.kind])
        self.touches.append((self.count, self.shows(ours + late), pressed))

    def report(self, ours: int) -> tuple[int, dict[str, Any]]:
        """Reported at this instant: when it arrives, and what."""
        there, back = self.rng.randint(5 * MS, 80 * MS), self.rng.randint(5 * MS, 80 * MS)
        at = ours + there
        told = {
            "page": f"phone {self.seat}", "at": at, "clock": self.exchange, "kind": self.kind, "sampling": 0,
            "until": self.shows(ours - 2 * SAMPLING[self.kind]),
            "hands": {str(self.seat): [one for one in self.touches if one[1] <= self.shows(ours)]},
        }  # fmt: skip
        self.exchange = (self.shows(ours), at, self.shows(at + back))
        return at, told


def play(phones: list[Phone], slaps: list[tuple[int, int]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The reports of phones at which these hands, as (instant, seat), come and stay for 80 ms; by their arrival."""
    hands = [(t + dt, seat, dt == 0) for t, seat in slaps for dt in (0, 80 * MS)]
    end = max(t for t, _, _ in hands) + SECOND
    waiting: list[tuple[int, int, dict[str, Any]]] = []
    for phone in phones:
        for t, seat, pressed in sorted(hands):
            if seat == phone.seat:
                phone.touch(t, pressed=pressed)
        for k, t in enumerate(range(SECOND + phone.seat * 7 * MS, end, HEARTBEAT)):
            at, told = phone.report(t)
            heapq.heappush(waiting, (at, 100 * k + phone.seat, told))
    while waiting:
        at, _, told = heapq.heappop(waiting)
        yield at, told


def test_stated_errors_hold_and_no_order_is_wrong_outside_them() -> None:
    """2,000 slaps in pairs 2 to 120 ms apart, on phones 3 s off that drift apart."""
    rng = random.Random(4)
    phones = [Phone(1, rng, -3 * SECOND, 50.0), Phone(2, rng, 3 * SECOND, -50.0)]
    slaps = []
    for k in range(1000):
        t, first = 20 * SECOND + k * SECOND // 2, rng.choice((1, 2))
        slaps += [(t, first), (t + rng.randint(2 * MS, 120 * MS), 3 - first)]
    reports = TouchReports((1, 2))
    made: list[Edge] = []
    promised = 0
    for at, told in play(phones, slaps):
        new = reports.feed(told)
        assert all(edge.t > promised for edge in new)
        made += new
        promised = reports.watermark(at)
    truth = {seat: [t for t, one in slaps if one == seat] for seat in (1, 2)}
    heard = {seat: [edge for edge in made if edge.seat == seat and edge.pressed] for seat in (1, 2)}
    assert {seat: len(edges) for seat, edges in heard.items()} == {1: 1000, 2: 1000}
    off = [abs(e.t - t) > e.t_error for seat in (1, 2) for e, t in zip(heard[seat], truth[seat], strict=True)]
    assert sum(off) <= 0.01 * len(off)
    wrong = decided = 0
    for a, b, ta, tb in zip(heard[1], heard[2], truth[1], truth[2], strict=True):
        if abs(a.t - b.t) > a.t_error + b.t_error:
            decided += 1
            wrong += (a.t < b.t) != (ta < tb)
    assert wrong == 0
    assert decided > 300
    assert statistics.median(edge.t_error for edge in made) < 30 * MS


def report(phone: Phone, reports: TouchReports, *ours: int) -> list[Edge]:
    """What is made of its reports at these instants."""
    made = []
    for t in ours:
        made += reports.feed(phone.report(t)[1])
    return made


def test_a_report_that_comes_twice_tells_nothing_twice() -> None:
    phone, reports = Phone(1, random.Random(1)), TouchReports((1,))
    report(phone, reports, SECOND, 2 * SECOND)
    phone.touch(2 * SECOND, pressed=True)
    _, told = phone.report(3 * SECOND)
    assert len(reports.feed(told)) == 1
    assert not reports.feed(told)


def test_a_page_that_falls_silent_is_told_and_not_waited_for() -> None:
    phone, reports = Phone(1, random.Random(1)), TouchReports((1,))
    assert reports.watermark(SECOND) == SECOND
    report(phone, reports, SECOND, 2 * SECOND)
    phone.touch(2 * SECOND, pressed=True)
    report(phone, reports, 3 * SECOND)
    assert reports.watermark(3 * SECOND) < 3 * SECOND
    assert not reports.advance(3 * SECOND) and not reports.silent
    late = 4 * SECOND + SILENT
    (lifted,) = reports.advance(late)
    assert (lifted.seat, lifted.pressed) == (1, False)
    assert lifted.t + lifted.t_error >= late - 100 * MS
    assert "wake the phone" in reports.silent[1]
    assert reports.watermark(late) == late
    report(phone, reports, late)
    assert not reports.advance(late) and not reports.silent


def test_a_finer_screen_states_a_smaller_error() -> None:
    errors = []
    for sampling in (0, 4 * MS):
        phone, reports = Phone(1, random.Random(1)), TouchReports((1,))
        report(phone, reports, SECOND, 2 * SECOND)
        phone.touch(2 * SECOND, pressed=True)
        (edge,) = reports.feed(phone.report(3 * SECOND)[1] | {"sampling": sampling})
        errors.append(edge.t_error)
    assert errors[0] - errors[1] == SAMPLING["touch"] - 4 * MS


def test_edges_of_one_pad_stay_in_order_when_its_clock_is_better_known() -> None:
    phone, reports = Phone(1, random.Random(3)), TouchReports((1,))
    made = report(phone, reports, SECOND, 2 * SECOND)
    for k in range(20):
        phone.touch((20 + k) * SECOND // 10, pressed=k % 2 == 0)
    made += report(phone, reports, *range(5 * SECOND, 8 * SECOND, HEARTBEAT))
    assert len(made) == 20
    assert all(a.t < b.t for a, b in pairwise(made))


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"page": "x", "at": 1, "until": 1, "hands": []}, {"page": "x", "at": "soon", "until": 1, "hands": {}},
        {"page": "x", "at": 1, "until": 1, "hands": {}, "kind": "mind"},
        {"page": "x", "at": 1, "until": 1, "hands": {}, "clock": [1, 2]},
        {"page": "x", "at": 1, "until": 1, "hands": {"1": [[1, 2]]}},
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no report|invalid literal|not enough"):
        TouchReports((1,)).feed(wrong)


def test_reports_come_by_a_socket_of_this_machine(tmp_path: Path) -> None:
    path, edges = tmp_path / "hands.sock", list[Edge]()
    source = PageSource((1,), path)
    source.start(edges.append, lambda _lost: None, 0)
    phone, page = Phone(1, random.Random(1)), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    page.sendto(b"junk", str(path))
    page.sendto(b"[1]", str(path))
    for at in (SECOND, 2 * SECOND):
        page.sendto(json.dumps(phone.report(at)[1]).encode(), str(path))
    phone.touch(2 * SECOND, pressed=True)
    page.sendto(json.dumps(phone.report(3 * SECOND)[1]).encode(), str(path))
    assert select.select(source.filenos(), [], [], 1)[0]
    source.read(3 * SECOND)
    assert [edge.pressed for edge in edges] == [True]
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
