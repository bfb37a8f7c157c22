"""Keys as pads: the reports of input devices become edges, with an error that holds."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from hardware.pads.key_source import BUS_BLUETOOTH, BUS_VIRTUAL, FIRMWARE, RADIO, KeySource
from hardware.pads.pad_place import parse_place
from hardware.pads.poll_interval import ASSUMED
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge, Lost
from referee.engine.observations import Slap
from referee.units import MS, SECOND, US
from tests.support.keyboards import FakeKeyboard, FakeKeyboards


class Table:
    """A source with its reports."""

    def __init__(self, seats: Mapping[int, str], *plugged: FakeKeyboard, grab: bool = False, refused: str = "") -> None:
        self.machine = FakeKeyboards(*plugged, refused=refused)
        places = {seat: parse_place(text) for seat, text in seats.items()}
        errors = dict.fromkeys(places, 1_500 * US)
        self.source = KeySource(places, self.machine, t_errors=errors, grab=grab, now=0)
        self.edges: list[Edge] = []
        self.lost: list[Lost] = []
        self.source.start(self.edges.append, self.lost.append, 0)

    def told(self) -> list[tuple[int, bool]]:
        return [(edge.seat, edge.pressed) for edge in self.edges]


def test_a_press_is_told_for_the_middle_of_the_interval_before_its_stamp() -> None:
    keyboard = FakeKeyboard("Keys")
    table = Table({2: "key:a"}, keyboard)
    keyboard.answer(100 * MS, a=1)
    keyboard.answer(180 * MS, a=0)
    table.source.read(200 * MS)
    half = ASSUMED // 2
    assert [(edge.t, edge.pressed) for edge in table.edges] == [(100 * MS - half, True), (180 * MS - half, False)]
    assert {edge.t_error for edge in table.edges} == {half + FIRMWARE + US}
    assert table.source.watermark(200 * MS) < 200 * MS - half


def test_repetitions_and_other_keys_are_no_presses() -> None:
    keyboard = FakeKeyboard("Keys")
    table = Table({1: "key:a", 2: "key:s"}, keyboard)
    keyboard.answer(100 * MS, a=1)
    for t in range(600, 900, 33):
        keyboard.answer(t * MS, a=2)
    keyboard.answer(950 * MS, d=1)
    keyboard.answer(960 * MS, s=1, a=0)
    table.source.read(SECOND)
    assert table.told() == [(1, True), (2, True), (1, False)]


def test_two_keys_in_one_answer_are_a_tie() -> None:
    keyboard = FakeKeyboard("Keys")
    table = Table({1: "key:a", 2: "key:s"}, keyboard)
    keyboard.answer(100 * MS, s=1, a=1)
    table.source.read(SECOND)
    one, other = table.edges
    assert one.t == other.t


def test_seats_name_their_keyboards_by_name_or_socket() -> None:
    one = FakeKeyboard("Twin", socket="usb-1", number=3)
    other = FakeKeyboard("Twin", socket="usb-2", number=4)
    pad = FakeKeyboard("Gamepad", socket="usb-3", number=5)
    table = Table({1: "key:a@usb-1", 2: "key:a@usb-2", 3: "key:btn_south@Gamepad"}, one, other, pad)
    other.answer(10 * MS, a=1)
    pad.answer(20 * MS, btn_south=1, a=1)
    one.answer(30 * MS, a=1)
    table.source.read(SECOND)
    assert sorted(table.told()) == [(1, True), (2, True), (3, True)]


def test_only_devices_that_are_named_are_grabbed_and_only_where_asked() -> None:
    named, any_one, asked = FakeKeyboard("Named"), FakeKeyboard("Any", number=4), FakeKeyboard("Named")
    Table({1: "key:a@Named"}, named)
    Table({1: "key:a@Named", 2: "key:s@Any"}, asked, any_one, grab=True)
    free = FakeKeyboard("Free")
    Table({1: "key:a"}, free, grab=True)
    assert (named.is_grabbed, asked.is_grabbed, any_one.is_grabbed, free.is_grabbed) == (False, True, True, False)


def test_a_device_without_a_seats_key_is_let_go_and_not_opened_each_second() -> None:
    other = FakeKeyboard("Other")
    table = Table({1: "key:a@Named"}, other)
    assert other.is_closed
    for second in range(2, 10):
        table.source.read(second * SECOND)
    assert table.machine.opened == ["Other"]
    table.machine.plugged.append(FakeKeyboard("Named", number=4))
    table.source.read(12 * SECOND)
    assert not table.source.silent


def test_unplugged_and_plugged_in_again_goes_on_and_is_told_meanwhile() -> None:
    keyboard = FakeKeyboard("Keys")
    table = Table({1: "key:a", 2: "key:s"}, keyboard)
    keyboard.answer(100 * MS, a=1)
    table.source.read(110 * MS)
    keyboard.pull_out()
    table.source.read(310 * MS)
    release = table.edges[-1]
    assert (release.seat, release.pressed, release.t, release.t_error) == (1, False, 210 * MS, 100 * MS)
    assert set(table.source.silent) == {1, 2}
    assert "plugged" in table.source.silent[2]
    assert table.source.watermark(400 * MS) <= 400 * MS
    table.machine.plugged = [FakeKeyboard("Keys", number=9)]
    table.source.read(3 * SECOND)
    assert not table.source.silent
    table.machine.plugged[0].answer(4 * SECOND, s=1)
    table.source.read(5 * SECOND)
    assert table.told()[-1] == (2, True)


def test_a_key_that_is_held_from_the_start_is_no_press_but_is_held() -> None:
    keyboard = FakeKeyboard("Keys")
    keyboard.answer(1 * MS, a=1)
    table = Table({1: "key:a", 2: "key:s"}, keyboard)
    assert table.source.held() == (1,)
    assert table.told() == []
    keyboard.answer(5 * MS, a=0)
    keyboard.answer(9 * MS, a=1)
    table.source.read(SECOND)
    assert table.told() == [(1, False), (1, True)]


def test_what_the_kernels_queue_could_not_hold_is_told_as_lost() -> None:
    keyboard = FakeKeyboard("Keys")
    table = Table({1: "key:a", 2: "key:s"}, keyboard)
    keyboard.answer(100 * MS, a=1)
    table.source.read(110 * MS)
    keyboard.overflow(200 * MS, down=["d"])
    table.source.read(SECOND)
    assert table.lost == [Lost(1, after=100 * MS, before=200 * MS)]
    assert table.told() == [(1, True), (1, False)]


def test_a_device_that_may_not_be_opened_is_told_with_what_to_do() -> None:
    table = Table({1: "key:a"}, refused="put your user into the group input")
    assert table.source.silent == {1: "put your user into the group input"}


def test_there_is_no_such_key() -> None:
    with pytest.raises(ValueError, match="no key called"):
        Table({1: "key:any"})


@pytest.mark.parametrize(("bus", "width"), [(BUS_VIRTUAL, 0), (BUS_BLUETOOTH, RADIO)])
def test_on_other_buses_nothing_is_measured(bus: int, width: int) -> None:
    keyboard = FakeKeyboard("Keys", bus=bus)
    table = Table({1: "key:a"}, keyboard)
    for n in range(1, 60):
        keyboard.answer(n * 48 * MS, a=n % 2)
    table.source.read(SECOND)
    assert table.edges[-1].t_error == width // 2 + FIRMWARE + US


@pytest.mark.parametrize(("interval", "other"), [(1, 8), (8, 8), (10, 4)])
def test_no_order_is_wrong_outside_the_stated_error(interval: int, other: int) -> None:
    """A thousand pairs on two keyboards, each polled at its own rate, debouncing by up to 5 ms, through the filter."""
    rng = random.Random(interval * 100 + other)
    boards = [FakeKeyboard("One"), FakeKeyboard("Two", number=4)]
    table = Table({1: "key:a@One", 2: "key:a@Two"}, *boards)
    pads = PadFilter(2)
    slaps: list[Slap] = []
    truth: list[tuple[int, int]] = []
    phases = [rng.randint(0, 8 * MS) for _ in boards]
    for n in range(1, 1001):
        at = n * SECOND + rng.randint(200 * MS, 300 * MS)
        hands = (at, at + rng.choice((-1, 1)) * rng.randint(0, 40 * MS))
        truth.append(hands)
        for board, hand, pace, phase in zip(boards, hands, (interval * MS, other * MS), phases, strict=True):
            for event, value in ((hand, 1), (hand + rng.randint(40, 120) * MS, 0)):
                ready = event + rng.randint(0, 5 * MS)
                board.answer(-(-(ready - phase) // pace) * pace + phase + rng.randint(0, 50 * US), a=value)
        now = (n + 1) * SECOND
        table.source.read(now)
        for edge in table.edges:
            pads.feed(edge)
        table.edges.clear()
        slaps += [line for line in pads.advance(table.source.watermark(now)) if isinstance(line, Slap)]
    assert len(slaps) == 2000
    decided = 0
    by_pair = {(slap.t // SECOND, slap.seat): slap for slap in slaps}
    for n, (first, second) in enumerate(truth, start=1):
        one, two = by_pair[n, 1], by_pair[n, 2]
        apart = two.t - one.t
        if abs(apart) > one.t_error + two.t_error:
            decided += 1
            assert (apart > 0) == (second > first)
    assert decided > 400
    measured = table.source.intervals
    assert {seat: polled.value for seat, polled in measured.items()} == {1: interval * MS, 2: other * MS}
