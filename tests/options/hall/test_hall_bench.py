"""The bench's own arithmetic: late, lost and missed rulings."""

from __future__ import annotations

import math

import pytest

from tests.options.hall.traffic import traffic
from tools.measure.hall_bench import REQUIRED_MS, Level, Viewer, _bend, _percentile, _times, _verdict

MS = 1_000_000


def test_a_ruling_has_arrived_with_the_first_event_of_its_number_or_a_later_one() -> None:
    viewer = Viewer(0, 0)
    viewer.seen = [("t1", 2, 30 * MS), ("t1", 3, 45 * MS), ("t2", 1, 50 * MS)]
    sent = {"t1": [10 * MS, 20 * MS, 40 * MS, 41 * MS], "t2": [5 * MS, 60 * MS]}
    assert _times(viewer, sent, 10 * MS, 60 * MS) == [20, 10, 5, math.inf]


def test_percentiles() -> None:
    assert _percentile([float(number) for number in range(100)], 0.99) == 99
    assert _percentile([float(number) for number in range(200)], 0.99) == 198
    assert _percentile([], 0.99) == math.inf


def level(tables: int, worst: float, lost: int) -> Level:
    times = [10.0] * 50 + [worst] * 50
    return Level(tables, 100, 10, 20, 1000, times, lost, 0, dict.fromkeys(("broker", "hall", "generator"), 0.1), {}, 1)


@pytest.mark.parametrize(
    "levels, status",
    [
        ([level(100, 10, 0), level(200, REQUIRED_MS, 0), level(400, 9000, 9)], 0),
        ([level(100, 10, 0), level(200, REQUIRED_MS + 1, 0)], 1),
        ([level(100, 10, 0), level(200, 10, 1)], 1),
        ([level(200, math.inf, 0)], 1),
    ],
)
def test_a_miss_at_the_required_number_is_a_failure(levels: list[Level], status: int) -> None:
    assert _verdict(levels) == status


def test_it_bends_where_the_first_are_late_or_lost() -> None:
    fine, late, lost = level(100, 10, 0), level(200, REQUIRED_MS + 100, 0), level(400, 10, 3)
    assert _bend([fine]) == "where it bends: not up to 100 tables"
    assert "between 100 and 200 tables; there 99 of 100 come within 600 ms" in _bend([fine, late])
    assert "between 100 and 400 tables" in _bend([fine, lost])


def test_a_tables_traffic_is_that_of_its_game() -> None:
    """The figures of docs/club.md: payloads' sizes, messages and bytes a second."""
    found = traffic()
    means = {name: sum(sizes) / len(sizes) for name, sizes in found.sizes.items()}
    assert means == pytest.approx({"ruling": 240, "state": 640, "day": 340}, rel=0.05)
    assert "2.7 rulings and 1.8 others a second, 1.7 kB/s" in found.words
