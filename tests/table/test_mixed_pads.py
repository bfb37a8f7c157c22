"""A table with two kinds of pads: one wired to the header, one a key that is pulled out in mid-game."""

from __future__ import annotations

import pytest

from hardware.pads.key_source import BUS_VIRTUAL, KeySource
from hardware.pads.pad_place import parse_place
from hardware.pads.plugged_pads import MixedPads, PluggedPads
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.engine.observations import Card
from referee.settings.model import parse_settings
from referee.setup.wired_devices import pad_filter
from referee.table.assembly import table_of
from referee.table.game import Conductor
from referee.table.loop import Loop, SharedPads
from referee.units import MS, SECOND
from tests.support.keyboards import FakeKeyboard, FakeKeyboards
from tests.support.local_sights import LocalSights
from tests.support.scripted_watcher import ScriptedWatcher
from tests.table.test_loop import FakeCamera

SETTINGS = parse_settings('[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\npad = "key:a@Keys"\n')
PAIR = (Card(t=1000 * MS, card="7h", seat=2), Card(t=2000 * MS, card="7c", seat=1))


class MixedTable:
    """Seat 1 on a pin, seat 2 on a key; one clock, moved by the test."""

    def __init__(self) -> None:
        self.wired = SimulatedPads(1, t_error=1_500_000)
        self.keyboard = FakeKeyboard("Keys", bus=BUS_VIRTUAL)
        self.machine = FakeKeyboards(self.keyboard)
        source = KeySource({2: parse_place("key:a@Keys")}, self.machine, t_errors={2: 1_500_000}, now=0)
        keys = PluggedPads(source, clock=lambda: self.wired.now, poller=False)
        self.conductor = Conductor(table_of(SETTINGS, 0), pads=pad_filter(SETTINGS, 0))
        watcher = ScriptedWatcher(PAIR, delay=100 * MS)
        self.camera = FakeCamera(range(0, 10 * SECOND, 50 * MS))
        sights = LocalSights(self.camera, lambda: watcher, clock=lambda: self.wired.now)
        pads = SharedPads(MixedPads([self.wired.pads, keys], {}))
        self.loop = Loop(self.conductor, sights, pads, clock=lambda: self.wired.now)

    def run_to(self, t: int) -> None:
        """Let time pass, turn by turn."""
        for now in range(self.wired.now // (50 * MS) * (50 * MS) + 50 * MS, t + 1, 50 * MS):
            self.wired.run_to(now)
            self.camera.more.release()
            before = self.loop.frames
            while self.loop.frames == before:
                self.loop.turn(seconds=5)


@pytest.mark.parametrize(("later", "winner"), [(60, 1), (-60, 2), (3, None), (-3, None)])
def test_who_was_first_follows_from_both_errors(later: int, winner: int | None) -> None:
    """1.5 ms of the wired pad and 3 ms of the key: within both together it is a dead heat."""
    table = MixedTable()
    table.run_to(2200 * MS)
    wired, key = 2300 * MS, (2300 + later) * MS
    table.keyboard.answer(key, a=1)
    table.keyboard.answer(key + 90 * MS, a=0)
    table.wired.advance(1, True, wired)
    table.wired.advance(1, False, wired + 90 * MS)
    table.run_to(4000 * MS)
    table.conductor.finish()
    won = [ruling["seat"] for ruling in table.conductor.rulings if ruling.kind == "slap_won"]
    assert won == [winner] if winner is not None else not won
    assert any(ruling.kind == "question" for ruling in table.conductor.rulings) == (winner is None)


def test_a_keyboard_that_is_pulled_out_is_told_and_the_game_goes_on() -> None:
    table = MixedTable()
    table.run_to(500 * MS)
    table.keyboard.pull_out()
    table.run_to(1000 * MS)
    assert "Keys is not plugged in" in table.conductor.troubles["pad 2"]
    assert table.conductor.watermark > 700 * MS
    table.machine.plugged = [FakeKeyboard("Keys", number=7, bus=BUS_VIRTUAL)]
    table.run_to(2250 * MS)
    assert "pad 2" not in table.conductor.troubles
    table.machine.plugged[0].answer(2300 * MS, a=1)
    table.run_to(4 * SECOND)
    table.conductor.finish()
    assert [ruling["seat"] for ruling in table.conductor.rulings if ruling.kind == "slap_won"] == [2]
