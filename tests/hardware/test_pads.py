"""The pad shell, over gpiozero's mock pins with exact times."""

from __future__ import annotations

import gc
import logging
import queue
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.gpio import header_chip, open_factory
from hardware.pads import DELIVERY, LEAST_ERROR, GpioPads, ticks_to_ns
from hardware.ports import Edge, HardwareMissing
from hardware.simulated.pads import SimulatedPads
from hardware.simulated.pins import ClockedFactory
from hardware.slaps import PadFilter
from referee.adjudication.observations import Lift, Observation, Slap

MS = 1_000_000


class Table:
    """Simulated pads, the edges that the shell told, and what the filter made of them."""

    def __init__(self, seats: int = 4) -> None:
        self.pads = SimulatedPads(seats)
        self.filter = PadFilter(seats)
        self.edges: list[Edge] = []
        self.seen: list[Observation] = []
        self.pads.pads.start(self._hear)

    def _hear(self, edge: Edge) -> None:
        self.edges.append(edge)
        self.seen += self.filter.feed(edge)

    def contact(self, seat: int, *instants: int) -> None:
        """Close and open the seat's contact in turns, at these instants."""
        for place, t in enumerate(instants):
            self.pads.advance(seat, place % 2 == 0, t)

    def run_to(self, t: int) -> None:
        self.pads.run_to(t)
        self.seen += self.filter.advance(t)

    def slaps(self) -> list[tuple[int, int]]:
        return [(one.seat, one.t) for one in self.seen if isinstance(one, Slap)]


def test_a_chattering_pin_the_first_edge_counts() -> None:
    table = Table()
    start = 1_000 * MS + 7
    table.contact(2, start, start + 300_001, start + 900_000, start + 1_500_000, start + 4_000_000, start + 150 * MS)
    table.run_to(start + 1_000 * MS)
    assert table.slaps() == [(2, start)]
    assert len([edge for edge in table.edges if edge.pressed]) == 3, "raw edges are all told"
    (lift,) = [one for one in table.seen if isinstance(one, Lift)]
    assert abs(lift.t - (start + 150 * MS)) <= lift.t_error <= MS


def test_edges_within_60_ms_do_not_count_later_ones_do() -> None:
    table = Table()
    table.contact(1, 100 * MS, 120 * MS, 159 * MS, 190 * MS, 300 * MS, 360 * MS)
    table.run_to(1_000 * MS)
    assert table.slaps() == [(1, 100 * MS), (1, 300 * MS)]


def test_a_short_contact_is_dropped_without_moving_another() -> None:
    table = Table()
    table.contact(1, 100 * MS, 101 * MS)
    table.contact(3, 101 * MS + 3, 180 * MS)
    table.run_to(1_000 * MS)
    assert table.slaps() == [(3, 101 * MS + 3)]


def test_a_handler_that_raises_stops_no_other_pad(caplog: pytest.LogCaptureFixture) -> None:
    pads = SimulatedPads(2)
    heard: list[int] = []

    def handler(edge: Edge) -> None:
        heard.append(edge.seat)
        if edge.seat == 1:
            raise RuntimeError("a fault in the handler")

    pads.pads.start(handler)
    with caplog.at_level(logging.ERROR):
        pads.advance(1, True, 10 * MS)
        pads.advance(2, True, 11 * MS)
        pads.advance(1, False, 40 * MS)
        pads.advance(2, False, 41 * MS)
        pads.run_to(50 * MS)
    assert heard == [1, 2, 1, 2]
    assert "a fault in the handler" in caplog.text
    assert "seat 1" in caplog.text


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=8), st.integers(0, 2**51))
def test_the_order_of_pads_is_kept_to_the_nanosecond(gaps: list[int], start: int) -> None:
    pads = SimulatedPads(8, start=start)
    edges: list[Edge] = []
    pads.pads.start(edges.append)
    t = start
    wanted = []
    for seat, gap in enumerate(gaps, start=1):
        t += gap
        pads.advance(seat, True, t)
        wanted.append((seat, t))
    assert [(edge.seat, edge.t) for edge in edges] == wanted


@settings(deadline=None)
@given(st.integers(0, 2**52))
def test_ticks_come_back_exactly(t: int) -> None:
    assert ticks_to_ns(t / 1_000_000_000) == t


@settings(deadline=None)
@given(st.integers(2**52, 2**56), st.integers(0, 1000))
def test_ticks_of_a_machine_long_up_keep_their_order(t: int, gap: int) -> None:
    assert ticks_to_ns(t / 1_000_000_000) <= ticks_to_ns((t + gap) / 1_000_000_000)
    assert abs(ticks_to_ns(t / 1_000_000_000) - t) <= (t >> 53) + 1


def test_the_callback_outlives_a_garbage_collection() -> None:
    table = Table()
    gc.collect()
    table.pads.advance(1, True, 10 * MS)
    assert [edge.seat for edge in table.edges] == [1]


def test_a_release_is_found_by_looking_and_says_how_well_it_is_known() -> None:
    table = Table()
    table.contact(1, 10 * MS, 70 * MS + 123)
    table.run_to(100 * MS)
    found = table.edges[-1]
    assert not found.pressed
    assert abs(found.t - (70 * MS + 123)) <= found.t_error <= 250_001


