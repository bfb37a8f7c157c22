"""The pad shell, over a simulated kernel queue with exact times."""

from __future__ import annotations

import logging
import queue
import random
import threading
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.gpiod_lines import GPIOD_DELIVERY, GpiodLines, LineSequence, OnLost, OnPress
from hardware.pads.pads import LEAST_ERROR, GpioPads
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge, Lost
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.engine.observations import Lift, Observation, Slap
from tests.support.failing_lines import FailingLineRequest
from tests.support.patience import PATIENCE

MS = 1_000_000


class Table:
    """Simulated pads, the shell's edges, and the filter's results."""

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
        return [(line.seat, line.t) for line in self.seen if isinstance(line, Slap)]


def one_pad(queue: int = 100) -> tuple[FailingLineRequest, GpioPads, list[Edge]]:
    """Return seat 1 on pin 4, with a queue that only the test reads."""
    request = FailingLineRequest([4], queue=queue)
    edges: list[Edge] = []
    lines = GpiodLines(request, clock=lambda: request.now)
    pads = GpioPads({1: 4}, lines=lines, clock=lambda: request.now, poller=False)
    pads.start(edges.append)
    return request, pads, edges


def test_a_chattering_pin_the_first_edge_counts() -> None:
    table = Table()
    start = 1_000 * MS + 7
    table.contact(2, start, start + 300_001, start + 900_000, start + 1_500_000, start + 4_000_000, start + 150 * MS)
    table.run_to(start + 1_000 * MS)
    assert table.slaps() == [(2, start)]
    assert len([edge for edge in table.edges if edge.pressed]) == 3, "raw edges are all told"
    (lift,) = [line for line in table.seen if isinstance(line, Lift)]
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


def test_a_release_is_found_by_looking_and_says_how_well_it_is_known() -> None:
    table = Table()
    table.contact(1, 10 * MS, 70 * MS + 123)
    table.run_to(100 * MS)
    found = table.edges[-1]
    assert not found.pressed
    assert abs(found.t - (70 * MS + 123)) <= found.t_error <= 250_001


def test_a_release_that_was_looked_for_late_says_so() -> None:
    request, pads, edges = one_pad()
    request.now = 10 * MS
    request.drive(4, True)
    pads.drain()
    request.now = 20 * MS
    request.drive(4, False)
    pads.poll(40 * MS)
    assert edges[-1] == Edge(1, 25 * MS, pressed=False, t_error=15 * MS)


def test_a_second_press_proves_the_release_between() -> None:
    request, pads, edges = one_pad()
    for t, closed in ((10, True), (11, False), (14, True)):
        request.now = t * MS
        request.drive(4, closed)
        pads.drain()
    assert [(edge.t, edge.pressed, edge.t_error) for edge in edges] == [
        (10 * MS, True, LEAST_ERROR),
        (12 * MS, False, 2 * MS),
        (14 * MS, True, LEAST_ERROR),
    ]


class Stopping(FailingLineRequest):
    """Lines at which our thread is stopped in the midst of a look, while a script goes on."""

    def __init__(self) -> None:
        super().__init__([4])
        self.script: list[tuple[int, bool]] = []

    def get_value(self, pin: int) -> bool:
        for t, closed in self.script:
            self.now = t
            self.drive(pin, closed)
        self.script = []
        return super().get_value(pin)


@pytest.mark.parametrize(
    ("while_stopped", "truth"),
    [
        ([(31, True)], [(10, 22), (31, 40)]),
        ([(31, True), (33, False)], [(10, 22), (31, 33)]),
        ([(31, True), (33, False), (35, True), (36, False)], [(10, 22), (31, 33), (35, 36)]),
    ],
)
def test_a_thread_that_is_stopped_in_a_look_claims_no_more_than_it_knows(
    while_stopped: list[tuple[int, bool]], truth: list[tuple[int, int]]
) -> None:
    """Pressed at 10 ms, seen down at 20 ms, let go at 22 ms; looked at from 30 ms on."""
    request = Stopping()
    edges: list[Edge] = []
    lines = GpiodLines(request, clock=lambda: request.now)
    pads = GpioPads({1: 4}, lines=lines, clock=lambda: request.now, poller=False)
    pads.start(edges.append)
    request.now = 10 * MS
    request.drive(4, True)
    pads.drain()
    request.now = 20 * MS
    pads.poll(request.now)
    request.now = 22 * MS
    request.drive(4, False)
    request.now = 30 * MS
    request.script = [(t * MS, closed) for t, closed in while_stopped]
    pads.poll(request.now)
    request.now = 40 * MS
    request.drive(4, False)
    pads.poll(request.now)
    assert [edge.t for edge in edges if edge.pressed] == [pressed * MS for pressed, _ in truth]
    assert [edge.pressed for edge in edges] == [True, False] * len(truth), "in their order"
    for edge, (_, opened) in zip((edge for edge in edges if not edge.pressed), truth, strict=True):
        assert abs(edge.t - opened * MS) <= edge.t_error


