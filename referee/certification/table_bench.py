"""Measurements at a table for its certificate, with its own devices; the simulated twin is `simulated_bench`.

Each method measures one thing and returns it unjudged; `referee.certification.judgement` judges it. A missing device
raises `HardwareMissing` or `UserError`, and the line fails with that message.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.camera.light_offset import LightOffset, estimate_offset
from hardware.clock import monotonic
from hardware.lights.leds import FREQUENCY
from hardware.ports import Camera, Frame, HardwareMissing, Lights
from referee.certification.light_trials import NoLight, SeenLight, find_light, switch_light
from referee.certification.pair_check import PairCheck
from referee.certification.requirements import offset_limit
from referee.certification.running_table import Quickness, run_table
from referee.record.certificates import certificates_folder
from referee.record.seals import BrokenSeal
from referee.record.store import Record
from referee.settings.model import Settings
from referee.setup.calibration import report, tell
from referee.setup.calibration.adjustment import mains_of
from referee.setup.calibration.calibrate import mean_picture, still_frames
from referee.setup.calibration.find_table import find_table
from referee.setup.calibration.pad_check import PadCheck, converse_at_pads
from referee.setup.check import Check
from referee.setup.disk_speed import time_synced_writes
from referee.setup.doctor.machine import check_clock
from referee.setup.doctor.probe import Machine
from referee.setup.eye_speed import EyeSpeed, eye_speed
from referee.setup.wired_devices import open_lights, open_pads, pad_filter
from referee.table.devices import Openers
from referee.table.loop import SharedPads
from referee.text.catalogue import Texts
from referee.units import MINUTE, SECOND
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye

if TYPE_CHECKING:
    from hardware.ports import TimedPads

BLOWS: Final = 4
"""Blows on each pad: enough to reveal long bounces, and few enough for a session."""
HANDS: Final = 20
"""Number of slaps whose lights are measured."""
WRITES: Final = 40
_READINGS: Final = 2000


@dataclass(frozen=True, slots=True)
class RoomOffset:
    """The measured offset of the camera, and the greatest that is allowed; ns."""

    offset: LightOffset
    limit: int


class TableBench:
    """The devices of a real table."""

    simulated = False

    def __init__(self, settings: Settings, texts: Texts, machine: Machine | None = None) -> None:
        """``texts``: the language in which people are asked."""
        self.settings, self.texts = settings, texts
        self.machine = Machine() if machine is None else machine
        self.names = tuple(seat.name for seat in settings.seats)

    # The camera

    def view(self) -> report.Measured:
        """Measure how the camera sees the table, on which the sheet or four cards lie."""
        tell(self.texts("certificate.ask_sheet"))
        with closing(self.camera()) as camera:
            return self._look(camera)

    def camera(self) -> Camera:
        """Open the table's camera."""
        return open_camera_of(self.settings.camera)

    def _look(self, camera: Camera) -> report.Measured:
        still = still_frames(camera.frames())
        found = find_table([mean_picture(still)], "auto", partial(load_eye, self.settings.deck))
        return report.measure(found, [frame.image for frame in still], mains_of(still))

    def speed(self) -> EyeSpeed:
        """Measure the speed of the eye."""
        return eye_speed(self.settings.camera, self.settings.eye)

    def offset(self, told: Callable[[int], None] = lambda _done: None) -> RoomOffset:
        """Measure how late the camera's timestamps are against the pads' clock; also raises `NoLight` and
        `NoOffset`.
        """
        with ExitStack() as stack:
            lights = self.lights(stack)
            # A dimmed light changes only at the next beat of its dimming.
            return self._measure_offset(self.camera(), lights, monotonic, time.sleep, SECOND // FREQUENCY, stack, told)

    def lights(self, stack: ExitStack) -> Lights:
        """Return the table's lights, open until the stack is closed."""
        missing: dict[str, str] = {}
        lights = open_lights(self.settings, missing)
        if lights is None:
            raise HardwareMissing("; ".join(missing.values()) or self.texts("certificate.why.no_lights"))
        stack.callback(lights.close)
        return lights

    def _measure_offset(
        self, camera: Camera, lights: Lights, clock: Callable[[], int], pause: Callable[[float], None], delay: int,
        stack: ExitStack, told: Callable[[int], None],
    ) -> RoomOffset:  # fmt: skip
        stack.enter_context(closing(camera))
        latest: list[Frame] = []
        frames = _noted(camera.frames(), latest)
        seen, switch = self._find_light(frames, lights)
        trials = switch_light(frames, switch, seen, clock=clock, pause=pause, delay=delay, told=told)
        readout = getattr(camera, "readout", None)
        offset = estimate_offset(trials, readout=round(seen.row * readout) if readout else 0)
        last = latest[0]
        return RoomOffset(offset, offset_limit(last.exposure, last.t_error, last.clock_error, seen.spacing))

    def _find_light(self, frames: Iterator[Frame], lights: Lights) -> tuple[SeenLight, Callable[[bool], None]]:
        """Return the first seat's light that the camera sees; raises `NoLight` if it sees none."""
        for seat in range(1, len(self.names) + 1):

            def switch(on: bool, seat: int = seat) -> None:
                lights.seat(seat, float(on))

            try:
                return find_light(frames, switch), switch
            except NoLight:
                continue
        raise NoLight

    # The pads, and the table at work

    def pads(self) -> tuple[PadCheck, PairCheck]:
        """Check every pad with some blows, then each two neighbours in succession."""
        with self.open_pads() as pads:
            check = PadCheck(self.names, monotonic(), blows=BLOWS, stated=self.settings.pads.t_error_us * 1000)
            tell(check.opening)
            converse_at_pads(check, pads)
            start = monotonic()
            pairs = PairCheck(self.names, start, pad_filter(self.settings, start), self.texts, silent=check.silent)
            tell(pairs.request)
            converse_at_pads(pairs, pads)
        return check, pairs

    @contextmanager
    def open_pads(self) -> Iterator[TimedPads]:
        """Open the table's pads, for several dialogues."""
        with closing(SharedPads(open_pads(self.settings))) as pads:
            yield pads

    def quickness(self, told: Callable[[int], None] = lambda _hands: None) -> Quickness:
        """Measure the delays of lights and of spoken verdicts, with the eye at work."""

        def ready() -> None:
            tell(self.texts("certificate.ask_hands", n=HANDS))

        return run_table(self.settings, Openers(), hands=HANDS, patience=MINUTE, told=told, ready=ready)

    # The machine

    def clock_step(self, clock: Callable[[], int] = monotonic) -> tuple[int, Check]:
        """Return the step of the clock (ns; a second if it runs backwards), and the kernel's clock source."""
        readings = [clock() for _ in range(_READINGS)]
        steps = sorted(b - a for a, b in pairwise(readings) if b != a)
        finding = check_clock(self.machine)
        if not steps or steps[0] < 0:
            return SECOND, finding
        # The machine is interrupted now and then, so take the median of the steps.
        return steps[len(steps) // 2], finding

    def disk(self, clock: Callable[[], int] = monotonic) -> list[float]:
        """Return the time of each of some synced writes in the games' folder, ms; raises `UserError`."""
        return time_synced_writes(certificates_folder(self.settings), WRITES, clock)

    def seal(self) -> tuple[int | None, str, list[BrokenSeal]]:
        """Return number and seal of the last game, and its broken seals; no number if there is no game."""
        path = self.settings.record_file
        if path is None or not path.exists():
            return None, "", []
        with Record(path, read_only=True) as record:
            latest = record.latest() if record.is_begun else None
            if latest is None:
                return None, "", []
            return latest.id, record.seal(latest.id), record.broken_seals(latest.id)

    def versions(self) -> dict[str, Any]:
        """Return the versions of the software and the machine."""
        import hashlib
        import platform

        import models

        files = sorted((Path(models.__path__[0]) / "weights").glob("*.ncnn"))
        eye = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
        model = self.machine.read("/proc/device-tree/model") or platform.machine()
        return {
            "python": platform.python_version(), "system": f"{platform.system()} {platform.release()}", "eye": eye,
            "machine": f"{model}, {os.cpu_count()} cores",
        }  # fmt: skip


def _noted(frames: Iterator[Frame], latest: list[Frame]) -> Iterator[Frame]:
    """Yield the frames, and keep the last one."""
    for frame in frames:
        latest[:] = [frame]
        yield frame