def test_a_release_that_was_looked_for_late_says_so() -> None:
    factory = ClockedFactory()
    edges: list[Edge] = []
    pads = GpioPads({1: 4}, factory=factory, clock=lambda: factory.now, poller=False)
    pads.start(edges.append)
    factory.now = 10 * MS
    factory.pin(4).drive_low()
    factory.now = 20 * MS
    factory.pin(4).drive_high()
    pads.poll(40 * MS)
    assert edges[-1] == Edge(1, 25 * MS, pressed=False, t_error=15 * MS)


def test_a_second_press_proves_the_release_between() -> None:
    factory = ClockedFactory()
    edges: list[Edge] = []
    pads = GpioPads({1: 4}, factory=factory, clock=lambda: factory.now, poller=False)
    pads.start(edges.append)
    for t, level in ((10, False), (11, True), (14, False)):
        factory.now = t * MS
        (factory.pin(4).drive_high if level else factory.pin(4).drive_low)()
    assert [(edge.t, edge.pressed, edge.t_error) for edge in edges] == [
        (10 * MS, True, LEAST_ERROR),
        (12 * MS, False, 2 * MS),
        (14 * MS, True, LEAST_ERROR),
    ]


def test_a_pad_may_drive_its_line_high() -> None:
    factory = ClockedFactory()
    edges: list[Edge] = []
    pads = GpioPads({1: 4}, factory=factory, active_high=True, clock=lambda: factory.now, poller=False)
    pads.start(edges.append)
    assert pads.held() == ()
    factory.now = 5 * MS
    factory.pin(4).drive_high()
    assert [(edge.t, edge.pressed) for edge in edges] == [(5 * MS, True)]
    assert pads.held() == (1,)


def test_the_poller_finds_releases_by_itself() -> None:
    factory = ClockedFactory()
    edges: queue.Queue[Edge] = queue.Queue()
    pads = GpioPads({1: 4}, factory=factory, clock=lambda: factory.now)
    pads.start(edges.put)
    factory.pin(4).drive_low()
    assert edges.get(timeout=5).pressed
    factory.pin(4).drive_high()
    assert not edges.get(timeout=5).pressed
    pads.close()


def test_the_watermark_waits_for_late_deliveries_and_late_looks() -> None:
    pads = SimulatedPads(2)
    pads.pads.start(lambda edge: None)
    assert pads.pads.watermark(1_000 * MS) == 1_000 * MS - DELIVERY
    pads.advance(1, True, 10 * MS)
    pads.run_to(20 * MS)
    assert pads.pads.watermark(1_000 * MS) == 20 * MS


def test_a_stuck_pad_is_flagged() -> None:
    table = Table()
    table.contact(4, 10 * MS)
    table.run_to(5_000 * MS)
    assert table.filter.stuck == (4,)
    assert table.slaps() == [(4, 10 * MS)]


def test_a_factory_without_kernel_time_is_refused() -> None:
    from gpiozero.pins.mock import MockFactory

    with pytest.raises(HardwareMissing, match=r"MockFactory does not tell when an edge was.*install lgpio"):
        GpioPads({1: 4}, factory=MockFactory())


def test_a_real_pad_never_claims_less_than_it_can_keep() -> None:
    class LGPIOFactory(ClockedFactory):
        exact_time = False

    with pytest.raises(ValueError, match="at least 1500000 ns"):
        GpioPads({1: 4}, factory=LGPIOFactory(), t_error=1_000_000, poller=False)
    assert LEAST_ERROR == 1_500_000


def test_two_seats_need_two_pins() -> None:
    with pytest.raises(ValueError, match="a pin of its own"):
        GpioPads({1: 4, 2: 4}, factory=ClockedFactory(), poller=False)


def test_a_pin_that_is_not_there_is_named() -> None:
    with pytest.raises(HardwareMissing, match="seat 1's pad: pin 99"):
        GpioPads({1: 99}, factory=ClockedFactory(), poller=False)


def test_without_lgpio_the_words_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lgpio", None)
    with pytest.raises(HardwareMissing, match="apt install python3-lgpio"):
        open_factory()


def test_on_a_machine_without_a_header_the_words_say_what_is_missing() -> None:
    with pytest.raises(HardwareMissing, match=r"no Raspberry Pi header|cannot be opened|python3-lgpio"):
        open_factory()


@pytest.mark.parametrize(
    ("labels", "chip"),
    [
        ({0: "pinctrl-bcm2711", 1: "raspberrypi-exp-gpio"}, 0),
        ({0: "gpio-brcmstb", 4: "pinctrl-rp1"}, 4),
        ({0: "pinctrl-rp1", 10: "gpio-brcmstb"}, 0),
        ({0: "gpio-sim.0"}, None),
    ],
)
def test_the_header_is_found_by_label(labels: dict[int, Any], chip: int | None) -> None:
    assert header_chip(labels.get) == chip


def test_a_simulated_table_cannot_go_back() -> None:
    pads = SimulatedPads(1)
    pads.run_to(10 * MS)
    with pytest.raises(ValueError, match="cannot go back"):
        pads.advance(1, True, 5 * MS)