def test_the_shells_thread_hears_edges_and_finds_releases_by_itself() -> None:
    request = FailingLineRequest([4])
    edges: queue.Queue[Edge] = queue.Queue()
    pads = GpioPads({1: 4}, lines=GpiodLines(request, clock=lambda: request.now), t_error=1, clock=lambda: request.now)
    pads.start(edges.put)
    request.now = 5 * MS
    request.drive(4, True)
    assert edges.get(timeout=PATIENCE) == Edge(1, 5 * MS, pressed=True, t_error=1)
    request.drive(4, False)
    assert not edges.get(timeout=PATIENCE).pressed
    pads.close()
    assert not any(thread.name == "pads" for thread in threading.enumerate())
    assert not request, "the lines are free for another"
    pads.close()


class Drowsy(GpiodLines):
    """Lines whose edges another thread reads before ours is woken by them."""

    def sleep(self, at_most: int | None) -> None:
        with suppress(queue.Empty):
            self.woken.get(timeout=None if at_most is None else at_most / 1e9)

    def wake(self) -> None:
        self.woken.put(None)

    def start(self, on_press: OnPress, on_lost: OnLost) -> None:
        self.woken: queue.Queue[None] = queue.Queue()
        super().start(on_press, on_lost)


def test_a_release_is_found_though_another_thread_read_the_press() -> None:
    request = FailingLineRequest([4])
    edges: queue.Queue[Edge] = queue.Queue()
    pads = GpioPads({1: 4}, lines=Drowsy(request, clock=lambda: request.now), t_error=1, clock=lambda: request.now)
    pads.start(edges.put)
    request.drive(4, True)
    pads.watermark(0)
    assert edges.get(timeout=PATIENCE).pressed
    request.drive(4, False)
    assert not edges.get(timeout=PATIENCE).pressed
    pads.close()


def test_a_handler_may_close_the_pads() -> None:
    request = FailingLineRequest([4, 5])
    pads = GpioPads({1: 4, 2: 5}, lines=GpiodLines(request, clock=lambda: request.now), clock=lambda: request.now)
    done = threading.Event()

    def handler(_edge: Edge) -> None:
        pads.close()
        done.set()

    pads.start(handler)
    request.drive(4, True)
    assert done.wait(timeout=PATIENCE)
    assert pads.watermark(100 * MS) == 100 * MS - GPIOD_DELIVERY, "asking afterwards is harmless"


def test_the_watermark_waits_for_late_deliveries_and_late_looks() -> None:
    pads = SimulatedPads(2)
    pads.pads.start(lambda edge: None)
    assert pads.pads.watermark(1_000 * MS) == 1_000 * MS - GPIOD_DELIVERY
    pads.advance(1, True, 10 * MS)
    pads.run_to(20 * MS)
    assert pads.pads.watermark(1_000 * MS) == 20 * MS


def test_a_poll_that_waited_for_its_turn_breaks_no_promise_of_the_watermark() -> None:
    request, pads, edges = one_pad()
    request.now = 10 * MS
    request.drive(4, True)
    pads.drain()
    for request.now in (40 * MS, 50 * MS):
        pads.poll(request.now)
    told = pads.watermark(50 * MS)
    assert told == 40 * MS
    request.now = 60 * MS
    request.drive(4, False)
    pads.poll(30 * MS)
    assert not edges[-1].pressed
    assert edges[-1].t > told


def test_asking_for_the_watermark_tells_what_waits() -> None:
    request, pads, edges = one_pad()
    request.now = 10 * MS
    request.drive(4, True)
    assert edges == []
    assert pads.watermark(11 * MS) == 11 * MS - GPIOD_DELIVERY
    assert [edge.t for edge in edges] == [10 * MS], "no thread of ours was needed to keep the promise"


def test_a_queue_that_overflowed_is_told(caplog: pytest.LogCaptureFixture) -> None:
    request, pads, edges = one_pad(queue=3)
    told: list[Lost] = []
    pads.start(edges.append, told.append)
    for t in range(10, 20):
        request.now = t * MS
        request.drive(4, True)
        request.drive(4, False)
    pads.drain()
    assert [edge.t for edge in edges if edge.pressed] == [17 * MS, 18 * MS, 19 * MS]
    assert told == [], "they might come yet"
    request.now += GPIOD_DELIVERY + 1
    with caplog.at_level(logging.ERROR):
        assert pads.watermark(request.now) == request.now - GPIOD_DELIVERY
    assert told == [Lost(7, after=0, before=17 * MS)]
    assert pads.lost == 7
    assert "7 edges of the pads were lost" in caplog.text


