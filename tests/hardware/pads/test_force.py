"""The force of a hit, read from an MCP3008 or its twin, joined to its slap."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from hardware.pads.force import FIRST_BY, FULL, Force, ForceSampler, has_chip, open_force, read_channel
from hardware.pads.seat_pad import FORCE_WINDOW
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge, HardwareMissing
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.engine.observations import Slap
from tests.support.force_chip import SimulatedForce
from tests.support.patience import PATIENCE

MS = 1_000_000
READ = 48_000
"""One reading, ns."""


class Table:
    """A chip, its sampler, and a clock that each reading advances."""

    def __init__(self, seats: int = 8) -> None:
        self.now = 1_000 * MS
        self.chip = SimulatedForce(self._reading)
        self.sampler = ForceSampler(self.chip, range(1, seats + 1), clock=lambda: self.now, threaded=False)
        self.told: list[Force] = []
        self.sampler.start(self.told.append)

    def _reading(self) -> int:
        self.now += READ
        return self.now

    def read_all(self) -> None:
        while self.sampler.poll():
            pass


def test_the_greatest_force_within_15_ms_is_told() -> None:
    table = Table()
    table.chip.hit(3, table.now, 0.8)
    table.sampler.begin(3, table.now)
    began = table.now
    table.read_all()
    ((seat, t, peak),) = [(force.seat, force.t, force.peak) for force in table.told]
    assert (seat, t) == (3, began)
    assert peak == pytest.approx(0.8, abs=0.01)
    assert FORCE_WINDOW <= table.now - began <= FORCE_WINDOW + 2 * READ


def test_hands_at_once_are_each_read_on_their_own_channel() -> None:
    table = Table()
    for seat in range(1, 9):
        table.chip.hit(seat, table.now, seat / 10)
        table.sampler.begin(seat, table.now)
    table.read_all()
    assert [(force.seat, round(force.peak, 1)) for force in table.told] == [(seat, seat / 10) for seat in range(1, 9)]


def test_a_bounce_begins_no_second_reading_and_the_next_blow_does() -> None:
    table = Table()
    table.sampler.begin(1, table.now)
    table.sampler.begin(1, table.now + 3 * MS)
    table.read_all()
    assert len(table.told) == 1
    table.sampler.begin(1, table.now)
    table.read_all()
    assert len(table.told) == 2


def test_a_peak_that_was_looked_for_too_late_is_not_told() -> None:
    table = Table()
    table.chip.hit(1, table.now, 0.9)
    table.sampler.begin(1, table.now)
    table.now += FIRST_BY + MS
    table.read_all()
    assert table.told == []


def test_a_chip_that_goes_is_told_once_and_the_pads_go_on() -> None:
    told: queue.Queue[Force] = queue.Queue()
    chip = SimulatedForce(lambda: 0)
    sampler = ForceSampler(chip, [1], clock=lambda: 0)
    sampler.start(told.put)
    chip.gone = True
    sampler.begin(1, 0)
    thread = sampler._thread
    assert thread is not None
    thread.join(timeout=PATIENCE)
    assert not thread.is_alive()
    assert "no longer read" in sampler.trouble
    sampler.begin(1, 50 * MS)
    sampler.close()
    sampler.close()
    assert told.empty()


def test_the_thread_reads_by_itself() -> None:
    told: queue.Queue[Force] = queue.Queue()
    instants = iter(range(0, 10_000 * MS, MS))
    chip = SimulatedForce(lambda: next(instants))
    chip.hit(2, 0, 0.5)
    sampler = ForceSampler(chip, [1, 2], clock=lambda: next(instants))
    sampler.start(told.put)
    sampler.begin(2, 0)
    force = told.get(timeout=PATIENCE)
    assert (force.seat, force.t) == (2, 0)
    assert 0.3 < force.peak <= 0.51
    sampler.close()


def test_the_chips_bytes() -> None:
    chip = SimulatedForce(lambda: 12 * MS, rest=1)
    chip.hit(6, 0, 1.0)
    assert chip.transfer(bytes((1, 0xD0, 0))) == bytes((0, FULL >> 8, FULL & 0xFF))
    assert (read_channel(chip, 5), read_channel(chip, 4)) == (FULL, 1)
    assert has_chip(chip)


class Floating:
    """A bus without an answering chip, its line resting high."""

    def transfer(self, data: bytes) -> bytes:
        return b"\xff" * len(data)

    def close(self) -> None:
        pass


def test_a_line_that_rests_high_is_no_chip() -> None:
    assert not has_chip(Floating())


def test_without_spi_the_words_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(HardwareMissing, match=r"raspi-config.*pads.force"):
        open_force([1], str(tmp_path / "spidev0.0"))
    (tmp_path / "spidev0.0").write_bytes(b"")
    with pytest.raises(HardwareMissing, match="nothing answers"):
        open_force([1], str(tmp_path / "spidev0.0"))


def test_force_and_contact_meet_in_the_slap() -> None:
    pads = SimulatedPads(2)
    chip = SimulatedForce(lambda: pads.now)
    sampler = ForceSampler(chip, [1, 2], clock=lambda: pads.now, threaded=False)
    heard = PadFilter(2, force=True)
    sampler.start(lambda force: heard.weigh(force.seat, force.t, force.peak))

    def handler(edge: Edge) -> None:
        heard.feed(edge)
        if edge.pressed:
            sampler.begin(edge.seat, edge.t)

    pads.pads.start(handler)
    for seat, t, peak in ((1, 100 * MS, 0.4), (2, 101 * MS, 0.7)):
        chip.hit(seat, t, peak)
    for seat, t, closed in ((1, 100, True), (2, 101, True), (1, 180, False), (2, 190, False)):
        while pads.now < t * MS - MS // 2:
            pads.run_to(pads.now + MS // 2)
            sampler.poll()
        pads.advance(seat, closed, t * MS)
    seen = heard.advance(250 * MS)
    slaps = {line.seat: (line.t, line.force) for line in seen if isinstance(line, Slap)}
    assert {seat: t for seat, (t, _) in slaps.items()} == {1: 100 * MS, 2: 101 * MS}
    assert [force for _, force in slaps.values()] == pytest.approx([0.4, 0.7], abs=0.01)
