"""The pads' second choice of lines: gpiozero's pins, here its mock pins with exact times."""

from __future__ import annotations

import gc
import logging
import queue
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.gpiozero_lines import GPIOZERO_DELIVERY, GpiozeroLines, ticks_to_ns
from hardware.pads.pads import GpioPads, open_lines
from hardware.pads.pinout import open_factory
from hardware.ports import Edge, HardwareMissing
from tests.support.clocked_pins import ClockedFactory
from tests.support.patience import PATIENCE

MS = 1_000_000


def shell(factory: ClockedFactory, edges: list[Edge], active_high: bool = False) -> GpioPads:
    """Return seat 1's pad on pin 4, with its edges in a list."""
    lines = GpiozeroLines(factory, {1: 4}, active_high)
    pads = GpioPads({1: 4}, lines=lines, t_error=1, clock=lambda: factory.now, poller=False)
    pads.start(edges.append)
    return pads


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
    factory, edges = ClockedFactory(), list[Edge]()
    pads = shell(factory, edges)
    gc.collect()
    factory.now = 10 * MS
    factory.pin(4).drive_low()
    assert edges == [Edge(1, 10 * MS, pressed=True, t_error=1)]
    assert pads.watermark(100 * MS) <= 100 * MS - GPIOZERO_DELIVERY


def test_a_pad_may_drive_its_line_high() -> None:
    factory, edges = ClockedFactory(), list[Edge]()
    pads = shell(factory, edges, active_high=True)
    assert pads.held() == ()
    factory.now = 5 * MS
    factory.pin(4).drive_high()
    assert [(edge.t, edge.pressed) for edge in edges] == [(5 * MS, True)]
    assert pads.held() == (1,)


def test_what_fails_in_a_callback_stays_there(caplog: pytest.LogCaptureFixture) -> None:
    factory = ClockedFactory()
    lines = GpiozeroLines(factory, {1: 4}, active_high=False)

    def fails(_pin: int, _t: int) -> None:
        raise RuntimeError("a fault in the shell")

    lines.start(fails, lambda lost: None)
    with caplog.at_level(logging.ERROR):
        factory.pin(4).drive_low()
    assert "a fault in the shell" in caplog.text


def test_the_shells_thread_finds_releases_by_itself() -> None:
    factory = ClockedFactory()
    edges: queue.Queue[Edge] = queue.Queue()
    lines = GpiozeroLines(factory, {1: 4}, active_high=False)
    pads = GpioPads({1: 4}, lines=lines, clock=lambda: factory.now)
    pads.start(edges.put)
    factory.pin(4).drive_low()
    assert edges.get(timeout=PATIENCE).pressed
    factory.pin(4).drive_high()
    assert not edges.get(timeout=PATIENCE).pressed
    pads.close()


def test_a_factory_without_kernel_time_is_refused() -> None:
    from gpiozero.pins.mock import MockFactory

    with pytest.raises(HardwareMissing, match=r"MockFactory does not tell when an edge was.*install lgpio"):
        GpiozeroLines(MockFactory(), {1: 4}, active_high=False)


def test_a_pin_that_is_not_there_is_named() -> None:
    with pytest.raises(HardwareMissing, match="pad of seat 1: pin 99"):
        GpiozeroLines(ClockedFactory(), {1: 99}, active_high=False)


def test_without_lgpio_the_words_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lgpio", None)
    with pytest.raises(HardwareMissing, match="apt install python3-lgpio"):
        open_factory()


def test_on_a_machine_without_a_header_the_words_say_what_is_missing() -> None:
    with pytest.raises(HardwareMissing, match=r"no Raspberry Pi header|cannot be opened|python3-lgpio"):
        open_factory()


def test_without_either_library_the_words_name_the_first_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpiod", None)
    monkeypatch.setitem(sys.modules, "lgpio", None)
    open_factory.cache_clear()
    with pytest.raises(HardwareMissing, match=r"pip install gpiod; in its place, .*apt install python3-lgpio"):
        open_lines({1: 4}, active_high=False)
