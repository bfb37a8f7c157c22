"""A simulated light before a simulated camera: the measured offset is the camera's true one."""

from __future__ import annotations

from typing import Any

import pytest

from hardware.camera.light_offset import LightOffset, estimate_offset
from hardware.ports import HardwareMissing
from hardware.simulated.devices.lit_camera import LitCamera, TableClock
from hardware.simulated.devices.simulated_lights import SimulatedLights
from referee.certification.light_trials import TRIALS, NoLight, find_light, switch_light
from referee.units import MS


def measured(**camera: Any) -> LightOffset:
    """Return the measured offset of a camera of this kind, over the real lights' shell on simulated pins."""
    clock = TableClock()
    lights = SimulatedLights(2, clock)
    eye = LitCamera(clock, lambda: lights.changes, **camera)
    frames = eye.frames()

    def switch(on: bool) -> None:
        lights.seat(1, float(on))

    seen = find_light(frames, switch)
    assert abs(seen.x - 250) <= 3 and abs(seen.y - 180) <= 3
    trials = switch_light(frames, switch, seen, clock=clock, pause=clock.pause)
    assert len(trials) == TRIALS
    return estimate_offset(trials, readout=round(seen.row * eye.readout))


@pytest.mark.parametrize(
    ("late", "camera"),
    [
        (37 * MS, {}), (20 * MS, {"fps": 15.0}), (0, {"exposure": 10 * MS}), (-5 * MS, {"readout": 0}),
        (37 * MS, {"brightness": 400.0}),
    ],
)  # fmt: skip
def test_the_offset_of_a_table_is_found(late: int, camera: dict[str, Any]) -> None:
    found = measured(late=late, **camera)
    assert abs(found.late - late) <= 2 * MS
    assert abs(found.late - late) <= found.error <= 4 * MS


def test_a_light_out_of_sight_is_told() -> None:
    with pytest.raises(NoLight, match="put one seat's light where the camera sees it"):
        measured(brightness=0.0)
    with pytest.raises(NoLight):
        measured(brightness=15.0, noise=30.0)


def test_a_camera_that_ends_is_told() -> None:
    clock = TableClock()
    eye = LitCamera(clock, list)
    frames = eye.frames()
    next(frames)
    eye.close()
    with pytest.raises(HardwareMissing, match="too soon"):
        find_light(frames, lambda _on: None)