def test_an_edge_that_another_of_its_line_overtook_is_no_loss() -> None:
    request, pads, edges = one_pad()
    request.now = 10 * MS
    request.drive(4, True)
    request.now += 2 * MS
    request.merge(4)
    pads.drain()
    request.now += GPIOD_DELIVERY + 1
    pads.drain()
    ((t, error),) = ((edge.t, edge.t_error) for edge in edges)
    assert t - error <= 10 * MS < t == 12 * MS
    assert pads.lost == 0
    assert pads.merged == 1


def test_an_edge_that_another_line_overtook_comes_yet() -> None:
    numbers = LineSequence(GPIOD_DELIVERY)
    numbers.feed(5, 2, 1, 20 * MS, 21 * MS)
    assert numbers.lateness(20 * MS) == GPIOD_DELIVERY
    numbers.feed(4, 1, 1, 19 * MS, 22 * MS)
    assert numbers.lateness(20 * MS) == 0
    assert numbers.settle(1_000 * MS) is None
    assert numbers.merged == 0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 20), st.randoms())
def test_every_edge_is_told_or_counted_as_lost_once(lines: list[int], queue: int, rng: random.Random) -> None:
    """Edges of four lines through a queue that is read now and then; dropped ones are counted, whatever the order."""
    waiting: list[tuple[int, int, int, int]] = []
    counts = [0] * 4
    numbers, told, lost = LineSequence(GPIOD_DELIVERY), 0, 0
    for number, line in enumerate(lines, start=1):
        counts[line] += 1
        waiting = [*waiting, (line, number, counts[line], number * MS)][-queue:]
        if rng.random() < 0.1 or number == len(lines):
            for event in waiting:
                numbers.feed(*event, number * MS)
                told += 1
            waiting = []
    gone = numbers.settle(len(lines) * MS + GPIOD_DELIVERY + 1)
    lost += gone.count if gone else 0
    assert told + lost + numbers.merged == len(lines)
    assert numbers.settle(1_000_000 * MS) is None


def test_lines_that_vanish_are_told_and_the_watermark_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    request, pads, _ = one_pad()
    assert pads.trouble == ""
    request.vanish()
    with caplog.at_level(logging.ERROR):
        assert pads.watermark(100 * MS) == 100 * MS - GPIOD_DELIVERY
        pads.poll(200 * MS)
    assert "pads' pins are gone (No such device)" in pads.trouble
    assert caplog.text.count("gone") == 1
    assert pads.held() == ()


def test_each_seats_pad_may_have_an_error_of_its_own() -> None:
    request = FailingLineRequest([4, 5])
    edges: list[Edge] = []
    lines = GpiodLines(request, clock=lambda: request.now)
    errors = {1: 2 * MS, 2: 3 * MS}
    pads = GpioPads({1: 4, 2: 5}, lines=lines, t_error=errors, clock=lambda: request.now, poller=False)
    pads.start(edges.append)
    request.drive(5, True)
    request.drive(4, True)
    pads.drain()
    assert [(edge.seat, edge.t_error) for edge in edges] == [(2, 3 * MS), (1, 2 * MS)]
    assert pads.held() == (1, 2)


def test_a_stuck_pad_is_flagged() -> None:
    table = Table()
    table.contact(4, 10 * MS)
    table.run_to(5_000 * MS)
    assert table.filter.benched == (4,)
    assert table.slaps() == [(4, 10 * MS)]


def test_a_real_pad_never_claims_less_than_it_can_keep() -> None:
    lines = GpiodLines(FailingLineRequest([4]))
    lines.exact = False
    with pytest.raises(ValueError, match="at least 1500000 ns"):
        GpioPads({1: 4}, lines=lines, t_error=1_000_000, poller=False)
    assert LEAST_ERROR == 1_500_000


def test_two_seats_need_two_pins() -> None:
    with pytest.raises(ValueError, match="a pin of its own"):
        GpioPads({1: 4, 2: 4}, lines=GpiodLines(FailingLineRequest([4])), poller=False)


def test_a_simulated_table_cannot_go_back() -> None:
    pads = SimulatedPads(1)
    pads.run_to(10 * MS)
    with pytest.raises(ValueError, match="cannot go back"):
        pads.advance(1, True, 5 * MS)
