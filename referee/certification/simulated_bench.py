"""The simulated table for certification: pads, lights and camera are simulated, the machine is this one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final

from hardware.clock import Clock
from hardware.ports import Speaker
from hardware.simulated.devices.lit_camera import LitCamera, TableClock
from hardware.simulated.devices.pad_hands import Nature, SimulatedHands, example
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.devices.simulated_pads import SimulatedPads
from hardware.simulated.devices.simulated_sound import SimulatedSound, Tones
from hardware.simulated.table.players import Contact
from hardware.simulated.table.script import Script, play_game
from hardware.sound.stream_speaker import StreamSpeaker
from referee.certification.pair_check import PairCheck
from referee.certification.running_table import Quickness, run_table
from referee.certification.table_bench import BLOWS, HANDS, RoomOffset, TableBench
from referee.demo.demo_table import PacedTable
from referee.demo.rendered_camera import CameraView
from referee.demo.simulated_game import settings_for
from referee.settings.model import Settings
from referee.settings.places import RECORD
from referee.setup.calibration.pad_check import PadCheck, check_simulated_pads
from referee.setup.calibration.report import Measured
from referee.setup.calibration.simulated_camera import simulated_camera
from referee.setup.doctor.probe import Machine
from referee.setup.wired_devices import pad_filter
from referee.text.catalogue import Texts
from referee.units import MINUTE, MS, SECOND

SEATS: Final = 4
_SEED: Final = 1
_CARDS: Final = 40
_BETWEEN: Final = 400 * MS
"""Time between the hands of two neighbours, ns."""
_PACE: Final = 600 * MS
"""Time from slap to slap, ns."""
_DOWN: Final = 80 * MS
_PICTURE: Final = (640, 480)


def simulated_settings(record: str = RECORD) -> Settings:
    """Return the settings of the simulated table."""
    given = settings_for(_script())
    kept = given.record.model_copy(update={"file": record})
    camera = given.camera.model_copy(update={"source": "simulated", "width": 960, "height": 720})
    return given.model_copy(update={"record": kept, "camera": camera})


def _script() -> Script:
    return play_game(_SEED, SEATS, max_cards=_CARDS)


class SimulatedTableBench(TableBench):
    """The simulated table, with optional faults."""

    simulated = True

    def __init__(
        self, settings: Settings, texts: Texts, machine: Machine | None = None, *, nature: Nature | None = None,
        **camera: Any,
    ) -> None:  # fmt: skip
        """``nature``: of its pads; ``camera``: options of the camera that sees a light, such as ``late`` (see
        `LitCamera`).
        """
        super().__init__(settings, texts, machine)
        self._nature = example(len(self.names)) if nature is None else nature
        self._lit = camera

    def view(self) -> Measured:
        """Measure the sheet on the simulated table."""
        return self._look(simulated_camera("sheet"))

    def offset(self, told: Callable[[int], None] = lambda _done: None) -> RoomOffset:
        """See `TableBench`; time is data."""
        clock = TableClock()
        with ExitStack() as stack:
            lights = SimulatedLights(len(self.names), clock)
            stack.callback(lights.close)
            camera = LitCamera(clock, lambda: lights.changes, **self._lit)
            return self._measure_offset(camera, lights, clock, clock.pause, 0, stack, told)

    def pads(self) -> tuple[PadCheck, PairCheck]:
        """See `TableBench`; simulated hands hit simulated pads."""
        check = PadCheck(self.names, 0, blows=BLOWS, stated=self.settings.pads.t_error_us * 1000)
        check_simulated_pads(check, self._nature, told=lambda _words: None)
        pairs = PairCheck(self.names, 0, pad_filter(self.settings, 0), self.texts, silent=check.silent)
        pads = SimulatedPads(len(self.names), t_error=self.settings.pads.t_error_us * 1000)
        pads.pads.start(pairs.feed)
        hands = SimulatedHands(self._nature)
        while pairs.asking:
            for seat in pairs.asking:
                for contact in hands.hit((seat,), pads.now + 20 * MS):
                    pads.advance(contact.seat, contact.pressed, contact.t)
                pads.run_to(pads.now + _BETWEEN)
            pads.run_to(pads.now + SECOND)
            pairs.advance(pads.now)
        pads.close()
        return check, pairs

    def quickness(self, told: Callable[[int], None] = lambda _hands: None) -> Quickness:
        """See `TableBench`; in real time, with a rendered camera, the eye, and scripted hands."""
        script = _script()
        hands = tuple(
            contact
            for number in range(HANDS + 1)
            for seat, at in [(number % SEATS + 1, SECOND + number * _PACE)]
            for contact in (Contact(at, seat, True), Contact(at + _DOWN, seat, False))
        )

        def voice(_clock: Clock) -> Speaker:
            return StreamSpeaker(Tones(), sound=SimulatedSound())

        with ExitStack() as stack:
            view = CameraView(replace(script, contacts=hands), 15.0, "harbour", _PICTURE)
            table = PacedTable(view.script, view, stack)
            return run_table(settings_for(script), table.openers(voice), hands=HANDS, patience=MINUTE, told=told)
