"""Pads that have a plug: the thread that listens, and several kinds at one table."""

from __future__ import annotations

import queue
import threading
from contextlib import closing

from hardware.pads.key_source import BUS_VIRTUAL, KeySource
from hardware.pads.pad_place import parse_place
from hardware.pads.plugged_pads import MixedPads, PluggedPads
from hardware.ports import Edge, Lost
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.units import MS, SECOND
from tests.support.keyboards import FakeKeyboard, FakeKeyboards
from tests.support.patience import PATIENCE


def key_pads(keyboard: FakeKeyboard, seat: int = 1, *, poller: bool = True) -> PluggedPads:
    source = KeySource({seat: parse_place("key:a")}, FakeKeyboards(keyboard), t_errors={seat: 0}, now=0)
    return PluggedPads(source, clock=lambda: SECOND, poller=poller)


def test_edges_are_told_on_a_thread_of_their_own() -> None:
    keyboard = FakeKeyboard("Keys", bus=BUS_VIRTUAL)
    told: queue.SimpleQueue[tuple[Edge, str]] = queue.SimpleQueue()
    with closing(key_pads(keyboard)) as pads:
        pads.start(lambda edge: told.put((edge, threading.current_thread().name)))
        keyboard.answer(500 * MS, a=1)
        edge, thread = told.get(timeout=PATIENCE)
        assert (edge.seat, edge.t, edge.pressed) == (1, 500 * MS, True)
        assert thread != threading.current_thread().name
        assert pads.held() == (1,)
    keyboard.answer(600 * MS, a=0)
    assert told.empty()


def test_a_handler_that_raises_stops_no_pad() -> None:
    keyboard = FakeKeyboard("Keys", bus=BUS_VIRTUAL)
    told: list[Edge] = []

    def hear(edge: Edge) -> None:
        told.append(edge)
        raise RuntimeError("the handler's own fault")

    with closing(key_pads(keyboard, poller=False)) as pads:
        pads.start(hear)
        keyboard.answer(100 * MS, a=1)
        keyboard.answer(200 * MS, a=0)
        pads.watermark(SECOND)
    assert [edge.pressed for edge in told] == [True, False]


def test_pads_may_be_closed_twice_and_by_a_handler() -> None:
    keyboard = FakeKeyboard("Keys", bus=BUS_VIRTUAL)
    pads = key_pads(keyboard)
    closed = threading.Event()

    def hear(_edge: Edge) -> None:
        pads.close()
        closed.set()

    pads.start(hear)
    keyboard.answer(100 * MS, a=1)
    assert closed.wait(PATIENCE)
    pads.close()
    assert keyboard.is_closed


def test_several_kinds_are_one_tables_pads() -> None:
    wired, keyboard = SimulatedPads(1), FakeKeyboard("Keys", bus=BUS_VIRTUAL)
    keys = key_pads(keyboard, 2, poller=False)
    told: list[Edge] = []
    lost: list[Lost] = []
    with closing(MixedPads([wired.pads, keys], {3: "no such board"})) as pads:
        pads.start(told.append, lost.append)
        wired.advance(1, True, 100 * MS)
        keyboard.answer(150 * MS, a=1)
        promise = pads.watermark(200 * MS)
        assert promise == min(wired.pads.watermark(200 * MS), keys.watermark(200 * MS))
        assert [(edge.seat, edge.t) for edge in told] == [(1, 100 * MS), (2, 150 * MS)]
        assert pads.held() == (1, 2)
        assert (dict(pads.silent), pads.trouble) == ({3: "no such board"}, "")
        keyboard.overflow(300 * MS)
        pads.watermark(400 * MS)
        assert len(lost) == 1
    assert keyboard.is_closed
